"""Who departs from what a ruling promises is not safe, in whatever scenario, and however little it is."""

from __future__ import annotations

from functools import cache

import pytest

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.protocol import Object
from pi_trio.jsonvalue import thaw

from .departures import DEPARTURES, Departure
from .golden import CANCELLED, RULED, expect_it, why_unsafe

MOST = 12
"""Scenarios in which one departure is judged, at most."""


@cache
def ruled() -> dict[str, Expectation]:
    """What is expected where rulings apply, in both modes of an abort."""
    both = {name: expect_it(name) for name in RULED}
    both |= {f"{name} (cancel)": expect_it(name, cancelling=True) for name in CANCELLED}
    return {name: expected for name, expected in both.items() if expected.enters is not None}


def changed(expected: Expectation, change: Departure) -> list[Object]:
    assert expected.enters is not None
    shared = expected.enters + 1
    return [*expected.lines[:shared], *change(thaw([*expected.lines[shared:]]))]


@pytest.mark.parametrize("change", DEPARTURES, ids=lambda change: change.__name__)
def test_it_is_not_safe(change: Departure) -> None:
    shows = {
        name: (expected, lines)
        for name, expected in ruled().items()
        if fingerprint(lines := changed(expected, change))
        not in (expected.fingerprint, fingerprint(expected.unruled_side))
    }
    some = [*shows][:: max(1, len(shows) // MOST)]
    assert some
    assert [name for name in some if not why_unsafe(shows[name][1], shows[name][0])] == []
