"""`pi-trio scopes`: which scopes are played, what is said of them, and with which code it ends."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pi_trio.agent import batch
from pi_trio.agent.under_way import UnderWay
from pi_trio.cli import main, scopes
from pi_trio.conformance.scopes import Gates, Play, Schedules, Scope, catalogue
from pi_trio.conformance.scopes.choices import Path as Choices

SMALL = ("--scope", "gates-2x1", "--scope", "schedules-1x1")


def rows(out: str) -> dict[str, list[str]]:
    """The table: by a scope's name the other columns."""
    lines = out.partition("\n\n")[0].splitlines()[1:]
    return {name: rest for name, *rest in map(str.split, lines)}


def test_what_was_played_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", *SMALL]) == 0
    out = capfd.readouterr().out
    assert {name: row[:3] for name, row in rows(out).items()} == {
        "gates-2x1": ["6", "6", "1"],
        "schedules-1x1": ["2", "1", "1"],
    }
    assert re.search(r"^2 scopes, 8 plays in \d+ s: nothing wrong$", out, re.MULTILINE)


def test_the_short_list_and_the_whole_one(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, whole in (((), False), (("--all",), True)):
        assert main(["scopes", "--list", *arguments]) == 0
        names = [line.split()[0] for line in capfd.readouterr().out.splitlines()]
        assert names == [scope.name for scope in catalogue("pi-1.6.0", whole=whole)]


def test_a_glob_selects_of_all(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", "--list", "--scope", "gates-3x2-abort-*"]) == 0
    assert [line.split()[:2] for line in capfd.readouterr().out.splitlines()] == [
        ["gates-3x2-abort-signal", "16,800"],
        ["gates-3x2-abort-cancel", "16,800"],
        ["gates-3x2-abort-steer-signal", "184,800"],
        ["gates-3x2-abort-steer-cancel", "184,800"],
    ]


def test_what_is_wrong_can_be_seen_again(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    class NobodyIsWoken(UnderWay):
        __slots__ = ()

        def one_less(self) -> None:
            self._number -= 1

    monkeypatch.setattr(batch, "UnderWay", NobodyIsWoken)
    report = tmp_path / "report.json"
    assert main(["scopes", *SMALL, "--json", str(report)]) == 1
    out = capfd.readouterr().out
    found = re.search(
        r"^schedules-1x1: it settles\n.*\n  in 6 plays, the first: pi-trio (.*)$", out, re.MULTILINE
    )
    assert found is not None
    assert out.endswith(" s: 1 thing wrong\n")
    by_name = {scope["name"]: scope for scope in json.loads(report.read_text())["scopes"]}
    assert by_name["gates-2x1"]["wrong"] == []
    assert [wrong["cause"] for wrong in by_name["schedules-1x1"]["wrong"]] == ["it settles"]

    assert main(shlex.split(found[1])) == 1
    assert "it settles: TooSlowError" in capfd.readouterr().out


def test_one_order_is_shown_as_it_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", "--scope", "gates-2x0-abort-cancel", "--order", "t2 abort t1"]) == 0
    out = capfd.readouterr().out
    assert out.startswith("gates-2x0-abort-cancel t2 abort t1\n")
    ends = [line.split()[1:3] for line in out.splitlines() if "tool_execution_end" in line]
    assert ends == [["t2", "t2"], ["t1", "t1"]]


def test_an_order_becomes_a_scenario_for_the_other_commands(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "order.json"
    assert main(["scopes", "--scope", "gates-2x0", "--order", "t2 t1", "--emit", str(file)]) == 0
    capfd.readouterr()
    assert main(["explain-run", str(file)]) == 0
    out = capfd.readouterr().out
    assert out.startswith("order_of_gates  t2 t1\n")
    assert out.endswith("ends settled\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--scope", "gates-9x9"], "no scope is called gates-9x9"),
        (["--order", "t1"], "--order is one of one scope, and"),
        (["--scope", "gates-1x0", "--order", "t1 t1"], "an order of gates-1x0 has 1 times t1"),
        (["--scope", "schedules-1x1", "--order", "7"], "choice 1 is among 2"),
        (["--profile", "pi-9"], "--profile pi-9"),
        (["--scope", "gates-1x0", "--emit", "x.json"], "--emit goes with --order"),
        (
            ["--scope", "schedules-1x0", "--order", "", "--emit", "x.json"],
            "is the runtime's own, and no scenario",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["scopes", *arguments]) == 2
    assert says in capfd.readouterr().err


def test_an_interrupt_leaves_what_was_played(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    playing = Schedules._play

    def interrupted(scope: Schedules, path: Choices) -> Play:
        if path.given:
            raise KeyboardInterrupt
        return playing(scope, path)

    monkeypatch.setattr(Schedules, "_play", interrupted)
    assert main(["scopes", *SMALL, "--scope", "schedules-2x0"]) == 130
    captured = capfd.readouterr()
    assert rows(captured.out)["gates-2x1"][:2] == ["6", "6"]
    assert rows(captured.out)["schedules-1x1"][:2] == ["1", "…"]
    assert "2 scopes, 1 of them whole, 7 plays" in captured.out
    assert captured.err == "interrupted\n"


@pytest.mark.parametrize("profile", ["pi-0.80.2", "pi-0.85.0,durations=pi-1.6.0"])
def test_another_profile(profile: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", *SMALL, "--profile", profile]) == 0
    assert "nothing wrong" in capfd.readouterr().out


LATE_TURN = shlex.join([sys.executable, "-m", "tests.conformance.subjects_in_python.late_turn"])


def test_another_implementation_is_judged_by_its_gates(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", "--exec", LATE_TURN, "--scope", "*-2x0"]) == 1
    out = capfd.readouterr().out
    assert list(rows(out)) == ["gates-2x0"]
    assert re.search(r"^gates-2x0: TURN-01$", out, re.MULTILINE)
    assert f"--order 't1 t2' --exec {shlex.quote(LATE_TURN)}" in out
    assert out.endswith(" s: 1 thing wrong\n")


def test_what_a_subject_does_not_offer_is_not_played(
    peer: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["scopes", "--exec", peer(), "--scope", "gates-1x[12]"]) == 1
    captured = capfd.readouterr()
    assert captured.out == "not offered, for want of command update: gates-1x1, gates-1x2\n"
    assert captured.err == "pi-trio: the subject offers none of the selected scopes\n"


def test_who_does_not_start_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["scopes", "--exec", "/no/such/program"]) == 3
    assert "did not start" in capfd.readouterr().err


def test_schedules_are_the_runtimes_alone(
    peer: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["scopes", "--exec", peer(), "--scope", "schedules-*"]) == 2
    assert "those of schedules are the runtime's alone" in capfd.readouterr().err


def test_side_by_side_they_come_to_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    tables: list[dict[str, list[str]]] = []
    for jobs in ("1", "2"):
        assert main(["scopes", *SMALL, "--jobs", jobs]) == 0
        tables.append({name: row[:3] for name, row in rows(capfd.readouterr().out).items()})
    assert tables[0] == tables[1]
    assert list(tables[0]) == list(tables[1])


def test_what_takes_long_is_left_out_and_told(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gates = [
        Gates(calls=2, updates=0),
        Gates(calls=2, updates=1),
        Gates(calls=2, updates=1, beside=("steer",)),
    ]

    def few(_profile: str, *, whole: bool) -> Sequence[Scope]:
        return [*gates, Schedules(calls=3, updates=1)] if whole else gates[:1]

    monkeypatch.setattr(scopes, "catalogue", few)
    assert main(["scopes", "--json", str(tmp_path / "out.json")]) == 0
    said = "not played, for it takes long: 2 scopes of gates with 36 orders and 1 scope of schedules; --all"
    assert said in capfd.readouterr().out.replace("\n", " ")
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["leftOut"] == ["gates-2x1", "gates-2x1-steer", "schedules-3x1"]
