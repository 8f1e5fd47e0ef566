"""What is seen of someone in a scenario, and how near two such sights are.

Traces that are equal leave nothing to say. Of those that are not, the place where they part counts most: what comes
behind it may be a mere consequence. If two candidates part from a trace in the same line, the one is nearer that is
more like it in that line, and then the one that has more lines in common with it over all.
"""

from __future__ import annotations

from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeAlias

import attrs

from pi_trio.conformance.compare import canonical, hunks
from pi_trio.conformance.protocol import Object
from pi_trio.jsonvalue import ABSENT

Agreement: TypeAlias = tuple[int, int, int]
"""Greater is nearer: lines up to the first difference; less what differs in that line; less all lines that differ."""


@attrs.frozen(kw_only=True)
class Trace:
    """What someone does in a scenario: the lines, or what is lacking that the scenario asks for.

    `broken`: whoever did so died, or fell silent; it says no more of its way than the lines before.
    """

    lines: tuple[Object, ...] = ()
    missing: tuple[str, ...] = ()
    broken: bool = False

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The lines, so that equal ones are equal texts."""
        return tuple(map(canonical, self.lines))

    @property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """Equal for equal sights, and only for those."""
        return self.missing, self.texts

    def before(self, commands: int) -> Trace:
        """What comes before so many commands were sent."""
        sends = [index for index, line in enumerate(self.lines) if "send" in line]
        return attrs.evolve(self, lines=self.lines[: sends[commands]]) if commands < len(sends) else self

    def line(self, index: int) -> Any:
        """One line; ABSENT behind the last."""
        return self.lines[index] if index < len(self.lines) else ABSENT

    def parts_at(self, other: Trace) -> int:
        """The index of the first line in which the two differ; the length of the shorter one if there is none."""
        pairs = enumerate(zip(self.texts, other.texts, strict=False))
        differing = (index for index, (one, another) in pairs if one != another)
        return next(differing, min(len(self.lines), len(other.lines)))


def progress(expected: Trace, got: Trace) -> tuple[int, int]:
    """How far a trace is as expected, up to the line in which it parts. An equal one gets one line more than it has."""
    common = expected.parts_at(got)
    if common == len(expected.lines) == len(got.lines):
        return common + 1, 0
    return common, -_apart(expected.line(common), got.line(common))


def agreement(expected: Trace, got: Trace) -> Agreement:
    """How far a trace is as expected, with all that may tell candidates apart. Who lacks something is far off."""
    if expected.missing or got.missing:
        return -1, 0, 0
    differing = sum(max(len(hunk.expected), len(hunk.got)) for hunk in hunks(expected.lines, got.lines))
    return *progress(expected, got), -differing


def _apart(left: Any, right: Any) -> int:
    """How many single values differ between two JSON values."""
    if isinstance(left, dict) and isinstance(right, dict):
        return sum(
            _apart(left.get(key, ABSENT), right.get(key, ABSENT)) for key in dict.fromkeys([*left, *right])
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return sum(_apart(one, other) for one, other in zip_longest(left, right, fillvalue=ABSENT))
    if ABSENT in (left, right):
        return _size(right if left is ABSENT else left)
    if isinstance(left, (dict, list, tuple)) or isinstance(right, (dict, list, tuple)):
        return max(_size(left), _size(right))
    return int(canonical(left) != canonical(right))


def _size(value: Any) -> int:
    """How many single values there are in a JSON value; the empty ones count too."""
    if isinstance(value, dict):
        return 1 + sum(_size(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return 1 + sum(_size(item) for item in value)
    return 1
