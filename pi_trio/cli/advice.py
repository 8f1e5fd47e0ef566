"""What can be done about a response that has failed, as far as the text of its failure tells what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..models.http import without_user

_STATUS: Final = re.compile(r"(?:[\w ]+ error:? \(?)?(\d{3})\b", re.IGNORECASE)
"""A status of HTTP at the beginning of a failure's text, in the words of any of the adapters."""

_CHECK_KEY: Final = "check {keys}"
_LATER: Final = "try again later"

_BY_STATUS: Final = {
    "400": "the provider does not take this request",
    "401": _CHECK_KEY,
    "403": _CHECK_KEY,
    "404": "does the provider have this model, at {posted}?",
    "429": _LATER,
    "500": _LATER,
    "502": _LATER,
    "503": _LATER,
    "529": _LATER,
}

_BY_WORDS: Final = (
    (r"header cannot be sent", _CHECK_KEY),
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


_NO_ANSWER: Final = (
    r"ended (before|without)|connection closed|is no event",
    "nothing has come that is of {api}: is {posted} where that is spoken?",
)
"""What the adapters say of an answer in which they have found no event of theirs."""


def advice(
    said: str,
    *,
    url: str,
    keys: Sequence[str],
    posted: str = "",
    api: str = "this API",
    begun: bool = True,
) -> str:
    """What to do, in brackets behind a blank; nothing where the text does not tell.

    Args:
        said: the text of the failure.
        url: where the provider is.
        posted: the whole address that was asked, if it is known.
        keys: the environment variables in which its key may be.
        api: what is spoken with it.
        begun: whether anything of the answer has come.
    """
    status = _STATUS.match(said)
    found = _BY_STATUS.get(status[1]) if status else None
    if found is None:
        words = _BY_WORDS if begun else (_NO_ANSWER, *_BY_WORDS)
        found = next((told for pattern, told in words if re.search(pattern, said, re.IGNORECASE)), None)
    if found is None:
        return ""
    places = {"url": without_user(url), "posted": without_user(posted or url)}
    return f" ({found.format(**places, api=api, keys=' or '.join(keys) or 'the key')})"
