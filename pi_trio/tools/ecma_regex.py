"""Regular expressions of ECMAScript, the dialect of `pattern` and `patternProperties`.

Python's `re` reads another language: `$` there matches before a last line break, `\\d` and `\\w` match beyond ASCII,
`(?<name>…)` and `\\p{…}` are errors. So the patterns run on `regress`, an ECMAScript engine. As in Pi, a pattern is
read with the `u` flag, by code points; one that is invalid so (old patterns escape what `u` forbids to escape) is read
without it, by UTF-16 units.

The engine takes well-formed text only. Lone surrogates, and in the second reading the halves of every pair, are
therefore written as private characters of the same plane: they match `.` and negated classes just so. Only a pattern
that names surrogates by escapes could tell, and where it would, it does not match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from regress import Regex, RegressError

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BEYOND_PLANE_0: Final = re.compile("[\U00010000-\U0010ffff]")
#: One step through a pattern: an escape, a class, or any other character. Of special interest: a word boundary, which
#: the engine lets be repeated (and then may not come to an end), while ECMAScript does not.
_STEP: Final = re.compile(
    r"\\[bB](?P<repeated>[*+?]|\{[0-9]+(?:,[0-9]*)?\})?|\\.|\[(?:\\.|[^\]\\])*\]|.", re.DOTALL
)
#: From the surrogates to the private characters that stand for them.
_TO_PRIVATE: Final = 0xE000 - 0xD800


class PatternError(ValueError):
    """A pattern that is invalid in both readings."""


class EcmaRegex:
    """One pattern, compiled. Use `ecma_regex`, which compiles each pattern once.

    Raises:
        PatternError: the pattern is invalid.
    """

    __slots__ = ("_by_units", "_regex")

    def __init__(self, source: str) -> None:
        self._by_units = not is_unicode_pattern(source)
        try:
            self._regex = (
                _compiled(_units(source)) if self._by_units else _compiled(_well_formed(source), "u")
            )
        except RegressError as error:
            raise PatternError(f"Invalid regular expression: /{source}/: {error}") from None

    def matches(self, text: str) -> bool:
        """Whether the pattern matches anywhere in `text`."""
        return self._regex.find(_units(text) if self._by_units else _well_formed(text)) is not None


@lru_cache(maxsize=1024)
def ecma_regex(source: str) -> EcmaRegex:
    """The compiled pattern, shared by its source.

    Raises:
        PatternError: the pattern is invalid.
    """
    return EcmaRegex(source)


def is_unicode_pattern(source: str) -> bool:
    """Whether `source` is a valid pattern under the `u` flag."""
    try:
        _compiled(_well_formed(source), "u")
    except RegressError:
        return False
    return True


def unicode_regex(source: str, flags: str = "") -> Regex:
    """A pattern of this package's own, under the `u` flag, for what `re` cannot say (scripts, general categories)."""
    return Regex(source, "u" + flags)


def finds(regex: Regex, text: str) -> bool:
    """Whether a pattern made by `unicode_regex` matches anywhere in `text`."""
    return regex.find(_well_formed(text)) is not None


def _compiled(source: str, flags: str = "") -> Regex:
    if any(step["repeated"] for step in _STEP.finditer(source)):
        raise RegressError("Nothing to repeat")
    return Regex(source, flags)


def _well_formed(text: str) -> str:
    return text if text.isascii() else _SURROGATE.sub(_private, text)


def _units(text: str) -> str:
    return text if text.isascii() else _well_formed(_BEYOND_PLANE_0.sub(_halves, text))


def _private(match: re.Match[str]) -> str:
    return chr(ord(match[0]) + _TO_PRIVATE)


def _halves(match: re.Match[str]) -> str:
    high, low = divmod(ord(match[0]) - 0x10000, 0x400)
    return chr(0xD800 + high) + chr(0xDC00 + low)
