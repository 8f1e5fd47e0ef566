"""The yardstick: for each event one checkpoint, and one call of a function that does nothing."""

from __future__ import annotations

import trio

from benchmarks.subjects.telling import serve
from benchmarks.workloads import Manner, Workload


def _listen(_event: object, _signal: object) -> None:
    pass


async def _tick(events: int) -> int:
    for event in range(events):
        await trio.lowlevel.checkpoint()
        _listen(event, None)
    return events


def run(workload: Workload, _manner: Manner) -> int:
    """As many events as an agent says in the workload, whatever its manner."""
    return trio.run(_tick, workload.events)


if __name__ == "__main__":
    serve(run, "trio")
