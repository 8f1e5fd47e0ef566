"""How many tokens a context takes, by estimate."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.codec import unstructure
from pi_trio.jsontext import print_json
from pi_trio.messages import (
    CustomMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.estimate import context_tokens, estimate_context, message_tokens, text_tokens

from .declaring import declare, system
from .modelling import context, response, usage


def user(content: Any, timestamp: int = 1) -> UserMessage:
    return UserMessage(content=content, timestamp=timestamp)


def result(**fields: Any) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id="1",
        tool_name="t",
        content=[TextContent(text="12345678")],
        is_error=False,
        timestamp=11,
        **fields,
    )


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (user(""), 0),
        (user("12345"), 2),
        (user("\N{GRINNING FACE}" * 4), 2),  # UTF-16 units
        (user([TextContent(text="1234"), ImageContent(data="x", mime_type="image/png")]), 1201),
        (response(TextContent(text="12"), ThinkingContent(thinking="34")), 1),
        (response(ToolCall(id="long enough", name="ab", arguments={"c": 1})), 3),
        (result(), 2),
        (system("1234", sections={"a": "12", "b": None}), 2),
        (CustomMessage(role="note", extra={"text": "not sent"}), 0),
    ],
)
def test_a_message(message, tokens):
    assert message_tokens(message, DIALECT_1_0_3) == tokens


def test_declarations_count_as_json():
    declared = '[{"name":"a","description":"d","parameters":{}}]'
    assert message_tokens(system("", [declare("a", "d")]), DIALECT_1_0_3) == -(-len(declared) // 4)
    assert message_tokens(system("", removed="a"), DIALECT_1_0_3) == 4  # [{"name":"a"}]


def test_the_newest_release_counts_three_and_a_half_characters():
    assert [message_tokens(user("x" * length), DIALECT_1_6_0) for length in (7, 8, 14)] == [2, 3, 4]


def test_what_was_counted_counts():
    messages = [user("x" * 400), response(usage=usage(50, 7, 3)), user("12345678", 20)]
    estimate = estimate_context(context(*messages), DIALECT_1_0_3)
    assert (estimate.tokens, estimate.usage_tokens, estimate.trailing_tokens) == (62, 60, 2)
    assert estimate.last_usage_index == 1


@pytest.mark.parametrize(
    "last",
    [
        response(usage=usage(50), stop="error"),
        response(usage=usage(50), stop="aborted"),
        response(usage=usage()),
        response(usage=usage(50), timestamp=0),  # what stands before it is newer than what was counted
    ],
)
def test_what_counts_no_usage(last):
    estimate = estimate_context(context(user("x" * 400), last), DIALECT_1_0_3)
    assert (estimate.tokens, estimate.usage_tokens, estimate.last_usage_index) == (100, 0, None)


def test_the_total_wins_over_the_sum():
    assert context_tokens(usage(1, 2, 3, 4)) == 10
    assert context_tokens(usage(1, 2, total_tokens=50)) == 50


def test_prompt_and_tools_beside_the_messages():
    tools = (declare("a", "d"), declare("b", "d" * 40))
    fresh = estimate_context(context(user("1234"), system_prompt="12345678", tools=tools), DIALECT_0_85_0)
    assert fresh.tokens == 1 + 2 + text_tokens(print_json(unstructure(tools)), DIALECT_0_85_0)
    counted = [user("1234"), response(usage=usage(50))]
    later = estimate_context(context(*counted, system_prompt="12345678", tools=tools), DIALECT_0_85_0)
    assert later.tokens == 50
    added = estimate_context(context(*counted, result(added_tool_names=("a",)), tools=tools), DIALECT_0_85_0)
    assert added.tokens == 50 + 2 + 12
