"""How a stepper's program ends: with its functions' results, with their errors, or cancelled, and always all of it."""

from __future__ import annotations

import pytest
import trio

from pi_trio import Agent
from pi_trio.agent.result import RunFailedError
from pi_trio.testing import HELD, Recorder, ScriptedModel, Stepper, StepperError
from pi_trio.testing import stepper as stepper_module

from .machines import free


async def fail(error: BaseException) -> None:
    await trio.lowlevel.checkpoint()
    raise error


def test_an_error_is_in_the_result():
    with Stepper() as stepper:
        run = stepper.start(fail, KeyError("x"))
        other = stepper.start(trio.sleep_forever)
        with pytest.raises(StepperError, match="fail has not ended"):
            run.result()
        assert run.error() is None
        stepper.settle()
        assert run.done
        assert not other.done
        with pytest.raises(KeyError):
            run.result()
    free()


def test_an_error_that_nobody_asks_for_is_raised_at_the_end():
    with pytest.raises(KeyError) as caught, Stepper() as stepper:
        stepper.start(fail, KeyError("x"))
        stepper.start(fail, OSError("y"))
        stepper.settle()
    assert len(caught.value.__notes__) == 1
    assert "fail has failed, too" in caught.value.__notes__[0]
    free()


def test_an_error_of_the_block_comes_first():
    with pytest.raises(ZeroDivisionError) as caught, Stepper() as stepper:
        stepper.start(fail, KeyError("x"))
        stepper.settle()
        raise ZeroDivisionError
    assert caught.value.__notes__ == ["the program has failed, too: KeyError('x')"]
    free()


def test_an_error_that_was_looked_at_is_not_raised_again():
    with Stepper() as stepper:
        run = stepper.start(fail, KeyError("x"))
        stepper.settle()
        assert isinstance(run.error(), KeyError)
    free()


def test_an_interrupt_while_closing_comes_out_of_it():
    async def exit_at_the_end() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise SystemExit(3)

    stepper = Stepper()
    stepper.start(exit_at_the_end)
    stepper.settle()
    with pytest.raises(SystemExit):
        stepper.close()
    free()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_comes_out_of_the_step(interrupt):
    stepper = Stepper()
    stepper.start(fail, interrupt)
    with pytest.raises(type(interrupt)) as caught:
        stepper.settle()
    assert caught.value is interrupt
    stepper.close()
    with pytest.raises(StepperError, match="closed"):
        stepper.step()
    free()


def test_what_is_cancelled_ends():
    with Stepper() as stepper:
        one, other = stepper.start(trio.sleep_forever), stepper.start(trio.sleep_forever)
        stepper.settle()
        one.cancel()
        assert not one.done
        stepper.settle()
        assert one.done
        with pytest.raises(StepperError, match="was cancelled"):
            one.result()
        assert not other.done


def test_leaving_cancels_what_runs_and_lets_it_settle():
    model = ScriptedModel(HELD)
    agent = Agent(stream_fn=model)
    recorder = Recorder(agent)
    with Stepper() as stepper:
        run = stepper.start(agent.prompt, "Hi")
        stepper.settle()
    assert recorder.lines[-1] == "agent_end"
    assert not agent.state.is_streaming
    assert run.done
    with pytest.raises(StepperError, match="was cancelled"):
        run.result()
    free()


def test_leaving_takes_as_much_virtual_time_as_it_needs():
    """A subscriber that hangs is cut when the grace has passed."""
    agent = Agent(stream_fn=ScriptedModel("Hi"), settle_grace=3600)
    agent.subscribe(lambda event, signal: trio.sleep_forever())
    with Stepper() as stepper:
        stepper.start(agent.prompt, "Hi")
        stepper.settle()
    assert stepper.time == 3600
    free()


def test_a_closed_stepper_does_nothing():
    stepper = Stepper()
    stepper.close()
    stepper.close()
    for use in (
        stepper.step,
        stepper.settle,
        lambda: stepper.advance(1),
        lambda: stepper.start(trio.sleep, 1),
    ):
        with pytest.raises(StepperError, match="closed"):
            use()
    free()


def test_what_does_not_end_is_named(monkeypatch):
    monkeypatch.setattr(stepper_module, "PATIENCE", 0.01)

    async def stubborn(event: trio.Event) -> None:
        with trio.CancelScope(shield=True):
            await event.wait()

    stepper = Stepper()
    event = trio.Event()
    stepper.start(stubborn, event)
    stepper.settle()
    with pytest.raises(StepperError, match=r"does not end, although it is cancelled: .*stubborn"):
        stepper.close()
    with pytest.raises(
        StepperError, match=r"this thread has a stepper whose program has not ended: .*stubborn"
    ):
        Stepper()
    event.set()
    stepper.close()
    free()


async def test_it_is_no_thing_for_an_async_test():
    with pytest.raises(RuntimeError, match="inside"):
        Stepper()


def test_a_run_that_fails_raises_where_it_is_asked_to():
    with Stepper() as stepper:
        run = stepper.start(Agent(stream_fn=ScriptedModel(OSError("no net"))).prompt, "Hi")
        stepper.settle()
        with pytest.raises(RunFailedError, match="no net"):
            run.result().raise_for_error()


@pytest.mark.parametrize(
    "interrupts", [(SystemExit(3), KeyboardInterrupt()), (KeyboardInterrupt(), SystemExit(3))]
)
def test_of_two_interrupts_in_one_pass_one_comes_out(interrupts):
    async def raise_it(error: BaseException) -> None:
        raise error

    stepper = Stepper()
    for interrupt in interrupts:
        stepper.start(raise_it, interrupt)
    with pytest.raises((SystemExit, KeyboardInterrupt)) as caught:
        stepper.settle()
    (other,) = {*interrupts} - {caught.value}
    assert caught.value.__notes__ == [f"together with it: {other!r}"]
    stepper.close()
    free()
