"""How a command refuses: what it says when it cannot do what was asked for, and with which code it ends.

Whose fault something is does not depend on the command that has met it, so there is one table for all of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import wraps
from typing import Final

from pi_trio.conformance.baseline import BaselineError
from pi_trio.conformance.expected import ReferenceFault
from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.report.prose import clean
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.vectors import VectorError
from pi_trio.conformance.verdict import ExitCode

from .usage import UsageError

_CODES: Final[dict[type[Exception], ExitCode]] = {
    UsageError: ExitCode.USAGE,
    BaselineError: ExitCode.USAGE,
    SubjectUnavailable: ExitCode.NOT_STARTED,
    SubjectUnstartable: ExitCode.NOT_STARTED,
    VectorError: ExitCode.HARNESS,
    ReferenceFault: ExitCode.HARNESS,
}


def refusing(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Let a command say what stands in its way, and end with the code for it, instead of raising it."""

    @wraps(run)
    def told(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except tuple(_CODES) as error:
            return complain(
                _text(error), next(code for kind, code in _CODES.items() if isinstance(error, kind))
            )

    return told


def complain(message: str, code: ExitCode) -> ExitCode:
    """Say what is wrong, and with which code the command ends."""
    print(f"pi-trio: {message}", file=sys.stderr)
    return code


def _text(error: Exception) -> str:
    """What is wrong; what a subject has said is shown as nothing but text."""
    match error:
        case SubjectUnstartable():
            return clean(f"the subject did not start: {error.message}\n{error.stderr}".rstrip())
        case ReferenceFault():
            return clean(str(error))
        case _:
            return str(error)
