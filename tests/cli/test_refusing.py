"""A command that cannot do what it was asked for says so in the same way as all the others."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

import pytest

from pi_trio.cli.refusing import refusing
from pi_trio.cli.usage import UsageError
from pi_trio.conformance.baseline import BaselineError
from pi_trio.conformance.cancelling import cancel_golden_path
from pi_trio.conformance.expected import ReferenceFault
from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.ruled import golden_path
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.vectors import VectorError, Vectors

from .conftest import Finished

PiTrio = Callable[..., Finished]


@pytest.mark.parametrize(
    "command",
    [
        ("explain-run", "text_plain", "--recorded"),
        ("explain-run", "text_plain", "--ruled"),
        ("explain-run", "text_plain", "--ruled", "--cancelling"),
        ("vectors", "rule", "text_plain", "--ruling", "D-04"),
        ("vectors", "cancel", "text_plain"),
        ("conform", "--scenario", "text_plain"),
    ],
    ids=" ".join,
)
def test_a_damaged_vector_is_a_fault_of_the_tester(
    pi_trio: PiTrio, spec: Vectors, command: tuple[str, ...]
) -> None:
    for path in (spec.path("1.6.0", "text_plain"), golden_path(spec, "1.6.0", "text_plain"),
                 cancel_golden_path(spec, "1.6.0", "text_plain")):  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("damaged")
    code, out, err = pi_trio(*command)
    assert code == 4
    assert "text_plain.jsonl" in out + err


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (UsageError("no"), 2, "pi-trio: no\n"),
        (BaselineError("no"), 2, "pi-trio: no\n"),
        (SubjectUnavailable("no"), 3, "pi-trio: no\n"),
        (
            SubjectUnstartable("no", stderr="\x1b[1mwhy"),
            3,
            "pi-trio: the subject did not start: no\n\ufffd[1mwhy\n",
        ),
        (VectorError("no"), 4, "pi-trio: no\n"),
        (ReferenceFault("no\x07"), 4, "pi-trio: no\ufffd\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_refusal_has_its_code(
    error: Exception, code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @refusing
    def run(options: Namespace) -> int:
        raise error

    assert run(Namespace()) == code
    assert capsys.readouterr().err == says


def test_a_bug_is_no_refusal() -> None:
    @refusing
    def run(options: Namespace) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Namespace())
