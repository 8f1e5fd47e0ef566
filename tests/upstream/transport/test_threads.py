"""Requests that continue each other, against real pi-ai."""

from __future__ import annotations

import json

import pytest

from .compare import judge, shown
from .decisions import RELEASES
from .running import against_pi
from .thread_cases import thread_cases

pytestmark = pytest.mark.upstream


@pytest.mark.parametrize("release", RELEASES)
async def test_sessions(release: str) -> None:
    outcomes = await against_pi(list(thread_cases(1, 120 if release == RELEASES[-1] else 30)), release)
    judged = judge(outcomes, release)
    assert not judged.differing, "\n".join(shown(outcome, found) for outcome, found in judged.differing[:5])
    bodies = [json.dumps(request) for outcome in outcomes for request in outcome.theirs["requests"]]
    continued = sum("previous_message_id" in body for body in bodies)
    assert continued > 30 if release == RELEASES[-1] else continued == 0
