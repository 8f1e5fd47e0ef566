"""Regular expressions in the one reading that TypeBox gives each: with the `u` flag, or without it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from regress import RegressError

from ..ecma_regex import PatternError, _compiled, _units, ecma_regex, is_unicode_pattern

#: Whether the pattern matches anywhere in a text.
Pattern: TypeAlias = Callable[[str], bool]


def unicode_pattern(source: str) -> Pattern:
    """`source` read by code points, with the `u` flag.

    Raises:
        PatternError: it is invalid so.
    """
    regex = ecma_regex(source)
    if not is_unicode_pattern(source):
        raise PatternError(f"Invalid regular expression: /{source}/u")
    return regex.matches


@lru_cache(maxsize=1024)
def plain_pattern(source: str) -> Pattern:
    """`source` read by UTF-16 units, without a flag.

    Raises:
        PatternError: it is invalid so.
    """
    try:
        regex = _compiled(_units(source))
    except RegressError as error:
        raise PatternError(f"Invalid regular expression: /{source}/: {error}") from None
    return lambda text: regex.find(_units(text)) is not None
