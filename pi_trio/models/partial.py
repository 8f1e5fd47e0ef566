"""The message so far, as a view: what a partial shows is made when somebody looks at it.

A response may have a quarter of a million deltas, and each of them brings a partial. If every partial held its
own text, the work would grow with the square of the length. So all partials of a response share what has come, and
each knows how much of it there was at its moment. Something is only ever added; so a partial shows its own
moment for good, however late it is looked at, and in whichever thread.

Who looks at the content of a partial pays for putting it together, once. Who looks at every partial of a long
response, pays for the square after all, by his own choice: the delta is in the event.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any, Final, Literal, Protocol, TypeAlias

import attrs

from ..jsonvalue import JSON
from ..messages import AssistantMessage, Content, TextContent, ThinkingContent, ToolCall
from .open_values import joined_pairs

Kind: TypeAlias = Literal["text", "thinking", "toolcall"]


# --- blocks -----------------------------------------------------------------------------------------------


class Growing(Protocol):
    """A block that grows piece by piece. A *mark* names a moment of it, and grows with it."""

    @property
    def kind(self) -> Kind: ...
    @property
    def mark(self) -> int: ...

    def append(self, piece: str) -> None:
        """The next piece."""
        ...

    def at(self, mark: int) -> Content:
        """The block as it was at a mark."""
        ...


#: So many pieces are joined to a longer one.
_FEW: Final = 64


class GrowingText:
    """A text or a thinking block. Its mark is the length of its text.

    Pieces are short, and each has a head that is longer than it. So a few of them are joined, and what is joined is
    joined again with what is as long: there are never many, and each character is copied a few times at most.
    """

    __slots__ = ("_parts", "_read", "begun", "kind", "mark")

    def __init__(self, begun: TextContent | ThinkingContent) -> None:
        first = begun.text if isinstance(begun, TextContent) else begun.thinking
        self.begun: Final = begun
        self.kind: Final[Kind] = begun.type
        self.mark = len(first)
        #: The long parts and the last pieces. One tuple, because other threads may look.
        self._parts: tuple[tuple[str, ...], list[str]] = (first,), []
        #: What was looked at last.
        self._read = first

    @property
    def text(self) -> str:
        """All that has come."""
        return self._text_at(self.mark)

    def append(self, piece: str) -> None:
        pieces = self._parts[1]
        pieces.append(piece)
        self.mark += len(piece)
        if len(pieces) == _FEW:
            *parts, last = *self._parts[0], "".join(pieces)
            while parts and len(parts[-1]) <= len(last):
                last = parts.pop() + last
            self._parts = (*parts, last), []

    def at(self, mark: int) -> TextContent | ThinkingContent:
        text = self._text_at(mark)
        if isinstance(self.begun, TextContent):
            return attrs.evolve(self.begun, text=text)
        return attrs.evolve(self.begun, thinking=text)

    def _text_at(self, mark: int) -> str:
        read = self._read
        if mark > len(read):
            parts, pieces = self._parts
            self._read = read = "".join((*parts, *pieces))
        return joined_pairs(read if len(read) == mark else read[:mark])


class Reader(Protocol):
    """Reads the text of a call's arguments as it comes, in the way of some releases."""

    def feed(self, text: str, /) -> Any:
        """Read the next piece; gives the moment after it."""
        ...

    def at(self, moment: Any, /) -> JSON:
        """The arguments as they were at a moment."""
        ...


class GrowingCall:
    """A tool call, whose arguments grow with their JSON text. Its mark is the number of the pieces.

    What the call has begun with gives way to the first piece, also to an empty one. Only if the text is `written` by
    whoever reads the provider, it is the beginning of that text.
    """

    __slots__ = ("_arguments", "_lock", "_moments", "begun", "kind", "pieces", "reader", "written")

    def __init__(self, begun: ToolCall, reader: Callable[[], Reader], *, written: bool = False) -> None:
        self.begun: Final = begun
        self.kind: Final[Kind] = "toolcall"
        self.pieces: Final[list[str]] = []
        self.reader: Final = reader
        self.written: Final = written
        self._arguments: Reader | None = None  # there from the first look on: mostly there is none
        self._moments: list[Any] = []  # after each piece that was read
        self._lock = threading.Lock()  # one reader at a time feeds the arguments

    @property
    def mark(self) -> int:
        return len(self.pieces)

    def append(self, piece: str) -> None:
        if piece or not self.written:
            self.pieces.append(piece)

    def at(self, mark: int) -> ToolCall:
        """The call at a mark."""
        if mark == 0:
            return self.begun
        with self._lock:
            if self._arguments is None:
                self._arguments = self.reader()
            for piece in self.pieces[len(self._moments) : mark]:
                self._moments.append(self._arguments.feed(piece))
            return attrs.evolve(self.begun, arguments=self._arguments.at(self._moments[mark - 1]))


# --- messages ---------------------------------------------------------------------------------------------


@attrs.define
class Unfinished:
    """A block at a mark, while another block grows. It does not change: see `Outline`."""

    growing: Growing
    mark: int


class Blocks:
    """The content of a response as it comes: what stands at each place, and since when. Nothing is ever taken away."""

    __slots__ = ("_places", "now")

    def __init__(self) -> None:
        self._places: list[list[tuple[int, Content | Unfinished]]] = []
        #: How often something was put somewhere, which names a moment.
        self.now = 0

    def __len__(self) -> int:
        return len(self._places)

    def put(self, index: int, block: Content | Unfinished) -> None:
        """From now on this block stands there; the place may be a new one at the end."""
        self.now += 1
        if index == len(self._places):
            self._places.append([(self.now, block)])
        else:
            self._places[index].append((self.now, block))

    def at(self, moment: int) -> Iterator[Content | Unfinished]:
        """What stood at each place at a moment."""
        for place in self._places:
            since, block = place[-1]
            if since > moment:
                which = bisect_right(place, moment, key=itemgetter(0))
                if not which:
                    return  # there was no such place
                block = place[which - 1][1]
            yield block


@attrs.define(eq=False)
class Outline:
    """What partials have in common, as long as one block grows. It does not change.

    (Nor would it if it were frozen, but that makes three of it a call, and each in three times the time.)

    Attributes:
        head: the message's fields, but for its content.
        blocks: its content, at `moment`; the place of the block that grows holds nothing of use.
        index: that place, if a block grows.
    """

    head: AssistantMessage
    blocks: Blocks = attrs.field(factory=Blocks)
    moment: int = 0
    index: int = -1
    growing: Growing | None = None

    def content(self, mark: int) -> tuple[Content, ...]:
        """All blocks, when the one that grows has come to `mark`."""
        content = [
            block.growing.at(block.mark) if isinstance(block, Unfinished) else block
            for block in self.blocks.at(self.moment)
        ]
        if self.growing is not None:
            content[self.index] = self.growing.at(mark)
        return tuple(content)


class PartialMessage(AssistantMessage):
    """An `AssistantMessage` whose fields are filled in when they are first read.

    In every other respect it is one: it is equal to the plain message with the same fields, is printed like it,
    and copies of it (`attrs.evolve`, `copy`, `pickle`) are plain messages. Made by `partial_at`.
    """

    __slots__ = ("_mark", "_outline")

    def __new__(cls, **fields: Any) -> AssistantMessage:  # type: ignore[misc]
        """A plain message: this is what `attrs.evolve` calls."""
        return AssistantMessage(**fields)

    def __getattr__(self, name: str) -> Any:
        """A field that is not filled in: asked for when Python finds its slot empty."""
        if name not in _FIELDS:
            raise AttributeError(f"{AssistantMessage.__name__!r} object has no attribute {name!r}")
        value = self._outline.content(self._mark) if name == "content" else getattr(self._outline.head, name)
        object.__setattr__(self, name, value)
        return value

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, PartialMessage):
            other = attrs.evolve(other)
        return attrs.evolve(self) == other

    def __hash__(self) -> int:
        return hash(attrs.evolve(self))

    def __repr__(self) -> str:
        return repr(attrs.evolve(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(AssistantMessage, **{name: getattr(self, name) for name in _FIELDS}), ()


_FIELDS: Final = frozenset(field.name for field in attrs.fields(AssistantMessage))

_set_outline: Final = PartialMessage._outline.__set__  # type: ignore[attr-defined]
_set_mark: Final = PartialMessage._mark.__set__  # type: ignore[attr-defined]


def partial_at(outline: Outline, mark: int) -> PartialMessage:
    """The message so far. As quick as can be: it happens once a delta."""
    made: PartialMessage = object.__new__(PartialMessage)
    _set_outline(made, outline)
    _set_mark(made, mark)
    return made
