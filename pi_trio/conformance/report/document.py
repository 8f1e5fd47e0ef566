"""The report as one JSON document: every verdict, every difference, and what each subject said of itself."""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.compare import Hunk
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.verdict import Leg, Outcome, Report, Verdict, failures


def document(report: Report, profile: str) -> Object:
    """The report, fit for `print_json`.

    `summary` counts scenarios, each once and as its worst leg has it; `failed` includes hangs and crashes,
    `known` are failures that the baseline covers, which are counted nowhere else.
    """
    counts = report.tally()
    return {
        "profile": profile,
        "summary": {
            "passed": counts[Outcome.PASS],
            "nonStrict": counts[Outcome.NON_STRICT],
            "notOffered": counts[Outcome.NOT_OFFERED],
            "failed": failures(counts),
            "known": counts[Outcome.KNOWN],
            "hangs": counts[Outcome.HANG],
            "crashes": counts[Outcome.CRASH],
            "harness": counts[Outcome.HARNESS],
        },
        "missingCommands": list(report.missing_commands()),
        **_said(stale=list(report.stale), notRun=sum(leg.unrun for leg in report.legs)),
        "exitCode": int(report.exit_code()),
        "legs": [_leg(leg) for leg in report.legs],
    }


def _leg(leg: Leg) -> Object:
    return {
        "subject": leg.label,
        **({"hello": leg.hello} if leg.hello is not None else {}),
        **_said(fault=leg.fault, stderr=leg.stderr),
        "scenarios": [_verdict(verdict) for verdict in leg.verdicts],
    }


def _verdict(verdict: Verdict) -> Object:
    return {
        "name": verdict.name,
        "title": verdict.title,
        "topic": verdict.topic,
        "outcome": str(verdict.failed_as or verdict.outcome),
        **_said(
            known=verdict.known,
            reason=verdict.reason,
            rulings=list(verdict.rulings),
            missing=list(verdict.missing),
            differences=[_hunk(hunk) for hunk in verdict.hunks],
            stderr=verdict.stderr,
            traceback=verdict.traceback,
            ignored=dict(verdict.ignored),
            trace=verdict.same_as,
        ),
    }


def _hunk(hunk: Hunk) -> Object:
    return {"step": hunk.step, "line": hunk.at, "expected": list(hunk.expected), "got": list(hunk.got)}


def _said(**fields: Any) -> Object:
    """The fields that say something."""
    return {key: value for key, value in fields.items() if value}
