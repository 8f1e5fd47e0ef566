"""When a failed request is tried again."""

from __future__ import annotations

import math
import random
import time
from email.utils import formatdate

import pytest

from pi_trio.models.transport_errors import ConnectionFailedError, RetryTooLateError, StatusError
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
        ({"retry-after": "5e-1e5"}, 0.5),
        ({"retry-after": "2e"}, 2),
        ({"retry-after": "+.5."}, 0.5),
        ({"retry-after": "1.e1"}, 10),
        ({"retry-after": "-1e999"}, 0),
        ({"retry-after-ms": "-Infinity"}, 0),
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
    "headers",
    [
        {},
        {"retry-after": "soon"},
        {"retry-after-ms": "inf"},
        {"retry-after": "nan"},
        {"retry-after": "e5"},
        {"retry-after": "Mon, 01 Jan 2001 00:00:00 +99999999999999999"},
        {"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"},
    ],
)
def test_else_pauses_grow(headers, monkeypatch):
    failure = StatusError(429, headers, "")
    monkeypatch.setattr(random, "random", lambda: 0.0)
    assert [Retries().pause(failure, tries) for tries in range(6)] == [0.5, 1, 2, 4, 8, 8]
    monkeypatch.setattr(random, "random", lambda: 1.0)
    assert Retries().pause(ConnectionFailedError("refused"), 0) == 0.375


def test_there_may_be_no_limit():
    assert Retries(max_delay_ms=0).pause(StatusError(429, {"retry-after": "120"}, ""), 0) == 120


@pytest.mark.parametrize(
    ("headers", "delay"),
    [
        ({"retry-after": "60.5"}, "61"),
        ({"retry-after": "1e300"}, "1e+300"),
        ({"retry-after": "1e308"}, "Infinity"),
        ({"retry-after": "9" * 5000}, "Infinity"),
        ({"retry-after": "Infinity"}, "Infinity"),
        ({"retry-after-ms": "1e999"}, "Infinity"),
    ],
)
def test_a_pause_that_is_too_long_has_no_end_either(headers, delay):
    refusal = StatusError(429, headers, "slow")
    with pytest.raises(RetryTooLateError) as late:
        Retries().pause(refusal, 0)
    assert (late.value.delay, late.value.limit, late.value.failure) == (delay, "60", refusal)


@pytest.mark.parametrize("limit", [0, math.inf])
def test_for_ever_is_too_late_without_a_limit_too(limit):
    with pytest.raises(RetryTooLateError):
        Retries(max_delay_ms=limit).pause(StatusError(429, {"retry-after": "Infinity"}, ""), 0)


def test_a_long_header_is_read_once():
    begun = time.process_time()
    assert Retries().pause(StatusError(429, {"retry-after": "1x" * 50_000}, ""), 0) == 1
    assert time.process_time() - begun < 1
