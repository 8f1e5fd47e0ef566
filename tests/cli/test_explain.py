"""`pi-trio explain`: clauses, surprises and rulings as pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pi_trio.cli import main
from pi_trio.conformance.clauses import FAMILIES, Clauses
from pi_trio.conformance.deviations import read_deviations
from pi_trio.conformance.vectors import spec_folder

from .conftest import Finished

CLAUSES = Clauses.shipped()
DEVIATIONS = read_deviations(spec_folder())


@pytest.fixture
def explain(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Run the command on the shipped spec, on a page of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Finished:
        code = main(["explain", *arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_clause_about_a_transport_shows_recorded_answers(explain) -> None:
    code, out, _ = explain("MODEL-08")
    page = words(out)
    assert code == 0
    assert "group transport in force pi 0.85.0, 1.0.3, 1.6.0" in page
    assert (
        "The end of a text says something else than its pieces. recorded from pi 0.85.0, 1.0.3, 1.6.0" in page
    )
    assert out.endswith("\nspec/vectors/transport/responses_corrected.jsonl\n")


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_clause_is_a_page(explain) -> None:
    code, out, err = explain("TURN-11")
    assert (code, err) == (0, "")
    clause, page = CLAUSES["TURN-11"], words(out)
    assert out.startswith(f"TURN-11  {clause.title}\n")
    parts = [
        clause.rule,
        "level MUST",
        "group hooks",
        "in force pi 1.0.3, 1.6.0: where stop_hook is finish_turn",
    ]
    parts += [f"why {clause.why}", f"trap {clause.trap}", f"evidence {clause.evidence[0]} "]
    parts += [
        "recorded from pi 1.0.3, 1.6.0",
        "see TURN-10 shouldStopAfterTurn",
        "written spec/clauses/turn.md, line",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert out.endswith(f"\npi-trio explain-run {clause.evidence[0]} --recorded\n")


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("TURN-14", "loop_should_stop_after_turn --recorded --profile pi-0.80.2"),
        ("STREAM-08", "stream_double_start --ruled"),
        ("ABORT-21", "abort_tools_ignored --ruled --cancelling"),
    ],
)
def test_the_evidence_can_be_shown_as_it_says(
    explain, name: str, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = explain(name)
    command = out.splitlines()[-1]
    assert command == f"pi-trio explain-run {how}"
    assert main(command.split()[1:]) == 0
    assert capfd.readouterr().out


@pytest.mark.parametrize("name", ["S-13", "D-05"])
def test_a_surprise_and_a_ruling_are_pages(explain, name: str) -> None:
    code, out, _ = explain(name)
    page = words(out)
    assert code == 0
    assert page.startswith(f"{name} {DEVIATIONS[name].title} ")
    assert all(part in page for part in (*DEVIATIONS[name].paragraphs, *DEVIATIONS[name].items.values()))
    assert "clauses STREAM-07 A stream without a result" in page


def test_every_one_has_its_page(explain) -> None:
    names = [*CLAUSES, *DEVIATIONS]
    code, out, err = explain(*names)
    assert (code, err) == (0, "")
    heads = [line.split()[0] for line in out.splitlines() if re.match(r"[A-Z]+-\d+  ", line)]
    assert heads == names
    assert "not in this spec" not in out
    assert "no such scenario" not in out
    assert all(len(line) <= 100 for line in out.splitlines() if not line.startswith("pi-trio "))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_a_list(explain, family: str) -> None:
    code, out, _ = explain(family)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == [
        clause.id for clause in CLAUSES.of_family(family)
    ]


def test_ids_may_be_written_as_one_likes(explain) -> None:
    assert explain("turn-5") == explain("TURN-05") == explain("turn5")


def test_several(explain) -> None:
    _, out, _ = explain("TURN-05", "S-13")
    assert out == f"{explain('TURN-05')[1]}\n{explain('S-13')[1]}"


@pytest.mark.parametrize(
    ("asked", "near"),
    [("TURN-99", "TURN-09"), ("TRUN-05", "TURN-05"), ("D-13", "D-12"), ("nonsense", "D-01")],
)
def test_an_unknown_id_and_what_is_near(explain, asked: str, near: str) -> None:
    code, out, err = explain("TURN-05", asked)
    assert (code, out) == (2, "")
    assert err.startswith(f"pi-trio: the spec has no {asked}; near it are ")
    assert near in err


def test_what_is_no_id(explain) -> None:
    assert explain("")[2] == "pi-trio: an id is empty; one is such as TURN-05, D-05 or TURN\n"


def test_json(explain) -> None:
    code, out, _ = explain("TURN-11", "D-05", "MSG", "--json")
    clause, ruling, *family = json.loads(out)
    assert code == 0
    assert (clause["kind"], clause["id"]) == ("clause", "TURN-11")
    assert clause["decidedBy"] == {"field": "stop_hook", "values": ["finish_turn"]}
    assert clause["evidence"][0] == {
        "scenario": "stop_after_turn",
        "title": "finishTurn says end after a tool turn: the run is over, no queue is polled and both stay full.",
        "releases": ["1.0.3", "1.6.0"],
    }
    assert (ruling["kind"], ruling["clauses"]) == ("ruling", ["STREAM-07"])
    assert [each["id"] for each in family] == [clause.id for clause in CLAUSES.of_family("MSG")]


def test_a_spec_without_clauses(explain, tmp_path: Path) -> None:
    code, _, err = explain("TURN-05", "--spec", str(tmp_path))
    assert code == 4
    assert "holds no clauses" in err


def test_a_ruling_says_what_a_port_may_do_and_names_a_few_scenarios(explain) -> None:
    _, out, _ = explain("D-02")
    page = words(out)
    assert (
        "a port may do as upstream (NON-STRICT), as pi_trio, or otherwise as long as: the events nest: "
        in page
    )
    assert re.search(r"scenarios (`\w+`, ){6}and \d\d more clauses", page)
    assert "a port may (nothing of it shows in a trace, so nothing is judged)" in words(explain("D-08")[1])
    assert "or otherwise as long as: the events nest: " in words(explain("D-06")[1]), "as D-02, it says"


def test_upstream_has_no_aborts_that_cancel_so_a_port_with_them_cannot_do_as_upstream(explain) -> None:
    page = words(explain("D-10")[1])
    assert 'a port may have no aborts that cancel, as upstream (`abort` is then "advisory", ' in page
    assert "NON-STRICT" not in page
    ((document,), (other,)) = (json.loads(explain(name, "--json")[1]) for name in ("D-10", "S-01"))
    assert document["aPortMay"].startswith("have no aborts that cancel")
    assert "aPortMay" not in other


@pytest.mark.parametrize("name", [name for name in DEVIATIONS if name.startswith("S-")])
def test_a_surprise_ends_with_a_command_that_shows_it(explain, name: str) -> None:
    _, out, _ = explain(name)
    *_, last = out.splitlines()
    assert last.startswith("pi-trio explain-run ")
    assert main(last.split()[1:]) == 0


def test_who_asks_for_a_scenario_is_told_where_it_is_shown(explain) -> None:
    code, _, err = explain("tools_parallel_reverse")
    assert code == 2
    assert (
        "tools_parallel_reverse is a scenario, which `pi-trio explain-run tools_parallel_reverse` shows"
        in err
    )
