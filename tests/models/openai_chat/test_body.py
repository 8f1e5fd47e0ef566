"""What is asked, field by field. Some thousand bodies are compared with real Pi's under tests/upstream/transport."""

from __future__ import annotations

import pytest

from pi_trio.messages import (
    ImageContent,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
)
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.openai_chat.adapter import simple_options
from pi_trio.models.openai_chat.body import request_body
from pi_trio.models.openai_chat.thinking import FORMATS
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext

from ..modelling import model, response

USER = UserMessage(content="hi", timestamp=1)
READ = ToolDeclaration(name="read", description="Reads", parameters={"type": "object", "properties": {}})
IMAGE = ImageContent(data="aGk=", mime_type="image/png")
CALL = ToolCall(id="c", name="read", arguments={"b": 1, "2": 2, "1": 3})


def body(*messages, dialect=DIALECT_1_6_0, options=None, asked=None, **fields):
    """The body for these messages; `fields` are those of the model."""
    asked = asked or model(api="openai-completions", provider="openai", **fields)
    context = ModelContext(messages=messages or (USER,))
    return request_body(asked, context, ProviderOptions(dialect=dialect, **(options or {})))


def said(*messages, **fields):
    return body(*messages, **fields)["messages"]


def own(*content, **fields):
    return response(*content, api="openai-completions", provider="openai", **fields)


def result(*content, **fields):
    return ToolResultMessage(
        tool_call_id="c", tool_name="read", content=content, is_error=False, timestamp=1, **fields
    )


def test_the_least():
    assert body() == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "store": False,
    }


def test_the_options():
    told = body(options={
        "max_tokens": 9, "temperature": 0, "tool_choice": "required", "sampling_params": {"top_p": 1, "temperature": 2},
    })  # fmt: skip
    assert (told["max_completion_tokens"], told["temperature"], told["tool_choice"], told["top_p"]) == (
        9,
        2,
        "required",
        1,
    )
    assert "max_tokens" in body(options={"max_tokens": 9}, compat={"maxTokensField": "max_tokens"})


@pytest.mark.parametrize(("reasoning", "role"), [(False, "system"), (True, "developer")])
def test_the_prompt(reasoning, role):
    leading = SystemMessage(content="Be brief.", tools_added=(READ,), timestamp=0)
    told = body(leading, USER, reasoning=reasoning)
    assert told["messages"][0] == {"role": role, "content": "Be brief."}
    (tool,) = told["tools"]
    assert tool == {
        "type": "function",
        "function": {"name": "read", "description": "Reads", "parameters": READ.parameters},
    }


def test_the_prompt_beside_the_messages():
    context = ModelContext(messages=(USER,), system_prompt="Be brief.", tools=(READ,))
    asked = model(api="openai-completions", provider="openai")
    told = request_body(asked, context, ProviderOptions(dialect=DIALECT_0_85_0))
    assert told["messages"][0] == {"role": "system", "content": "Be brief."}
    assert told["tools"][0]["function"]["strict"] is False


def test_later_system_messages_stay_in_their_place_where_they_may():
    leading = SystemMessage(content="A", timestamp=0)
    later = SystemMessage(content="", sections={"env": "2"}, tools_added=(READ,), timestamp=1)
    compat = {"supportsMidConvoSystemMessages": True, "supportsMidConvoToolAdditions": True}
    messages = said(leading, USER, later, compat=compat)
    assert [message["role"] for message in messages] == ["system", "user", "system", "system"]
    assert messages[2]["tools"][0]["function"]["name"] == "read"
    assert messages[3]["content"].startswith('Updated system prompt section "env"')
    assert said(leading, USER, later)[0]["content"] == "A\n\n2"


def test_tools_that_a_result_has_brought_follow_it():
    context = ModelContext(
        messages=(own(CALL, stop="toolUse"), result(TextContent(text="x"), added_tool_names=("read",))),
        tools=(READ,),
    )
    asked = model(api="openai-completions", provider="openai", compat={"deferredToolsMode": "kimi"})
    told = request_body(asked, context, ProviderOptions(dialect=DIALECT_0_85_0))
    assert told["messages"][-1]["tools"][0]["function"]["name"] == "read"
    assert told["tools"] == []


@pytest.mark.parametrize(("dialect", "tools"), [(DIALECT_1_0_3, []), (DIALECT_1_6_0, None)])
def test_calls_and_no_tools(dialect, tools):
    assert body(own(CALL, stop="toolUse"), result(), dialect=dialect).get("tools") == tools


def test_a_user_with_images():
    message = UserMessage(content=[TextContent(text="see"), IMAGE, TextContent(text="")], timestamp=1)
    (told,) = said(message, input=["text", "image"])
    assert told["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
    ]
    assert len(said(message, input=["text", "image"], dialect=DIALECT_0_85_0)[0]["content"]) == 3
    assert said(UserMessage(content=[], timestamp=1)) == []


def test_a_response_with_a_call_and_its_result():
    messages = said(
        own(TextContent(text="a"), TextContent(text="b"), CALL, stop="toolUse"), result(TextContent(text="x"))
    )
    assert messages == [
        {"role": "assistant", "content": "ab", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"1":3,"2":2,"b":1}'}},
        ]},
        {"role": "tool", "content": "x", "tool_call_id": "c"},
    ]  # fmt: skip


def test_what_says_nothing_is_not_sent():
    assert said(own(TextContent(text=" ")), USER) == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ((), "(no tool output)"),
        ((IMAGE,), "(see attached image)"),
        ((TextContent(text=" "),), "(no tool output)"),
    ],
)
def test_results_without_text(content, text):
    assert said(own(CALL, stop="toolUse"), result(*content), input=["text", "image"])[1]["content"] == text


def test_images_of_results_follow_them_all():
    more = ToolCall(id="d", name="read", arguments={})
    messages = said(
        own(CALL, more, stop="toolUse"), result(IMAGE), result(TextContent(text="x")), USER,
        input=["text", "image"], compat={"requiresAssistantAfterToolResult": True, "requiresToolResultName": True},
    )  # fmt: skip
    assert [message["role"] for message in messages] == [
        "assistant", "tool", "tool", "tool", "assistant", "user", "user",
    ]  # fmt: skip
    assert messages[1]["name"] == "read"
    assert [part["type"] for part in messages[5]["content"]] == ["text", "image_url"]


def test_a_bridge_between_a_result_and_the_user():
    compat = {"requiresAssistantAfterToolResult": True}
    messages = said(own(CALL, stop="toolUse"), result(), USER, compat=compat)
    assert [message["role"] for message in messages] == ["assistant", "tool", "assistant", "user"]
    assert messages[0]["content"] == ""


def test_thinking_goes_back_in_the_field_that_it_came_in():
    thought = ThinkingContent(thinking="hm", thinking_signature="reasoning_content")
    (told,) = said(own(thought, TextContent(text="x")))
    assert (told["reasoning_content"], told["content"]) == ("hm", "x")
    (told,) = said(own(thought, TextContent(text="x")), compat={"requiresThinkingAsText": True})
    assert told["content"] == [{"type": "text", "text": "hm"}, {"type": "text", "text": "x"}]
    (told,) = said(own(TextContent(text="x")), reasoning=True,
                   compat={"requiresReasoningContentOnAssistantMessages": True})  # fmt: skip
    assert told["reasoning_content"] == ""


def test_reasoning_details_go_back_as_they_came():
    details = '[{"type":"reasoning.text","text":"hm"}]'
    (told,) = said(own(ThinkingContent(thinking="hm", thinking_signature=details), TextContent(text="x")))
    assert told["reasoning_details"] == [{"type": "reasoning.text", "text": "hm"}]
    call = ToolCall(
        id="c",
        name="read",
        arguments={},
        thought_signature='{"type":"reasoning.encrypted","id":"r","data":"d"}',
    )
    assert said(own(call, stop="toolUse"))[0]["reasoning_details"][0]["data"] == "d"


@pytest.mark.parametrize(
    ("call_id", "sent"),
    [
        ("call|fc", "call_fc"),
        ("call+1|", "call_1"),
        ("c" * 50, "c" * 40),
        ("😀|x", "___x"),
    ],
)
def test_ids_of_other_models(call_id, sent):
    call = ToolCall(id=call_id, name="read", arguments={})
    assert said(response(call, stop="toolUse"))[0]["tool_calls"][0]["id"] == sent


def test_a_very_long_id_is_hashed():
    call = ToolCall(id="call|" + "x" * 400, name="read", arguments={})
    told, answer = said(response(call, stop="toolUse"))
    sent = told["tool_calls"][0]["id"]
    assert len(sent) <= 40
    assert sent.startswith("call_")
    assert answer["tool_call_id"] == sent


# --- thinking ---------------------------------------------------------------------------------------------

WORDS = {"high": "most", "off": "none"}


@pytest.mark.parametrize(
    ("format_", "high", "off"),
    [
        ("openai", {"reasoning_effort": "most"}, {"reasoning_effort": "none"}),
        ("unheard of", {"reasoning_effort": "most"}, {"reasoning_effort": "none"}),
        (
            "zai",
            {"thinking": {"type": "enabled", "clear_thinking": False}, "reasoning_effort": "most"},
            {"thinking": {"type": "disabled"}},
        ),
        ("qwen", {"enable_thinking": True, "reasoning_effort": "most"}, {"enable_thinking": False}),
        (
            "qwen-chat-template",
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False, "preserve_thinking": True}},
        ),
        (
            "chat-template",
            {"chat_template_kwargs": {"on": True, "n": 1}},
            {"chat_template_kwargs": {"on": False, "n": 1}},
        ),
        ("baseten", {"reasoning_effort": "most"}, {"reasoning_effort": "none"}),
        ("deepseek", {"thinking": {"type": "enabled"}, "reasoning_effort": "most"}, {"thinking": {"type": "disabled"}}),
        ("openrouter", {"reasoning": {"effort": "most"}}, {"reasoning": {"effort": "none"}}),
        ("ant-ling", {"reasoning": {"effort": "most"}}, {"reasoning_effort": "none"}),
        ("together", {"reasoning": {"enabled": True}, "reasoning_effort": "most"}, {"reasoning": {"enabled": False}}),
        ("string-thinking", {"thinking": "most"}, {"thinking": "none"}),
    ],
)  # fmt: skip
def test_how_an_endpoint_is_told_to_think(format_, high, off):
    values = {"on": {"$var": "thinking.enabled"}, "n": 1}
    compat = {"thinkingFormat": format_, "supportsReasoningEffort": True, "chatTemplateKwargs": values}
    fields = {"reasoning": True, "thinkingLevelMap": WORDS, "compat": compat}
    plain = body(reasoning=False, compat=compat)
    for effort, expected in ((None, off), ("high", high)):
        told = body(options={"provider": {"reasoning_effort": effort}}, **fields)
        assert {key: value for key, value in told.items() if key not in plain} == expected


def test_every_format_is_told():
    assert set(FORMATS) == {
        "openai", "zai", "qwen", "qwen-chat-template", "chat-template", "baseten", "deepseek", "openrouter", "ant-ling",
        "together", "string-thinking",
    }  # fmt: skip


def test_a_limit_for_thinking_leaves_room_for_the_answer():
    compat = {"supportsThinkingTokenBudget": True}
    options = {"provider": {"reasoning_effort": "high"}, "max_tokens": 4000}
    assert body(options=options, reasoning=True, compat=compat)["thinking_token_budget"] == 4000 - 1024
    options = {"provider": {"reasoning_effort": "low"}, "thinking_budgets": {"low": 7}}
    assert body(options=options, reasoning=True, compat={"thinkingTokenBudgetField": "budget"})["budget"] == 7


@pytest.mark.parametrize(("level", "effort"), [("low", "low"), ("max", "high"), ("off", None), (None, None)])
def test_the_level_of_a_simple_request(level, effort):
    asked = model(reasoning=True)
    options = simple_options(asked, ModelContext(messages=(USER,)), ProviderOptions(reasoning=level))
    assert options.provider.get("reasoning_effort") == effort
    assert options.max_tokens == asked.max_tokens


# --- caching ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "retention", "key", "hours"),
    [
        ("https://api.openai.com/v1", "short", "s", None),
        ("https://api.openai.com/v1", "none", None, None),
        ("https://api.openai.com/v1", "long", "s", "24h"),
        ("http://there", "short", None, None),
        ("http://there", "long", "s", "24h"),
    ],
)
def test_the_session_names_the_cache(url, retention, key, hours):
    told = body(options={"session_id": "s", "cache_retention": retention}, baseUrl=url)
    assert (told.get("prompt_cache_key"), told.get("prompt_cache_retention")) == (key, hours)


def test_a_long_key_is_cut():
    told = body(options={"session_id": "😀" * 70}, baseUrl="https://api.openai.com/v1")
    assert told["prompt_cache_key"] == "😀" * 64


def test_up_to_where_claude_is_to_cache():
    leading = SystemMessage(content="Be brief.", tools_added=(READ,), timestamp=0)
    told = body(leading, own(TextContent(text="x")), UserMessage(content=[IMAGE], timestamp=1),
                compat={"cacheControlFormat": "anthropic"}, input=["text", "image"])  # fmt: skip
    mark = {"type": "ephemeral"}
    system, assistant, user = told["messages"]
    assert system["content"][0]["cache_control"] == mark
    assert assistant["content"][0]["cache_control"] == mark  # the user has no text to be marked
    assert "cache_control" not in user["content"][0]
    assert told["tools"][0]["cache_control"] == mark


def test_the_ways_of_gateways():
    told = body(
        compat={
            "openRouterRouting": {"only": ["a"]},
            "vercelGatewayRouting": {"order": ["b"]},
            "vllmPriority": 3,
        }
    )
    assert (told["provider"], told["providerOptions"], told["priority"]) == (
        {"only": ["a"]}, {"gateway": {"order": ["b"]}}, 3,
    )  # fmt: skip
