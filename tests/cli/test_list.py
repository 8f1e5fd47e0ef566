"""`pi-trio list`: the clauses, all or some."""

from __future__ import annotations

import json

import pytest

from pi_trio.cli import main
from pi_trio.conformance.clauses import Clauses

CLAUSES = Clauses.shipped()


def listed(capfd: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["list", *arguments]) == 0
    *lines, last = capfd.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines if line[0] != " "]
    assert last == f"{len(names)} of {len(CLAUSES)} clauses"
    return names


def test_all(capfd: pytest.CaptureFixture[str]) -> None:
    assert listed(capfd) == list(CLAUSES)


def test_filters_hold_together_and_values_of_one_add_up(capfd: pytest.CaptureFixture[str]) -> None:
    names = listed(
        capfd, "--family", "TURN", "--family", "run", "--group", "Containment", "--level", "ruling"
    )
    assert names == ["RUN-03", "RUN-04", "RUN-06"]


@pytest.mark.parametrize("profile", ["pi-0.80.2", "pi-0.85.0,truncated_calls=pi-0.80.2"])
def test_what_is_in_force(capfd: pytest.CaptureFixture[str], profile: str) -> None:
    names = listed(capfd, "--profile", profile)
    assert names == [clause.id for clause in CLAUSES.in_force(profile)]
    assert "TOOL-24" in names
    assert "TOOL-23" not in names


def test_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--family", "QUEUE", "--level", "RULING", "--json"]) == 0
    (clause,) = json.loads(capfd.readouterr().out)
    assert (clause["id"], clause["ruling"], clause["evidence"]) == (
        "QUEUE-20", "D-09", list(CLAUSES["QUEUE-20"].evidence),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--family", "TURN", "--level", "RULING"], f"none of the {len(CLAUSES)} clauses is selected"),
        (["--profile", "pi-2"], "there is no profile 'pi-2'; known are: pi-0.80.2"),
    ],
)
def test_wrong_usage(capfd: pytest.CaptureFixture[str], arguments: list[str], says: str) -> None:
    assert main(["list", *arguments]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert says in captured.err


def test_an_unknown_family(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["list", "--family", "CATS"])
    assert caught.value.code == 2
    assert "TURN" in capfd.readouterr().err
