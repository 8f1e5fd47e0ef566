"""What the texts of failures mean, against three real releases: an overflow, a failure that may pass, or neither."""

from __future__ import annotations

import pytest

from pi_trio.models.failure_texts import (
    ACCOUNT_LIMIT,
    CEREBRAS_OVERFLOW,
    NO_OVERFLOW,
    OVERFLOW,
    TRANSIENT,
    Words,
)

from .core_asking import Question, compared
from .core_texts import TEXTS, texts

pytestmark = pytest.mark.upstream

CHANGED = 4000


def questions(text: str) -> list[Question]:
    fields = {
        "content": [],
        "api": "a",
        "model": "m",
        "stopReason": "error",
        "errorMessage": text,
        "timestamp": 1,
    }
    zeros = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    usage = {**zeros, "totalTokens": 0, "cost": {**zeros, "total": 0}}
    failed = {"role": "assistant", **fields, "provider": "p", "usage": usage}
    return [
        ("overflow", (failed, None)),
        ("overflow", ({**failed, "provider": "cerebras"}, None)),
        ("retryable", (failed,)),
    ]


@pytest.mark.parametrize("any_pi", ["0.85.0", "1.0.3", "1.6.0"], indirect=True)
def test_texts_mean_the_same(any_pi):
    asked = [question for text in texts(1, CHANGED) for question in questions(text)]
    done = compared(any_pi, asked)
    assert [one for one in done if not one.equal] == []
    found = sum(one.theirs for one in done)
    assert len(done) / 8 < found < len(done) / 2


@pytest.mark.parametrize("table", [OVERFLOW, CEREBRAS_OVERFLOW, NO_OVERFLOW, ACCOUNT_LIMIT, TRANSIENT])
def test_each_word_is_tried(table):
    for release, words in table.added.items():
        for word in words:
            assert any(Words(added={release: (word,)}).found_in(text, release) for text in TEXTS), word
