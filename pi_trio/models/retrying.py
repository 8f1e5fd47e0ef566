"""Trying a whole request again: when that may help, how long to wait, and the loop that does it.

This is about responses that have failed, when their stream has ended. The tries before a stream begins are the
transport's own (`http.py`).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final

import attrs
import trio

from ..abort import AbortSignal
from ..messages import AssistantMessage
from .dialect import DIALECT_1_6_0, Dialect
from .failure_texts import ACCOUNT_LIMIT, TRANSIENT

_MAX_SAFE_INTEGER: Final = 2**53 - 1


@attrs.frozen(kw_only=True)
class RetryPolicy:
    """How often a request is tried again, and after how long.

    The pauses double, from `base_delay_ms`. `max_agent_delay_ms` is the longest; None for Pi's (a minute, and no limit
    before 1.0.3).
    """

    enabled: bool = True
    max_retries: int = 3
    base_delay_ms: float = 2000
    max_agent_delay_ms: float | None = None


@attrs.frozen(kw_only=True)
class RetryCallbacks:
    """Who is told of retries; plain functions or coroutine functions.

    Attributes:
        on_retry_scheduled: `(attempt, max_retries, delay_ms, error_message)`, before the pause.
        on_retry_attempt_start: `()`, after the pause.
        on_retry_finished: `(success, attempt, error_message)`, once at the end, if anything was tried again; the
            message is None for a success, and for a response that was aborted.
    """

    on_retry_scheduled: Callable[[int, int, float, str], Any] | None = None
    on_retry_attempt_start: Callable[[], Any] | None = None
    on_retry_finished: Callable[[bool, int, str | None], Any] | None = None


def is_retryable(message: AssistantMessage, dialect: Dialect = DIALECT_1_6_0) -> bool:
    """Whether a response has failed in a way that may be gone the next time."""
    text = message.error_message
    if message.stop_reason != "error" or not text:
        return False
    release = dialect.failure_texts
    return not ACCOUNT_LIMIT.found_in(text, release) and TRANSIENT.found_in(text, release)


def retry_delay_ms(policy: RetryPolicy, attempt: int, dialect: Dialect = DIALECT_1_6_0) -> float:
    """The pause before the try `attempt` (from 1), in milliseconds."""
    if dialect.max_agent_delay_ms is None:
        return policy.base_delay_ms * 2.0 ** (attempt - 1)
    delay = policy.base_delay_ms * 2.0 ** max(0, attempt - 1)
    if not delay.is_integer() or abs(delay) > _MAX_SAFE_INTEGER:
        delay = _MAX_SAFE_INTEGER  # as Pi: a pause that is no whole number is the longest one
    longest = policy.max_agent_delay_ms
    return min(delay, dialect.max_agent_delay_ms if longest is None else longest)


async def retry_assistant_call(
    produce: Callable[[], Awaitable[AssistantMessage]],
    policy: RetryPolicy | None,
    signal: AbortSignal | None = None,
    callbacks: RetryCallbacks | None = None,
    dialect: Dialect = DIALECT_1_6_0,
) -> AssistantMessage:
    """The response of `produce`, which is called again as long as it fails in a way that may pass.

    Args:
        produce: makes the request once. What it raises is not caught.
        policy: None, or one that is not enabled, for no retries.
        signal: ends a pause; the response is then the failed one, with stop reason "aborted" and without its error. A
            response that was aborted is never tried again.
        callbacks: who is told.
        dialect: which failures may pass, and the longest pause.

    Cancelling it ends the request or the pause, and tells nobody.
    """
    tell = callbacks or RetryCallbacks()
    retries = policy.max_retries if policy is not None and policy.enabled else 0
    attempt = 0
    while True:
        response = await produce()
        failed = response.stop_reason == "error"
        if not failed or attempt >= retries or not is_retryable(response, dialect):
            if attempt:
                success = response.stop_reason not in ("error", "aborted")
                await _call(
                    tell.on_retry_finished, success, attempt, response.error_message if failed else None
                )
            return response
        attempt += 1
        assert policy is not None
        delay = retry_delay_ms(policy, attempt, dialect)
        text = response.error_message or ""
        await _call(tell.on_retry_scheduled, attempt, retries, delay, text)
        if not await _pause(delay / 1000, signal):
            await _call(tell.on_retry_finished, False, attempt, text)
            return attrs.evolve(response, stop_reason="aborted", error_message=None)
        await _call(tell.on_retry_attempt_start)


async def _pause(seconds: float, signal: AbortSignal | None) -> bool:
    """Wait; False if the signal has ended the wait."""
    if signal is None:
        await trio.sleep(seconds)
        return True
    with signal.scope() as scope:
        await trio.sleep(seconds)
    return not scope.cancelled_caught


async def _call(function: Callable[..., Any] | None, *arguments: Any) -> None:
    if function is not None:
        result = function(*arguments)
        if inspect.isawaitable(result):
            await result
