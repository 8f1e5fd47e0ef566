"""From the first event of a run to its settlement: where a failure is closed, and an outside cancellation is tamed.

A run's body is a shielded child task, so that cancelling the scope around `prompt()` does not tear it apart at any
checkpoint, and Ctrl-C does not find it. A sentinel beside it feels the cancellation instead, raises the run's abort,
and gives the body a *grace* to settle in; after that the shield falls. Whatever happens, the run ends with
`agent_end` in the ledger and in the state: what could no longer be delivered is at least reduced.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Final, TypeAlias

import trio

from ..events import AgentEnd
from ..texts import REQUEST_ABORTED
from .call import text_of
from .couriers import Couriers
from .failure import Owed
from .nursery import open_bare_nursery
from .run import Run, logger

GRACE: Final = 5.0
"""How long a cancelled run may take to settle, in seconds, if nobody says otherwise."""

#: Gives the events that end the run, for an error's text. None where nobody wants them (the low level).
Closing: TypeAlias = Callable[[str], Iterator[Owed]]


async def settle(
    run: Run, body: Callable[[], Awaitable[None]], closing: Closing | None, *, grace: float
) -> None:
    """Run `body` to the end of the run, whatever comes.

    Args:
        run: the run; afterwards its `errors` say what went wrong.
        body: the loop.
        closing: how a failed run is closed.
        grace: how long a cancelled run may take to settle, in seconds.

    Raises:
        KeyboardInterrupt, SystemExit: bare, when the run has settled, wherever in it they were raised.
        Cancelled: the surrounding scope was cancelled before the run was over. The run is settled all the same.
    """
    try:
        async with open_bare_nursery() as nursery:
            run.nursery = nursery
            nursery.start_soon(_sentinel, run, grace)
            nursery.start_soon(_play_and_close, run, body, closing)
            try:
                # Ctrl-C finds the calling task here, where it disturbs nothing: it is a failure of the run like any
                # other, but for the grace that it gets.
                await trio.sleep_forever()
            except KeyboardInterrupt as interrupt:
                run.begin_grace(grace)
                run.fail(interrupt)
    finally:
        if run.interrupt is not None:
            raise run.interrupt


@trio.lowlevel.enable_ki_protection
async def _play_and_close(run: Run, body: Callable[[], Awaitable[None]], closing: Closing | None) -> None:
    # One generator to the end: it goes on where a cut delivery has left it.
    ending: Iterator[Owed] | None = None
    with run.shielded() as shield:
        with run.containing:
            async with open_bare_nursery() as nursery:
                run.couriers = Couriers(nursery)
                with run.containing:
                    await body()
                run.couriers.dismiss()
        if not run.ledger.ended and run.failure is None and not shield.cancel_called:
            run.fail(RuntimeError("a scope that a listener had left open was cancelled, and the run with it"))
        if run.failure is not None:
            logger.error("a run has failed", exc_info=run.failure)
            if not run.ledger.ended and closing is not None:
                ending = _unfailing(run, closing(text_of(run.failure)))
                await run.close(ending)
    if not run.ledger.ended and closing is not None:
        if ending is None:
            text = REQUEST_ABORTED if run.failure is None else text_of(run.failure)
            ending = _unfailing(run, closing(text))
        run.reduce_silently(ending)
    run.over = True
    assert run.nursery is not None
    run.nursery.cancel_scope.cancel()


def _unfailing(run: Run, ending: Iterator[Owed]) -> Iterator[Owed]:
    """The ending of a run; and if it cannot be made, of a message that nobody can read, the run ends all the same."""
    try:
        yield from ending
    except Exception as error:
        logger.exception("the ending of a failed run cannot be told")
        run.late_errors.append(error)
        yield AgentEnd(messages=tuple(run.ledger.said)), None


@trio.lowlevel.enable_ki_protection
async def _sentinel(run: Run, grace: float) -> None:
    """Sleep until the surroundings are cancelled; then abort the run, and let its shields fall after the grace."""
    try:
        await trio.sleep_forever()
    finally:
        if not run.over:
            run.begin_grace(grace)
            try:
                run.controller.abort()
            except Exception:
                logger.exception("a function that waited for the abort has failed")
            except BaseException as interrupt:
                run.fail(interrupt)
