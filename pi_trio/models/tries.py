"""Whether and when a request that has failed is tried again, before its answer has begun.

Another try may help when the connection failed or took too long, and for the statuses of a server that is busy or
broken, unless the server says itself whether (`x-should-retry`). It also says when (`retry-after-ms`, `retry-after`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import ceil, inf, isfinite
from typing import Final

import attrs

from ..timestamps import now
from ..tools.js_number import as_double, text_of
from .transport_errors import (
    ConnectionFailedError,
    HeadersTimeoutError,
    RetryTooLateError,
    StatusError,
    TransportError,
)

#: The longest pause that a server may ask for where nobody says, in milliseconds.
DEFAULT_MAX_RETRY_DELAY_MS: Final = 60_000

#: What JavaScript's `parseFloat` reads of the beginning of a text.
_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")

_BUSY: Final = frozenset({408, 409, 429})


@attrs.frozen(kw_only=True)
class Retries:
    """How often and when a request is tried again.

    Attributes:
        count: tries after the first.
        max_delay_ms: the longest pause that a server may ask for, in milliseconds; 0 for no limit.
        never: statuses that are not tried again.
    """

    count: int = 0
    max_delay_ms: float = DEFAULT_MAX_RETRY_DELAY_MS
    never: frozenset[int] = frozenset()

    def may_help(self, failure: TransportError) -> bool:
        """Whether another try may end otherwise."""
        if not isinstance(failure, StatusError):
            return isinstance(failure, (ConnectionFailedError, HeadersTimeoutError))
        told = failure.headers.get("x-should-retry")
        if told in ("true", "false"):
            retryable = told == "true"
        else:
            retryable = failure.status in _BUSY or failure.status >= 500
        return retryable and failure.status not in self.never

    def pause(self, failure: TransportError, tries: int) -> float:
        """How long to wait after so many tries again, in seconds.

        Raises:
            RetryTooLateError: the server asks for more than the limit, or for ever.
        """
        asked = _asked_delay_ms(failure.headers) if isinstance(failure, StatusError) else None
        if asked is None:
            return min(0.5 * float(2**tries), 8.0) * (1 - random.random() * 0.25)  # noqa: S311
        if 0 < self.max_delay_ms < asked or asked == inf:
            raise RetryTooLateError(shown_seconds(asked), shown_seconds(self.max_delay_ms), failure)
        return max(asked / 1000, 0)


def _asked_delay_ms(headers: Mapping[str, str]) -> float | None:
    """The pause that a server asks for, in milliseconds."""
    asked = _leading_number(headers.get("retry-after-ms"))
    if asked is None and (after := headers.get("retry-after")):
        asked = _leading_number(after)
        if asked is not None:
            return asked * 1000
        try:
            return parsedate_to_datetime(after).timestamp() * 1000 - now()
        except (ValueError, OverflowError):  # no date, or one that no clock shows
            return None
    return asked


def _leading_number(text: str | None) -> float | None:
    """The number that a text begins with."""
    found = _NUMBER.match((text or "").strip())
    return float(found[0]) if found else None


def shown_seconds(milliseconds: float) -> str:
    """Milliseconds in whole seconds, as JavaScript shows the number."""
    seconds = milliseconds / 1000
    return text_of(as_double(ceil(seconds)) if isfinite(seconds) else seconds)
