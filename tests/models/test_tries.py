"""When a failed request is tried again."""

from __future__ import annotations

import random
from email.utils import formatdate

import pytest

from pi_trio.models.transport_errors import ConnectionFailedError, StatusError
from pi_trio.models.tries import Retries
from pi_trio.timestamps import now


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500ms", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "2.5"}, 2.5),
        ({"retry-after": " 3 seconds"}, 3),
        ({"retry-after": "-1"}, 0),
        ({"retry-after": formatdate(now() / 1000 - 100, usegmt=True)}, 0),
        ({"retry-after": "1_0"}, 1),
    ],
)
def test_the_server_may_say_when(headers, seconds):
    assert Retries().pause(StatusError(429, headers, ""), 3) == seconds


def test_a_date_says_when_too():
    asked = Retries().pause(
        StatusError(429, {"retry-after": formatdate(now() / 1000 + 30, usegmt=True)}, ""), 0
    )
    assert 0 < asked <= 30


@pytest.mark.parametrize(
    "headers", [{}, {"retry-after": "soon"}, {"retry-after-ms": "inf"}, {"retry-after": "nan"}]
)
def test_else_pauses_grow(headers, monkeypatch):
    failure = StatusError(429, headers, "")
    monkeypatch.setattr(random, "random", lambda: 0.0)
    assert [Retries().pause(failure, tries) for tries in range(6)] == [0.5, 1, 2, 4, 8, 8]
    monkeypatch.setattr(random, "random", lambda: 1.0)
    assert Retries().pause(ConnectionFailedError("refused"), 0) == 0.375


def test_there_may_be_no_limit():
    assert Retries(max_delay_ms=0).pause(StatusError(429, {"retry-after": "120"}, ""), 0) == 120
