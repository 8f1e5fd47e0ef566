"""JSON values whose end has not come: what has come of them, at any moment.

A tool call's arguments are shown while their text comes in. Two readers read such text, each in the way of its
releases (`growing_arguments.py`, `streamed_arguments.py`); both keep here what they have read.

Completed parts are shared between the values shown. Only the containers that are still open are copied for a new one,
and a piece of text earns just so much copying (`EARNED`): a container of many thousand members is shown with a little
delay, and the whole work stays proportional to the text. A long string is the exception: it is copied whenever it is
shown longer.

What nobody looks at is not made. After each piece there is a *moment*: how many members each open container had then.
Containers and strings only ever grow at their ends, so the value of a moment can be made at any time, however much
has been read since.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Final, TypeAlias

import attrs

from ..jsonvalue import ABSENT, JSON, SAFE_INTEGER, Absent, frozen_array, frozen_object

#: Members and elements that may be copied, for each piece of text and for each of its characters.
EARNED: Final = (256, 8)

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class OpenString:
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
class Beginning:
    """So many pieces of a string."""

    string: OpenString
    count: int


#: What has begun in a container; ABSENT if nothing has that shows.
Begun: TypeAlias = JSON | Beginning | Absent


@attrs.frozen(eq=False)
class Opening:
    """A container that is open, at a moment: with so many entries, and perhaps a value that has begun in it."""

    container: OpenContainer
    count: int
    key: str
    takes_value: bool
    begun: Begun

    def value(self) -> JSON:
        """The outermost container as it was then."""
        value = begun_value(self.begun)
        inner: Opening | None = self
        while inner is not None:
            value = inner.container.with_begun(inner.count, inner.key, value if inner.takes_value else ABSENT)
            inner = inner.container.outer
        assert not isinstance(value, Absent)
        return value


def begun_value(begun: Begun) -> JSON | Absent:
    """The value that has begun, as far as it has come."""
    return begun.string.at(begun.count) if isinstance(begun, Beginning) else begun


@attrs.define(eq=False)
class OpenContainer:
    """An object or array whose end has not come. It holds what is complete in it, frozen.

    Attributes:
        items: what is in it now.
        outer: the container around it, which stays as it is as long as this one is open.
        key: the one that was read last, for an object.
        pairs: for an object, all that was ever put there: a key may come again, with another value.
    """

    items: dict[str, JSON] | list[JSON]
    outer: Opening | None
    key: str = ""
    pairs: list[tuple[str, JSON]] = attrs.field(factory=list[tuple[str, JSON]])

    def takes_value(self) -> bool:
        """Whether a value that begins now has a place in it."""
        return True

    def add(self, value: JSON) -> None:
        """A value in it is complete."""
        if isinstance(self.items, list):
            self.items.append(value)
        else:
            self.items[self.key] = value
            self.pairs.append((self.key, value))

    def cost(self) -> int:
        """What it costs to copy it and those around it."""
        cost, container = 0, self
        while True:
            cost += len(container.items) + 2
            if container.outer is None:
                return cost
            container = container.outer.container

    def now(self, begun: Begun = ABSENT) -> Opening:
        """The present moment of it."""
        count = len(self.items) if isinstance(self.items, list) else len(self.pairs)
        return Opening(self, count, self.key, self.takes_value(), begun)

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


def number_of(word: str, infinite: JSON | Absent = ABSENT) -> JSON | Absent:
    """The number that a word says; ABSENT if none, and `infinite` if it is one that JSON cannot print."""
    if not _NUMBER.fullmatch(word):
        return ABSENT
    if not isfinite(value := float(word)):
        return infinite
    return int(value) if abs(value) <= SAFE_INTEGER and value.is_integer() else value


def joined_pairs(text: str) -> str:
    """The text with each pair of surrogates as the one character that it is.

    A provider may cut a character in two, each in a delta of its own. To JavaScript they are one when they are put
    together.
    """
    return text if text.isascii() else _PAIR.sub(_character, text)


def _character(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _joined(pieces: list[str]) -> str:
    """The text of a string; two escapes that make a pair are one character. The first piece was joined before."""
    begun, new = pieces[0], "".join(pieces[1:])
    if "\ud800" <= begun[-1:] <= "\udbff":
        begun, new = begun[:-1], begun[-1] + new
    return begun + joined_pairs(new)
