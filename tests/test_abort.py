"""An abort is raised once, everybody hears of it in order, and a fault of one does not keep it from the others."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController, AbortSignal


@pytest.fixture
def controller() -> AbortController:
    return AbortController()


def test_an_abort_is_raised_once_and_stays(controller: AbortController) -> None:
    signal = controller.signal
    called: list[str] = []
    signal.on_abort(lambda: called.append("once"))
    assert not signal.aborted
    assert repr(signal) == "<AbortSignal live>"
    controller.abort()
    controller.abort()
    assert signal.aborted
    assert repr(signal) == "<AbortSignal aborted>"
    assert called == ["once"]
    assert controller.signal is signal


def test_functions_are_called_in_order_of_registration(controller: AbortController) -> None:
    called: list[int] = []
    for number in range(20):
        controller.signal.on_abort(lambda number=number: called.append(number))  # type: ignore[misc]
    controller.abort()
    assert called == list(range(20))


def test_they_see_the_signal_raised(controller: AbortController) -> None:
    seen: list[bool] = []
    controller.signal.on_abort(lambda: seen.append(controller.signal.aborted))
    controller.abort()
    assert seen == [True]


def test_a_function_registered_twice_is_called_twice_and_taken_back_one_by_one(
    controller: AbortController,
) -> None:
    called: list[str] = []

    def function() -> None:
        called.append("called")

    first = controller.signal.on_abort(function)
    controller.signal.on_abort(function)
    first()
    first()
    controller.abort()
    assert called == ["called"]


def test_a_registration_after_the_abort_is_never_called(controller: AbortController) -> None:
    controller.abort()
    called: list[str] = []
    unregister = controller.signal.on_abort(lambda: called.append("called"))
    controller.abort()
    unregister()
    assert called == []


def test_a_registration_taken_back_by_an_earlier_one_is_not_called(controller: AbortController) -> None:
    """As it is with the event targets of the web, whose signal this is."""
    called: list[str] = []
    controller.signal.on_abort(lambda: unregister())
    unregister = controller.signal.on_abort(lambda: called.append("called"))
    controller.abort()
    assert called == []


async def test_a_function_that_raises_does_not_keep_the_abort_from_the_others(
    controller: AbortController,
) -> None:
    called: list[str] = []

    async def wait() -> None:
        await controller.signal.wait()
        called.append("waiter")

    async with trio.open_nursery() as nursery:
        controller.signal.on_abort(lambda: [][0])
        controller.signal.on_abort(lambda: called.append("function"))
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        try:
            controller.abort()
        except IndexError:
            called.append("raised")
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert controller.signal.aborted
    assert {"function", "waiter"} <= set(called)


async def test_wait_returns_at_the_abort_for_everybody(controller: AbortController) -> None:
    woken: list[int] = []

    async def wait(number: int) -> None:
        await controller.signal.wait()
        woken.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(wait, number)
        await trio.testing.wait_all_tasks_blocked()
        assert woken == []
        controller.abort()
    assert sorted(woken) == [0, 1, 2, 3, 4]


async def test_wait_is_a_checkpoint_before_and_after(controller: AbortController) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(controller.signal.wait)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert not controller.signal.aborted
    controller.abort()
    with trio.testing.assert_checkpoints():
        await controller.signal.wait()
    with trio.CancelScope() as scope:
        scope.cancel()
        await controller.signal.wait()
    assert scope.cancelled_caught


async def test_a_cancelled_wait_leaves_nothing_behind(controller: AbortController) -> None:
    with trio.move_on_after(0):
        await controller.signal.wait()
    controller.abort()  # would wake a task that no longer waits


async def test_a_scope_ends_with_the_abort(
    controller: AbortController, autojump_clock: trio.testing.MockClock
) -> None:
    async def abort_later() -> None:
        await trio.testing.wait_all_tasks_blocked()
        controller.abort()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(abort_later)
        with controller.signal.scope() as scope:
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_a_scope_is_cancelled_from_the_start_if_the_abort_is_raised(
    controller: AbortController,
) -> None:
    controller.abort()
    reached = False
    with controller.signal.scope() as scope:
        reached = True
        await trio.lowlevel.checkpoint()
        reached = False
    assert reached
    assert scope.cancelled_caught


async def test_a_scope_that_was_left_is_not_cancelled_any_more(controller: AbortController) -> None:
    with controller.signal.scope() as scope:
        await trio.lowlevel.checkpoint()
    controller.abort()
    assert not scope.cancel_called
    await trio.lowlevel.checkpoint()


async def test_a_scope_lets_errors_through_and_forgets_itself(controller: AbortController) -> None:
    with pytest.raises(ValueError, match="mine"), controller.signal.scope() as scope:
        raise ValueError("mine")
    controller.abort()
    assert not scope.cancel_called


async def test_scopes_and_functions_share_one_order(controller: AbortController) -> None:
    seen: list[bool] = []
    signal: AbortSignal = controller.signal
    with signal.scope() as outer, signal.scope() as inner:
        signal.on_abort(lambda: seen.extend((outer.cancel_called, inner.cancel_called)))
        controller.abort()
        await trio.lowlevel.checkpoint()
    assert seen == [True, True]
    assert outer.cancelled_caught != inner.cancelled_caught


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), ValueError("no")])
async def test_whatever_a_function_raises_the_abort_reaches_everybody(error: BaseException) -> None:
    controller, called = AbortController(), []

    def broken() -> None:
        raise error

    controller.signal.on_abort(broken)
    controller.signal.on_abort(lambda: called.append("second"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(controller.signal.wait)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(type(error)) as caught:
            controller.abort()
    assert caught.value is error
    assert called == ["second"]
