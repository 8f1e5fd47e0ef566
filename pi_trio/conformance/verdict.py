"""Verdicts: what is said of a subject's way with one scenario, how many there are of each, and the exit code.

A scenario that was not run is never a success, and a fault of the tester is never the subject's. Scenarios
whose expected traces coincide are one scenario twice: they count once, unless they came out differently, or
were not run: what is not known of the one is not known of the other either.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from .compare import Hunk
from .protocol import Object, missing_commands


class Outcome(enum.StrEnum):
    """What came out, from best to worst."""

    PASS = "PASS"  # noqa: S105
    """As expected, in full."""
    NON_STRICT = "NON-STRICT"
    """Not as the runtime, but allowed: a ruling covers the difference."""
    NOT_OFFERED = "NOT OFFERED"
    """Not run: the scenario needs something that the subject does not have."""
    KNOWN = "KNOWN"
    """Not as expected, and the port's baseline says so."""
    FAIL = "FAIL"
    """Not as expected."""
    HANG = "HANG"
    """The run never settles although nobody waits for the tester, or a reply never comes."""
    CRASH = "CRASH"
    """The subject died."""
    HARNESS = "HARNESS"
    """The tester itself failed, or what it judges by is not in order."""

    @property
    def rank(self) -> int:
        """How bad it is."""
        return _RANKS[self]


_RANKS: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}

FAILURES: Final = frozenset({Outcome.FAIL, Outcome.HANG, Outcome.CRASH})


class ExitCode(enum.IntEnum):
    """What `pi-trio conform` ends with."""

    CONFORMANT = 0
    NOT_CONFORMANT = 1
    USAGE = 2
    NOT_STARTED = 3
    HARNESS = 4
    INTERRUPTED = 130


@attrs.frozen(kw_only=True)
class Verdict:
    """One scenario on one subject.

    Attributes:
        name, title, topic: the scenario's.
        reason: why it is not a PASS, in one line.
        rulings: ids of the rulings under which it was judged.
        missing: what it needs and the subject does not offer.
        hunks: all differences from the expected trace.
        stderr: the end of what the subject wrote there, if it broke off.
        traceback: of a fault of the tester.
        ignored: how often each thing was met that the protocol does not know.
        same_as: fingerprint of the expected trace; equal ones count once.
        wire: of a failure, what was sent (`>`) and received (`<`), as lines of JSON; the end of it.
        words: of a failure, by the index of a line in the subject's trace, what an error in it says in full.
        known: why it is in the baseline, if it is; `failed_as` is the outcome that it would have otherwise.
        tried: the subject was driven through it; not so once it was given up, which is a failure all the same.
    """

    name: str
    title: str
    topic: str
    outcome: Outcome
    reason: str = ""
    rulings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    stderr: str = ""
    traceback: str = ""
    ignored: Mapping[str, int] = attrs.field(factory=dict[str, int])
    same_as: str = ""
    wire: tuple[str, ...] = ()
    words: Mapping[int, str] = attrs.field(factory=dict[int, str])
    known: str = ""
    failed_as: Outcome | None = None
    tried: bool = True


@attrs.frozen(kw_only=True)
class Leg:
    """One subject, judged.

    Attributes:
        label: how the user knows it.
        hello: what it said of itself; None if it never started.
        fault: why it could not be started.
        stopped: it was left after the first failure, which was to be the last.
        unrun: how many scenarios were left out then.
    """

    label: str
    hello: Object | None
    verdicts: tuple[Verdict, ...] = ()
    fault: str = ""
    stderr: str = ""
    stopped: bool = False
    unrun: int = 0

    def missing_commands(self) -> tuple[str, ...]:
        """The required commands that it does not offer."""
        return () if self.hello is None else missing_commands(self.hello)


@attrs.frozen(kw_only=True)
class Report:
    """All that was found out. A subject reached in two ways has two legs; its worst counts.

    Attributes:
        stale: what the baseline says, and is so no longer; each in one line.
    """

    legs: tuple[Leg, ...]
    stale: tuple[str, ...] = ()

    def worst(self) -> Iterator[Verdict]:
        """For each scenario the worst of its verdicts, the first among equals."""
        by_name: dict[str, Verdict] = {}
        for leg in self.legs:
            for verdict in leg.verdicts:
                known = by_name.get(verdict.name)
                if known is None or verdict.outcome.rank > known.outcome.rank:
                    by_name[verdict.name] = verdict
        return iter(by_name.values())

    def tally(self) -> Counter[Outcome]:
        """How many scenarios came out how."""
        return tally(self.worst())

    def untried(self) -> int:
        """How many scenarios the subject was not driven through any more, after it had been given up."""
        return sum(not verdict.tried for leg in self.legs for verdict in leg.verdicts)

    def missing_commands(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for leg in self.legs for name in leg.missing_commands()))

    def exit_code(self) -> ExitCode:
        """0 only if nothing failed that is not known, at least one scenario passed, everything required is offered,
        and the baseline is true.
        """
        counts = self.tally()
        if counts[Outcome.HARNESS]:
            return ExitCode.HARNESS
        if any(leg.fault for leg in self.legs):
            return ExitCode.NOT_STARTED
        if failures(counts) or self.missing_commands() or self.stale or not counts[Outcome.PASS]:
            return ExitCode.NOT_CONFORMANT
        return ExitCode.CONFORMANT


def tally(verdicts: Iterable[Verdict]) -> Counter[Outcome]:
    """How many there are of each outcome, coinciding scenarios counted once if they were run."""
    seen: set[tuple[str, Outcome]] = set()
    counts: Counter[Outcome] = Counter()
    for verdict in verdicts:
        offered = verdict.outcome is not Outcome.NOT_OFFERED
        key = ((offered and verdict.same_as) or verdict.name, verdict.outcome)
        if key not in seen:
            seen.add(key)
            counts[verdict.outcome] += 1
    return counts


def failures(counts: Counter[Outcome]) -> int:
    """Failed scenarios, hangs and crashes included, and without those that are known."""
    return sum(counts[outcome] for outcome in FAILURES)


def summary(counts: Counter[Outcome]) -> str:
    """The line that says it all. Known failures and faults of the tester are named only if there are some."""
    line = (
        f"{counts[Outcome.PASS]} passed, {counts[Outcome.NON_STRICT]} non-strict, "
        f"{counts[Outcome.NOT_OFFERED]} not offered, {failures(counts)} failed"
    )
    if counts[Outcome.KNOWN]:
        line += f", {counts[Outcome.KNOWN]} known failures"
    return f"{line}, {counts[Outcome.HARNESS]} tester faults" if counts[Outcome.HARNESS] else line
