"""Whether a text is one whole JSON value, asked while it is still coming in (up to 1.0.3).

The text of a tool call's arguments is worth a strict reading only where all its brackets are closed: `WholeText` counts
them as it comes, so that a long text is read strictly once, and not at each delta.
"""

from __future__ import annotations

import json
import re
from typing import Final, NoReturn

from ..errors import CodecError
from ..jsonvalue import ABSENT, JSON, Absent, freeze
from .open_values import joined_pairs, number_of

_BLANK: Final = " \t\n\r"
_QUOTED: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_MARK: Final = re.compile(r'["{}\[\]]')
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*\\?"?', re.DOTALL)
_ESCAPE_OR_FORBIDDEN: Final = re.compile(r'\\["\\/bfnrtu]|[\\\x00-\x1f]')


class WholeText:
    """Counts the brackets of a text that comes in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._cut = ""  # a backslash at the end
        self._closed = False
        self._spoilt = False

    def feed(self, text: str) -> bool:
        """Read the next piece. Gives whether the text may be a whole array or object now."""
        if self._closed:
            self._spoilt |= bool(text.strip(_BLANK))
        elif not self._spoilt:
            self._count(self._cut + text)
        return self._closed and not self._spoilt

    def _count(self, text: str) -> None:
        self._cut = ""
        at = 0
        while at < len(text):
            if self._quoted:
                quoted = _QUOTED.match(text, at)
                assert quoted is not None
                at = quoted.end()
                self._cut = text[at:] if text[at : at + 1] == "\\" else ""
                self._quoted = at + len(self._cut) == len(text)
                at += 1
                continue
            mark = _MARK.search(text, at)
            if mark is None:
                return
            at = mark.end()
            if mark[0] == '"':
                self._quoted = True
                continue
            self._depth += 1 if mark[0] in "{[" else -1
            if self._depth <= 0:
                self._closed = True
                self._spoilt = bool(text[at:].strip(_BLANK))
                return


def whole_value(text: str) -> JSON | Absent:
    """The value of a text that is JSON, or would be if its strings were repaired; ABSENT if it is none."""
    text = joined_pairs(text)
    value = _parsed(text)
    if value is ABSENT:
        mended = repaired(text)
        if mended != text:
            return _parsed(mended)
    return value


def repaired(text: str) -> str:
    """The text with its strings as their writer may have meant them.

    Raw control characters are escaped, and backslashes that begin no escape are doubled. (`\\u` without its digits
    stays, and stays wrong.)
    """
    return _STRING.sub(lambda string: _ESCAPE_OR_FORBIDDEN.sub(_escaped, string[0]), text)


def _escaped(found: re.Match[str]) -> str:
    """An escape as it is; a lone backslash or a control character escaped."""
    if len(found[0]) > 1:
        return found[0]
    return r"\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}"


def _parsed(text: str) -> JSON | Absent:
    """The value of a JSON text, numbers as JavaScript has them; ABSENT if it is none, or nested too deeply."""
    try:
        return freeze(json.loads(text, parse_int=_number, parse_float=_number, parse_constant=_refuse))
    except (ValueError, RecursionError, CodecError):
        return ABSENT


def _number(word: str) -> JSON | Absent:
    return number_of(word, infinite=None)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)
