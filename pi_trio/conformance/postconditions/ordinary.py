"""What is no matter of a ruling, and so has to be as the runtime or the release has it.

A ruling speaks of how what was begun is closed: turns, the end of a run, failed answers, and failed calls. All else is
*ordinary*. Ordinary lines that both sides have must be there, in that order; those that one side has may be there, in
their place; others may not. From what shows the transcript or the state, failures are left out where they are shown
as this side has told them (`told.py`); else they have to be shown as one of the two shows them. When a run settles
depends on how it is closed; how it settles has to be as one of the two has it. Whole runs are compared where nothing is
to be closed: one that begins later, and one that a ruling keeps from failing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from pi_trio.jsonvalue import ABSENT

from ..compare import canonical, opcodes
from ..failed import is_failed_answer, tells_failure
from ..lines import event_of, is_callback
from ..protocol import Object
from .closings import Told, told_by
from .said import Run, runs
from .told import LIVE, Moment, moments

_ELSEWHERE: Final = frozenset({"withdrawn", "unhandled", "settled"})
"""Tells that are looked at elsewhere, or not at all."""

_TOLD: Final = {"shown": "as told"}
"""Stands for the failures in a list."""

_FRAMES: Final = frozenset({"turn_start", "turn_end", "agent_end"})


def strays(
    lines: Sequence[Object], one: Sequence[Object], other: Sequence[Object], *, shared: int
) -> Iterator[str]:
    """Where the ordinary lines of a trace follow neither of two others, behind the first ones, which all share."""
    if other[-1] == {"end": "hang"}:
        other = one  # which alone tells how it goes on
    # Of a release that is not known nothing is.
    known = list(one) != list(other)
    common = {_exactly(line) for line in one[shared:]} if known else set[str]()
    common.intersection_update(_exactly(line) for line in other[shared:])
    sides = [_Side(each, common, shared) for each in (lines, one, other)]
    got, left, right = (_settled(each[shared:]) for each in (lines, one, other))
    if any(ok not in (left.get(op), right.get(op)) for op, ok in got.items()):
        yield "an operation settles otherwise than in both"
    yield from _strays(*([_outline(line) for line in side.ordinary] for side in sides))
    yield from _strays(*(side.ordinary for side in sides))
    mine, runtimes, releases = (told_by(each) for each in (lines, one, other))
    yield from _otherwise_later(*sides, before=set(runs(one[:shared])), good=runtimes)
    for run, told in runtimes.items():
        if releases[run].fails and not told.fails:
            yield from _otherwise_kept(*sides, run=run, fails=mine[run].fails)
    states, *shown = ({canonical(state) for state in side.states} for side in sides)
    if odd := states.difference(*shown):
        yield f"it shows a state with what is closed that neither of both shows there: {min(odd):.200}"


def _otherwise_later(
    got: _Side, left: _Side, right: _Side, *, before: Collection[Run], good: Mapping[Run, Told]
) -> Iterator[str]:
    """A run that begins later, and has nothing to close, is as in one of both from beginning to end, frames and all."""
    for run in dict.fromkeys([*got.whole, *left.whole]):
        if run not in before and run in good and good[run].is_good:
            if got.whole[run] not in (left.whole[run], right.whole[run]):
                yield f"{run[1]}, which does not fail, goes otherwise than in both"


def _otherwise_kept(got: _Side, left: _Side, right: _Side, *, run: Run, fails: bool) -> Iterator[str]:
    """A run that fails in the release alone goes on as the runtime's, or fails, and then it has not gone on."""
    if not fails and got.parts[run] != left.parts[run]:
        yield f"{run[1]}, which does not fail, goes on otherwise than in the runtime"
    if fails and Counter(got.parts[run]) - Counter(right.parts[run]):
        yield f"{run[1]} fails, and has gone on before that"


def _settled(lines: Sequence[Object]) -> dict[Run, bool]:
    """How each operation ended; those of the first conversation have the number 0."""
    number = 0
    found: dict[Run, bool] = {}
    for line in lines:
        number += line.get("send", {}).get("cmd") == "create"
        if line.get("tell") == "settled":
            found[number, line["op"]] = line["ok"]
    return found


def _strays(got: Sequence[Object], left: Sequence[Object], right: Sequence[Object]) -> Iterator[str]:
    merged: list[tuple[bool, str]] = []
    for tag, first, last, start, stop in opcodes(left, right):
        if tag == "equal":
            merged += [(True, canonical(line)) for line in left[first:last]]
        else:
            merged += [(False, canonical(line)) for line in (*left[first:last], *right[start:stop])]
    places = {0}
    for line in got:
        text = canonical(line)
        places = {after for place in places for after in _reached(merged, place, text)}
        if not places:
            yield f"besides what the ruling is about, it says what neither runtime nor release says there: {text[:200]}"
            return
    if all(any(due for due, _ in merged[place:]) for place in places):
        yield "besides what the ruling is about, something is missing that runtime and release both say"
    mine, one, other = (Counter(map(canonical, each)) for each in (got, left, right))
    if excess := mine - (one | other):
        yield f"besides what the ruling is about, it says something more often than either does: {min(excess):.200}"


def _reached(merged: Sequence[tuple[bool, str]], place: int, text: str) -> Iterator[int]:
    """The places behind a line of that text that are reached without leaving out what both have."""
    for index in range(place, len(merged)):
        due, said = merged[index]
        if said == text:
            yield index + 1
        if due:
            return


class _Side:
    """The ordinary lines of one side, and the states that go with the others, both without what was told."""

    def __init__(self, lines: Sequence[Object], common: set[str], shared: int) -> None:
        self.ordinary: list[Object] = []
        self.states: list[Object] = []
        self.parts: defaultdict[Run, list[str]] = defaultdict(list)
        """The ordinary lines of each run."""
        self.whole: defaultdict[Run, list[str]] = defaultdict(list)
        """All its lines, ordinary or not."""
        silent, known, of = False, moments(lines), runs(lines)
        asked_at = known[shared - 1]
        for line, moment, run in zip(lines[shared:], known[shared:], of[shared:], strict=True):
            if "send" in line:
                silent = line["send"]["cmd"] == "answer" and line["send"]["ask"]["fn"] == "listener"
                asked_at = moment
            if (silent and _says_nothing(line)) or line.get("tell") in _ELSEWHERE:
                continue
            # A reply tells how things were when the command came; who is in no hurry may have gone on before.
            when = (asked_at, moment) if "reply" in line else (moment,)
            shape = _shape(line, when)
            self.whole[run].append(canonical(shape))
            if _closes(line, common):
                state = line.get("state") or line.get("args", {}).get("state")
                self.states += [_without_told(state, when)] if state else []
            else:
                self.ordinary.append(shape)
                self.parts[run].append(self.whole[run][-1])


def _says_nothing(line: Object) -> bool:
    """Whether a line shows no more than that an answer was given. A refusal does, and so does a reply with a value."""
    return "send" in line or "unresolved" in line or line.get("reply", ABSENT) is None


def _closes(line: Object, common: set[str]) -> bool:
    """Whether it tells of something that is closed, other than both sides do."""
    event = event_of(line)
    if event is None:
        return False
    kind = event["type"]
    whole = event["message"] if kind in ("message_start", "message_end") else None
    if kind in _FRAMES or is_failed_answer(whole):
        return True
    failed = event.get("isError") is True or tells_failure(whole)
    return (failed or kind == "tool_execution_start") and _exactly(line) not in common


def _outline(line: Object) -> Object:
    """Without what a callback or a reply shows: that it is there, both may have, and still show different things."""
    return (
        {key: value for key, value in line.items() if key not in ("args", "reply")} if _shows(line) else line
    )


def _shows(line: Object) -> bool:
    return is_callback(line) or isinstance(line.get("reply"), (dict, list))


def _exactly(line: Object) -> str:
    return canonical(_unnumbered(line))


def _unnumbered(line: Object) -> Object:
    """Without the number of its ask, and without the state that goes with an event."""
    plain = {key: value for key, value in line.items() if key != "state"}
    if isinstance(line.get("ask"), dict):
        plain["ask"] = {key: value for key, value in line["ask"].items() if key != "nth"}
    return plain


def _shape(line: Object, when: Sequence[Moment]) -> Object:
    """A line without what closings change in it."""
    shown = _unnumbered(line)
    if "state" in line:
        shown["state"] = line["state"]
    shaped: Object = _without_told(shown, when)
    return shaped


def _without_told(value: Any, when: Sequence[Moment], name: str = "") -> Any:
    """What has that name, without the failures and the live parts of a state that are shown as they were told."""
    if isinstance(value, list):
        if any(moment.explains(name, value) for moment in when):
            value = [_TOLD, *(item for item in value if not tells_failure(item))]
        return [_without_told(item, when) for item in value]
    if not isinstance(value, dict):
        return value
    if "isStreaming" in value:
        told = {name for moment in when for name in moment.live(value)}
        value = {key: item for key, item in value.items() if key not in LIVE}
        value |= {name: value.get(name) for name in LIVE if name not in told}
    return {key: _without_told(item, when, key) for key, item in value.items()}
