"""The transcript that an adapter gets, against real Pi: the same messages for the same random transcripts."""

from __future__ import annotations

import random

import pytest

from pi_trio.codec import structure, unstructure
from pi_trio.jsonvalue import thaw
from pi_trio.messages import Message, Model
from pi_trio.models.dialect import dialect_of
from pi_trio.models.transform import transform, without_lone_surrogates
from pi_trio.testing import frozen_time

from .conftest import get
from .pure import SHORTENED, called
from .transcripts import IDS, SOURCES, TEXTS, TranscriptMaker

pytestmark = pytest.mark.upstream

TRANSCRIPTS = 2000
RELEASES = ("0.85.0", "1.0.3", "1.6.0")


def model_of(source, inputs):
    api, provider, name = source
    return {
        "id": name, "name": name, "api": api, "provider": provider, "baseUrl": "http://localhost", "reasoning": True,
        "input": inputs, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 9,
        "maxTokens": 9,
    }  # fmt: skip


def shortened(call_id, _message):
    return "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else "_" for c in call_id)[:8]


def without_present(messages):
    """The messages, with 0 for the time of those that were made just now."""
    return [
        message | {"timestamp": message["timestamp"] if message["timestamp"] < 10_000 else 0}
        for message in messages
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_random_transcripts(release):
    chance = random.Random(7)
    maker = TranscriptMaker(7, system=release != "0.85.0")
    calls = []
    for _ in range(TRANSCRIPTS):
        inputs = chance.choice([["text"], ["text", "image"]])
        model = model_of(chance.choice(SOURCES), inputs)
        calls.append([maker.transcript(), model, chance.choice([None, SHORTENED])])
    answers = called(get(release), "api/transform-messages.js", "transformMessages", calls)
    dialect = dialect_of(release)
    for (messages, model, ids), answer in zip(calls, answers, strict=True):
        transcript = [structure(message, Message) for message in messages]
        with frozen_time(0):
            mine = transform(transcript, structure(model, Model), dialect, shortened if ids else None)
        assert without_present([thaw(unstructure(message)) for message in mine]) == without_present(
            answer["value"]
        )


def test_lone_surrogates():
    texts = [one + other for one in (*TEXTS, *IDS) for other in (*TEXTS, "\ude00\ude00")]
    answers = called(
        get("1.6.0"), "utils/sanitize-unicode.js", "sanitizeSurrogates", [[text] for text in texts]
    )
    assert [without_lone_surrogates(text) for text in texts] == [answer["value"] for answer in answers]
