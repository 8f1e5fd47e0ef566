"""Whatever fails, wherever: the run obeys the grammar of a good one, and nothing is lost or left.

The rulings D-01 to D-04 and D-09, at every place where a listener, a hook, a tool or the provider may fail.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest
import trio

from pi_trio.agent.result import RunFailedError
from pi_trio.events import AgentEnd, AgentEvent
from pi_trio.tools.tool import ExecutionMode

from .scripting import Pause, Recorder, answers_of, assistant, briefs, user, yielding
from .show import MODES, RaisingPause, Saboteur, Show, told


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """No task may be left of what happens in here."""
    before = trio.lowlevel.current_statistics().tasks_living
    yield
    assert trio.lowlevel.current_statistics().tasks_living == before


def heard_by(recorder: Recorder) -> list[int]:
    return sorted(map(id, recorder.events))


def shows(mode: ExecutionMode, **options: Any) -> Iterator[tuple[int, Show]]:
    """A fresh show for every place where something may fail; the caller breaks when nothing has."""
    return ((index, Show(tool_execution=mode, **options)) for index in count())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("place", "pause"), [("first", None), ("last", None), ("last", yielding)])
async def test_a_listener_fails_at_any_event(mode: ExecutionMode, place: str, pause: Pause | None) -> None:
    for index, show in shows(mode):
        saboteur = Saboteur(index, pause=pause)
        with told(index=index):
            if place == "last":
                other = Recorder(show.agent)
                show.agent.subscribe(saboteur)
            else:
                # First of all in the order of delivery: who failed must not hide the event from the recorders.
                show = Show(tool_execution=mode)
                other = Recorder(show.agent)
                make_first(show, saboteur)
            at_end: BaseException | None = None
            result = None
            async with nothing_left():
                try:
                    result = await show.agent.prompt("go")
                except RuntimeError as error:
                    at_end = error
            events = show.whole(sequential=mode == "sequential")
            assert heard_by(other) == heard_by(show.first)
            if not saboteur.raised:
                assert result is not None
                assert result.stop_reason == "stop"
                break
            (failure,) = saboteur.raised
            assert not hasattr(failure, "__notes__")
            if str(failure).startswith("at agent_end"):
                assert at_end is failure
                assert answers_of(events[-1].messages)[-1].stop_reason == "stop"  # type: ignore[union-attr]
            else:
                assert result is not None
                assert at_end is None
                assert result.errors == (failure,)
                assert result.stop_reason == "error"
                assert result.error_message == str(failure) == show.agent.state.error_message
                assert result.messages == tuple(
                    message for e in events if isinstance(e, AgentEnd) for message in e.messages
                )
                assert [one.error_message for one in answers_of(result.messages) if one.error_message] == [
                    str(failure)
                ]
                with pytest.raises(RunFailedError) as raised:
                    result.raise_for_error()
                assert raised.value.__cause__ is failure
            await show.works_again()
    assert index > 60


def make_first(show: Show, saboteur: Saboteur) -> None:
    """Put the saboteur before the recorder, which was there from the start."""
    first = show.first
    show.agent.subscribe(first)()
    show.agent.subscribe(saboteur)
    show.agent.subscribe(first)


@pytest.mark.parametrize(("mode", "pause"), [("parallel", yielding), ("sequential", None)])
async def test_a_listener_that_never_stops_failing_is_dropped(
    mode: ExecutionMode, pause: Pause | None
) -> None:
    for index, show in shows(mode):
        with told(index=index):
            saboteur = Saboteur(index, always=True, pause=pause)
            show.agent.subscribe(saboteur)
            other = Recorder(show.agent)
            raised: BaseException | None = None
            async with nothing_left():
                try:
                    await show.agent.prompt("go")
                except RuntimeError as error:
                    raised = error
            events = show.whole(sequential=mode == "sequential")
            assert heard_by(other) == heard_by(show.first)
            if not saboteur.raised:
                break
            # The first failure is in the transcript, unless it came at the very end; the one of the ending is raised.
            assert raised is saboteur.raised[-1]
            if str(raised).startswith("at agent_end, 1"):
                assert show.agent.state.error_message is None
            else:
                assert show.agent.state.error_message == str(saboteur.raised[0])
            assert briefs(events).count("agent_end") == 1
            # It was dropped until settlement only.
            show.first.events.clear()
            show.pause_is_over()
            with pytest.raises(RuntimeError):
                await show.agent.prompt("again")


@pytest.mark.parametrize("pause", [None, yielding])
async def test_of_two_that_fail_at_one_event_the_first_is_the_failure(pause: Pause | None) -> None:
    for index, show in shows("sequential"):
        with told(index=index):
            one, two = Saboteur(index, ValueError, pause=pause), Saboteur(index, OSError, pause=pause)
            show.agent.subscribe(one)
            show.agent.subscribe(two)
            other = Recorder(show.agent)
            raised: BaseException | None = None
            try:
                result = await show.agent.prompt("go")
            except ValueError as error:
                raised = error
            show.whole(sequential=True)
            assert heard_by(other) == heard_by(show.first)
            if not one.raised:
                break
            (first,), (second,) = one.raised, two.raised
            assert any(repr(second) in note for note in first.__notes__)
            if raised is None:
                assert result.errors[0] is first
                assert result.error_message == str(first)
            else:
                assert raised is first


CALL_PLACES = ("tool ", "before ", "after ", "execute ")


@pytest.mark.parametrize("mode", MODES)
async def test_anything_that_is_awaited_raises(mode: ExecutionMode) -> None:
    """Hooks, tools, entering a stream, its events, its result: each time that a run pauses."""
    places = set()
    for index in count():
        pause = RaisingPause(index)
        show = Show(pause=pause, tool_execution=mode)
        with told(index=index):
            async with nothing_left():
                result = await show.agent.prompt("go")
            events = show.whole(sequential=mode == "sequential")
            if pause.raised is None:
                break
            places.add(pause.place.split()[0])
            check_failure(show, events, result, pause.raised, of_a_call=pause.place.startswith(CALL_PLACES))
            await show.works_again()
    assert places == {
        "stream", "tool", "before", "after", "transform_context", "convert_to_llm", "get_api_key",
        "prepare_next_turn", "prepare_request", "finish_turn",
    }  # fmt: skip


def check_failure(
    show: Show, events: list[AgentEvent], result: Any, error: BaseException, *, of_a_call: bool
) -> None:
    if of_a_call:
        # A call's error is its result, for the model to read.
        assert result.stop_reason == "stop"
        assert result.errors == ()
        texts = [
            block.text
            for message in result.messages
            if message.role == "toolResult"
            for block in message.content
        ]
        assert str(error) in texts
    else:
        assert result.stop_reason == "error"
        assert result.errors == (error,)
        assert result.error_message == str(error)


@pytest.mark.parametrize("mode", MODES)
async def test_a_hook_raises_before_it_suspends(mode: ExecutionMode) -> None:
    for index in count():
        calls: list[str] = []
        raised: list[BaseException] = []

        def before_hook(
            name: str, index: int = index, calls: list[str] = calls, raised: list[BaseException] = raised
        ) -> None:
            calls.append(name)
            if len(calls) == index + 1:
                raised.append(LookupError(f"in {name}"))
                raise raised[0]

        show = Show(before_hook=before_hook, tool_execution=mode)
        with told(index=index):
            async with nothing_left():
                result = await show.agent.prompt("go")
            events = show.whole(sequential=mode == "sequential")
            if not raised:
                break
            check_failure(show, events, result, raised[0], of_a_call=calls[index].startswith(CALL_PLACES))


@pytest.mark.parametrize(("mode", "kind"), [("parallel", KeyboardInterrupt), ("sequential", SystemExit)])
async def test_interrupts_come_out_bare_after_settlement(
    mode: ExecutionMode, kind: Callable[[str], BaseException]
) -> None:
    for index in count():
        pause = RaisingPause(index, kind)
        show = Show(pause=pause, tool_execution=mode)
        with told(index=index):
            try:
                await show.agent.prompt("go")
            except BaseException as error:
                assert error is pause.raised
            else:
                assert pause.raised is None
                break
            show.whole(sequential=mode == "sequential")
            assert show.agent.state.error_message == str(pause.raised)
            await show.works_again()


@pytest.mark.parametrize("mode", MODES)
async def test_interrupts_of_a_listener_come_out_bare(mode: ExecutionMode) -> None:
    for index, show in shows(mode):
        with told(index=index):
            saboteur = Saboteur(index, KeyboardInterrupt)
            show.agent.subscribe(saboteur)
            try:
                await show.agent.prompt("go")
            except KeyboardInterrupt as error:
                assert [error] == saboteur.raised
            else:
                assert saboteur.raised == []
                break
            show.whole(sequential=mode == "sequential")


@pytest.mark.parametrize("waiting", [0, 1, 2])
async def test_what_continue_has_drained_is_not_lost(waiting: int) -> None:
    """With an answer at the end of the transcript, what is queued is the prompt."""
    for index, _ in shows("parallel"):
        show = Show(steering_waits=waiting)
        show.agent.messages = [*show.agent.messages, user("hello"), assistant("hello to you")]
        with told(index=index):
            saboteur = Saboteur(index)
            show.agent.subscribe(saboteur)
            try:
                await show.agent.continue_()
            except RuntimeError as error:
                assert str(error).startswith("at agent_end")
            show.whole()
            if not saboteur.raised:
                break


@pytest.mark.parametrize("all_at_once", [False, True])
async def test_what_was_drained_comes_back_to_the_head(all_at_once: bool) -> None:
    mode = "all" if all_at_once else "one-at-a-time"
    for index in count():
        pause = RaisingPause(index)
        show = Show(pause=pause, steering_mode=mode, follow_up_mode=mode)
        late = user("behind the others")
        show.steering.append(late)

        def steer_late(event: AgentEvent, _signal: object, show: Show = show, late: Any = late) -> None:
            if event.type == "turn_end" and late not in show.queued and show.steering[2] in show.queued:
                show._queue(show.agent.steer, late)

        show.agent.subscribe(steer_late)
        with told(index=index):
            await show.agent.prompt("go")
            show.whole()
            if pause.raised is None:
                break


@pytest.mark.parametrize(
    "how", ["raises", "rejects", "is nothing that can be opened", "gives nothing that can be opened"]
)
@pytest.mark.parametrize("request_number", [1, 2, 3])
async def test_the_stream_function_fails(request_number: int, how: str) -> None:
    show = Show()

    def answer(_request: object) -> Any:
        if how == "raises":
            raise ConnectionError("no network")
        if how == "rejects":
            return rejecting()
        return anything() if how.startswith("gives") else object()

    async def rejecting() -> None:
        await trio.lowlevel.checkpoint()
        raise ConnectionError("no network")

    async def anything() -> object:
        return object()

    show.script.answers[request_number - 1] = answer
    result = await show.agent.prompt("go")
    show.whole()
    assert len(show.script.requests) == request_number
    assert result.stop_reason == "error"
    assert ("no network" in str(result.error_message)) == how.startswith(("raises", "rejects"))
    await show.works_again()
