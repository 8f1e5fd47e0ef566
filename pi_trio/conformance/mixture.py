"""What a release would do if it were a mixture, where a ruling applies and so nobody has recorded it.

A port may follow one release in most, and another one in a few fields of the profile. What the runtime does as such a
mixture can be run. What *Pi* would do can be told all the same: the golden trace of one of the releases holds what the
runtime does as that release, and what the release does. How the runtime changes from there to the mixture (lines that
come or go, values within lines) is carried over to the release's side, as a version control system merges. Where it
cannot be told for sure, because a change comes in the midst of what the ruling is about, nothing is made up: only the
rulings, and where they are entered, are known then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from pi_trio.jsonvalue import ABSENT

from .compare import canonical, opcodes
from .lines import event_of
from .protocol import Object
from .ruled import Entry, Golden


class Untold(Exception):  # noqa: N818  (nothing is wrong)
    """It cannot be told what the release would do."""


def carried(golden: Golden, lines: Sequence[Object]) -> Golden:
    """The golden trace as the mixture would have it.

    Args:
        golden: the one of a release.
        lines: what the runtime does as the mixture.

    Raises:
        Untold: it cannot be told.
    """
    own = golden.runtime_side()
    partners, coming = _aligned(own, lines)
    changes = _Changes()
    for before, after in partners.items():
        changes.learn(own[before], lines[after])
    gone = {canonical(_shape(line)) for index, line in enumerate(own) if index not in partners}
    entries: list[Entry] = []
    enters, place, last = None, 0, ""
    for index, entry in enumerate(golden.entries):
        if entry.mark == "-":
            if canonical(_shape(entry.line)) in gone:
                raise Untold  # what else is like it goes
            entries.append(attrs.evolve(entry, line=changes.applied(entry.line)))
        else:
            if coming[place] and last != entry.mark:
                raise Untold  # something comes where the sides part, or meet again
            entries += [attrs.evolve(entry, line=lines[after]) for after in coming[place]]
            if place in partners:
                entries.append(attrs.evolve(entry, line=lines[partners[place]]))
            elif entry.mark == "+":
                raise Untold  # of what the ruling makes the runtime say, something goes
            if index == golden.enters and place in partners:
                enters = len(entries) - 1
            place += 1
        last = entry.mark
    if enters is None or coming[place]:
        raise Untold
    return attrs.evolve(golden, enters=enters, entries=tuple(entries))


def entered(before: Sequence[Object], enters: int | None, lines: Sequence[Object]) -> int | None:
    """The line of the mixture that is the one with the command that enters a ruling, given the runtime as a release."""
    partners, _ = _aligned(before, lines)
    return None if enters is None else partners.get(enters)


def _aligned(
    before: Sequence[Object], after: Sequence[Object]
) -> tuple[dict[int, int], defaultdict[int, list[int]]]:
    """Which line became which; and which ones come, by the line before which they do."""
    partners: dict[int, int] = {}
    coming: defaultdict[int, list[int]] = defaultdict(list)
    for tag, first, last, start, stop in opcodes(before, after):
        if tag == "equal":
            partners.update(zip(range(first, last), range(start, stop), strict=True))
            continue
        shapes = [_shape(line) for line in before[first:last]], [_shape(line) for line in after[start:stop]]
        for inner, left, left_end, right, right_end in opcodes(*shapes):
            old, new = range(first + left, first + left_end), range(start + right, start + right_end)
            if inner == "equal":
                partners.update(zip(old, new, strict=True))
            elif new:
                coming[old.stop] += new
    return partners, coming


def _shape(line: Object) -> Object:
    """What a line is, whatever it shows: which command, which callback, which event, of which kind of message."""
    sent: Object = line.get("send", line)
    event = event_of(line) or sent.get("event") or {}
    message = event.get("message") or {}
    asked = {key: value for key, value in sent.get("ask", {}).items() if key != "nth"}
    names = {key: sent.get(key) for key in ("cmd", "tell", "op", "key", "throw")}
    kinds = [key for key in ("send", "ask", "reply", "error", "unresolved", "end") if key in line]
    return {**names, "ask": asked, "kinds": kinds, "event": event.get("type"), "role": message.get("role")}


_AMBIGUOUS: Final = object()


class _Changes:
    """How objects change, and how values do by the kind of object that they are in, their key, and what they were."""

    def __init__(self) -> None:
        self._objects: dict[tuple[str, str], Any] = {}
        self._values: defaultdict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
        self._changing: defaultdict[str, set[str]] = defaultdict(set)

    def learn(self, before: Object, after: Object, under: str = "") -> None:
        """Take note of what became of an object."""
        kind = _kind(before, under)
        _note(self._objects, (kind, canonical(before)), after)
        for key in {**before, **after}:
            old, new = before.get(key, ABSENT), after.get(key, ABSENT)
            pairs = _objects(old, new)
            for one, other in pairs:
                self.learn(one, other, key)
            if not pairs:
                _note(self._values[kind, key], _text(old), new)
                if _text(old) != _text(new):
                    self._changing[kind].add(key)

    def applied(self, value: Object, under: str = "") -> Object:
        """The object as it would be. Raises: Untold."""
        kind = _kind(value, under)
        known = self._objects.get((kind, canonical(value)), _AMBIGUOUS)
        if known is not _AMBIGUOUS:
            whole: Object = known
            return whole
        changed: Object = {}
        for key in dict.fromkeys([*value, *sorted(self._changing[kind])]):
            item = value.get(key, ABSENT)
            if key in self._changing[kind]:
                item = self._changed(item, self._values[kind, key])
            elif isinstance(item, dict):
                item = self.applied(item, key)
            elif isinstance(item, list):
                item = [self.applied(each, key) if isinstance(each, dict) else each for each in item]
            if item is not ABSENT:
                changed[key] = item
        return changed

    @staticmethod
    def _changed(item: Any, values: Mapping[str, Any]) -> Any:
        """What becomes of a value that changes elsewhere. That something is added to an object like this one does not
        mean that it is added to this one; but what vanishes everywhere will not be added.
        """
        became = ABSENT if item is ABSENT else values.get(_text(item), _AMBIGUOUS)
        if became is _AMBIGUOUS or (item is ABSENT and any(each is not ABSENT for each in values.values())):
            raise Untold
        return became


def _note(became: dict[Any, Any], old: Any, new: Any) -> None:
    """Take note of what became of something, unless it is known that this may differ."""
    if _text(became.setdefault(old, new)) != _text(new):
        became[old] = _AMBIGUOUS


def _objects(old: Any, new: Any) -> list[tuple[Object, Object]]:
    """The objects in two values, one by one, if they are made of nothing but such that belong together."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [(old, new)]
    if not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
        return []
    pairs = [pair for pair in zip(old, new, strict=True) if all(isinstance(each, dict) for each in pair)]
    alike = len(pairs) == len(old) and all(_kind(one, "") == _kind(other, "") for one, other in pairs)
    return pairs if alike else []


def _kind(value: Object, under: str) -> str:
    """What an object is: a message of a role, an event of a type, an ask of a callback, or what its key says."""
    names = [value[key] for key in ("type", "role", "fn", "key", "event") if isinstance(value.get(key), str)]
    return " ".join([under if not names else "", *names])


def _text(value: Any) -> str:
    return "" if value is ABSENT else "?" if value is _AMBIGUOUS else canonical(value)
