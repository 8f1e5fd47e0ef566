"""Trying a whole request again: whether, after how long, and who is told."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController
from pi_trio.models.dialect import DIALECT_0_85_0, DIALECT_1_0_3, DIALECTS
from pi_trio.models.retrying import (
    RetryCallbacks,
    RetryPolicy,
    is_retryable,
    retry_assistant_call,
    retry_delay_ms,
)

from .modelling import failed, response

GOOD = response()
BUSY = failed("overloaded")
POLICY = RetryPolicy(max_retries=2, base_delay_ms=1000)


@pytest.mark.parametrize(
    ("text", "releases"),
    [
        ("Connection error.", "0.85.0 1.0.3 1.6.0"),
        ("rate-limit", "0.85.0 1.0.3 1.6.0"),
        ("rate\N{GRINNING FACE}limit", ""),  # two units
        ("insufficient_quota 429", ""),
        ("Stream ended without finish_reason", "0.85.0 1.0.3 1.6.0"),
        ("WebSocket closed 1011 bad", "0.85.0 1.0.3 1.6.0"),
        ("WebSocket stream closed before response.completed", ""),
        ("Server requested 120s retry delay (max: 60s)", "0.85.0 1.0.3 1.6.0"),
        ("invalid_request id req_5003", "0.85.0 1.0.3"),
        ("520 who knows", "1.0.3 1.6.0"),
        ("read ECONNRESET", "1.6.0"),
        ("Request was aborted", ""),
    ],
)
def test_words(text, releases):
    known = [name for name, dialect in DIALECTS.items() if is_retryable(failed(text), dialect)]
    assert known == releases.split()


def test_only_a_failure_is_retried():
    assert not is_retryable(response(stop="aborted", error_message="overloaded"))
    assert not is_retryable(failed(""))


def test_pauses_double_up_to_a_longest():
    assert [retry_delay_ms(POLICY, attempt) for attempt in (0, 1, 2, 3, 7)] == [
        1000,
        1000,
        2000,
        4000,
        60_000,
    ]
    assert retry_delay_ms(POLICY, 7, DIALECT_0_85_0) == 64_000
    assert retry_delay_ms(RetryPolicy(base_delay_ms=1000, max_agent_delay_ms=1500), 2) == 1500
    assert retry_delay_ms(RetryPolicy(base_delay_ms=0.5), 1, DIALECT_1_0_3) == 60_000


class Diary:
    """Who is told of retries, with the time since the beginning; one callback of each kind."""

    def __init__(self) -> None:
        self.began = trio.current_time()
        self.lines: list[object] = []
        self.callbacks = RetryCallbacks(
            on_retry_scheduled=lambda *said: self.note("scheduled", *said),
            on_retry_attempt_start=self.started,
            on_retry_finished=lambda *said: self.note("finished", *said),
        )

    def note(self, *said: object) -> None:
        self.lines.append((trio.current_time() - self.began, *said))

    async def started(self) -> None:
        await trio.lowlevel.checkpoint()
        self.note("start")


def producer(*responses):
    left = list(responses)

    async def produce():
        await trio.lowlevel.checkpoint()
        return left.pop(0)

    return produce, left


async def test_it_is_tried_again_until_it_is_good(autojump_clock):
    diary = Diary()
    produce, left = producer(BUSY, BUSY, GOOD)
    assert await retry_assistant_call(produce, POLICY, None, diary.callbacks) is GOOD
    assert not left
    assert diary.lines == [
        (0, "scheduled", 1, 2, 1000, "overloaded"),
        (1, "start"),
        (1, "scheduled", 2, 2, 2000, "overloaded"),
        (3, "start"),
        (3, "finished", True, 2, None),
    ]


async def test_a_budget_ends(autojump_clock):
    diary = Diary()
    produce, left = producer(BUSY, BUSY, BUSY, GOOD)
    assert await retry_assistant_call(produce, POLICY, None, diary.callbacks) is BUSY
    assert left == [GOOD]
    assert diary.lines[-1] == (3, "finished", False, 2, "overloaded")


@pytest.mark.parametrize("policy", [None, RetryPolicy(enabled=False)])
async def test_without_a_policy_the_first_counts(policy):
    produce, _ = producer(BUSY)
    assert await retry_assistant_call(produce, policy) is BUSY


@pytest.mark.parametrize("last", [failed("no such model"), response(stop="aborted")])
async def test_what_does_not_pass_ends_it(autojump_clock, last):
    diary = Diary()
    produce, _ = producer(BUSY, last)
    assert await retry_assistant_call(produce, POLICY, None, diary.callbacks) is last
    assert diary.lines[-1] == (1, "finished", False, 1, last.error_message)


async def test_an_abort_ends_the_pause(autojump_clock):
    diary, abort = Diary(), AbortController()
    produce, left = producer(BUSY, GOOD)
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def raise_it():
            await trio.sleep(0.25)
            abort.abort()

        answer = await retry_assistant_call(produce, POLICY, abort.signal, diary.callbacks)
    assert (answer.stop_reason, answer.error_message, left) == ("aborted", None, [GOOD])
    assert diary.lines[-1] == (0.25, "finished", False, 1, "overloaded")


async def test_an_abort_before_the_pause(autojump_clock):
    abort = AbortController()
    abort.abort()
    produce, left = producer(BUSY, GOOD)
    answer = await retry_assistant_call(produce, POLICY, abort.signal)
    assert (answer.stop_reason, left) == ("aborted", [GOOD])


async def test_a_cancellation_tells_nobody(autojump_clock):
    diary = Diary()
    produce, _ = producer(BUSY, GOOD)
    with trio.move_on_after(0.5) as scope:
        await retry_assistant_call(produce, POLICY, None, diary.callbacks)
    assert scope.cancelled_caught
    assert [line[1] for line in diary.lines] == ["scheduled"]
