"""How long a text is for `minLength` and `maxLength`: in characters as a reader sees them, nearly.

One such character is a code point with the marks and variation selectors behind it, several of these joined by
zero-width joiners, or a pair of regional indicators (a flag).
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from ..js_value import utf16_length

_JOINER: Final = "\u200d"
_MODIFIERS: Final = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe00-\ufe0f\ufe20-\ufe2f]*"
_REST: Final = f"{_MODIFIERS}(?:{_JOINER}.{_MODIFIERS})*"
_FLAG_HALF: Final = "[\U0001f1e6-\U0001f1ff]"
_CHARACTER: Final = re.compile(f"{_FLAG_HALF}{_REST}{_FLAG_HALF}?|.{_REST}", re.DOTALL)
#: What makes 0.80.2 look closer. It overlooks variation selectors and the rarer marks.
_SUSPECT: Final = re.compile(f"[\ud800-\udbff\U00010000-\U0010ffff\u0300-\u036f{_JOINER}]")


@attrs.frozen
class Lengths:
    """How texts are measured.

    Args:
        by_suspicion: characters are counted only where the beginning of the text, as far as the bound reaches, looks
            as if UTF-16 units would not do (0.80.2).
    """

    by_suspicion: bool = False

    def at_least(self, bound: float, text: str) -> bool:
        """What `minLength` asks."""
        return self._measure(text, bound) >= bound

    def at_most(self, bound: float, text: str) -> bool:
        """What `maxLength` asks."""
        return self._measure(text, bound + 1) <= bound

    def _measure(self, text: str, reach: float) -> int:
        if text.isascii():
            return len(text)
        if self.by_suspicion and not _SUSPECT.search(_beginning(text, reach)):
            return utf16_length(text)
        return sum(1 for _ in _CHARACTER.finditer(text))


def _beginning(text: str, reach: float) -> str:
    """The characters of `text` that begin before the UTF-16 unit `reach`."""
    units = 0
    for index, character in enumerate(text):
        if units >= reach:
            return text[:index]
        units += utf16_length(character)
    return text
