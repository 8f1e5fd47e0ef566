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
string is the exception: it is copied whenever it is shown longer.

What nobody looks at is not made. After each piece there is a *moment*: how many members each open container had then.
Containers and strings only ever grow at their ends, so the value of a moment can be made at any time, however much
has been read since.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final, Literal, TypeAlias

import attrs

from ..jsonvalue import (
    ABSENT,
    DEPTH_LIMIT,
    JSON,
    SAFE_INTEGER,
    Absent,
    FrozenDict,
    frozen_array,
    frozen_object,
)

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
        self._string: _String | None = None  # the one that is being read
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
            self._made = moment, moment if isinstance(moment, FrozenDict) else moment.value()
        return self._made[1]

    def feed(self, text: str) -> Moment:
        """Read the next piece. Gives the moment that shows after it; the same one while there is nothing new to see."""
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
        return self._moment

    # --- reading --------------------------------------------------------------------------------------------

    def _read_mark(self, mark: str) -> None:
        """One character outside strings and words."""
        inner = self._open[-1] if self._open else None
        if mark == '"':
            self._is_key = inner is not None and inner.takes_key()
            self._string = _String()
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

    def _read_string(self, string: _String, text: str, at: int) -> int:
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

    def _end_string(self, string: _String) -> None:
        self._string = None
        text = string.at(len(string.pieces))
        if self._is_key:
            self._open[-1].key = text
            self._open[-1].expected = "colon"
        else:
            self._end_value(text)

    def _end_word(self) -> None:
        word, self._word = "".join(self._word), []
        self._end_value(_NAMED[word] if word in _NAMED else _number(word))

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
        begun: _Begun
        if self._string is None:
            begun = self._begun_word()
        else:
            begun = ABSENT if self._is_key else _Beginning(self._string, len(self._string.pieces))
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
        return _number(begun[1] if begun else word)


class _String:
    """A string whose end has not come."""

    __slots__ = ("_read", "pieces")

    def __init__(self) -> None:
        self.pieces: Final[list[str]] = []
        self._read = 0, ""  # how many pieces were joined when it was looked at last, and to what

    def at(self, mark: int) -> str:
        """The text when it had so many pieces."""
        read, text = self._read
        if mark < read:
            return _joined(["", *self.pieces[:mark]])
        if mark > read:
            text = _joined([text, *self.pieces[read:mark]])
            self._read = mark, text
        return text


@attrs.frozen(eq=False)
class _Beginning:
    """So many pieces of a string."""

    string: _String
    count: int


#: What has begun in a container; ABSENT if nothing has that shows.
_Begun: TypeAlias = JSON | _Beginning | Absent


@attrs.frozen(eq=False)
class _Opening:
    """A container that is open, at a moment: with so many entries, and perhaps a value that has begun in it."""

    container: _Container
    count: int
    key: str
    takes_value: bool
    begun: _Begun

    def value(self) -> FrozenDict:
        """The outermost container as it was then."""
        begun = self.begun
        value: JSON | Absent = begun.string.at(begun.count) if isinstance(begun, _Beginning) else begun
        inner: _Opening | None = self
        while inner is not None:
            value = inner.container.with_begun(inner.count, inner.key, value if inner.takes_value else ABSENT)
            inner = inner.container.outer
        assert isinstance(value, FrozenDict)
        return value


#: What shows: a value, or where it can be made from.
Moment: TypeAlias = FrozenDict | _Opening


@attrs.define(eq=False)
class _Container:
    """An object or array whose end has not come. It holds what is complete in it, frozen.

    Attributes:
        items: what is in it now.
        outer: the container around it, which stays as it is as long as this one is open.
        pairs: for an object, all that was ever put there: a key may come again, with another value.
    """

    items: dict[str, JSON] | list[JSON]
    outer: _Opening | None
    key: str = ""
    expected: _Expected = "key"
    pairs: list[tuple[str, JSON]] = attrs.field(factory=list[tuple[str, JSON]])

    def takes_key(self) -> bool:
        return isinstance(self.items, dict) and self.expected in ("key", "comma")

    def takes_value(self) -> bool:
        return isinstance(self.items, list) or self.expected in ("colon", "value")

    def end_value(self, value: JSON | Absent) -> bool:
        """A value inside is complete. Gives whether it has a place here."""
        placed = False
        if value is not ABSENT and self.takes_value():
            if isinstance(self.items, list):
                self.items.append(value)
            else:
                self.items[self.key] = value
                self.pairs.append((self.key, value))
            placed = True
        self.expected = "comma"
        return placed

    def cost(self) -> int:
        """What it costs to copy it and those around it."""
        cost, container = 0, self
        while True:
            cost += len(container.items) + 2
            if container.outer is None:
                return cost
            container = container.outer.container

    def now(self, begun: _Begun = ABSENT) -> _Opening:
        """The present moment of it."""
        count = len(self.items) if isinstance(self.items, list) else len(self.pairs)
        return _Opening(self, count, self.key, self.takes_value(), begun)

    def with_begun(self, count: int, key: str, begun: JSON | Absent) -> JSON:
        """The container when it had so many entries, with a value that had begun in it."""
        if isinstance(self.items, list):
            return frozen_array(self.items[:count] if begun is ABSENT else [*self.items[:count], begun])
        pairs = self.pairs[:count]
        if begun is not ABSENT:
            pairs.append((key, begun))
        return frozen_object(pairs)

    def whole(self) -> JSON:
        """The container when its end has come."""
        return frozen_array(self.items) if isinstance(self.items, list) else frozen_object(self.items)


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
