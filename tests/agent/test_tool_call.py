"""`run_tool_call`: one call as the loop would make it, without events and messages; failures are outcomes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController, AbortSignal
from pi_trio.agent.call import ToolCallOutcome, run_tool_call
from pi_trio.agent.hooks import AfterToolCallResult, AgentContext, BeforeToolCallResult, Hooks
from pi_trio.profile import PI_1_6_0
from pi_trio.tools.tool import UpdateFn

from .scripting import assistant, call, result, text_of, tool, user

ANSWER = assistant(call("t1", n=1))


async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
    on_update(result("half"))
    await trio.lowlevel.checkpoint()
    return result(f"{call_id} {args}")


async def run(execute: Any = work, *, name: str = "work", **options: Any) -> ToolCallOutcome:
    """Make the call `t1`."""
    context = AgentContext(messages=(user("go"), ANSWER), tools=(tool("work", execute),))
    return await run_tool_call(call("t1", name, n=1), assistant_message=ANSWER, context=context, **options)


async def test_a_call_gives_an_outcome() -> None:
    with trio.testing.assert_checkpoints():
        outcome = await run()
    assert outcome.tool_call == call("t1", n=1)
    assert text_of(outcome.result) == "t1 {'n': 1}"
    assert outcome.is_error is False
    assert isinstance(outcome.duration_ms, int)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        outcome.is_error = True  # type: ignore[misc]


async def test_durations_are_measured(mock_clock: trio.testing.MockClock) -> None:
    def jumping(*args: Any) -> str:
        mock_clock.jump(0.25)
        return "done"

    assert (await run(jumping)).duration_ms == 250
    assert (await run(name="other")).duration_ms is None
    assert (await run(profile=attrs.evolve(PI_1_6_0, durations=False))).duration_ms is None


@pytest.mark.parametrize("suspends", [False, True])
async def test_failures_never_raise(suspends: bool) -> None:
    async def slowly(*args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        raise ValueError("broken")

    def quickly(*args: Any) -> Any:
        raise ValueError("broken")

    failing = slowly if suspends else quickly
    for outcome in (
        await run(failing),
        await run(hooks=Hooks(before_tool_call=failing)),
        await run(hooks=Hooks(after_tool_call=failing)),
    ):
        assert outcome.is_error is True
        assert text_of(outcome.result) == "broken"


async def test_what_is_raised_by_tool_or_hook_is_logged_once_and_what_a_model_does_wrong_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def failing(*args: Any) -> Any:
        raise ValueError("broken")

    ways: list[dict[str, Any]] = [{"execute": failing}]
    ways += [{"hooks": Hooks(**{name: failing})} for name in ("before_tool_call", "after_tool_call")]
    for way in ways:
        caplog.clear()
        await run(**way)
        (record,) = caplog.records
        assert (record.name, record.exc_info is not None) == ("pi_trio", True)
    caplog.clear()
    picky = attrs.evolve(tool("work", work), parameters={"type": "object", "required": ["much"]})
    context = AgentContext(messages=(user("go"), ANSWER), tools=(picky,))
    outcome = await run_tool_call(call("t1", "work", n=1), assistant_message=ANSWER, context=context)
    assert text_of(outcome.result).startswith("Validation failed")
    assert not caplog.records


async def test_refusals_are_outcomes() -> None:
    outcome = await run(name="other")
    assert (text_of(outcome.result), outcome.is_error) == ("Tool other not found", True)
    hooks = Hooks(before_tool_call=lambda context, signal: BeforeToolCallResult(block=True, reason="no"))
    assert text_of((await run(hooks=hooks)).result) == "no"


async def test_an_aborted_signal_calls_nothing() -> None:
    controller = AbortController()
    controller.abort()
    called: list[Any] = []

    def note(*args: Any) -> None:
        called.append(args)

    hooks = Hooks(before_tool_call=note, after_tool_call=note)
    outcome = await run(note, hooks=hooks, signal=controller.signal)
    assert text_of(outcome.result) == "Operation aborted"
    assert called == []


async def test_both_hooks_take_part_and_see_the_signal() -> None:
    controller = AbortController()
    seen: list[Any] = []

    def before(context: Any, signal: AbortSignal) -> None:
        seen.append((context.assistant_message, context.context.messages, signal))
        context.args["more"] = True

    def after(context: Any, signal: AbortSignal) -> AfterToolCallResult:
        seen.append((context.assistant_message, context.context.messages, signal))
        return AfterToolCallResult(is_error=True, details={"seen": context.args})

    outcome = await run(hooks=Hooks(before_tool_call=before, after_tool_call=after), signal=controller.signal)
    assert seen == [(ANSWER, (user("go"), ANSWER), controller.signal)] * 2
    assert outcome.is_error is True
    assert outcome.result.details == {"seen": {"n": 1, "more": True}}
    assert text_of(outcome.result) == "t1 {'n': 1, 'more': True}"


async def test_other_tools_than_those_of_the_context() -> None:
    context = AgentContext(messages=(), tools=(tool("work", lambda *args: "of the context"),))
    outcome = await run_tool_call(
        call("t1"), assistant_message=ANSWER, context=context, tools=[tool("work", lambda *args: "given")]
    )
    assert text_of(outcome.result) == "given"


async def test_progress_is_given_on_until_the_tool_answers() -> None:
    heard: list[str] = []
    reporters: list[UpdateFn] = []

    async def reporting(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        reporters.append(on_update)
        on_update(result("one"))
        await trio.lowlevel.checkpoint()
        on_update(result("two"))
        return result()

    def after(context: Any, signal: AbortSignal) -> None:
        reporters[0](result("late"))

    await run(
        reporting,
        hooks=Hooks(after_tool_call=after),
        on_update=lambda partial: heard.append(text_of(partial)),
    )
    reporters[0](result("very late"))
    assert heard == ["one", "two"]
    await run(reporting)


async def test_cancelling_it_cancels_the_tool() -> None:
    log: list[str] = []

    async def stuck(*args: Any) -> Any:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            log.append("cancelled")
            raise

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, stuck)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert log == ["cancelled"]


async def test_a_tool_may_call_another_tool() -> None:
    async def outer(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
        inner = await run(work, signal=signal, on_update=on_update)
        return result(f"inner said: {text_of(inner.result)}")

    assert text_of((await run(outer)).result) == "inner said: t1 {'n': 1}"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
async def test_interrupts_come_out(kind: type[BaseException]) -> None:
    async def interrupted(*args: Any) -> Any:
        await trio.lowlevel.checkpoint()
        raise kind

    with pytest.raises(kind):
        await run(interrupted)
