"""Plays the stated cases to the real releases, and writes what these did: `spec/vectors/transport/NAME.jsonl`.

A recording has one line for each result that releases agree on. What depends on the day and the machine is left out,
as the package itself leaves it out of what it compares (`pi_trio.conformance.transport.settled`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import trio

from pi_trio.conformance.subjects.pi_install import PiInstall
from pi_trio.conformance.subjects.pi_releases import ensure_pi
from pi_trio.conformance.transport.settled import settled
from pi_trio.conformance.transport.vector import RELEASES, Recorded, TransportVector, write_vector
from pi_trio.conformance.vectors import spec_folder

from ..cases import Case
from ..core_asking import theirs
from ..lockstep import run_cases
from ..pi_side import open_pi
from .case import Stated


class _Nobody:
    """The other side, which does nothing."""

    async def __aenter__(self) -> _Nobody:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def run(self, case: Case, number: int) -> dict[str, Any]:
        return {"calls": []}

    async def wait(self, number: int, kind: str) -> None:
        pass


def record(cases: Mapping[str, Stated]) -> Iterator[TransportVector]:
    """Record cases, and write their vectors."""
    played = {release: results(list(cases.values()), release) for release in RELEASES}
    for number, stated in enumerate(cases.values()):
        found: list[Recorded] = []
        for release in RELEASES:
            result = played[release][number]
            same = next((place for place, each in enumerate(found) if each.result == result), None)
            if same is None:
                found.append(Recorded((release,), result))
            else:
                found[same] = Recorded((*found[same].releases, release), result)
        vector = TransportVector(
            name=stated.name, title=stated.title, case=stated.bare(), recorded=tuple(found)
        )
        write_vector(spec_folder(), vector)
        yield vector


def results(cases: Sequence[Stated], release: str) -> list[dict[str, Any]]:
    """What a release makes of the cases."""
    return trio.run(_played, cases, release)


async def _played(cases: Sequence[Stated], release: str) -> list[dict[str, Any]]:
    pi = await ensure_pi(release, report=print)
    outcomes = await run_cases([stated.case for stated in cases], release, open_pi(pi), _Nobody())
    return [settled(_with_meanings(pi, outcome.theirs)) for outcome in outcomes]


def _with_meanings(pi: PiInstall, result: dict[str, Any]) -> dict[str, Any]:
    """The result with what the release takes its failures for."""
    return {**result, "calls": [_with_meaning(pi, each) for each in result["calls"]]}


def _with_meaning(pi: PiInstall, call: dict[str, Any]) -> dict[str, Any]:
    message = call.get("message")
    if not isinstance(message, dict) or message.get("stopReason") != "error":
        return call
    overflow, retryable = theirs(pi, [("overflow", (message, None)), ("retryable", (message,))])
    return {**call, "meaning": {"overflow": overflow, "retryable": retryable}}
