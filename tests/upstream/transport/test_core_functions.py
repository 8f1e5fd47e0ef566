"""Levels, limits, costs, estimates, retries and transcripts against three real releases: the same answers, exactly.

Left out is an object whose keys JavaScript would order as array indices (a section called "1").
"""

from __future__ import annotations

from collections import Counter

import pytest

from pi_trio.models.dialect import dialect_of

from .core_asking import compared
from .core_making import Maker

RELEASES = ("0.85.0", "1.0.3", "1.6.0")
EACH = 300

pytestmark = [pytest.mark.upstream, pytest.mark.parametrize("any_pi", RELEASES, indirect=True)]


def test_generated_questions(any_pi):
    questions = list(Maker(1, dialect_of(any_pi.release)).questions(EACH))
    done = compared(any_pi, questions)
    assert [one for one in done if not one.equal] == []
    assert min(Counter(name for name, _ in questions).values()) == EACH
    assert len({repr(one.theirs) for one in done}) > len(done) / 4
