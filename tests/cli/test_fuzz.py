"""`pi-trio fuzz` and `pi-trio replay`: what they print, keep and end with."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from pi_trio.agent.batch import _Updates
from pi_trio.cli import main
from pi_trio.cli.searching import Results
from pi_trio.conformance.explore.outcome import Outcome
from pi_trio.conformance.explore.token import Token
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scripting import T1, agent, finish, play, prompt, response, tool

from ..environments import CHECKOUT

GOOD = Token(
    "pi-1.6.0",
    Scenario(
        name="explored", title="T.", topic="x", create=agent(tools=[tool("a")]),
        steps=[{**prompt("go"), "op": "p1"}, *play((response(T1)[-1],)), finish("t1", "ok")],
    ),
).text()  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PI_TRIO_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A race in the runtime: who has two reports of one call under way is told of its end too early."""

    async def delivered(_: _Updates) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(_Updates, "delivered", delivered)


def test_a_search_that_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--minutes", "0.02", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "the runtime: " in out
    assert "a batch of two calls or more" in out
    assert out.endswith("no fault found\n")


def test_what_did_not_come_into_play_is_listed_with_what_reaches_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fuzz", "--minutes", "0.02", "--seed", "1", "--clauses"]) == 0
    _, _, listed = capsys.readouterr().out.partition("MUST and RULING clauses of pi-1.6.0 came into play\n")
    named = dict(line.split() for line in listed.splitlines()[1:])
    assert named["RUN-07"] == "text_plain"
    assert "RUN-01" not in named


def test_what_is_found_is_shown_kept_and_found_again(
    raced: None, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fuzz", "--minutes", "3", "--fail-fast"]) == 1
    out = capsys.readouterr().out
    assert "tool_execution_update" in out
    assert "on the wire:\n  " in out
    assert out.endswith("1 fault found\n")
    (command,) = [line for line in out.splitlines() if line.startswith("pi-trio replay ")]
    assert main(command.split()[1:]) == 1
    assert capsys.readouterr().out.rstrip().endswith(command)
    assert any(path.is_file() for path in (cache / "examples").rglob("*"))
    # The next search finds it at once, by what is kept.
    assert main(["fuzz", "--minutes", "3", "--fail-fast"]) == 1
    out = capsys.readouterr().out
    assert "steps in 0 conversations" in out


def test_a_token_is_played_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", GOOD]) == 0
    out = capsys.readouterr().out
    assert "tool_execution_end t1 a" in out
    assert out.endswith("nothing is wrong\n")


def test_a_token_becomes_commands_with_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", GOOD, "--emit"]) == 0
    commands = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [command["cmd"] for command in commands] == [
        "create",
        "prompt",
        "answer",
        "push",
        "answer",
        "sync",
    ]
    assert [command["id"] for command in commands] == [0, 1, 2, 3, 4, 5]
    assert commands[4]["ask"] == {"fn": "execute", "key": "t1", "nth": 0}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["replay", "nonsense"], "a token begins with"),
        (["replay", GOOD[:-9]], "the token is"),
        (["fuzz", "--subject", "nobody"], "--subject is reference"),
        (["fuzz", "--profile", "all"], "--profile all goes with"),
    ],
)
def test_wrong_usage(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


def test_who_breaks_off_while_a_fault_is_made_small_is_shown_it(
    raced: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pi_trio.conformance.explore.search.shrink", interrupted)
    assert main(["fuzz", "--minutes", "3", "--fail-fast"]) == 130
    out = capsys.readouterr().out
    assert "pi-trio replay pt1-" in out
    assert out.endswith("1 fault found\n")


def test_a_process_that_dies_does_not_take_along_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = Results.take

    def take(results: Results, index: int, outcome: Outcome) -> None:
        taken(results, index, outcome)
        multiprocessing.active_children()[0].kill()

    monkeypatch.setattr(Results, "take", take)
    assert main(["fuzz", "--minutes", "3", "--jobs", "2", "--seed", "1"]) == 4
    said = capsys.readouterr()
    assert said.out.endswith("no fault found\n")
    assert "has ended before its time" in said.err


@pytest.mark.parametrize(
    "option",
    [["--minutes", "0"], ["--minutes", "x"], ["--jobs", "0"], ["--jobs", "9999"], ["--jobs", "9" * 30]],
)
def test_numbers_that_make_no_sense(option: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fuzz", *option])
    assert ended.value.code == 2


def test_a_subject_that_does_not_start() -> None:
    assert main(["fuzz", "--exec", "true", "--minutes", "0.01"]) == 3


def test_two_jobs_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--minutes", "0.02", "--jobs", "2", "--seed", "1"]) == 0
    assert capsys.readouterr().out.endswith("no fault found\n")


WITHOUT_HYPOTHESIS = (
    ["conform", "--scenario", "text_plain"],
    ["replay", GOOD],
    ["replay", GOOD, "--emit"],
    ["scopes", "--scope", "gates-2x0"],
    ["scopes", "--scope", "schedules-2x0"],
    ["explain-run", "text_plain"],
    ["check", str(CHECKOUT / "spec/vectors/pi-1.6.0/text_plain.jsonl")],
    ["explain", "TURN-05"],
    ["list"],
    ["revisions", "0.85.0", "1.0.3"],
    ["mutants", "turn end has no results", "--host", "total", "--jobs", "1"],
)


def test_only_a_search_imports_hypothesis() -> None:
    """Importing it changes how trio schedules, whoever does it."""
    script = (
        "import sys, pi_trio.cli as cli, pi_trio.cli.fuzz; "
        f"print([each for each in {WITHOUT_HYPOTHESIS} if cli.main(each)]);"
        "print('hypothesis' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.endswith("[]\nFalse\n")


def test_a_search_leaves_nothing_where_it_is_called(
    cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = tmp_path_factory.mktemp("here")
    command = [sys.executable, "-m", "pi_trio.cli", "fuzz", "--minutes", "0.02", "--seed", "1"]
    subprocess.run(
        command, cwd=here, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, check=True, capture_output=True
    )
    assert list(here.iterdir()) == []
