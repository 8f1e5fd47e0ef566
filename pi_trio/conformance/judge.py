"""Judges a subject: drives it through many scenarios, and collects the verdicts: one leg of a report.

Several processes of the subject may be at work at once. The verdicts are collected in the order of the
scenarios all the same, and whatever depends on earlier ones (giving a subject up, stopping at the first
failure) is decided there, so that the number of processes never shows in a report. A fault of the tester, or
of what it judges by, is never laid at the subject's door: it is the verdict HARNESS.
"""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Final, TypeAlias

import attrs
import trio

from .decide import Decide, verdict_on
from .expected import Expectation, ReferenceFault
from .faults import SubjectDied, SubjectFault, SubjectSilent, SubjectUnstartable
from .keeper import Keeper, Opener, open_keeper
from .lockstep import Run
from .needs import missing, needs
from .nursery import single_errors
from .protocol import Object
from .scenario import Scenario
from .vectors import VectorError
from .verdict import FAILURES, Leg, Outcome, Verdict

SILENCES: Final = 5
"""Scenarios in a row that end in silence before a subject is given up: each costs the whole patience."""

DEATHS: Final = 3
"""Scenarios in a row in which a subject dies before it is given up."""


Expect: TypeAlias = Callable[[Scenario], Expectation]
"""Says what is expected in a scenario; raises if that cannot be said, which is a fault of the tester."""

Fit: TypeAlias = Callable[[Object, Callable[[], Awaitable[None]]], Awaitable[None]]
"""Makes ready for a subject, given its hello, and a function that ends it until it is needed again."""


async def judge_subject(
    label: str,
    opener: Opener,
    scenarios: Sequence[Scenario],
    *,
    expect: Expect,
    decide: Decide,
    fit: Fit | None = None,
    strict: bool = False,
    jobs: int = 1,
    fail_fast: bool = False,
    mark: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    progress: Callable[[str], None] = lambda _: None,
) -> Leg:
    """Drive one subject through scenarios, and judge each.

    Args:
        label: how the user knows the subject.
        expect: says what is expected in a scenario.
        decide: makes the verdict on a run.
        fit: called once, before the first scenario.
        strict: what the protocol does not know counts as a difference.
        jobs: how many processes of the subject may be at work at once.
        fail_fast: stop at the first failure that `mark` leaves one.
        mark: has the last word on each verdict.
        progress: told the name of each scenario when its verdict has fallen.

    Never raises for what the subject does: one that cannot be started is a leg without verdicts, one that
    dies is started again for the next scenario. A fault of the tester is the verdict HARNESS on that
    scenario. When cancelled, the subject is ended.
    """
    judging = _Judging(
        scenarios, expect=expect, decide=decide, mark=mark, progress=progress, fail_fast=fail_fast
    )
    with judging.scope:
        async with AsyncExitStack() as stack:
            keepers = [
                await stack.enter_async_context(open_keeper(opener, strict=strict))
                for _ in range(max(1, min(jobs, len(scenarios))))
            ]
            try:
                await keepers[0].start()
            except SubjectFault as fault:
                return Leg(label=label, hello=None, fault=fault.message, stderr=fault.stderr)
            judging.hello = keepers[0].hello
            if fit is not None:
                await fit(judging.hello, keepers[0].rest)
            with single_errors():
                async with trio.open_nursery() as nursery:
                    for keeper in keepers:
                        nursery.start_soon(judging.work, keeper)
    unrun = len(scenarios) - len(judging.verdicts)
    return Leg(label=label, hello=judging.hello, verdicts=tuple(judging.verdicts), unrun=unrun)


@attrs.frozen(kw_only=True)
class _Attempt:
    """What came of one scenario, before it is known what came of those before it.

    `offered`: the subject is to be driven through it; `fault` is what broke it off then.
    """

    scenario: Scenario
    expected: Expectation | None
    verdict: Verdict
    offered: bool = False
    fault: SubjectFault | None = None


class _Judging:
    """The scenarios of one subject on their way to verdicts."""

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        *,
        expect: Expect,
        decide: Decide,
        mark: Callable[[Verdict], Verdict],
        progress: Callable[[str], None],
        fail_fast: bool,
    ) -> None:
        self.hello: Object = {}
        self.verdicts: list[Verdict] = []
        self.scope = trio.CancelScope()
        """All that has to do with the subject; cancelled after the first failure, if that is to be the last."""
        self._expect, self._decide, self._mark, self._progress = expect, decide, mark, progress
        self._fail_fast = fail_fast
        self._todo: Iterator[tuple[int, Scenario]] = iter(enumerate(scenarios))
        self._attempts: dict[int, _Attempt] = {}
        self._lost = _Losses()

    async def work(self, keeper: Keeper) -> None:
        """Take scenarios, one after the other, until none is left."""
        for index, scenario in self._todo:
            self._attempts[index] = await self._attempt(keeper, scenario)
            self._collect()

    def _collect(self) -> None:
        """Take all attempts whose turn it is."""
        while (attempt := self._attempts.pop(len(self.verdicts), None)) is not None:
            verdict = attempt.verdict
            if attempt.offered and self._lost.for_good is not None:
                verdict = verdict_on(
                    attempt.scenario, attempt.expected, self._lost.for_good, reason=self._lost.reason
                )
            elif attempt.offered:
                self._lost.note(attempt.fault)
            verdict = self._mark(verdict)
            self.verdicts.append(verdict)
            self._progress(verdict.name)
            if self._fail_fast and verdict.outcome in (*FAILURES, Outcome.HARNESS):
                self.scope.cancel()
                return

    async def _attempt(self, keeper: Keeper, scenario: Scenario) -> _Attempt:
        expected: Expectation | None = None

        def harness(reason: str, trace: str = "") -> _Attempt:
            verdict = verdict_on(scenario, expected, Outcome.HARNESS, reason=reason, traceback=trace)
            return _Attempt(scenario=scenario, expected=expected, verdict=verdict)

        try:
            expected = self._expect(scenario)
            return await self._drive(keeper, scenario, expected)
        except (ReferenceFault, VectorError) as error:
            return harness(str(error))
        except Exception as error:
            return harness(f"{type(error).__name__}: {error}", traceback.format_exc())

    async def _drive(self, keeper: Keeper, scenario: Scenario, expected: Expectation) -> _Attempt:
        played = expected.scenario or scenario
        lacking = missing(needs(played, expected.lines), self.hello)
        lacking += (expected.incomparable,) if expected.incomparable else ()
        if lacking:
            verdict = verdict_on(scenario, expected, Outcome.NOT_OFFERED, missing=lacking)
            return _Attempt(scenario=scenario, expected=expected, verdict=verdict)
        fault: SubjectFault | None = None
        try:
            if self._lost.for_good is not None:
                verdict = verdict_on(scenario, expected, self._lost.for_good)
            else:
                run, verdict = await self._play(keeper, played, expected)
                fault = run.fault
        except SubjectUnstartable as caught:
            fault = caught
            reason = f"it does not start again: {caught.message}"
            verdict = verdict_on(scenario, expected, Outcome.CRASH, reason=reason)
        return _Attempt(scenario=scenario, expected=expected, verdict=verdict, offered=True, fault=fault)

    async def _play(self, keeper: Keeper, played: Scenario, expected: Expectation) -> tuple[Run, Verdict]:
        """Drive the subject, and judge it.

        One without quiescence is driven by expectation, so it has to be told beforehand what to follow: where
        a ruling applies it gets a second chance to do as the release does.
        """
        runtime, *release = expected.guides()
        run = await keeper.drive(played, runtime)
        verdict = self._decide(run, expected)
        if release and verdict.outcome in FAILURES and self.hello.get("quiescence") == "none":
            again = await keeper.drive(played, release[0])
            second = self._decide(again, expected)
            if second.outcome not in FAILURES:
                return again, second
        return run, verdict


class _Losses:
    """Whether it is still worth trying: not with a subject that does not start again, that dies again and again,
    or that never says a word.
    """

    def __init__(self) -> None:
        self.for_good: Outcome | None = None
        """The outcome of all further scenarios, once the subject is given up."""
        self.reason = ""
        self._row: list[type[SubjectFault]] = []

    def note(self, fault: SubjectFault | None) -> None:
        if fault is None:
            self._row = []
            return
        kind = type(fault)
        self._row = [*(earlier for earlier in self._row if earlier is kind), kind]
        if isinstance(fault, SubjectUnstartable):
            self._give_up(Outcome.CRASH, f"it does not start again: {fault.message}")
        elif kind is SubjectDied and len(self._row) == DEATHS:
            self._give_up(Outcome.CRASH, f"not tried any more: it died in {DEATHS} scenarios in a row")
        elif kind is SubjectSilent and len(self._row) == SILENCES:
            self._give_up(Outcome.HANG, f"not tried any more: {SILENCES} scenarios in a row got no reply")

    def _give_up(self, outcome: Outcome, reason: str) -> None:
        self.for_good, self.reason = outcome, reason
