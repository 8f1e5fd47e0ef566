"""What scripted responses cost. Real Pi counts the same, see `tests/upstream`."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.messages import (
    CustomMessage,
    ImageContent,
    SystemMessage,
    ToolDeclaration,
    ToolResultMessage,
    UnknownContent,
    UserMessage,
)
from pi_trio.models.scripted import ScriptedProvider, assistant, text, thinking, tool_call
from pi_trio.models.scripted_usage import UsageEstimator, tokens_of
from pi_trio.models.stream import ModelContext

from .telling import CONTEXT, USER, message_of, told

PICTURE = ImageContent(data="abc", mime_type="image/png")
RESULT = ToolResultMessage(
    tool_call_id="c", tool_name="f", content=[text("a"), text("b")], is_error=False, timestamp=0
)


def usage_of(*messages, answer=(), session_id=None, **context):
    return UsageEstimator().estimate(ModelContext(messages=messages, **context), answer, session_id)


async def test_usage_is_estimated():
    message = await message_of(ScriptedProvider([assistant("x" * 9, thinking("y" * 3))]))
    usage = message.usage
    # "user:What is 2 + 3?" has 19 characters; the answer 9 + 1 + 3.
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (5, 4, 0, 0)
    assert usage.total_tokens == 9
    assert usage.cost.total == 0


async def test_every_partial_has_the_usage_of_the_whole():
    events = await told(ScriptedProvider([assistant("x" * 100)]))
    assert {event.partial.usage.output for event in events[:-1]} == {25}


def test_prompt_and_tools_of_older_releases_count():
    tool = ToolDeclaration(name="f", description="", parameters={})
    prompt = (
        'system:Be brief.\n\nuser:What is 2 + 3?\n\ntools:[{"name":"f","description":"","parameters":{}}]'
    )
    assert usage_of(USER, system_prompt="Be brief.", tools=(tool,)).input == tokens_of(prompt)
    assert usage_of(USER, system_prompt="", tools=()) == usage_of(USER)


def test_system_messages_count():
    message = SystemMessage(content="Be", sections={"a": "brief", "b": None}, timestamp=0)
    assert usage_of(message).input == tokens_of("system:Be\n\nbrief")


@pytest.mark.parametrize(
    ("message", "written"),
    [
        (UserMessage(content=[text("a"), PICTURE], timestamp=0), "user:a\n[image:image/png:3]"),
        (RESULT, "toolResult:f\na\nb"),
        (assistant(thinking("a"), tool_call("f", {"x": 1})), 'assistant:a\nf:{"x":1}'),
        (assistant(UnknownContent(type="new")), "assistant:[new]"),
        (CustomMessage(role="note", extra={"a": 1}), 'note:{"a":1}'),
    ],
)
def test_how_messages_are_written(message, written):
    assert usage_of(message).input == tokens_of(written)


def test_characters_are_utf16_units():
    assert tokens_of("😀😀") == 1
    assert tokens_of("😀😀a") == 2


def test_what_a_session_has_said_is_read_from_the_cache():
    estimator = UsageEstimator()
    longer = ModelContext(messages=(USER, attrs.evolve(USER, content="And 3 + 4?")))
    first = estimator.estimate(CONTEXT, (), "s")
    assert (first.input, first.cache_read, first.cache_write) == (0, 0, 5)
    second = estimator.estimate(longer, (), "s")
    assert (second.input, second.cache_read, second.cache_write) == (0, 5, 4)
    other = estimator.estimate(longer, (), "t")
    assert (other.input, other.cache_read, other.cache_write) == (0, 0, 9)
    assert estimator.estimate(longer, (), None).input == 9


prompts = st.lists(st.text(st.sampled_from("ab\n😀🎉"), max_size=6), max_size=5)


@given(prompts, prompts)
def test_the_cache_holds_the_common_beginning(before, after):
    def context(texts):
        return ModelContext(messages=tuple(UserMessage(content=text, timestamp=1) for text in texts))

    def units(texts):
        joined = "\n\n".join(f"user:{text}" for text in texts).encode("utf-16-be")
        return [joined[at : at + 2] for at in range(0, len(joined), 2)]

    estimator = UsageEstimator()
    estimator.estimate(context(before), (), "s")
    usage = estimator.estimate(context(after), (), "s")
    common = 0
    for one, other in zip(units(before), units(after), strict=False):
        if one != other:
            break
        common += 1
    assert usage.cache_read == -(-common // 4)
    assert usage.cache_write == max(0, -(-len(units(after)) // 4) - usage.cache_read)


def test_a_message_that_replaces_another_is_counted_anew():
    estimator = UsageEstimator()
    estimator.estimate(CONTEXT, (), None)
    longer = ModelContext(messages=(attrs.evolve(USER, content="x" * 95),))
    assert estimator.estimate(longer, (), None).input == 25
