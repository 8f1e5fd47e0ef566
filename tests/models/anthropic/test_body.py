"""The body of a request: what is sent of a context, a model and options, by release."""

from __future__ import annotations

import attrs
import pytest

from pi_trio.messages import (
    ImageContent,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolRemoval,
    ToolResultMessage,
    UserMessage,
)
from pi_trio.models.anthropic.adapter import simple_options
from pi_trio.models.anthropic.body import build, request_body
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.exchange import ResponseFailedError

from .asking import CALL, MODEL, READ, TOKEN, USER, context_of, model_with, options, said

ALL = (DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0)
EPHEMERAL = {"type": "ephemeral"}
IMAGE = ImageContent(data="aGk=", mime_type="image/png")


def body(context=None, model=MODEL, *, dialect=DIALECT_1_6_0, **fields):
    return request_body(model, context or context_of(), options(dialect=dialect, **fields))


def messages(*said_, model=MODEL, dialect=DIALECT_1_6_0, **fields):
    """The messages that are sent, without marks of the cache."""
    return body(context_of(*said_), model, dialect=dialect, cache_retention="none", **fields)["messages"]


def result(*content, is_error=False, **fields):
    return ToolResultMessage(
        tool_call_id=CALL.id, tool_name="read", content=content, is_error=is_error, timestamp=3, **fields
    )


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.release)
def test_the_least(dialect):
    context = context_of(prompt="Be brief.", tools=(READ,))
    assert body(context, dialect=dialect) == {
        "model": "claude",
        "max_tokens": 8192,
        "stream": True,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": EPHEMERAL}]}
        ],
        "tools": [
            {
                "name": "read",
                "description": "Reads.",
                "eager_input_streaming": True,
                "input_schema": {"type": "object", "properties": {}, "required": []},
                "cache_control": EPHEMERAL,
            }
        ],
    }


# --- the cache --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "compat", "control"),
    [
        ({}, {}, EPHEMERAL),
        ({"cache_retention": "none"}, {}, None),
        ({"cache_retention": "long"}, {}, {**EPHEMERAL, "ttl": "1h"}),
        ({"cache_retention": "long"}, {"supportsLongCacheRetention": False}, EPHEMERAL),
        ({"env": {"PI_CACHE_RETENTION": "long"}}, {}, {**EPHEMERAL, "ttl": "1h"}),
        ({"env": {"PI_CACHE_RETENTION": "long"}, "cache_retention": "short"}, {}, EPHEMERAL),
    ],
)
def test_how_long_it_is_cached(fields, compat, control):
    told = body(context_of(prompt="Be brief."), model_with(compat), **fields)
    assert told["system"][0].get("cache_control") == control
    content = told["messages"][0]["content"]
    assert (content if isinstance(content, str) else content[0].get("cache_control")) == (control or "Hi")


def test_a_response_at_the_end_is_not_marked():
    told = body(context_of(USER, said(TextContent(text="Hello"))))
    assert told["messages"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]},
    ]


def test_tools_may_stand_outside_of_the_cache():
    told = body(context_of(tools=(READ,)), model_with({"supportsCacheControlOnTools": False}))
    assert "cache_control" not in told["tools"][0]


# --- messages ---------------------------------------------------------------------------------------------


def test_what_the_user_says():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    assert messages(
        UserMessage(content="half \ud83d", timestamp=1),
        UserMessage(content=" \n", timestamp=1),
        UserMessage(content=[], timestamp=1),
        UserMessage(content=[TextContent(text=" "), TextContent(text="See"), IMAGE], timestamp=1),
    ) == [
        {"role": "user", "content": "half "},
        {"role": "user", "content": [{"type": "text", "text": "See"}, image]},
    ]


@pytest.mark.parametrize(
    ("block", "sent"),
    [
        (TextContent(text=" \n"), None),
        (
            ThinkingContent(thinking="hm", thinking_signature="s"),
            {"type": "thinking", "thinking": "hm", "signature": "s"},
        ),
        (ThinkingContent(thinking="hm"), {"type": "text", "text": "hm"}),
        (ThinkingContent(thinking="hm", thinking_signature=" "), {"type": "text", "text": "hm"}),
        (
            ThinkingContent(thinking="", thinking_signature="s"),
            {"type": "thinking", "thinking": "", "signature": "s"},
        ),
        (ThinkingContent(thinking=" "), None),
        (
            ThinkingContent(thinking="[Reasoning redacted]", thinking_signature="o", redacted=True),
            {"type": "redacted_thinking", "data": "o"},
        ),
    ],
)
def test_what_the_model_has_said(block, sent):
    told = messages(USER, said(block), USER)
    assert told[1]["content"] == [sent] if sent else len(told) == 2


def test_thinking_may_have_an_empty_signature():
    told = messages(
        USER, said(ThinkingContent(thinking="hm")), model=model_with({"allowEmptySignature": True})
    )
    assert told[1]["content"] == [{"type": "thinking", "thinking": "hm", "signature": ""}]


def test_results_of_a_turn_stand_in_one_message():
    other = attrs.evolve(CALL, id="toolu_2")
    told = messages(
        USER,
        said(CALL, other, stop_reason="toolUse"),
        result(TextContent(text="a"), TextContent(text="b")),
        attrs.evolve(result(IMAGE), tool_call_id="toolu_2"),
        USER,
    )
    assert [message["role"] for message in told] == ["user", "assistant", "user", "user"]
    one, two = told[2]["content"]
    assert one == {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a\nb", "is_error": False}
    assert [block["type"] for block in two["content"]] == ["text", "image"]
    assert two["content"][0]["text"] == "(see attached image)"


def test_images_of_an_error_follow_all_results_as_of_1_6_0():
    turn = (USER, said(CALL, stop_reason="toolUse"), result(TextContent(text="no"), IMAGE, is_error=True))
    inside = messages(*turn, dialect=DIALECT_1_0_3)[2]["content"]
    assert [block["type"] for block in inside] == ["tool_result"]
    behind = messages(*turn)[2]["content"]
    assert [block["type"] for block in behind] == ["tool_result", "text", "image"]
    assert behind[0]["content"] == "no\n(image attached after the tool results)"
    assert behind[1]["text"] == "Images from the error result of tool call toolu_1 (read):"


def test_a_foreign_call_gets_an_id_that_is_allowed():
    call = attrs.evolve(CALL, id="call_1|fc/😀" + "x" * 80)
    told = messages(USER, said(call, model="other", stop_reason="toolUse"))
    assert told[1]["content"][0]["id"] == ("call_1_fc___" + "x" * 80)[:64]
    assert told[2]["content"][0]["tool_use_id"] == told[1]["content"][0]["id"]


# --- system messages in the middle ------------------------------------------------------------------------

UPDATE = SystemMessage(
    content="Later",
    sections={"env": "2", "rules": None},
    tools_removed=(ToolRemoval(name="bash"),),
    timestamp=3,
)
MIDDLE = {"supportsMidConvoSystemMessages": True, "supportsMidConvoToolChanges": True}
FIRST = SystemMessage(content="Base", tools_added=(READ, attrs.evolve(READ, name="bash")), timestamp=0)


def test_updates_are_replayed_where_the_model_takes_none():
    told = body(context_of(FIRST, USER, UPDATE, USER), cache_retention="none")
    assert told["system"] == [{"type": "text", "text": "Base\n\nLater\n\n2"}]
    assert [tool["name"] for tool in told["tools"]] == ["read"]
    assert [message["role"] for message in told["messages"]] == ["user", "user"]


def test_updates_wait_for_the_next_response():
    write = attrs.evolve(READ, name="write")
    update = attrs.evolve(UPDATE, tools_added=(write,))
    context = context_of(FIRST, USER, update, USER, said(TextContent(text="Yes")), USER)
    told = body(context, model_with(MIDDLE), cache_retention="none")
    assert told["betas"] == ["inline-tools-2026-09-15"]
    assert [tool["name"] for tool in told["tools"]] == ["read", "bash", "__pi_deferred_placeholder__"]
    assert [message["role"] for message in told["messages"]] == [
        "user",
        "user",
        "system",
        "assistant",
        "user",
    ]
    text, removal, addition = told["messages"][2]["content"]
    assert text["text"] == (
        'Later\n\nUpdated system prompt section "env":\n\n2\n\nRemoved system prompt section "rules".'
    )
    assert removal == {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "bash"}}
    assert addition["tool"]["definition"]["name"] == "write"


@pytest.mark.parametrize(("dialect", "roles"), [(DIALECT_1_0_3, "uuxua"), (DIALECT_1_6_0, "uuuxa")])
def test_an_update_waits_longer_as_of_1_6_0(dialect, roles):
    context = context_of(FIRST, USER, UPDATE, USER, said(), USER, said(TextContent(text="Yes")))
    told = body(context, model_with({"supportsMidConvoSystemMessages": True}), dialect=dialect)
    names = {"user": "u", "system": "x", "assistant": "a"}
    assert "".join(names[message["role"]] for message in told["messages"]) == roles


# --- thinking ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "max_tokens", "thinking", "limit"),
    [
        (None, None, {"type": "disabled"}, 8192),
        ("minimal", None, 1024, 8192),
        ("low", None, 2048, 8192),
        ("high", None, 7168, 8192),
        ("max", None, 7168, 8192),
        ("high", 4000, 7168, 8192),  # a limit of the caller is for the answer alone
        ("low", 1000, 2024, 3048),
    ],
)
def test_levels_are_budgets(level, max_tokens, thinking, limit):
    simple = simple_options(MODEL, context_of(), options(reasoning=level, max_tokens=max_tokens))
    told = request_body(MODEL, context_of(), simple)
    if isinstance(thinking, int):
        thinking = {"type": "enabled", "budget_tokens": thinking, "display": "summarized"}
    assert (told["thinking"], told["max_tokens"]) == (thinking, limit)
    assert ("interleaved-thinking-2025-05-14" in told.get("betas", ())) == (level is not None)


@pytest.mark.parametrize(
    ("level", "effort"), [("minimal", "low"), ("medium", "medium"), ("high", "hi"), ("max", "high")]
)
def test_levels_may_be_efforts(level, effort):
    model = model_with({"forceAdaptiveThinking": True}, thinkingLevelMap={"high": "hi"})
    told = request_body(model, context_of(), simple_options(model, context_of(), options(reasoning=level)))
    assert told["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert told["output_config"] == {"effort": effort}
    assert "betas" not in told


def test_a_model_may_not_know_how_not_to_think():
    model = model_with(thinkingLevelMap={"off": None})
    assert "thinking" not in request_body(model, context_of(), simple_options(model, context_of(), options()))


@pytest.mark.parametrize(("dialect", "base"), [(DIALECT_1_0_3, "high"), (DIALECT_1_6_0, "low")])
def test_an_effort_may_stand_between_the_messages(dialect, base):
    model = model_with({"supportsMidConvoEffort": True})
    before = said(TextContent(text="Yes"), provider_thinking_level="max")
    asked = options(
        dialect=dialect, effort="medium", thinking_enabled=True, cache_retention="none", temperature=1
    )
    built = build(model, context_of(USER, before, USER), asked)
    efforts = [message.get("output_config", {}).get("effort") for message in built.body["messages"]]
    assert efforts == [None, "max", None, None, "medium"]
    assert built.body["output_config"] == {"effort": base}
    assert built.effort == "medium"
    assert "temperature" not in built.body


@pytest.mark.parametrize(("dialect", "kind"), [(DIALECT_1_0_3, "adaptive"), (DIALECT_1_6_0, "disabled")])
def test_no_effort_where_nothing_is_thought_as_of_1_6_0(dialect, kind):
    asked = options(dialect=dialect, thinking_enabled=False)
    built = build(model_with({"supportsMidConvoEffort": True}), context_of(), asked)
    assert (built.body["thinking"]["type"], built.effort) == (kind, None if kind == "disabled" else "high")


# --- what the caller wishes -------------------------------------------------------------------------------


def test_choices():
    told = body(temperature=0, tool_choice="none", metadata={"user_id": "me", "x": 1}, thinking_enabled=False)
    assert (told["temperature"], told["tool_choice"], told["metadata"]) == (
        0,
        {"type": "none"},
        {"user_id": "me"},
    )
    assert body(tool_choice={"type": "tool", "name": "read"})["tool_choice"] == {
        "type": "tool",
        "name": "read",
    }
    assert "temperature" not in body(temperature=0, thinking_enabled=True)
    assert "metadata" not in body(metadata={"user_id": 7})


@pytest.mark.parametrize(
    ("headers", "betas"),
    [
        ({"anthropic-beta": "a, b,,a"}, ["a", "b"]),
        ({"Anthropic-Beta": None}, None),
        ({"anthropic-beta": ""}, None),
        ({"x": "y"}, ["fine-grained-tool-streaming-2025-05-14"]),
    ],
)
def test_betas_may_be_named(headers, betas):
    model = model_with({"supportsEagerToolInputStreaming": False})
    told = body(context_of(tools=(READ,)), model, headers=headers)
    assert told.get("betas") == betas
    assert "eager_input_streaming" not in told["tools"][0]


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.release)
def test_a_token_of_a_subscription(dialect):
    context = context_of(USER, said(CALL, stop_reason="toolUse"), prompt="Be brief.", tools=(READ,))
    told = body(context, api_key=TOKEN, dialect=dialect, cache_retention="none")
    assert [block["text"] for block in told["system"]] == [
        "You are Claude Code, Anthropic's official CLI for Claude.",
        "Be brief.",
    ]
    assert told["tools"][0]["name"] == told["messages"][1]["content"][0]["name"] == "Read"
    assert told["betas"] == ["claude-code-20250219", "oauth-2025-04-20"]


# --- tools ------------------------------------------------------------------------------------------------


def test_a_schema_is_reduced():
    parameters = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {}},
        "additionalProperties": False,
        "anyOf": [],
    }
    tool = attrs.evolve(READ, parameters=parameters)
    old = body(context_of(tools=(tool,)), dialect=DIALECT_1_0_3)["tools"][0]["input_schema"]
    assert old == {"type": "object", "properties": parameters["properties"], "required": []}
    new = body(context_of(tools=(tool,)))["tools"][0]["input_schema"]
    assert new == {**old, "$defs": {"a": {}}, "additionalProperties": False}


STRICT = {"supportsStrictTools": True}


def strict_tool(strict, **schema):
    parameters = {"type": "object", "properties": {"a": {"type": "string", **schema}}, "required": ["a"]}
    return attrs.evolve(
        READ, parameters=parameters, constrained_sampling={"type": "json_schema", "strict": strict}
    )


def test_a_strict_tool():
    built = build(model_with(STRICT), context_of(tools=(strict_tool("prefer"),)), options())
    (tool,) = built.body["tools"]
    assert tool["strict"] is True
    assert tool["input_schema"]["additionalProperties"] is False
    assert built.prefers_strict
    relaxed = build(model_with(STRICT), context_of(tools=(strict_tool("prefer"),)), options(), relaxed=True)
    assert "strict" not in relaxed.body["tools"][0]
    assert not relaxed.prefers_strict


def test_a_strict_tool_that_cannot_be_is_not_or_fails():
    odd = {"format": "phone"}
    assert (
        "strict"
        not in body(context_of(tools=(strict_tool("prefer", **odd),)), model_with(STRICT))["tools"][0]
    )
    with pytest.raises(
        ResponseFailedError, match=r'^Tool "read" requires .*, but format: "phone" is unsupported\.$'
    ):
        body(context_of(tools=(strict_tool("require", **odd),)), model_with(STRICT))
    old = body(context_of(tools=(strict_tool("require", **odd),)), model_with(STRICT), dialect=DIALECT_0_85_0)
    assert old["tools"][0]["strict"] is True


def test_results_refer_to_the_tools_that_they_have_brought_in_0_85_0():
    model = model_with(id="claude-opus-4-5")
    write = attrs.evolve(READ, name="write")
    turn = (
        said(CALL, stop_reason="toolUse", model=model.id),
        result(TextContent(text="ok"), added_tool_names=["write"]),
    )
    told = body(
        context_of(USER, *turn, tools=(READ, write)), model, dialect=DIALECT_0_85_0, cache_retention="none"
    )
    assert [tool.get("defer_loading") for tool in told["tools"]] == [None, True]
    answer, text = told["messages"][2]["content"]
    assert answer["content"] == [{"type": "tool_reference", "tool_name": "write"}]
    assert text == {"type": "text", "text": "ok"}
    named = attrs.evolve(turn[1], added_tool_names=["Write"])
    token = body(
        context_of(USER, turn[0], named, tools=(READ, write)), model, dialect=DIALECT_0_85_0, api_key=TOKEN
    )
    assert token["messages"][2]["content"][0]["content"][0]["tool_name"] == "Write"
    haiku = body(
        context_of(USER, *turn, tools=(READ, write)),
        attrs.evolve(model, id="claude-haiku-4-5"),
        dialect=DIALECT_0_85_0,
    )
    assert "defer_loading" not in haiku["tools"][1]
