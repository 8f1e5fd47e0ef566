"""The built-in tools against what those of Pi's releases have made of the same calls, as it is recorded.

`tests/upstream/builtin` records it, and compares many more calls with the releases themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pi_trio.builtin import DIALECTS

from .cases import Case, all_cases
from .outcomes import our_outcomes, recorded

CASES = list(all_cases())
RECORDED = recorded()
NEWEST = list(DIALECTS)[-1]


def told_apart(case: Case, release: str) -> bool:
    """Whether the release makes something else of it than the newest one, apart from what only programs get."""
    outcomes = [dict(RECORDED[case.name][one]) for one in (release, NEWEST)]
    for outcome in outcomes:
        outcome.pop("structuredContent", None)
    return outcomes[0] != outcomes[1]


def differences(cases: list[Case], ours: dict[str, Any], release: str) -> Iterator[tuple[str, Any, Any]]:
    for case in cases:
        mine, theirs = ours[case.name], RECORDED[case.name][release]
        if (mine == theirs) == (release in case.otherwise):  # what we do otherwise is otherwise, too
            yield case.name, mine, theirs


def test_the_recording_is_of_these_cases():
    assert [*RECORDED] == [case.name for case in CASES]
    assert [RECORDED[case.name]["digest"] for case in CASES] == [case.digest() for case in CASES]


@pytest.mark.parametrize("tool", ["read", "write", "edit", "bash"])
async def test_as_the_newest_release(tool, tmp_path):
    cases = [case for case in CASES if case.tool == tool]
    assert list(differences(cases, await our_outcomes(cases, NEWEST, tmp_path), NEWEST)) == []


@pytest.mark.parametrize("release", [one for one in DIALECTS if one != NEWEST])
async def test_as_an_older_release_where_that_differs(release, tmp_path):
    cases = [case for case in CASES if told_apart(case, release)]
    assert len(cases) > 10
    assert list(differences(cases, await our_outcomes(cases, release, tmp_path), release)) == []


@pytest.mark.parametrize("release", [one for one in DIALECTS if one != NEWEST])
async def test_what_programs_get_in_an_older_release(release, tmp_path):
    cases = [case for case in CASES if case.tool in ("read", "bash")][::25]
    assert list(differences(cases, await our_outcomes(cases, release, tmp_path), release)) == []
