"""The cancelling abort (D-10), held to golden traces of its own.

No release has this mode, so there is nothing to record. The runtime is its own measure, in the other mode: without an
abort both traces are the same, and with one they are the same up to it. What differs from there on lies in
`vectors/cancel/`, line by line under its ruling: `-` is what the advisory mode says, which real Pi has proven, `+`
what the cancelling one says instead.

The mode is named in `create`, so there the traces of the two modes differ in any case. In a golden trace it is left
out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from .compare import canonical
from .lockstep import Run
from .mirror import cancelling
from .protocol import Object
from .ruled import Golden, propose
from .scenario import Scenario
from .vectors import Vectors

#: Drives a scenario on the runtime.
Drive = Callable[[Scenario], Awaitable[Run]]


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
    own = cancelling(scenario)
    return advisory.lines, created_by(scenario, own, (await drive(own)).lines)


def created_by(scenario: Scenario, other: Scenario, lines: Iterable[Object]) -> tuple[Object, ...]:
    """The lines of a trace, with each `create` of the `other` scenario as `scenario` has it."""
    same = {canonical(theirs): ours for ours, theirs in zip(_creates(scenario), _creates(other), strict=True)}
    return tuple(
        same.get(canonical(line), line) if line.get("send", {}).get("cmd") == "create" else line
        for line in lines
    )


def _creates(scenario: Scenario) -> list[Object]:
    commands = [scenario.create_command(), *scenario.steps]
    return [{"send": command} for command in commands if command["cmd"] == "create"]


def propose_cancelled(
    name: str, release: str, traces: tuple[Sequence[Object], Sequence[Object]], former: Golden | None
) -> Golden | None:
    """A golden trace for review; None if the modes do not differ in this scenario."""
    return propose(name, release, *traces, "D-10", former=former)
