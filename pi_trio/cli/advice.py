"""What can be done about a response that has failed, as far as the text of its failure tells what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_STATUS: Final = re.compile(r"(?:[\w ]+ error:? \(?)?(\d{3})\b", re.IGNORECASE)
"""A status of HTTP at the beginning of a failure's text, in the words of any of the adapters."""

_CHECK_KEY: Final = "check {keys}"
_LATER: Final = "try again later"

_BY_STATUS: Final = {
    "400": "the provider does not take this request",
    "401": _CHECK_KEY,
    "403": _CHECK_KEY,
    "404": "does the provider have this model, at {url}?",
    "429": _LATER,
    "500": _LATER,
    "502": _LATER,
    "503": _LATER,
    "529": _LATER,
}

_BY_WORDS: Final = (
    (r"^connection error|connection refused|cannot be reached", "does a server listen at {url}?"),
    (r"token is not right|invalid.{0,20}(key|token)|authenticat", _CHECK_KEY),
    (r"overloaded|rate.?limit", _LATER),
    (r"timed out", "try again, or look whether {url} is the right address"),
    (
        r"^terminated|ended (before|without)|cut off|connection closed",
        "the answer broke off before its end; try again",
    ),
)
"""What the adapters say of failures that have no status."""


def advice(said: str, *, url: str, keys: Sequence[str]) -> str:
    """What to do, in brackets behind a blank; nothing where the text does not tell.

    Args:
        said: the text of the failure.
        url: where the provider is.
        keys: the environment variables in which its key may be.
    """
    status = _STATUS.match(said)
    found = _BY_STATUS.get(status[1]) if status else None
    if found is None:
        found = next((told for pattern, told in _BY_WORDS if re.search(pattern, said, re.IGNORECASE)), None)
    return "" if found is None else f" ({found.format(url=url, keys=' or '.join(keys) or 'the key')})"
