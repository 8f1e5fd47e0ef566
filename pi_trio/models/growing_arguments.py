"""The arguments of a tool call while their text is still coming in.

A model writes arguments as JSON text, piece by piece, and a user interface wants to show what is there
already. So the text is read as it comes, tolerantly: a string shows the characters that have come, a
container the members that have begun, a number what its digits say so far, `tru` is true; an escape that is
cut off shows nothing yet. Malformed text is no error: missing commas and colons are overlooked, an invalid
escape is plain text, unknown words and values in impossible places are dropped, and nothing counts after the
first whole value, nor deeper than `DEPTH_LIMIT` (as of 1.6.0).

Each piece is read once, and completed parts are shared between the values shown. Only the containers that are
still open are copied for a new one, and a piece earns just so much copying (`_EARNED`): a container of many
thousand members is shown with a little delay, and the whole work stays proportional to the text. A long
string is the exception: it is copied whenever it is shown longer. What nobody looks at is not made:
`feed` settles what is to be shown, and `shown` makes it.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final, Literal, TypeAlias

import attrs

from ..jsonvalue import ABSENT, DEPTH_LIMIT, JSON, SAFE_INTEGER, Absent, FrozenDict, freeze

_Expected: TypeAlias = Literal["key", "colon", "value", "comma"]

#: Members and elements that may be copied, for each piece of text and for each of its characters.
_EARNED: Final = (256, 8)
#: A number or word that is longer than this is not shown before it ends.
_LONGEST_SHOWN: Final = 64

_PLAIN: Final = re.compile(r'[^"\\]*')
_ESCAPE: Final = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{0,4}))?')
_WORD: Final = re.compile(r'[^ \t\n\r,:{}\[\]"]+')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_EXPONENT_BEGUN: Final = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)[eE][+-]?")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")

_CHARACTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NAMED: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}
_NOTHING: Final = FrozenDict()


class GrowingArguments:
    """Reads the text of one call's arguments; shows them as they are so far."""

    def __init__(self) -> None:
        self._open: list[_Container] = []  # from the outermost in
        self._string: list[str] | None = None  # what was joined of the string that is being read; pieces
        self._is_key = False
        self._word: list[str] = []  # the pieces of the number, or true, false or null, that is being read
        self._held = ""  # an escape that is cut off
        self._done = False
        self._earned = 0
        self._cost = 0  # of what was settled last
        self._changed = False
        self._due = False  # settled to be shown, and not made yet
        self._shown = _NOTHING

    @property
    def shown(self) -> FrozenDict:
        """The arguments so far: `{}` before the object begins, and for whatever is no object.

        Where nothing has changed it is the very value of the last time.
        """
        if self._due:
            self._due = False
            self._shown = self._made()
        return self._shown

    def feed(self, text: str) -> None:
        """Read the next piece."""
        if self._due and not self._affords(self._cost + 2 * len(text) + 1, text):
            _ = self.shown  # it may have to serve for longer than this piece
        self._earned += _EARNED[0] + _EARNED[1] * len(text)
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

    # --- reading --------------------------------------------------------------------------------------------

    def _read_mark(self, mark: str) -> None:
        """One character outside strings and words."""
        inner = self._open[-1] if self._open else None
        if mark == '"':
            self._is_key = inner is not None and inner.takes_key()
            self._string = [""]
            self._grow()
        elif mark in ("{", "["):
            self._open.append(_Container({} if mark == "{" else []))
            self._changed = True
            self._done = len(self._open) == DEPTH_LIMIT
        elif mark in ("}", "]") and inner is not None:
            self._open.pop()
            self._changed = True
            self._end_value(freeze(inner.items))
        elif mark == ":" and inner is not None and inner.expected == "colon":
            inner.expected = "value"
        elif mark == "," and inner is not None:
            inner.expected = "key"

    def _read_string(self, pieces: list[str], text: str, at: int) -> int:
        """What comes next in a string: plain characters, and an escape or the end. Gives the place behind."""
        plain = _PLAIN.match(text, at)
        assert plain is not None
        pieces.append(plain[0])
        self._grow()
        end = plain.end()
        if end == len(text):
            return end
        if text[end] == '"':
            self._end_string(pieces)
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

    def _end_string(self, pieces: list[str]) -> None:
        self._string = None
        if self._is_key:
            self._open[-1].key = _joined(pieces)
            self._open[-1].expected = "colon"
        else:
            self._end_value(_joined(pieces))

    def _end_word(self) -> None:
        word, self._word = "".join(self._word), []
        self._end_value(_NAMED[word] if word in _NAMED else _number(word))

    def _end_value(self, value: JSON | Absent) -> None:
        """A value has been read to its end; ABSENT is a word that means nothing."""
        if self._open:
            self._changed |= self._open[-1].end_value(value)
        elif value is not ABSENT:
            self._done = True
            self._due = False
            self._shown = value if isinstance(value, FrozenDict) else _NOTHING

    # --- showing --------------------------------------------------------------------------------------------

    def _affords(self, cost: int, text: str) -> bool:
        """Whether a value of this cost can be shown after `text`, a character of which adds 2 to a cost at most."""
        return cost <= self._earned + _EARNED[0] + _EARNED[1] * len(text)

    def _settle(self) -> None:
        """After a piece: whether the value as it is now is to be shown."""
        if not self._changed or not self._open or isinstance(self._open[0].items, list):
            return
        begun = not self._is_key if self._string is not None else self._begun_word() is not ABSENT
        self._cost = sum(len(container.items) + 2 for container in self._open) - 1 + begun
        if self._cost <= self._earned:
            self._earned -= self._cost
            self._changed = False
            self._due = True

    def _made(self) -> FrozenDict:
        """The value as it is now."""
        value: JSON | Absent
        if self._string is None:
            value = self._begun_word()
        else:
            self._string[:] = [_joined(self._string)]  # the next time only what has come since is read
            value = ABSENT if self._is_key else self._string[0]
        for container in reversed(self._open):
            value = container.shown_with(value)
        assert isinstance(value, FrozenDict)
        return value

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
        return _number(begun[1] if begun else word)


@attrs.define
class _Container:
    """An object or array whose end has not come. It holds what is complete in it, frozen."""

    items: dict[str, JSON] | list[JSON]
    key: str = ""
    expected: _Expected = "key"

    def takes_key(self) -> bool:
        return isinstance(self.items, dict) and self.expected in ("key", "comma")

    def takes_value(self) -> bool:
        return isinstance(self.items, list) or self.expected in ("colon", "value")

    def end_value(self, value: JSON | Absent) -> bool:
        """A value inside is complete. Gives whether it has a place here."""
        placed = False
        if value is not ABSENT and self.takes_value():
            self._put(self.items, value)
            placed = True
        self.expected = "comma"
        return placed

    def shown_with(self, begun: JSON | Absent) -> JSON:
        """The container so far, with a value that has begun in it."""
        items = self.items.copy()
        if begun is not ABSENT and self.takes_value():
            self._put(items, begun)
        return freeze(items)

    def _put(self, items: dict[str, JSON] | list[JSON], value: JSON) -> None:
        if isinstance(items, list):
            items.append(value)
        else:
            items[self.key] = value


def _number(word: str) -> JSON | Absent:
    """The number that a word says; ABSENT if none, or one that JSON cannot print."""
    if not _NUMBER.fullmatch(word) or not isfinite(value := float(word)):
        return ABSENT
    return int(value) if abs(value) <= SAFE_INTEGER and value.is_integer() else value


def _joined(pieces: list[str]) -> str:
    """The text of a string; two escapes that make a pair are one character. The first piece was joined before."""
    begun, new = pieces[0], "".join(pieces[1:])
    if new.isascii():
        return begun + new
    if "\ud800" <= begun[-1:] <= "\udbff":
        begun, new = begun[:-1], begun[-1] + new
    return begun + _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), new)
