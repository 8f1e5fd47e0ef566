"""`pi-trio fit`: what it tells, and how it ends, with the runtime and with real programs as subjects."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pi_trio.cli import main
from pi_trio.conformance.fitting import Certainty, Finding, Fitted
from pi_trio.conformance.protocol import REQUIRED_COMMANDS
from pi_trio.profile import FIELDS

from .conftest import HELLO, RUNTIME, Finished

PiTrio = Callable[..., Finished]

MIXTURE = "pi-0.85.0,prepare_next_turn=pi-0.80.2"


def rows(out: str) -> dict[str, list[str]]:
    """The table, by the name of the field."""
    found = (re.split(r"\s{2,}", line) for line in out.splitlines())
    return {row[0]: row[1:] for row in found if row[0] in FIELDS}


def test_a_mixture_of_the_runtime_is_told_field_by_field(pi_trio: PiTrio, tmp_path: Path) -> None:
    file = tmp_path / "fit.json"
    code, out, _ = pi_trio("fit", "--profile", MIXTURE, "--json", str(file))
    assert code == 0
    table = rows(out)
    assert list(table) == [*FIELDS]
    assert table["prepare_next_turn"][:3] == ["0.80.2", "after_turn", "before_turn"]
    assert table["identity"][:3] == ["0.80.2–1.0.3", "no", "the same"]
    assert "nearest release: pi-0.85.0; driven through" in out
    assert out.endswith(f"\n--profile {MIXTURE}\n")
    report = json.loads(file.read_text())
    assert (report["profile"], report["nearest"], report["exitCode"]) == (MIXTURE, "pi-0.85.0", 0)
    assert [field["field"] for field in report["fields"]] == [*FIELDS]
    (told,) = [field for field in report["fields"] if field["field"] == "prepare_next_turn"]
    assert (told["told"], told["profiles"]) == ("shown", ["pi-0.80.2"])
    assert told["scenarios"]


def test_it_is_told_how_many_scenarios_have_been_played(
    pi_trio: PiTrio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pi_trio.cli.pace.SILENCE", 0.0)
    _, out, err = pi_trio("fit")
    played = [int(number) for number in re.findall(r"fields told: \d+ of \d+, (\d+) scenarios? played", err)]
    assert f"driven through {played[-1]} scenarios" in out
    assert {*played} == {*range(1, played[-1] + 1)}
    assert "fields told: 0 of" in err


def test_a_program_is_fitted_as_it_behaves(pi_trio: PiTrio) -> None:
    """It is started as one release; what it does is what counts."""
    code, out, _ = pi_trio("fit", "--exec", RUNTIME, "--profile", "pi-1.0.3,identity=pi-1.6.0")
    assert code == 0
    assert out.endswith("\n--profile pi-1.0.3\n")


def test_what_is_unclear_or_not_offered_is_told(pi_trio: PiTrio, peer) -> None:
    """A program that only ever replies, and has no command but those that it must have."""
    code, out, _ = pi_trio(
        "fit", "--exec", peer(hello={"hooks": ["finishTurn"], "commands": [*REQUIRED_COMMANDS]})
    )
    assert code == 1
    table = rows(out)
    assert table["identity"][0] == "?"
    assert table["identity"][-1] == "unclear"
    guessed = [row for row in table.values() if re.fullmatch(r"[0-9.–, ]+\?", row[0])]
    assert f"\n{len(guessed)} nearest, " in out
    assert table["reset_refused_while_running"][-1].startswith("not offered: command ")
    assert re.search(
        r"^identity: it does as none of the releases; see pi-trio explain-run \w+ --exec", out, re.MULTILINE
    )
    assert re.search(r"^\d+ nearest, \d+ unclear, \d+ not offered", out, re.MULTILINE)
    assert re.match(
        r"not sure, \d+ fields are unclear, \d+ fields? (is|are) a guess: --profile pi-", out.splitlines()[-1]
    )


@pytest.mark.parametrize("told", [each for each in Certainty if each.is_guess])
def test_a_guess_is_visibly_one_and_no_success(
    told: Certainty, pi_trio: PiTrio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever goes on with the profile of the last line must know that it may be another."""
    finding = Finding(
        field="identity",
        told=told,
        releases=("pi-0.80.2", "pi-0.85.0", "pi-1.0.3"),
        scenarios=("text_plain",),
    )
    profile = "pi-1.6.0,identity=pi-1.0.3"

    async def guessed(*_: object, **__: object) -> Fitted:
        return Fitted(
            nearest="pi-1.0.3", base="pi-1.6.0", profile=profile, findings=(finding,), driven=1, broken={}
        )

    monkeypatch.setattr("pi_trio.cli.fit.fit", guessed)
    code, out, _ = pi_trio("fit")
    assert code == 1
    assert rows(out)["identity"][0] == "0.80.2–1.0.3?"
    assert re.search(r"^identity: .* a guess; see pi-trio explain-run text_plain", out, re.MULTILINE)
    assert f"\n1 {told}\n" in out
    assert f"\nnot sure, 1 field is a guess: --profile {profile}\n" in out


def test_a_crash_is_told_with_its_code_and_what_was_said(pi_trio: PiTrio, peer) -> None:
    code, out, _ = pi_trio("fit", "--exec", peer([None, [{"stderr": "no network\n"}, {"exit": 3}]]))
    assert code == 1
    assert re.match(r"unclear: CRASH in \w+$", rows(out)["identity"][-1])
    assert re.search(
        r"^CRASH in \w+, .*, …: .*it exited with code 3; see pi-trio explain-run .*\n  no network$",
        out,
        re.MULTILINE,
    )
    assert out.splitlines()[-1].startswith("not sure, ")


def test_nothing_told_is_no_success(pi_trio: PiTrio, peer) -> None:
    """Nor is it as long as a required command is missing. With nothing to go by it starts from the newest release."""
    code, out, _ = pi_trio("fit", "--exec", peer(hello={"hooks": [], "commands": [], "profile": "zork"}))
    assert code == 1
    assert {row[-1].partition(":")[0] for row in rows(out).values()} == {"not offered"}
    assert "\nmissing required commands: create, prompt, " in out
    assert out.endswith("\nnothing was told: --profile pi-1.6.0\n")


ONE_LIFE = """
import os, sys
if os.path.exists(sys.argv[1]):
    sys.exit(9)
open(sys.argv[1], "x").close()
print(sys.argv[2], flush=True)
input()
"""


def test_who_does_not_start_again_has_a_table_too(pi_trio: PiTrio, tmp_path: Path) -> None:
    """Only at its first start does a subject that does not start end it all."""
    words = (sys.executable, "-S", "-c", ONE_LIFE, str(tmp_path / "lived"), json.dumps(HELLO))
    for code in (1, 3):
        given, out, err = pi_trio("fit", "--exec", shlex.join(words))
        assert given == code
        assert len(rows(out)) == (len(FIELDS) if code == 1 else 0)
        assert (code == 3) == ("did not start" in err)


@pytest.mark.parametrize("place", ["/", "x" * 300])
def test_a_report_in_no_place_is_refused_at_once(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fit", "--json", place])
    assert caught.value.code == 2
    assert "argument --json" in capsys.readouterr().err


def test_a_report_without_a_folder_is_refused_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["fit", "--json", "/no/such/folder/fit.json"])
    assert caught.value.code == 2
    assert "there is no folder /no/such/folder" in capsys.readouterr().err


def test_a_subject_that_does_not_start(pi_trio: PiTrio, peer, tmp_path: Path) -> None:
    for program in (peer(opening=[{"stderr": "no such module"}, {"exit": 1}]), str(tmp_path / "nothing")):
        code, _, err = pi_trio("fit", "--exec", program)
        assert code == 3
        assert "did not start" in err


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["--subject", "me"], "--subject is reference, pi@RELEASE or pi@FOLDER, not 'me'"),
        (["--ws", "ws://localhost:99999"], "--ws ws://localhost:99999: Port"),
        (["--ws", "ws://localhost:abc"], "--ws ws://localhost:abc: Port"),
        (["--ws", "ws://localhost:1/é"], "a URL is ASCII"),
        (["--subject", "pi@~nosuchuser/x"], "there is no such home"),
        (["--profile", "pi-9"], "there is no profile 'pi-9'"),
        (["--profile", "pi-1.6.0,nothing=pi-1.0.3"], "a profile has no field 'nothing'"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], tells: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", *arguments]) == 2
    assert tells in capsys.readouterr().err
