"""What is asked of the Responses API: bodies, headers, items and tools, by release."""

from __future__ import annotations

import attrs
import pytest

from pi_trio.messages import (
    AssistantMessage,
    ImageContent,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolRemoval,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_trio.models.codex.body import request_body as codex_body
from pi_trio.models.codex.request import event_stream_headers, event_stream_url, socket_headers, socket_url
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError
from pi_trio.models.openai_key import key_of
from pi_trio.models.openai_responses.body import body_of, prepare, request_body
from pi_trio.models.openai_responses.ids import normalised_call_id
from pi_trio.models.openai_responses.request import request_of
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext

KEY = "sk-secret-0123"
MODEL = attrs.evolve(
    Model.unknown(), id="m", api="openai-responses", provider="openai", base_url="https://api.openai.com/v1"
)
THINKING = attrs.evolve(MODEL, reasoning=True)
READ = ToolDeclaration(name="read", description="Reads.", parameters={"type": "object"})
PATCH = ToolDeclaration(
    name="patch",
    description="Patches.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    constrained_sampling={"type": "grammar", "variants": {"openai_lark": "start: /.+/"}},
)


def with_compat(model=MODEL, **fields):
    return attrs.evolve(model, extra={**model.extra, "compat": fields})


def system(text="", **fields):
    return SystemMessage(content=text, timestamp=0, **fields)


def user(text):
    return UserMessage(content=text, timestamp=1)


def answered(*content, model=MODEL, **fields):
    return AssistantMessage(
        content=content,
        api=model.api,
        provider=model.provider,
        model=model.id,
        usage=Usage.zero(),
        stop_reason="stop",
        timestamp=2,
        **fields,
    )


def result(id_, *content, name="read"):
    return ToolResultMessage(tool_call_id=id_, tool_name=name, content=content, is_error=False, timestamp=3)


def asked(*messages, model=MODEL, **options):
    return request_body(model, ModelContext(messages=messages), ProviderOptions(api_key=KEY, **options))


def test_a_conversation():
    body = asked(
        system("Be brief.", tools_added=(READ,)),
        user("hi"),
        answered(
            ThinkingContent(thinking="hm", thinking_signature='{"type":"reasoning","id":"rs"}'),
            TextContent(text="half \ud83d", text_signature='{"v":1,"id":"msg","phase":"commentary"}'),
            TextContent(text="b"),
            ToolCall(id="c|fc_1", name="read", arguments={"a": 1}, namespace="n"),
        ),
        result("c|fc_1", TextContent(text="done")),
    )
    assert body == {
        "model": "m",
        "stream": True,
        "store": False,
        "tools": [
            {"type": "function", "name": "read", "description": "Reads.", "parameters": {"type": "object"}}
        ],
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "reasoning", "id": "rs"},
            {
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "id": "msg",
                "content": [{"type": "output_text", "text": "half ", "annotations": []}],
                "phase": "commentary",
            },
            {
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "id": "msg_pi_1_1",
                "content": [{"type": "output_text", "text": "b", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "c",
                "name": "read",
                "arguments": '{"a":1}',
                "namespace": "n",
            },
            {"type": "function_call_output", "call_id": "c", "output": "done"},
        ],
    }


@pytest.mark.parametrize(
    ("content", "input_", "output"),
    [
        ((), ("text",), "(no tool output)"),
        ((TextContent(text="a"), TextContent(text="b")), ("text",), "a\nb"),
        (
            (ImageContent(data="d", mime_type="image/png"),),
            ("text", "image"),
            [{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,d"}],
        ),
    ],
)
def test_results(content, input_, output):
    body = asked(result("c", *content), model=attrs.evolve(MODEL, input=input_))
    assert body["input"][-1]["output"] == output


def test_a_result_of_blanks():
    outputs = [
        asked(result("c", TextContent(text=" ")), dialect=dialect)["input"][-1]["output"]
        for dialect in (DIALECT_1_0_3, DIALECT_1_6_0)
    ]
    assert outputs == [" ", "(no tool output)"]


def test_a_signature_that_is_no_item():
    with pytest.raises(ResponseFailedError, match="no item"):
        asked(answered(ThinkingContent(thinking="hm", thinking_signature="other")))


@pytest.mark.parametrize(
    ("id_", "api", "normalised"),
    [
        ("call|fc_1", "openai-responses", "call|fc_1"),
        ("a b|x_", "openai-responses", "a_b|fc_x"),
        ("call|item", "other", "call|fc_1c0dv6z7f3wp3"),
        ("plain 😀__", "other", "plain"),
    ],
)
def test_ids_of_other_models(id_, api, normalised):
    source = answered(model=attrs.evolve(MODEL, api=api, id="other"))
    assert normalised_call_id(id_, source, MODEL) == normalised


def test_a_call_of_another_model_of_the_api_has_no_item_id():
    call = ToolCall(id="c|fc_1", name="read", arguments={})
    body = asked(answered(call, model=attrs.evolve(MODEL, id="other")), result("c|fc_1"))
    assert body["input"][0] == {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}


# --- tools ------------------------------------------------------------------------------------------------


def test_a_tool_with_a_grammar():
    model = with_compat(supportsOpenAIGrammarTools=True)
    call = ToolCall(id="c|ctc_1", name="patch", arguments={"text": "+a"})
    body = asked(system(tools_added=(PATCH,)), answered(call), result("c|ctc_1", name="patch"), model=model)
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"}
    assert body["tools"] == [
        {"type": "custom", "name": "patch", "description": "Patches.", "format": grammar}
    ]
    assert body["input"] == [
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "patch", "input": "+a"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "(no tool output)"},
    ]


def test_tools_that_come_and_go():
    later = system("Later", tools_added=(PATCH,), tools_removed=(ToolRemoval(name="read"),))
    model = with_compat(supportsMidConvoSystemMessages=True, supportsAdditionalTools=True)
    messages = (system("Be.", tools_added=(READ,)), user("hi"), later, system(tools_added=(READ,)))
    body = asked(*messages, model=model)
    assert "tools" not in body
    kinds = [item.get("type", item.get("content")) for item in body["input"]]
    assert kinds[0] == kinds[4] == kinds[7] == "additional_tools"
    assert kinds[1] == "Be."
    assert kinds[5].startswith("Later\n\nThe following tools are no longer available.")
    assert kinds[6].endswith("Still unavailable: read.") is False  # it is declared again behind it
    older = asked(*messages, model=model, dialect=DIALECT_1_0_3)  # which can only tell of additions
    assert [tool["name"] for tool in older["tools"]] == ["patch", "read"]


def test_tools_that_a_result_brings():
    context = ModelContext(
        messages=(attrs.evolve(result("c"), added_tool_names=("patch", "patch")),),
        system_prompt="Be.",
        tools=(READ, PATCH),
    )
    model = with_compat(supportsToolSearch=True)
    body = request_body(model, context, ProviderOptions(api_key=KEY, dialect=DIALECT_0_85_0))
    assert [tool["name"] for tool in body["tools"]] == ["read"]
    assert [item.get("type") for item in body["input"]] == [
        *(None, "function_call_output", "tool_search_call", "tool_search_output"),
    ]
    assert body["input"][3]["tools"][0]["defer_loading"] is True


# --- the rest of the body -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, {"reasoning": {"effort": "none"}}),
        (
            {"provider": {"reasoning_effort": "high"}},
            {"reasoning": {"effort": "high", "summary": "auto"}, "include": ["reasoning.encrypted_content"]},
        ),
        ({"max_tokens": 3, "temperature": 0}, {"max_output_tokens": 16, "temperature": 0}),
        ({"service_tier": "flex", "tool_choice": "none"}, {"service_tier": "flex", "tool_choice": "none"}),
        ({"session_id": "é" * 70}, {"prompt_cache_key": "é" * 64}),
        ({"cache_retention": "long"}, {"prompt_cache_retention": "24h"}),
        ({"sampling_params": {"top_p": 1, "store": True}}, {"top_p": 1, "store": True}),
    ],
)
def test_fields(options, told):
    body = asked(user("hi"), model=THINKING, **options)
    assert {name: body[name] for name in told} == told


def test_a_sign_in_with_chatgpt_takes_fewer_fields():
    options = {"max_tokens": 100, "temperature": 1, "cache_retention": "long", "session_id": "s"}
    context = ModelContext(messages=(user("hi"),))
    bodies = [
        request_body(MODEL, context, ProviderOptions(api_key=key, dialect=dialect, **options))
        for key, dialect in (("eyJ", DIALECT_1_0_3), ("eyJ", DIALECT_0_85_0), (KEY, DIALECT_1_0_3))
    ]
    fields = {"max_output_tokens", "temperature", "prompt_cache_retention"}
    assert [sorted(fields & body.keys()) for body in bodies] == [[], sorted(fields), sorted(fields)]
    assert "prompt_cache_key" in bodies[0]


def test_an_effort_that_the_input_tells():
    model = with_compat(THINKING, supportsMidConvoEffort=True)
    said = answered(TextContent(text="a"), provider_thinking_level="low")
    body = asked(said, user("hi"), model=model, provider={"reasoning_effort": "high"})
    efforts = [
        item["reasoning"]["effort"] for item in body["input"] if item.get("type") == "configuration_update"
    ]
    assert (efforts, body["reasoning"]["effort"]) == (["low", "high"], "medium")


# --- the request --------------------------------------------------------------------------------------------


def headers_of(model=MODEL, **options):
    options = ProviderOptions(**{"api_key": KEY, **options})
    ready = prepare(model, ModelContext(messages=(user("hi"),)), options)
    return request_of(model, ready, options, b"{}")


def test_headers():
    request = headers_of(session_id="s", headers={"X-Own": "o", "accept": None})
    assert request.url == "https://api.openai.com/v1/responses"
    assert KEY not in repr(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers.pop("user-agent").startswith("pi_trio/")
    assert headers == {
        "authorization": f"Bearer {KEY}",
        "content-type": "application/json",
        "x-own": "o",
        "session-id": "s",
        "x-client-request-id": "s",
    }
    assert headers_of(session_id="s", dialect=DIALECT_1_0_3).headers["session_id"] == "s"
    assert "x-client-request-id" not in headers_of(session_id="s", cache_retention="none").headers


def test_a_key_may_be_in_a_header():
    assert key_of(MODEL, ProviderOptions(headers={"Authorization": "Basic x"})) == "unused"
    with pytest.raises(ResponseFailedError, match="No API key for provider: openai"):
        key_of(MODEL, ProviderOptions(headers={"authorization": " "}))


def test_an_identity_names_the_application():
    model = attrs.evolve(MODEL, provider="openrouter")
    who = {
        "userAgent": {"custom": "mine"},
        "attribution": {"name": "app", "url": "u", "categories": ["a", "b"]},
    }
    headers = headers_of(model, identity=who).headers
    assert (headers["User-Agent"], headers["X-OpenRouter-Categories"]) == ("mine", "a,b")
    assert headers_of(model, identity={"userAgent": "short"}).headers["User-Agent"] == "pi_trio"


# --- codex --------------------------------------------------------------------------------------------------


def codex(*messages, dialect=DIALECT_1_6_0, model=THINKING, **options):
    return codex_body(
        model, ModelContext(messages=messages), ProviderOptions(api_key=KEY, dialect=dialect, **options)
    )


def test_the_body_for_codex():
    old = codex(system("Be."), user("hi"), dialect=DIALECT_1_0_3, max_tokens=5)
    new = codex(system("Be."), user("hi"), max_tokens=5)
    assert (old["instructions"], len(old["input"]), "max_output_tokens" in old) == ("Be.", 1, False)
    assert (new["input"][0]["content"], new["max_output_tokens"]) == ("Be.", 16)
    assert "instructions" not in new
    assert codex(user("hi"), dialect=DIALECT_1_0_3)["instructions"] == "You are a helpful assistant."
    for body in (old, new):
        assert (body["text"], body["tool_choice"], body["parallel_tool_calls"]) == (
            {"verbosity": "low"},
            "auto",
            True,
        )
        assert body["reasoning"] == {"effort": "none"}
    assert "reasoning" not in codex(user("hi"), dialect=DIALECT_0_85_0)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("", "https://chatgpt.com/backend-api/codex/responses"),
        ("https://x/codex//", "https://x/codex/responses"),
        ("https://x/codex/responses", "https://x/codex/responses"),
        ("http://x", "http://x/codex/responses"),
    ],
)
def test_where_codex_is_asked(base, url):
    model = attrs.evolve(MODEL, base_url=base)
    assert event_stream_url(model) == url
    assert socket_url(model) == url.replace("http", "ws", 1)


def test_the_headers_for_codex():
    model = attrs.evolve(MODEL, extra={"headers": {"originator": "mine", "X-Model": "m"}})
    for dialect, originator in ((DIALECT_1_0_3, "pi"), (DIALECT_1_6_0, "mine")):
        options = ProviderOptions(api_key=KEY, dialect=dialect, headers={"x-model": None, "accept": "all"})
        posted = event_stream_headers(model, options, "acc", "s")
        assert (posted["originator"], posted["accept"], "X-Model" in posted) == (
            *(originator, "text/event-stream", False),
        )
        shaken = socket_headers(model, options, "acc", None)
        assert "accept" not in shaken
        assert shaken["session-id"] == shaken["x-client-request-id"]
        assert len(shaken["session-id"]) == 36


def test_a_body_of_what_is_prepared():
    options = ProviderOptions(api_key=KEY)
    context = ModelContext(messages=(user("hi"),))
    assert body_of(MODEL, prepare(MODEL, context, options), options) == request_body(MODEL, context, options)
