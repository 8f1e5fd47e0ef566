"""Messages: their keys are Pi's, they do not change, and they are made from plain values."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import given

from pi_trio.codec import dumps, unstructure
from pi_trio.errors import CodecError
from pi_trio.jsonvalue import ABSENT, FrozenDict, FrozenList, freeze
from pi_trio.messages import (
    AssistantMessage,
    CustomMessage,
    DeferredHandle,
    Diagnostic,
    DiagnosticError,
    ImageContent,
    Model,
    ModelCost,
    NestedToolCallRecord,
    NestedToolCalls,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolRemoval,
    ToolResult,
    ToolResultMessage,
    UnknownContent,
    Usage,
    UsageCost,
    UserMessage,
)
from pi_trio.wire import Wire, known_fields, tag_of, wire_name

from .strategies import DATA_CLASSES, any_object

KEYS: dict[type[Wire], tuple[str, str]] = {
    # the keys that must be there, and those that may; as Pi's own declarations have them
    TextContent: ("type text", "textSignature"),
    ThinkingContent: ("type thinking", "thinkingSignature redacted"),
    ImageContent: ("type data mimeType", ""),
    ToolCall: ("type id name arguments", "thoughtSignature namespace argumentsError"),
    UnknownContent: ("type", ""),
    UsageCost: ("input output cacheRead cacheWrite total", "totalFromProvider"),
    Usage: ("input output cacheRead cacheWrite totalTokens cost", "cacheWrite1h reasoning"),
    ToolDeclaration: ("name description parameters", "constrainedSampling"),
    ToolRemoval: ("name", ""),
    NestedToolCallRecord: ("id name status", "arguments argumentsBytes durationMs error"),
    NestedToolCalls: ("calls complete", ""),
    DiagnosticError: ("message", "name stack code"),
    Diagnostic: ("type timestamp", "error details"),
    DeferredHandle: ("provider modelId api id", "expiresAt pollAfterMs data"),
    UserMessage: ("role content timestamp", ""),
    AssistantMessage: (
        "role content api provider model usage stopReason timestamp",
        (
            "responseModel responseId providerThinkingLevel thinkingLevel diagnostics deferred errorMessage "
            "rawStopReason endTurn durationMs"
        ),
    ),
    ToolResultMessage: (
        "role toolCallId toolName isError timestamp",
        "content details usage addedToolNames nestedCalls durationMs",
    ),
    SystemMessage: ("role content timestamp", "sections toolsAdded toolsRemoved"),
    CustomMessage: ("role", ""),
    ToolResult: ("", "content details structuredContent usage isError terminate"),
    ModelCost: ("input output cacheRead cacheWrite", ""),
    Model: ("id name api provider baseUrl reasoning input cost contextWindow maxTokens", ""),
}


@pytest.mark.parametrize("cls", KEYS)
def test_the_keys_are_those_of_pi(cls: type[Wire]) -> None:
    required, optional = (set(keys.split()) for keys in KEYS[cls])
    fields = known_fields(cls)
    tag = tag_of(cls)
    tag_key = {tag[0]} if tag else set()
    assert {wire_name(field.name) for field in fields if field.default is attrs.NOTHING} | tag_key == required
    assert {wire_name(field.name) for field in fields if field.default is not attrs.NOTHING} == optional


def test_no_class_was_forgotten() -> None:
    assert {cls for cls in DATA_CLASSES if cls.__module__.startswith("pi_trio.messages.")} == set(KEYS)


@pytest.mark.parametrize(
    ("cls", "tag"),
    [
        (TextContent, "text"),
        (ThinkingContent, "thinking"),
        (ImageContent, "image"),
        (ToolCall, "toolCall"),
        (UserMessage, "user"),
        (AssistantMessage, "assistant"),
        (ToolResultMessage, "toolResult"),
        (SystemMessage, "system"),
    ],
)
def test_tags(cls: Any, tag: str) -> None:
    assert tag == getattr(cls, "role", None) or tag == getattr(cls, "type", None)


@given(any_object)
def test_nothing_in_it_can_change(value: Any) -> None:
    def check(part: Any) -> None:
        assert type(part) not in (list, dict, set)
        if isinstance(part, Wire):
            assert not hasattr(part, "__dict__")
            for field in attrs.fields(type(part)):
                with pytest.raises(attrs.exceptions.FrozenInstanceError):
                    setattr(part, field.name, None)
                check(getattr(part, field.name))
        elif isinstance(part, (tuple, FrozenList)):
            for item in part:
                check(item)
        elif isinstance(part, FrozenDict):
            for item in part.values():
                check(item)

    check(value)


def test_constructors_take_lists_and_plain_dicts() -> None:
    call = ToolCall(id="t1", name="add", arguments={"xs": [1, 2]})
    assert isinstance(call.arguments, FrozenDict)
    message = assistant([TextContent(text="a"), call])
    assert message.content == (TextContent(text="a"), call)
    assert UserMessage(content=[TextContent(text="a")], timestamp=0).content == (TextContent(text="a"),)
    assert UserMessage(content="a", timestamp=0).content == "a"
    system = SystemMessage(
        content="", sections={"env": None}, tools_added=[], tools_removed=[ToolRemoval(name="x")], timestamp=0
    )
    assert isinstance(system.sections, FrozenDict)
    assert system.tools_added == ()
    assert ToolResult(content=iter([])).content == ()
    assert CustomMessage(role="note", extra={"a": [1]}).extra == {"a": [1]}


def test_frozen_parts_are_shared_not_copied() -> None:
    arguments = freeze({"a": [1]})
    call = ToolCall(id="t1", name="add", arguments=arguments)
    assert call.arguments is arguments
    message = assistant((call,))
    assert attrs.evolve(message, thinking_level="off").content is message.content


def test_absent_fields_and_null() -> None:
    empty = ToolResult()
    assert [empty.content, empty.details, empty.structured_content, empty.is_error, empty.terminate] == [
        ABSENT
    ] * 5
    assert empty.usage is None
    assert unstructure(empty) == {}
    assert unstructure(ToolResult(details=None, terminate=None)) == {"details": None, "terminate": None}


def test_equality_is_by_value_and_does_not_look_at_the_order_of_keys() -> None:
    assert assistant([]) == assistant(())
    assert assistant([]) == attrs.evolve(assistant([]), keys=("timestamp",))
    assert assistant([]) != attrs.evolve(assistant([]), extra={"x": 1})
    assert assistant([]) != attrs.evolve(assistant([]), error_message="")
    assert TextContent(text="a") != ThinkingContent(thinking="a")


def test_repr_shows_what_is_there() -> None:
    assert repr(TextContent(text="a")) == "TextContent(text='a')"
    assert repr(CustomMessage(role="note", extra={"a": 1})) == "CustomMessage(role='note', extra={'a': 1})"
    assert repr(ToolResult(details=None)) == "ToolResult(details=None)"


def test_an_open_class_refuses_what_has_a_class_of_its_own() -> None:
    for role in ("user", "assistant", "toolResult", "system"):
        with pytest.raises(
            CodecError, match=f"^role: expected a role without a class of its own, found '{role}'$"
        ):
            CustomMessage(role=role)
    for kind in ("text", "thinking", "image", "toolCall"):
        with pytest.raises(
            CodecError, match=f"^type: expected a type without a class of its own, found '{kind}'$"
        ):
            UnknownContent(type=kind)


def test_what_is_not_json_is_refused_where_it_enters() -> None:
    with pytest.raises(CodecError, match=r"^a\[0\]: expected a JSON value, found a Python object$"):
        ToolCall(id="t1", name="add", arguments={"a": [object()]})  # type: ignore[list-item]
    with pytest.raises(CodecError, match=r"^a: expected a finite number, found nan$"):
        ToolResult(details={"a": float("nan")})


def test_python_made_messages_print_in_the_order_of_pi() -> None:
    message = assistant([], stop_reason="aborted", error_message="no", thinking_level="off", extra={"x": 1})
    assert dumps(message) == (
        '{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","usage":{"input":0,"output":0,'
        '"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,'
        '"total":0}},"stopReason":"aborted","errorMessage":"no","timestamp":0,"thinkingLevel":"off","x":1}'
    )


def test_a_known_field_wins_over_an_unknown_one_of_its_name() -> None:
    assert dumps(TextContent(text="a", extra={"text": "b", "type": "c"})) == '{"type":"text","text":"a"}'


def test_nothing_used_and_nothing_known() -> None:
    assert Usage.zero() == Usage(
        input=0,
        output=0,
        cache_read=0,
        cache_write=0,
        total_tokens=0,
        cost=UsageCost(input=0, output=0, cache_read=0, cache_write=0, total=0),
    )
    assert unstructure(Model.unknown()) == {
        "id": "unknown",
        "name": "unknown",
        "api": "unknown",
        "provider": "unknown",
        "baseUrl": "",
        "reasoning": False,
        "input": [],
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 0,
        "maxTokens": 0,
    }


def assistant(content: Any, **fields: Any) -> AssistantMessage:
    defaults: dict[str, Any] = {"stop_reason": "stop", "timestamp": 0, "usage": Usage.zero()}
    return AssistantMessage(content=content, api="a", provider="p", model="m", **{**defaults, **fields})


@pytest.mark.parametrize("cls", [ToolResult, UserMessage, SystemMessage, AssistantMessage, ToolResultMessage])
@pytest.mark.parametrize(
    "content", [(5,), [TextContent(text="a"), "b"], [None], [{"type": "text", "text": "a"}]]
)
def test_content_is_of_blocks(cls: Any, content: Any):
    others: Any = {
        one.name: 0
        for one in attrs.fields(cls)
        if one.default is attrs.NOTHING and one.name not in ("content", "role")
    }
    with pytest.raises(TypeError, match=r"content is a sequence of blocks, and .* is none"):
        cls(content=content, **others)


def test_the_usage_of_a_tool_is_a_usage():
    with pytest.raises(TypeError, match="usage"):
        ToolResult(usage=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        ToolResult,
        partial(UserMessage, timestamp=0),
        partial(SystemMessage, timestamp=0),
        partial(ToolResultMessage, tool_call_id="t", tool_name="work", is_error=False, timestamp=0),
        partial(
            AssistantMessage,
            api="a",
            provider="p",
            model="m",
            usage=Usage.zero(),
            stop_reason="stop",
            timestamp=0,
        ),
    ],
)
def test_the_text_is_that_of_the_text_blocks(make: Any):
    image = ImageContent(data="", mime_type="image/png")
    assert make(content=[TextContent(text="a "), image, TextContent(text="b")]).text == "a b"
    assert make(content=[image]).text == ""
    if make is ToolResult:
        assert ToolResult().text == ""
    elif make.func in (UserMessage, SystemMessage):
        assert make(content="as it is").text == "as it is"
    with pytest.raises(AttributeError):
        make(content=[]).text = "another"


def test_a_message_is_hashable_as_its_json_is():
    def made(number: Any) -> UserMessage:
        return UserMessage(content="x", timestamp=0, extra={"a": [number, {"b": None}]})

    assert len({made(1), made(1.0), made(2)}) == 2
