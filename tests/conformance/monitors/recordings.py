"""What was recorded, as the monitors' tests need it: traces by release and side, and what their listeners heard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from zlib import crc32

import attrs

from pi_trio.conformance.cancelling import cancel_golden_path, read_cancel_golden
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.lines import event_of, is_ask
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import golden_names, read_golden
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PROFILES

VECTORS = Vectors.shipped()
CLAUSES = Clauses.shipped()
RELEASES = tuple(profile.release for profile in PROFILES.values())
FORCE = {clause.id: frozenset(clause.releases) for clause in CLAUSES.values()}
SIDES = ("pi", "ruled", "cancel")


@attrs.frozen
class Trace:
    """One recorded trace: of a release ("pi"), or of the runtime where it differs ("ruled", "cancel")."""

    side: str
    release: str
    name: str
    lines: Sequence[Object]

    def __str__(self) -> str:
        return f"{self.name} ({self.side} {self.release})"


@cache
def traces(side: str, release: str) -> tuple[Trace, ...]:
    """All traces of a side, by name."""
    return tuple(Trace(side, release, name, lines) for name, lines in sorted(_read(side, release)))


def _read(side: str, release: str) -> Iterator[tuple[str, Sequence[Object]]]:
    if side == "pi":
        for name in VECTORS.names(release):
            recording = VECTORS.read(release, name)
            assert recording is not None
            yield name, recording.lines
        return
    if side == "ruled":
        names, read = golden_names(VECTORS, release), read_golden
    else:
        folder = cancel_golden_path(VECTORS, release, "").parent
        names, read = frozenset(path.stem for path in folder.glob("*.jsonl")), read_cancel_golden
    for name in names:
        golden = read(VECTORS, release, name)
        assert golden is not None
        yield name, golden.runtime_side()


def heard(lines: Sequence[Object]) -> dict[str, list[Object]]:
    """The events that each listener heard, of one agent."""
    found: dict[str, list[Object]] = defaultdict(list)
    for line in lines:
        event = event_of(line)
        if event is not None:
            found[line["ask"]["key"] if is_ask(line) else line["key"]].append(event)
    return found


def creates(lines: Sequence[Object]) -> list[Object]:
    """The commands that make agents."""
    return [line["send"] for line in lines if line.get("send", {}).get("cmd") == "create"]


def _with_partial(event: Object) -> Object:
    told = event.get("assistantMessageEvent")
    if not isinstance(told, dict) or "partial" in told:
        return event
    return {**event, "assistantMessageEvent": {**told, "partial": event["message"]}}


@cache
def good_logs(release: str) -> tuple[tuple[str, tuple[Object, ...]], ...]:
    """What the first listener of an agent heard where no clause was broken, by scenario: a third of them, which stays
    the same if scenarios are added. Updates have the partial that traces leave out.
    """
    from pi_trio.conformance.monitors import EventMonitor

    logs = []
    for trace in traces("pi", release):
        made = creates(trace.lines)
        if crc32(trace.name.encode()) % 3 or len(made) != 1 or made[0].get("target") == "loop":
            continue
        for traced in list(heard(trace.lines).values())[:1]:
            events = [_with_partial(event) for event in traced]
            monitor = EventMonitor(FORCE, [release])
            if not any(monitor.tell(event) for event in events) and not monitor.end(closed=True):
                logs.append((trace.name, tuple(events)))
    return tuple(logs)
