"""The cancelling abort (D-10), held to golden traces of its own.

No release has this mode, so there is nothing to record. The runtime is its own measure, in the other mode: without an
abort both traces are the same, and with one they are the same up to it. What differs from there on lies in
`vectors/cancel/`, line by line under its ruling: `-` is what the advisory mode says, which real Pi has proven, `+`
what the cancelling one says instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import attrs

from .lockstep import Run
from .protocol import Object
from .ruled import Golden, propose
from .scenario import Scenario
from .vectors import Vectors

#: Drives a scenario on the runtime.
Drive = Callable[[Scenario], Awaitable[Run]]


def cancelling(scenario: Scenario) -> Scenario:
    """The scenario with an agent whose aborts cancel."""
    options = {**scenario.create.get("options", {}), "abortMode": "cancel"}
    return attrs.evolve(scenario, create={**scenario.create, "options": options})


def cancel_golden_path(vectors: Vectors, release: str, name: str) -> Path:
    """Where the golden trace of a scenario in the cancelling mode lies."""
    return vectors.spec / "vectors" / "cancel" / f"pi-{release}" / f"{name}.jsonl"


def read_cancel_golden(vectors: Vectors, release: str, name: str) -> Golden | None:
    """The golden trace, if the two modes differ in this scenario. Raises: VectorError: it is damaged."""
    path = cancel_golden_path(vectors, release, name)
    return Golden.read(path) if path.is_file() else None


async def in_both_modes(scenario: Scenario, drive: Drive) -> tuple[tuple[Object, ...], tuple[Object, ...]]:
    """The runtime's traces in the advisory and in the cancelling mode, alike but for what the mode changes."""
    advisory = await drive(scenario)
    cancelled = await drive(cancelling(scenario))
    # The first line is `create`, which names the mode.
    return advisory.lines, (advisory.lines[0], *cancelled.lines[1:])


def propose_cancelled(
    name: str, release: str, traces: tuple[Sequence[Object], Sequence[Object]], former: Golden | None
) -> Golden | None:
    """A golden trace for review; None if the modes do not differ in this scenario."""
    return propose(name, release, *traces, "D-10", former=former)
