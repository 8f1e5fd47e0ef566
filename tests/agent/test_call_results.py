"""What a call gives: what counts as a result, what the message and the end tell of it, and the hook behind it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.hooks import AfterToolCallResult, BeforeToolCallResult
from pi_trio.events import ToolExecutionEnd
from pi_trio.jsonvalue import ABSENT
from pi_trio.messages import ImageContent, TextContent, ToolResult
from pi_trio.tools.tool import UpdateFn

from .calling import agent_with
from .grammar import check
from .scripting import USAGE, Recorder, call, result, result_texts, results_of, text_of

# --- results ----------------------------------------------------------------------------------------------


class Silent(Exception):  # noqa: N818
    """An exception without a text."""

    def __str__(self) -> str:
        return ""


@pytest.mark.parametrize("suspends", [False, True])
@pytest.mark.parametrize(
    ("answer", "text", "is_error"),
    [
        (result("fine"), "fine", False),
        ("just text", "just text", False),
        (None, "Tool work returned nothing", True),
        (5, "Tool work returned int, not a ToolResult", True),
        (ValueError("broken"), "broken", True),
        (Silent(), "Silent", True),
        (result("sorry", is_error=True), "sorry", True),
        (result("sorry", is_error=1), "sorry", False),
        (result("sorry", is_error="true"), "sorry", False),
    ],
)
async def test_what_a_tool_gives(answer: Any, text: str, is_error: bool, suspends: bool) -> None:
    def give() -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def slowly(*args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return give()

    agent = agent_with(call("t1"), execute=slowly if suspends else lambda *args: give())
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    (message,) = results_of(agent.messages)
    assert (text_of(message), message.is_error) == (text, is_error)
    assert heard.of(ToolExecutionEnd)[0].is_error is is_error
    if not isinstance(answer, ToolResult | str):
        assert message.details == {}
    check(heard.events)


async def test_what_goes_into_the_message_and_what_only_into_the_end() -> None:
    image = ImageContent(data="AA", mime_type="image/png")
    full = ToolResult(
        content=(TextContent(text="seen"), image),
        details={"rows": [1]},
        structured_content={"rows": 1},
        usage=USAGE,
        terminate=True,
        extra={"mine": "kept"},
    )
    agent = agent_with(call("t1"), execute=lambda *args: full)
    heard = Recorder(agent)
    await agent.prompt("go")
    assert heard.of(ToolExecutionEnd)[0].result == full
    (message,) = results_of(agent.messages)
    assert message.content == (TextContent(text="seen"), image)
    assert message.details == {"rows": [1]}
    assert message.usage == USAGE
    assert message.extra == {}
    assert (message.tool_call_id, message.tool_name) == ("t1", "work")
    assert message.timestamp > 1_600_000_000_000


async def test_a_result_without_content_gets_an_empty_one_in_its_message() -> None:
    agent = agent_with(call("t1"), execute=lambda *args: ToolResult(details=1))
    heard = Recorder(agent)
    await agent.prompt("go")
    assert heard.of(ToolExecutionEnd)[0].result.content is ABSENT
    assert results_of(agent.messages)[0].content == ()
    check(heard.events)


async def test_durations_are_in_milliseconds_and_only_where_something_ran(
    mock_clock: trio.testing.MockClock,
) -> None:
    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        mock_clock.jump(1.5)
        return result()

    agent = agent_with(call("t1"), call("t2", "nowhere"), execute=work, tool_execution="sequential")
    heard = Recorder(agent)
    await agent.prompt("go")
    assert [event.duration_ms for event in heard.of(ToolExecutionEnd)] == [1500, None]
    assert [message.duration_ms for message in results_of(agent.messages)] == [1500, None]


async def test_after_tool_call_takes_no_part_in_the_duration(mock_clock: trio.testing.MockClock) -> None:
    agent = agent_with(
        call("t1"), execute=lambda *args: result(), after_tool_call=lambda context, signal: mock_clock.jump(2)
    )
    await agent.prompt("go")
    assert results_of(agent.messages)[0].duration_ms == 0


# --- after_tool_call --------------------------------------------------------------------------------------

OLD = ToolResult(
    content=(TextContent(text="old"),),
    details={"old": 1},
    structured_content={"old": 1},
    usage=USAGE,
    terminate=True,
    extra={"mine": "kept"},
)
NEW = (TextContent(text="new"),)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        ({"content": NEW}, {"content": NEW, "structured_content": ABSENT}),
        ({"content": NEW, "structured_content": {"n": 1}}, {"content": NEW, "structured_content": {"n": 1}}),
        ({"structured_content": {"n": 1}}, {"structured_content": {"n": 1}}),
        ({"details": {"n": 1}}, {"details": {"n": 1}}),
        (
            {"details": None, "content": None, "usage": None, "terminate": None, "structured_content": None},
            {},
        ),
        ({"terminate": False}, {"terminate": False}),
        ({}, {}),
    ],
)
async def test_after_tool_call_replaces_what_it_names(
    change: dict[str, Any], changed: dict[str, Any]
) -> None:
    agent = agent_with(
        call("t1"),
        execute=lambda *args: OLD,
        after_tool_call=lambda context, signal: AfterToolCallResult(**change),
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    (end,) = heard.of(ToolExecutionEnd)
    assert end.result == attrs.evolve(OLD, **changed)
    assert end.is_error is False


@pytest.mark.parametrize(("raised", "is_error"), [(False, True), (True, False), (False, False), (True, True)])
async def test_after_tool_call_decides_what_is_an_error(raised: bool, is_error: bool) -> None:
    seen: list[Any] = []

    def work(*args: Any) -> Any:
        if raised:
            raise ValueError("tool")
        return result("tool")

    async def after(context: Any, signal: AbortSignal) -> AfterToolCallResult:
        seen.append(context)
        await trio.lowlevel.checkpoint()
        return AfterToolCallResult(is_error=is_error)

    agent = agent_with(call("t1", n=1), execute=work, after_tool_call=after)
    await agent.prompt("go")
    (context,) = seen
    assert context.is_error is raised
    assert text_of(context.result) == "tool"
    assert context.args == {"n": 1}
    assert context.tool_call == call("t1", n=1)
    assert context.assistant_message is agent.messages[2]
    assert results_of(agent.messages)[0].is_error is is_error
    assert result_texts(agent) == ["tool"]


async def test_after_tool_call_raises() -> None:
    def after(context: Any, signal: AbortSignal) -> None:
        raise ValueError("hook")

    agent = agent_with(call("t1"), execute=lambda *args: OLD, after_tool_call=after)
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    (end,) = heard.of(ToolExecutionEnd)
    assert end.is_error is True
    assert end.result == ToolResult(content=(TextContent(text="hook"),), details={})
    assert end.duration_ms is not None


async def test_after_tool_call_cannot_reach_what_the_tool_got() -> None:
    """D-08: what it sees is a copy."""
    kept: list[Any] = []

    def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        kept.append(args)
        return result()

    agent = agent_with(
        call("t1", n=1), execute=work, after_tool_call=lambda context, signal: context.args.update(n=2)
    )
    await agent.prompt("go")
    assert kept == [{"n": 1}]


@attrs.define
class Cancelling:
    """Raises a `Cancelled` that it has kept from somewhere else."""

    suspends: bool
    grouped: bool
    kept: trio.Cancelled | None = None

    async def prepare(self) -> None:
        with trio.CancelScope() as scope:
            scope.cancel()
            try:
                await trio.lowlevel.checkpoint()
            except trio.Cancelled as error:
                self.kept = error
                raise

    def __call__(self, *args: Any) -> Any:
        return self.later() if self.suspends else self.now()

    async def later(self) -> None:
        await trio.lowlevel.checkpoint()
        self.now()

    def now(self) -> None:
        assert self.kept is not None
        raise BaseExceptionGroup("kept", [self.kept]) if self.grouped else self.kept


@pytest.mark.parametrize("place", ["execute", "before_tool_call", "after_tool_call"])
@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("suspends", [True, False])
async def test_a_cancelled_that_somebody_has_kept_is_an_error_of_its_call(
    place: str, grouped: bool, suspends: bool
) -> None:
    await (cancelling := Cancelling(suspends, grouped)).prepare()
    given: dict[str, Any] = {"execute": lambda *args: result(), place: cancelling}
    agent = agent_with(call("t1"), **given)
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert (outcome.stop_reason, outcome.errors) == ("stop", ())
    assert result_texts(agent) == ["trio.Cancelled was raised where nothing is cancelled"]
    check(heard.events)


@pytest.mark.parametrize("added", [5, "word", [5], {"a": "b"}, ["a", None]])
@pytest.mark.parametrize("profile", ["pi-0.85.0", "pi-1.6.0"])
async def test_added_tools_that_are_no_names(added: Any, profile: str) -> None:
    """Only the messages of 0.85.0 tell of them."""
    answer = ToolResult(content=[TextContent(text="seen")], extra={"addedToolNames": added})  # type: ignore[arg-type]
    agent = agent_with(call("t1"), execute=lambda *args: answer, profile=profile)
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    refused = "Tool work returned addedToolNames that are no list of names"
    assert result_texts(agent) == [refused if profile == "pi-0.85.0" else "seen"]


async def test_hooks_that_give_what_no_result_can_have() -> None:
    for options in (
        {"after_tool_call": lambda *args: AfterToolCallResult(content=(5,))},
        {"after_tool_call": lambda *args: AfterToolCallResult(usage=5)},
        {"before_tool_call": lambda *args: BeforeToolCallResult(block=True, reason=5)},  # type: ignore[arg-type]
    ):
        agent = agent_with(call("t1"), execute=lambda *args: result(), **options)
        outcome = await agent.prompt("go")
        assert outcome.stop_reason == "stop"
        (message,) = results_of(agent.messages)
        assert message.is_error
        assert "5" in text_of(message)
