"""What the texts of failed responses mean: words that providers and transports use, by the release that knows them.

Pi has no code for why a response has failed, only its text; so an overflow of the context, a limit that a retry does
not lift, and a failure that it may lift are told apart by words. The tables are the words; `Words` is how they are
looked up.

In a table `~` is any one character or none (`rate~limit` is found in "rate-limit", "rate limit" and "ratelimit"),
`#` is a number of digits, `#,` one with commas, `…` anything within a line. All else is a regular expression, in
which letters are of either case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import attrs

#: The releases in order; a table names the one that brought a word.
_RELEASES: Final = ("0.80.2", "0.85.0", "1.0.3", "1.6.0")

#: JavaScript's white space, and what its dot stands for. One `~` is one UTF-16 unit: no character beyond U+FFFF.
_SPACE: Final = r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_NOT_SPACE: Final = _SPACE.replace("[", "[^", 1)
_UNIT: Final = r"[^\n\r\u2028\u2029\U00010000-\U0010ffff]"
_IN_LINE: Final = r"[^\n\r\u2028\u2029]"

_NOTATION: Final = {
    "~": f"{_UNIT}?",
    "#,": r"[0-9,]+",
    "#": r"[0-9]+",
    "…": f"{_IN_LINE}*",
    "_S_": _NOT_SPACE,
    "_s_": _SPACE,
}
_NOTATION_PATTERN: Final = re.compile("|".join(map(re.escape, _NOTATION)))


@attrs.frozen(eq=False)
class Words:
    """A table of words: which each release has added, and which it has dropped again."""

    added: Mapping[str, Sequence[str]]
    dropped: Mapping[str, Sequence[str]] = attrs.field(factory=dict)

    def found_in(self, text: str, release: str) -> bool:
        """Whether the text has one of the words that `release` knows."""
        return _pattern(self, release).search(text) is not None

    def known_to(self, release: str) -> tuple[str, ...]:
        """The words of a release, in its order."""
        known: dict[str, None] = {}
        for each in _RELEASES[: _RELEASES.index(release) + 1]:
            for word in self.dropped.get(each, ()):
                del known[word]
            known.update(dict.fromkeys(self.added.get(each, ())))
        return tuple(known)


@cache
def _pattern(words: Words, release: str) -> re.Pattern[str]:
    # ASCII, as without JavaScript's u flag: no letter beyond it is the other case of one within.
    known = [_NOTATION_PATTERN.sub(lambda sign: _NOTATION[sign[0]], word) for word in words.known_to(release)]
    return re.compile("|".join(known) or "(?!)", re.IGNORECASE | re.ASCII)


#: The prompt did not fit.
OVERFLOW: Final = Words(
    added={
        "0.80.2": (
            "prompt is too long",
            "request_too_large",
            "input is too long for requested model",
            "exceeds the context window",
            r"exceeds (?:the )?(?:model'?s )?maximum context length(?: of #, tokens?|_s_*\(#,\))",
            "input token count…exceeds the maximum",
            "maximum prompt length is #",
            "reduce the length of the messages",
            "maximum context length is # tokens",
            "exceeds (?:the )?maximum allowed input length of #, tokens?",
            r"input \(# tokens\) is longer than the model'?s context length \(# tokens\)",
            "exceeds the limit of #",
            "exceeds the available context size",
            "greater than the context length",
            "context window exceeds limit",
            "exceeded model token limit",
            "too large for model with # maximum context length",
            "model_context_window_exceeded",
            "prompt too long; exceeded (?:max )?context length",
            "context[_ ]length[_ ]exceeded",
            "too many tokens",
            "token limit exceeded",
            r"^4(?:00|13)_s_*(?:status code)?_s_*\(no body\)",
        ),
        "0.85.0": (
            "prompt has #, tokens?, but the configured context size is #, tokens?",
            "range of input length should be",
        ),
        "1.0.3": ("prompt too long", "prompt exceeds max length"),
        "1.6.0": ("context window exceeded", r"^[-\w ]+ API error \(413\):", r"^413(?:_s_|:|\Z)"),
    },
    dropped={"1.0.3": (r"^4(?:00|13)_s_*(?:status code)?_s_*\(no body\)",)},
)
#: What one provider says of an overflow, and others of other things: bodyless answers (since 1.0.3 a table of its own).
CEREBRAS_OVERFLOW: Final = Words(added={"1.0.3": (r"^4(?:00|13)_s_*(?:status code)?_s_*\(no body\)",)})

#: Texts with words of an overflow that are about something else.
NO_OVERFLOW: Final = Words(
    added={"0.80.2": ("^(?:Throttling error|Service unavailable):", "rate limit", "too many requests")}
)

#: A limit of the account: trying again does not help.
ACCOUNT_LIMIT: Final = Words(
    added={
        "0.85.0": (
            "GoUsageLimitError",
            "FreeUsageLimitError",
            "Monthly usage limit reached",
            "available balance",
            "insufficient_quota",
            "out of budget",
            "quota exceeded",
            "billing",
        ),
        "1.0.3": ("subscription_sharing_usage_limit_exceeded",),
        "1.6.0": (
            "subscription_sharing_workplace_individual_usage_limit_exceeded",
            '"code"_s_*:_s_*"?1308(?![0-9])',
        ),
    }
)

_STATUSES: Final = ("429", "500", "502", "503", "504", "524")
#: A failure that may be gone the next time.
TRANSIENT: Final = Words(
    added={
        "0.85.0": (
            "overloaded",
            "rate~limit",
            "too many requests",
            *_STATUSES,
            "service~unavailable",
            "server~error",
            "internal~error",
            "provider~returned~error",
            "exceeded request buffer limit while retrying upstream",
            "network~error",
            "connection~error",
            "connection~refused",
            "connection~lost",
            "other side closed",
            "fetch failed",
            "getaddrinfo",
            "ENOTFOUND",
            "EAI_AGAIN",
            "upstream~connect",
            "reset before headers",
            "socket hang up",
            "socket connection was closed",
            "timed? out",
            "timeout",
            "terminated",
            "websocket~closed",
            "websocket~error",
            "ended without",
            "stream ended before message_stop",
            "stream ended before a terminal response event",
            "http2 request did not get a response",
            "retry delay",
            "you can retry your request",
            "try your request again",
            "please retry your request",
            "ResourceExhausted",
        ),
        "1.0.3": (
            "currently experiencing high demand",
            "model is at capacity",
            "520",
            "subscription_sharing_usage_unavailable",
            "subscription_sharing_user_unavailable",
        ),
        "1.6.0": (
            "server_busy",
            "servers are currently busy",
            "(?<![a-z0-9])(?:429|500|502|503|504|520|524)(?![a-z0-9])",
            "service~(?:is~)?(?:temporarily~)?unavailable",
            "provider~returned~(?:an~)?error",
            "unable to forward upstream",
            "upstream~request~failed",
            "upstream_stream_read_error",
            "stream was interrupted",
            "http/?2 stream failed",
            "connection~closed",
            "request to _S_+ failed, reason:",
            "(?<![a-z0-9_])(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|ETIMEDOUT|EPIPE)(?![a-z0-9_])",
            "connection reset by peer",
            "websocket~connection~limit~reached",
            "stream disconnected before completion",
            "cut short after the reply had begun",
            "pending stream has been canceled",
        ),
    },
    dropped={"1.6.0": (*_STATUSES, "520", "service~unavailable", "provider~returned~error")},
)
