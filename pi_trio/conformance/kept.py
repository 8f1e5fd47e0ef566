"""Keeps what a subject did in the scenarios that it failed, and which it passed, for those who ask afterwards why.

A single decision is not the last word: a scenario may be played twice, or be thrown away because the subject has been
given up meanwhile, or because somebody else's failure was to be the last. So only the verdicts tell in the end which of
it were failures. What is kept is bounded, as verdicts are: there may be many, and a subject may say anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from .compare import bounded
from .decide import Decide
from .expected import Expectation
from .lockstep import Run
from .scenario import Scenario
from .verdict import FAILURES, Outcome, Verdict

_FAILED: Final = FAILURES | {Outcome.KNOWN}


@attrs.frozen(kw_only=True)
class Failed:
    """A failed scenario: what the subject did, without the wire, and what was expected."""

    run: Run
    expected: Expectation


class Kept:
    """What failed while one subject is judged."""

    def __init__(self) -> None:
        self._seen: dict[str, Failed] = {}
        """What was done when a scenario first failed, by its name."""
        self._passed: dict[str, Scenario] = {}

    def of(self, decide: Decide) -> Decide:
        """The same way of deciding, but what fails is kept."""

        def decided(run: Run, expected: Expectation) -> Verdict:
            verdict = decide(run, expected)
            if verdict.outcome in FAILURES:
                kept = attrs.evolve(run, lines=bounded(run.lines), wire=(), words={})
                self._seen.setdefault(run.scenario.name, Failed(run=kept, expected=expected))
            else:
                self._seen.pop(run.scenario.name, None)
            if verdict.outcome is Outcome.PASS:
                self._passed[run.scenario.name] = run.scenario
            return verdict

        return decided

    def among(self, verdicts: Iterable[Verdict]) -> list[Failed]:
        """Those that were failures in the end, also those that a baseline knows, in the order of the verdicts."""
        return [
            self._seen[verdict.name]
            for verdict in verdicts
            if verdict.tried and verdict.outcome in _FAILED and verdict.name in self._seen
        ]

    def passed(self, verdicts: Iterable[Verdict]) -> list[Scenario]:
        """The scenarios, as they were played, in which all was as expected in the end."""
        return [
            self._passed[verdict.name]
            for verdict in verdicts
            if verdict.outcome is Outcome.PASS and verdict.name in self._passed
        ]
