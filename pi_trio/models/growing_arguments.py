"""The arguments of a tool call while their text is still coming in.

A model writes arguments as JSON text, piece by piece, and a user interface wants to show what is there
already. So the text is read as it comes, tolerantly: a string shows the characters that have come, a
container the members that have begun, a number what its digits say so far, `tru` is true; an escape that is
cut off shows nothing yet. Malformed text is no error: missing commas and colons are overlooked, an invalid
escape is plain text, unknown words and values in impossible places are dropped, and nothing counts after the
first whole value, nor deeper than `DEPTH_LIMIT` (as of 1.6.0).

Each piece is read once; what has been read is kept, and shown, by `open_values.py`.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import attrs

from ..jsonvalue import ABSENT, DEPTH_LIMIT, JSON, Absent, FrozenDict
from .open_values import EARNED, Beginning, Begun, OpenContainer, Opening, OpenString, number_of

_Expected: TypeAlias = Literal["key", "colon", "value", "comma"]

#: What shows: a value, or where it can be made from.
Moment: TypeAlias = FrozenDict | Opening

#: A number or word that is longer than this is not shown before it ends.
_LONGEST_SHOWN: Final = 64

_PLAIN: Final = re.compile(r'[^"\\]*')
_ESCAPE: Final = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{0,4}))?')
_WORD: Final = re.compile(r'[^ \t\n\r,:{}\[\]"]+')
_EXPONENT_BEGUN: Final = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)[eE][+-]?")

_CHARACTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NAMED: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}
_NOTHING: Final = FrozenDict()


class GrowingArguments:
    """Reads the text of one call's arguments; shows them as they are so far."""

    def __init__(self) -> None:
        self._open: list[_Container] = []  # from the outermost in
        self._string: OpenString | None = None  # the one that is being read
        self._is_key = False
        self._word: list[str] = []  # the pieces of the number, or true, false or null, that is being read
        self._held = ""  # an escape that is cut off
        self._done = False
        self._earned = 0
        self._changed = False
        self._moment: Moment = _NOTHING
        self._made: tuple[Moment, FrozenDict] = _NOTHING, _NOTHING  # what was looked at last

    @property
    def shown(self) -> FrozenDict:
        """The arguments so far: `{}` before the object begins, and for whatever is no object.

        Where nothing has changed it is the very value of the last time.
        """
        return self.at(self._moment)

    def at(self, moment: Moment) -> FrozenDict:
        """The arguments as they were at a moment."""
        if self._made[0] is not moment:
            value = moment if isinstance(moment, FrozenDict) else moment.value()
            assert isinstance(value, FrozenDict)
            self._made = moment, value
        return self._made[1]

    def feed(self, text: str) -> Moment:
        """Read the next piece. Gives the moment that shows after it; the same one while there is nothing new to see."""
        self._earned += EARNED[0] + EARNED[1] * len(text)
        text, self._held = self._held + text, ""
        at = 0
        while at < len(text) and not self._done:
            if self._string is not None:
                at = self._read_string(self._string, text, at)
            elif match := _WORD.match(text, at):
                self._word.append(match[0])
                self._grow()
                at = match.end()
            elif self._word:
                self._end_word()
            else:
                self._read_mark(text[at])
                at += 1
        self._settle()
        return self._moment

    # --- reading --------------------------------------------------------------------------------------------

    def _read_mark(self, mark: str) -> None:
        """One character outside strings and words."""
        inner = self._open[-1] if self._open else None
        if mark == '"':
            self._is_key = inner is not None and inner.takes_key()
            self._string = OpenString()
            self._grow()
        elif mark in ("{", "["):
            self._open.append(
                _Container({} if mark == "{" else [], outer=None if inner is None else inner.now())
            )
            self._changed = True
            self._done = len(self._open) == DEPTH_LIMIT
        elif mark in ("}", "]") and inner is not None:
            self._open.pop()
            self._changed = True
            self._end_value(inner.whole())
        elif mark == ":" and inner is not None and inner.expected == "colon":
            inner.expected = "value"
        elif mark == "," and inner is not None:
            inner.expected = "key"

    def _read_string(self, string: OpenString, text: str, at: int) -> int:
        """What comes next in a string: plain characters, and an escape or the end. Gives the place behind."""
        plain = _PLAIN.match(text, at)
        assert plain is not None
        pieces = string.pieces
        pieces.append(plain[0])
        self._grow()
        end = plain.end()
        if end == len(text):
            return end
        if text[end] == '"':
            self._end_string(string)
            return end + 1
        escape = _ESCAPE.match(text, end)
        assert escape is not None
        whole, character, digits = escape[0], escape[1], escape[2] or ""
        if character:
            pieces.append(_CHARACTERS.get(character, character))
        elif len(digits) == 4:
            pieces.append(chr(int(digits, 16)))
        elif escape.end() == len(text):
            self._held = whole
        else:
            pieces.append(whole)  # no escape at all, so it is text
        return escape.end()

    def _grow(self) -> None:
        """A string or word has grown, which is to be seen if there is a place for a value."""
        self._changed |= not self._open or self._open[-1].takes_value()

    def _end_string(self, string: OpenString) -> None:
        self._string = None
        text = string.at(len(string.pieces))
        if self._is_key:
            self._open[-1].key = text
            self._open[-1].expected = "colon"
        else:
            self._end_value(text)

    def _end_word(self) -> None:
        word, self._word = "".join(self._word), []
        self._end_value(_NAMED[word] if word in _NAMED else number_of(word))

    def _end_value(self, value: JSON | Absent) -> None:
        """A value has been read to its end; ABSENT is a word that means nothing."""
        if self._open:
            self._changed |= self._open[-1].end_value(value)
        elif value is not ABSENT:
            self._done = True
            self._moment = value if isinstance(value, FrozenDict) else _NOTHING

    # --- showing --------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """After a piece: whether the value as it is now is to be shown."""
        if not self._changed or not self._open or isinstance(self._open[0].items, list):
            return
        inner = self._open[-1]
        begun: Begun
        if self._string is None:
            begun = self._begun_word()
        else:
            begun = ABSENT if self._is_key else Beginning(self._string, len(self._string.pieces))
        cost = inner.cost() - 1 + (begun is not ABSENT)
        if cost <= self._earned:
            self._earned -= cost
            self._changed = False
            self._moment = inner.now(begun)

    def _begun_word(self) -> JSON | Absent:
        """What shows of the word that is being read."""
        if not self._word or len(self._word) > _LONGEST_SHOWN:
            return ABSENT
        word = "".join(self._word)
        if len(word) > _LONGEST_SHOWN:
            return ABSENT
        for name, value in _NAMED.items():
            if name.startswith(word):
                return value
        begun = _EXPONENT_BEGUN.fullmatch(word)
        return number_of(begun[1] if begun else word)


@attrs.define(eq=False)
class _Container(OpenContainer):
    """One that is read tolerantly: it knows what would come next, and drops what has no place."""

    expected: _Expected = "key"

    def takes_key(self) -> bool:
        return isinstance(self.items, dict) and self.expected in ("key", "comma")

    def takes_value(self) -> bool:
        return isinstance(self.items, list) or self.expected in ("colon", "value")

    def end_value(self, value: JSON | Absent) -> bool:
        """A value inside is complete. Gives whether it has a place here."""
        placed = not isinstance(value, Absent) and self.takes_value()
        if placed:
            assert not isinstance(value, Absent)
            self.add(value)
        self.expected = "comma"
        return placed
