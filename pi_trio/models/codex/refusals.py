"""An answer with an error status: what it says to the user, whether another try may help, and when.

The endpoint serves the subscribers of ChatGPT, whose limits it tells with the plan and the time of their reset.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import floor, inf, isfinite
from typing import Final

from ...errors import CodecError
from ...jsontext import parse_json
from ...jsonvalue import JSON
from ...timestamps import now
from ...tools.js_number import number_of
from ..exchange import ResponseFailedError
from ..tries import shown_seconds

BASE_DELAY_MS: Final = 1000
_MAX_DELAY_MS: Final = 60_000

_LIMIT: Final = re.compile("usage_limit_reached|usage_not_included|rate_limit_exceeded", re.IGNORECASE)
_USED_UP: Final = re.compile(
    "GoUsageLimitError|FreeUsageLimitError|Monthly usage limit reached|available balance|insufficient_quota|"
    "out of budget|quota exceeded|billing",
    re.IGNORECASE,
)
_PASSING: Final = re.compile(
    "rate.?limit|overloaded|service.?unavailable|upstream.?connect|connection.?refused", re.IGNORECASE
)
_BUSY: Final = (429, 500, 502, 503, 504)


class RetryTooLateError(ResponseFailedError):
    """The server asks for a longer pause than the caller allows."""


def may_help(status: int, body: str) -> bool:
    """Whether another try may end otherwise."""
    if status == 429 and _USED_UP.search(body):
        return False
    return status in _BUSY or _PASSING.search(body) is not None


def pause_ms(tries: int) -> float:
    """How long to wait after so many tries again, where nobody says."""
    return float(BASE_DELAY_MS * 2**tries)


def asked_pause_ms(headers: Mapping[str, str], limit: float | None) -> float | None:
    """How long the server asks to wait, in milliseconds; None if it does not.

    Raises:
        RetryTooLateError: longer than the limit, which is a minute by default, and 0 for none; or for ever.
    """
    asked = _asked(headers)
    limit = _MAX_DELAY_MS if limit is None else limit
    if asked is not None and (0 < limit < asked or asked == inf):
        raise RetryTooLateError(
            f"Server requested {shown_seconds(asked)}s retry delay (max: {shown_seconds(limit)}s)"
        )
    return asked


def _asked(headers: Mapping[str, str]) -> float | None:
    if "retry-after-ms" in headers and isfinite(delay := number_of(headers["retry-after-ms"])):
        return max(0, delay)
    after = headers.get("retry-after")
    if not after:
        return None
    if isfinite(seconds := number_of(after)):
        return max(0, seconds * 1000)
    try:
        return max(0, parsedate_to_datetime(after).timestamp() * 1000 - now())
    except (ValueError, OverflowError):  # no date, or one that no clock shows
        return None


def refusal(status: int, phrase: str, body: str) -> str:
    """What the answer says to the user."""
    try:
        told = parse_json(body)
    except CodecError:
        told = None
    error = told.get("error") if isinstance(told, dict) else None
    message = body or phrase or "Request failed"
    if not error:
        return message
    if not isinstance(error, dict):
        error = {}
    code = error.get("code") or error.get("type") or ""
    if status == 429 or (isinstance(code, str) and _LIMIT.search(code)):
        return _limit_reached(error)
    own = error.get("message")
    return own if isinstance(own, str) and own else message


def _limit_reached(error: Mapping[str, JSON]) -> str:
    plan, resets = error.get("plan_type"), error.get("resets_at")
    text = "You have hit your ChatGPT usage limit"
    if isinstance(plan, str) and plan:
        text += f" ({plan.lower()} plan)"
    text += "."
    if isinstance(resets, (int, float)) and resets:
        minutes = max(0, floor((resets * 1000 - now()) / 60000 + 0.5))
        text += f" Try again in ~{minutes} min."
    return text
