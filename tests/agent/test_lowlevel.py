"""The loop without an agent: events go to a function, an error comes once and bare, nothing outlives the call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.hooks import AgentContext, Hooks
from pi_trio.agent.lowlevel import open_agent_loop_continue, run_agent_loop, run_agent_loop_continue
from pi_trio.errors import CannotContinueError
from pi_trio.events import AgentEvent
from pi_trio.messages import Message

from .grammar import check
from .looping import CONTEXT, config, into, texts
from .scripting import assistant, brief, tool, user, yielding
from .show import RaisingPause, told


@pytest.mark.parametrize("suspends", [False, True])
async def test_a_run_says_its_events_and_gives_what_it_has_added(suspends: bool) -> None:
    heard: list[AgentEvent] = []
    signals: set[AbortSignal] = set()

    def emit(event: AgentEvent, signal: AbortSignal) -> Any:
        heard.append(event)
        signals.add(signal)
        return yielding("") if suspends else None

    with trio.testing.assert_checkpoints():
        messages = await run_agent_loop([user("go")], CONTEXT, config(), emit)
    said = check(heard)
    # The tools were declared nowhere, so that is said first.
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "toolResult", "toolResult", "assistant",
    ]  # fmt: skip
    assert list(messages) == said
    assert len(signals) == 1
    assert CONTEXT.messages == (user("earlier"),)


async def test_continuing_adds_only_what_it_says() -> None:
    heard: list[AgentEvent] = []
    context = AgentContext(messages=(user("earlier"),))
    with trio.testing.assert_checkpoints():
        messages = await run_agent_loop_continue(
            context, config(assistant("hi")), lambda event, signal: heard.append(event)
        )
    assert texts(messages) == ["hi"]
    check(heard)


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ((), "Cannot continue: no messages in context"),
        ((user("x"), assistant("y")), "Cannot continue from message role: assistant"),
    ],
)
async def test_what_cannot_be_continued(messages: tuple[Message, ...], text: str) -> None:
    context = AgentContext(messages=messages)
    heard: list[AgentEvent] = []
    with pytest.raises(CannotContinueError) as raised:
        await run_agent_loop_continue(context, config(), lambda event, signal: heard.append(event))
    assert str(raised.value) == text
    with pytest.raises(CannotContinueError) as raised:
        async with open_agent_loop_continue(context, config()):
            pytest.fail("must not be entered")
    assert str(raised.value) == text
    assert heard == []


async def test_the_polls_are_functions_of_the_config() -> None:
    steering = [(), (user("s1"),), ()]
    follow_ups = [(user("f1"),), ()]

    async def get_steering_messages() -> Any:
        await trio.lowlevel.checkpoint()
        return steering.pop(0) if steering else ()

    settings = config(
        assistant("a0"), assistant("a1"), assistant("a2"),
        get_steering_messages=get_steering_messages,
        get_follow_up_messages=lambda: follow_ups.pop(0) if follow_ups else (),
    )  # fmt: skip
    messages = await run_agent_loop(
        [user("go")], AgentContext(messages=()), settings, lambda event, signal: None
    )
    assert texts(messages) == ["go", "a0", "s1", "a1", "f1", "a2"]


async def test_prepare_next_turn_gets_the_turn() -> None:
    turns: list[Any] = []
    hooks = Hooks(prepare_next_turn=lambda turn, signal: turns.append(turn))
    await run_agent_loop([user("go")], CONTEXT, config(hooks=hooks), lambda event, signal: None)
    (turn,) = turns
    assert len(turn.tool_results) == 2


@pytest.mark.parametrize("suspends", [False, True])
async def test_an_error_of_the_function_is_raised_bare_without_closing_events(suspends: bool) -> None:
    for index in count():
        heard: list[AgentEvent] = []
        error = ValueError("no")

        async def slowly(fails: bool, error: ValueError = error) -> None:
            await trio.lowlevel.checkpoint()
            if fails:
                raise error

        def emit(
            event: AgentEvent,
            signal: AbortSignal,
            heard: list[AgentEvent] = heard,
            index: int = index,
            slowly: Any = slowly,
            error: ValueError = error,
        ) -> Any:
            heard.append(event)
            if suspends:
                return slowly(len(heard) == index + 1)
            if len(heard) == index + 1:
                raise error
            return None

        tasks = trio.lowlevel.current_statistics().tasks_living
        with told(index=index):
            try:
                await run_agent_loop([user("go")], CONTEXT, config(), emit)
            except ValueError as raised:
                assert raised is error
                assert not hasattr(error, "__notes__")
            else:
                break
            finally:
                assert trio.lowlevel.current_statistics().tasks_living == tasks
            check(heard, complete=False)
            if "tool" not in brief(heard[index]):
                assert len(heard) == index + 1
    assert index > 20


@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, SystemExit])
async def test_an_error_of_the_stream_is_raised_bare(kind: Callable[[str], BaseException]) -> None:
    for index in count():
        pause = RaisingPause(index, kind)
        heard: list[AgentEvent] = []
        with told(index=index):
            try:
                await run_agent_loop([user("go")], CONTEXT, config(pause=pause), into(heard))
            except BaseException as error:
                assert error is pause.raised
            else:
                assert pause.raised is None
                break
            check(heard, complete=False)


async def test_a_cancelled_run_is_aborted_and_comes_to_rest(autojump_clock: trio.testing.MockClock) -> None:
    signals: set[AbortSignal] = set()

    async def stuck(*args: Any) -> Any:
        await trio.sleep_forever()

    context = AgentContext(messages=(), tools=(tool("work", stuck),))
    with trio.move_on_after(1) as scope:
        try:
            await run_agent_loop(
                [user("go")],
                context,
                config(),
                lambda event, signal: signals.add(signal),
                grace=3,
                abort_mode="signal",
            )
        except BaseException as error:
            assert isinstance(error, trio.Cancelled)
            raise
    assert scope.cancelled_caught
    assert trio.current_time() == 4
    (signal,) = signals
    assert signal.aborted
