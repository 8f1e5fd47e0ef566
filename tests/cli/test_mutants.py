"""`pi-trio mutants`: selects, tries, tells, and ends with the right code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_trio.cli import main
from pi_trio.conformance.mutants import explained
from pi_trio.conformance.mutants.catalogue import all_mutants


def test_it_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"{len(all_mutants())} mutants"
    assert (
        "QUEUE-02: no poll after a text (F13), runtime. Steering is not polled after a turn without tools."
        in lines
    )


def test_it_lists_a_selection(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--list", "--clause", "TURN-0?", "--kind", "wire"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"{len(lines)} mutants"
    assert lines
    assert all("TURN-0" in line and ", wire. " in line for line in lines)


def test_a_mutant_is_killed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "matrix.json"
    code = main(["mutants", "turn end has no results", "--jobs", "1", "-v", "--json", str(place)])
    out = capsys.readouterr().out
    assert code == 0
    assert "killed    as total: turn end has no results; named: TURN-05" in out
    assert "as partial: 1 of 1 killed, 1 of 332 clauses proven" in out
    (mutant,) = json.loads(place.read_text())["mutants"]
    assert mutant["trials"]["sync"]["named"] == ["TURN-05"]


def test_a_survivor_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = next(iter(explained.SURVIVORS))
    monkeypatch.delitem(explained.SURVIVORS, name)  # type: ignore[arg-type]
    assert main(["mutants", name, "--host", "total", "--jobs", "1"]) == 1
    assert f"{name} survives" in capsys.readouterr().out


def test_an_explained_survivor_does_not() -> None:
    assert main(["mutants", next(iter(explained.SURVIVORS)), "--host", "total", "--jobs", "1"]) == 0


def test_several_processes_do_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["turn end has*", "--host", "total"]
    said = []
    for jobs in ("1", "2"):
        assert main(["mutants", *names, "--jobs", jobs, "-v"]) == 0
        said.append(capsys.readouterr().out.splitlines()[:-1])
    assert said[0] == said[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["no such mutant"],
        ["--clause", "NONE-*"],
        ["--write", "--host", "total"],
        ["--jobs", "0"],
        ["--host", "odd"],
    ],
)
def test_wrong_usage(arguments: list[str]) -> None:
    try:
        code: object = main(["mutants", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
