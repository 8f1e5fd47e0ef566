"""Makes a verdict of a trace and what was expected.

A release of Pi is judged in a way of its own: what rulings make of it is known line by line, so there a
difference that is not listed is a failure, and one that no longer occurs too. So is the runtime: it has to do what
was reviewed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .compare import abridged, fingerprint, hunks
from .expected import Expectation
from .faults import ProtocolFault, SubjectDied, SubjectLate
from .lockstep import Run
from .postconditions import unsafe
from .protocol import Object
from .scenario import Scenario
from .slips import replied_too_early, told_or_asked
from .verdict import FAILURES, Outcome, Verdict

Decide: TypeAlias = Callable[[Run, Expectation], Verdict]
"""Makes a verdict of what was done and what was expected."""


def judge(run: Run, expected: Expectation) -> Verdict:
    """The verdict on every implementation but those that have one of their own below.

    Where a ruling applies, it is enough to do as the release, or to keep what the ruling promises in another way.
    """
    if fingerprint(run.lines) == expected.fingerprint:
        return verdict_on(run.scenario, expected, Outcome.PASS, run)
    golden, side, enters, broken = expected.golden, expected.release_side, expected.enters, ""
    if golden is not None and side is not None and fingerprint(run.lines) == fingerprint(side):
        would = " would in this mixture" if expected.mixed else ""
        reason = f"as pi {golden.release}{would}, not as the runtime"
        return verdict_on(run.scenario, expected, Outcome.NON_STRICT, run, reason=reason, by=expected.lines)
    if enters is not None and run.fault is None:
        rulings, release = expected.rulings, expected.unruled_side
        broken = unsafe(run.lines, runtime=expected.lines, release=release, enters=enters, rulings=rulings)
        if not broken:
            reason = f"otherwise safe: as neither does, but what {', '.join(rulings)} asks for holds"
            return verdict_on(
                run.scenario, expected, Outcome.NON_STRICT, run, reason=reason, by=expected.lines
            )
    return _failure(run, expected, expected.lines, broken and f"not otherwise safe: {broken}")


def judge_runtime(run: Run, expected: Expectation) -> Verdict:
    """The verdict on the runtime of this package, which has to do what was reviewed, and nothing else."""
    if fingerprint(run.lines) == expected.fingerprint:
        return verdict_on(run.scenario, expected, Outcome.PASS, run)
    return _failure(run, expected, expected.lines)


def judge_release(run: Run, expected: Expectation) -> Verdict:
    """The verdict on a release of Pi itself."""
    golden = expected.golden
    if golden is None:
        return judge(run, expected)
    rulings = ", ".join(golden.rulings())
    got = fingerprint(run.lines)
    if got == expected.fingerprint:
        reason = f"{rulings} is listed for it, but nothing differs any more: remove its golden trace"
        return verdict_on(run.scenario, expected, Outcome.FAIL, run, reason=reason)
    if got == fingerprint(golden.release_side()):
        reason = f"differs from the runtime as {rulings} says"
        return verdict_on(run.scenario, expected, Outcome.NON_STRICT, run, reason=reason, by=expected.lines)
    shared = golden.enters + 1
    if fingerprint(run.lines[:shared]) != fingerprint(expected.lines[:shared]):
        reason = f"differs before the command that enters {rulings}"
    else:
        reason = f"differs otherwise than {rulings} says"
    return _failure(run, expected, golden.release_side(), reason)


def _failure(run: Run, expected: Expectation, by: Sequence[Object], reason: str = "") -> Verdict:
    """The verdict on a trace that is not as it has to be; `by` is the trace that it was compared with."""
    outcome = Outcome.FAIL
    if isinstance(run.fault, ProtocolFault):
        reason = f"it breaks the protocol: {run.fault.message}"
    elif isinstance(run.fault, SubjectLate):
        reason = run.fault.message
    elif run.fault is not None:
        outcome = Outcome.CRASH if isinstance(run.fault, SubjectDied) else Outcome.HANG
        reason = run.fault.message
    elif run.lines[-1] == {"end": "hang"} != by[-1]:
        outcome = Outcome.HANG
        reason = "an operation never settles, although nothing is open any more"
    elif not reason and run.refusals:
        reason = f"it refuses a command: {run.refusals[0]}"
    if run.fault is None and (slip := _slip(run, by, hangs=outcome is Outcome.HANG)):
        reason = f"{reason}; {slip}" if reason else slip
    if outcome is Outcome.FAIL and expected.unrecorded is not None:
        unknown = "no release was recorded in this mixture, so what Pi would do here is not known"
        reason = f"{reason}; {unknown}" if reason else unknown
    return verdict_on(run.scenario, expected, outcome, run, reason=reason, by=by)


def _slip(run: Run, by: Sequence[Object], *, hangs: bool) -> str:
    """What the adapter may have done wrong, rather than the agent behind it; empty if nothing speaks for that."""
    pairs = zip(by, run.lines, strict=False)
    first = next((pair for pair in pairs if fingerprint(pair[:1]) != fingerprint(pair[1:])), (None, None))
    return told_or_asked(*first) or (replied_too_early(by, run.lines) if hangs else "")


def verdict_on(
    scenario: Scenario,
    expected: Expectation | None,
    outcome: Outcome,
    run: Run | None = None,
    *,
    by: Sequence[Object] | None = None,
    **details: Any,
) -> Verdict:
    """A verdict with what is known of the scenario.

    Args:
        by: the trace from which the run differs.
        details: further fields of the verdict.
    """
    fault = run.fault if run is not None else None
    return Verdict(
        name=scenario.name,
        title=scenario.title,
        topic=scenario.topic,
        outcome=outcome,
        rulings=expected.rulings if expected is not None else (),
        hunks=abridged(hunks(by, run.lines)) if by is not None and run is not None else (),
        stderr=fault.stderr if fault is not None else "",
        ignored=dict(run.ignored) if run is not None else {},
        wire=run.wire if run is not None and outcome in FAILURES else (),
        words=run.words if run is not None and outcome in FAILURES else {},
        same_as=expected.fingerprint if expected is not None and expected.lines else "",
        **details,
    )
