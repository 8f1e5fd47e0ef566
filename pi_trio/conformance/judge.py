"""Judges a subject: drives it through many scenarios, and collects the verdicts: one leg of a report.

Several processes of the subject may be at work at once. The verdicts are collected in the order of the
scenarios all the same, and whatever depends on earlier ones (giving a subject up, stopping at the first
failure) is decided there, so that the number of processes never shows in a report. A fault of the tester, or
of what it judges by, is never laid at the subject's door: it is the verdict HARNESS.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import Final, TypeAlias

import attrs
import trio

from .decide import Decide, verdict_on
from .expected import Expectation, ReferenceFault
from .faults import (
    SubjectDied,
    SubjectEndless,
    SubjectFault,
    SubjectMissed,
    SubjectMute,
    SubjectSilent,
    SubjectUnstartable,
)
from .giving_up import MISSES, Losses
from .keeper import Keeper, Opener, open_keeper
from .lockstep import Run
from .needs import missing, needs
from .nursery import single_errors
from .protocol import Object
from .scenario import Scenario
from .twins import BOTH_MODES, Twin, in_both_modes, played_by
from .vectors import VectorError
from .verdict import FAILURES, Leg, Outcome, Verdict

DEATHS: Final = 3
"""Scenarios in a row that a subject does not survive, or does not start again for, before it is given up."""

SILENCES: Final = 5
"""The same of scenarios that end in silence, or not at all: each costs the whole patience, or thousands of commands."""

Expect: TypeAlias = Callable[[Scenario], Expectation]
"""Says what is expected in a scenario; raises if that cannot be said, which is a fault of the tester."""

Meet: TypeAlias = Callable[[Object, Callable[[], Awaitable[None]]], Awaitable[None]]
"""Makes ready for a subject, given its hello, and a function that ends it until it is needed again."""


async def judge_subject(
    label: str,
    opener: Opener,
    scenarios: Sequence[Scenario],
    *,
    expect: Expect,
    decide: Decide,
    meet: Meet | None = None,
    strict: bool = False,
    jobs: int = 1,
    fail_fast: bool = False,
    mark: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    progress: Callable[[str, int], None] = lambda _, __: None,
) -> Leg:
    """Drive one subject through scenarios, and judge each.

    Args:
        label: how the user knows the subject.
        scenarios: a twin is left out beside its scenario if the subject does not offer both modes of the abort.
        expect: says what is expected in a scenario.
        decide: makes the verdict on a run.
        meet: called once, before the first scenario.
        strict: what the protocol does not know counts as a difference.
        jobs: how many processes of the subject may be at work at once.
        fail_fast: stop at the first failure that `mark` leaves one.
        mark: has the last word on each verdict.
        progress: told the name of each scenario when its verdict has fallen, and how many there are.

    Never raises for what the subject does: one that cannot be started is a leg without verdicts, one that
    dies is started again for the next scenario, and where that fails, that scenario is lost and the next one
    tries again. A fault of the tester is the verdict HARNESS on that scenario. When cancelled, the subject is
    ended.
    """
    judging = _Judging(expect=expect, decide=decide, mark=mark, progress=progress, fail_fast=fail_fast)
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
            judging.take(keepers[0].hello, scenarios)
            if meet is not None:
                await meet(judging.hello, keepers[0].rest)
            with single_errors():
                async with trio.open_nursery() as nursery:
                    for keeper in keepers:
                        nursery.start_soon(judging.work, keeper)
    unrun = judging.number - len(judging.verdicts)
    return Leg(
        label=label, hello=judging.hello, verdicts=tuple(judging.verdicts),
        stopped=judging.scope.cancel_called, unrun=unrun,
    )  # fmt: skip


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
        *,
        expect: Expect,
        decide: Decide,
        mark: Callable[[Verdict], Verdict],
        progress: Callable[[str, int], None],
        fail_fast: bool,
    ) -> None:
        self.hello: Object = {}
        self.number = 0
        """How many scenarios there are."""
        self.verdicts: list[Verdict] = []
        self.scope = trio.CancelScope()
        """All that has to do with the subject; cancelled after the first failure, if that is to be the last."""
        self._expect, self._decide, self._mark, self._progress = expect, decide, mark, progress
        self._fail_fast = fail_fast
        self._todo: Iterator[tuple[int, Scenario]] = iter(())
        self._attempts: dict[int, _Attempt] = {}
        self._lost = Losses({
            SubjectDied: DEATHS, SubjectUnstartable: DEATHS,
            SubjectSilent: SILENCES, SubjectEndless: SILENCES, SubjectMute: SILENCES,
            SubjectMissed: MISSES,
        })  # fmt: skip
        self._for_good = Outcome.FAIL
        """The outcome of all further scenarios, once the subject is given up."""

    def take(self, hello: Object, scenarios: Sequence[Scenario]) -> None:
        """Take on those of the scenarios that the subject that says `hello` is judged by."""
        played = played_by(hello, scenarios)
        self.hello, self.number, self._todo = hello, len(played), iter(enumerate(played))

    async def work(self, keeper: Keeper) -> None:
        """Take scenarios, one after the other, until none is left."""
        for index, scenario in self._todo:
            self._attempts[index] = await self._attempt(keeper, scenario)
            self._collect()

    def _collect(self) -> None:
        """Take all attempts whose turn it is; none any more behind the failure that is to be the last."""
        while not self.scope.cancel_called:
            attempt = self._attempts.pop(len(self.verdicts), None)
            if attempt is None:
                return
            verdict = attempt.verdict
            if attempt.offered and self._lost.over:
                verdict = verdict_on(
                    attempt.scenario, attempt.expected, self._for_good, reason=self._lost.reason, tried=False
                )
            elif attempt.offered:
                self._lost.note(attempt.fault)
                self._for_good = verdict.outcome
            verdict = self._mark(verdict)
            self.verdicts.append(verdict)
            self._progress(verdict.name, self.number)
            if self._fail_fast and verdict.outcome in (*FAILURES, Outcome.HARNESS):
                self.scope.cancel()

    async def _attempt(self, keeper: Keeper, scenario: Scenario) -> _Attempt:
        expected: Expectation | None = None

        def harness(reason: str, trace: str = "") -> _Attempt:
            verdict = verdict_on(scenario, expected, Outcome.HARNESS, reason=reason, traceback=trace)
            return _Attempt(scenario=scenario, expected=expected, verdict=verdict)

        if isinstance(scenario, Twin) and not in_both_modes(self.hello):
            verdict = verdict_on(scenario, None, Outcome.NOT_OFFERED, missing=(BOTH_MODES,))
            return _Attempt(scenario=scenario, expected=None, verdict=verdict)
        try:
            expected = self._expect(scenario)
            return await self._drive(keeper, scenario, expected)
        except (ReferenceFault, VectorError) as error:
            return harness(str(error))
        except Exception as error:
            return harness(f"{type(error).__name__}: {error}", traceback.format_exc())

    async def _drive(self, keeper: Keeper, scenario: Scenario, expected: Expectation) -> _Attempt:
        played = expected.scenario or scenario
        lacking = expected.missing or missing(needs(played, expected.lines), self.hello)
        if lacking:
            verdict = verdict_on(scenario, expected, Outcome.NOT_OFFERED, missing=lacking)
            return _Attempt(scenario=scenario, expected=expected, verdict=verdict)
        fault: SubjectFault | None = None
        try:
            if self._lost.over:
                verdict = verdict_on(scenario, expected, self._for_good)
            else:
                run, verdict = await self._play(keeper, played, expected)
                fault = run.fault
        except SubjectUnstartable as caught:
            fault = caught
            reason = f"it does not start again: {caught.message}"
            run = Run(scenario=scenario, lines=(), fault=caught, ignored=Counter())
            verdict = verdict_on(scenario, expected, Outcome.CRASH, run, reason=reason)
        return _Attempt(scenario=scenario, expected=expected, verdict=verdict, offered=True, fault=fault)

    async def _play(self, keeper: Keeper, played: Scenario, expected: Expectation) -> tuple[Run, Verdict]:
        """Drive the subject, and judge it.

        One without quiescence is driven by expectation, so it has to be told beforehand what to follow: where
        a ruling applies it gets a second chance to do as the release does. (Who says nothing does as neither.)
        """
        runtime, *release = expected.guides()
        run = await keeper.drive(played, runtime)
        verdict = self._decide(run, expected)
        unhurried = self.hello.get("quiescence") == "none" and not isinstance(run.fault, SubjectMute)
        if release and verdict.outcome in FAILURES and unhurried:
            again = await keeper.drive(played, release[0])
            second = self._decide(again, expected)
            if second.outcome not in FAILURES:
                return again, second
        return run, verdict
