"""Faults that show in some orders and not in others, planted in the runtime: a whole scope finds each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
import trio

from pi_trio.agent import batch
from pi_trio.agent.batch import _Batch, _Updates, answer_call, start
from pi_trio.agent.nursery import open_bare_nursery
from pi_trio.agent.under_way import UnderWay
from pi_trio.conformance.scopes import Coverage, Gates, Schedules, Scope

Make = Callable[[Any], Any]


def last_report_lost(original: Any) -> Any:
    """A call's report is dropped if the calls before and behind it have ended."""

    def report(updates: Any, partial: Any) -> Any:
        others = [record for record in updates._run.ledger.calls if record is not updates._record]
        if len(others) == 2 and all(record.ended for record in others):
            return None
        return original(updates, partial)

    return report


def never_closed(_original: Any) -> Any:
    """A call that has returned may report on, as long as another one runs."""

    def close(updates: Any) -> None:
        others = [record for record in updates._run.ledger.calls if record is not updates._record]
        updates._open = not all(record.ended for record in others)

    return close


def no_wait_for_reports(_original: Any) -> Any:
    """A call does not wait until its reports have arrived."""

    async def wait(_: Any) -> None:
        await trio.lowlevel.cancel_shielded_checkpoint()

    return wait


def nobody_is_woken(_original: Any) -> Any:
    """Who waits for reports already is not told that the last one has arrived."""

    class Sleepy(UnderWay):
        __slots__ = ()

        def one_less(self) -> None:
            self._number -= 1

    return Sleepy


def each_its_own_call(_original: Any) -> Any:
    """The tasks of a batch are given their calls when they are made, and not when they first run."""

    async def parallel(batch: Any) -> Any:
        ready = []
        for record in batch.records:
            await start(batch.run, record)
            ready.append((record, await batch.caller.prepare(record.call)))
        async with open_bare_nursery() as nursery:
            for pair in ready:
                nursery.start_soon(batch._launch, iter([pair]))
        batch.run.check()
        for record in batch.records:
            await answer_call(batch.run, record)
        return batch.records

    return parallel


PLANTED: Final[list[tuple[Make, Any, str, Scope, str]]] = [
    (last_report_lost, _Updates, "report", Gates(calls=3, updates=1), "what is told is what the gates say"),
    (
        never_closed,
        _Updates,
        "close",
        Gates(calls=2, updates=0, late=True),
        "what is told is what",
    ),
    (
        no_wait_for_reports,
        UnderWay,
        "wait",
        Schedules(calls=1, updates=1, slow=True),
        "each call's reports in order",
    ),
    (nobody_is_woken, batch, "UnderWay", Schedules(calls=1, updates=1), "it settles"),
    (
        each_its_own_call,
        _Batch,
        "parallel",
        Schedules(calls=2, updates=0),
        "tools are called in source order",
    ),
]


@pytest.mark.parametrize(
    ("make", "owner", "name", "scope", "cause"), PLANTED, ids=[make.__name__ for make, *_ in PLANTED]
)
def test_it_is_found(
    make: Make, owner: Any, name: str, scope: Scope, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert covered(scope).found == {}
    monkeypatch.setattr(owner, name, make(getattr(owner, name)))
    coverage = covered(scope)
    (found,) = [each for each in coverage.found.values() if each.fault.cause.startswith(cause)]
    assert 0 < found.plays < coverage.plays, "it shows in some orders only"
    assert found.fault in scope.again(found.order).faults


def covered(scope: Scope) -> Coverage:
    coverage = Coverage(scope)
    coverage.fill()
    assert coverage.complete
    return coverage
