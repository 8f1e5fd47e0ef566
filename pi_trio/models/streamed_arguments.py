"""The arguments of a tool call as the releases up to 1.0.3 read them: one reading, from the first delta to the last.

Up to 1.0.3 nobody asks whether a text has come to its end: what can be read of it *is* the arguments, and a call that
was cut off runs with those that had come. (1.6.0 reads strictly at the end: `final_arguments.py`.) Two readings are
tried, and the first that succeeds counts:

- the text so far is one whole JSON value, perhaps after its strings were repaired (`whole_value.py`): then that value;
- what has come of a value (`partial_value.py`).

Pi reads the whole text again at each delta. Here each piece is read once, except where what it means may change to its
very beginning: see `PartialReader.doubtful`.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import attrs

from ..jsonvalue import ABSENT, JSON, Absent, FrozenDict
from ..tools.js_number import WHITESPACE
from .open_values import EARNED, Opening
from .partial_value import PartialReader, bare_value
from .whole_value import WholeText, repaired, whole_value

_NOTHING: Final = FrozenDict()


@attrs.frozen(eq=False)
class _Anew:
    """So many pieces of the text, to be read from the start."""

    count: int


#: What shows: a value, or what it can be made from.
Moment: TypeAlias = JSON | Opening | _Anew


def streamed_arguments(text: str) -> JSON:
    """What the whole text of a call's deltas says. Mostly an object, but nobody sees to it: it may be any JSON."""
    trimmed = text.strip(WHITESPACE)
    if not trimmed:
        return _NOTHING
    value = whole_value(text)
    if not isinstance(value, Absent):
        return value
    if trimmed[0] in "{[":
        reader = PartialReader(trimmed[0])
        reader.read(trimmed, last=True)
        return reader.value
    for readable in (trimmed, repaired(text).strip(WHITESPACE)):
        value = bare_value(readable)
        if not isinstance(value, Absent):
            return value
    return _NOTHING


class StreamedArguments:
    """Reads the text of one call's arguments as it comes; shows them as they are so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._blank: list[str] = []  # whitespace that has come last, and counts when more comes
        self._begun = False
        self._whole = WholeText()
        self._reader: PartialReader | None = None  # there if what has begun is a container
        self._earned = 0
        self._moment: Moment = _NOTHING
        self._made: tuple[Moment, JSON] = _NOTHING, _NOTHING  # what was looked at last

    @property
    def shown(self) -> JSON:
        """The arguments so far: `{}` while there is nothing."""
        return self.at(self._moment)

    def at(self, moment: Moment) -> JSON:
        """The arguments as they were at a moment."""
        if self._made[0] is not moment:
            if isinstance(moment, Opening):
                self._made = moment, moment.value()
            elif isinstance(moment, _Anew):
                self._made = moment, streamed_arguments("".join(self._pieces[: moment.count]))
            else:
                self._made = moment, moment
        return self._made[1]

    def feed(self, text: str) -> Moment:
        """Read the next piece. Gives the moment that shows after it."""
        self._pieces.append(text)
        self._earned += EARNED[0] + EARNED[1] * len(text)
        solid = text.rstrip(WHITESPACE)
        if solid:
            self._read("".join([*self._blank, solid]))
            self._blank.clear()
        self._blank.append(text[len(solid) :])
        if self._begun:
            self._settle(self._whole.feed(text))
        return self._moment

    def _read(self, text: str) -> None:
        if not self._begun:
            self._begun = True
            text = text.lstrip(WHITESPACE)
            if text[0] in "{[":
                self._reader = PartialReader(text[0])
        if self._reader is not None:
            self._reader.read(text)

    def _settle(self, whole: bool) -> None:
        """After a piece: what is to be shown."""
        reader = self._reader
        value = whole_value("".join(self._pieces)) if whole else ABSENT
        if not isinstance(value, Absent):
            self._moment = value
        elif reader is None or reader.doubtful:
            self._moment = _Anew(len(self._pieces))
        elif not reader.open:
            self._moment = reader.value
        else:
            moment = reader.now()
            cost = moment.container.cost() - 1 + (moment.begun is not ABSENT)
            if cost <= self._earned:
                self._earned -= cost
                self._moment = moment
