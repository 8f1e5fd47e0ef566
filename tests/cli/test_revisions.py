"""`pi-trio revisions`: what changed between two releases, as a page."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from pi_trio.cli import main
from pi_trio.conformance.clauses import RELEASES, Clauses

from .conftest import Finished

CLAUSES = Clauses.shipped()


@pytest.fixture
def revisions(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> Finished:
        code = main(["revisions", *arguments])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_field_stands_with_its_old_and_its_new_rule(revisions) -> None:
    code, out, err = revisions("0.80.2", "0.85.0")
    assert (code, err) == (0, "")
    page = " ".join(out.split())
    parts = ["From pi-0.80.2 to pi-0.85.0", "truncated_calls executed → failed"]
    parts += [f"- TOOL-24 {CLAUSES['TOOL-24'].title} {CLAUSES['TOOL-24'].rule}"]
    parts += [f"+ TOOL-23 {CLAUSES['TOOL-23'].title} {CLAUSES['TOOL-23'].rule}"]
    parts += ["Offered hooks: + prepareNextTurnWithContext, + shouldStopAfterTurn"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize(("old", "new"), list(permutations(RELEASES, 2)))
def test_every_clause_of_the_difference_stands_there_once(revisions, old: str, new: str) -> None:
    _, out, _ = revisions(old, new)
    before, after = ({clause.id for clause in CLAUSES.in_force(f"pi-{each}")} for each in (old, new))
    signs = [line.split()[:2] for line in out.splitlines() if line.startswith(("  - ", "  + "))]
    assert sorted(signs) == sorted(
        [["-", name] for name in before - after] + [["+", name] for name in after - before]
    )
    assert all(len(line) <= 100 for line in out.splitlines())


def test_the_number_of_a_release_is_its_profile(revisions) -> None:
    assert revisions("1.0.3", "1.6.0") == revisions("pi-1.0.3", "pi-1.6.0")


def test_a_composite(revisions) -> None:
    code, out, _ = revisions("1.6.0", "1.6.0,durations=pi-1.0.3")
    assert code == 0
    assert "From pi-1.6.0 to pi-1.6.0,durations=pi-1.0.3\n\ndurations  yes → no\n  - TOOL-30" in out
    assert "Offered" not in out


@pytest.mark.parametrize(("old", "new"), [("1.6.0", "pi-1.6.0"), ("pi-1.0.3", "pi-1.0.3,identity=pi-0.85.0")])
def test_no_change(revisions, old: str, new: str) -> None:
    code, out, _ = revisions(old, new)
    assert code == 0
    assert out.endswith(f"and pi-{new.removeprefix('pi-')} behave alike: nothing changes between them\n")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("1.6", "1.0.3", "there is no profile '1.6'; known are: pi-0.80.2, pi-0.85.0, pi-1.0.3, pi-1.6.0"),
        ("1.0.3", "1.6.0,durations=1.0.3", "there is no profile '1.0.3'"),
        ("1.0.3", "1.6.0,cats=pi-1.0.3", "a profile has no field 'cats'"),
    ],
)
def test_an_unknown_name(revisions, old: str, new: str, says: str) -> None:
    code, out, err = revisions(old, new)
    assert (code, out) == (2, "")
    assert says in err


def test_json(revisions) -> None:
    code, out, _ = revisions("0.80.2", "0.85.0", "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["old"], told["new"], told["silent"]) == ("pi-0.80.2", "pi-0.85.0", [])
    assert {"field": "durations"} not in told["changes"]
    (change,) = (each for each in told["changes"] if each["field"] == "prepare_next_turn")
    assert change == {
        "field": "prepare_next_turn", "old": "after_turn", "new": "before_turn",
        "clauses": [{"old": ["TURN-15"], "new": ["TURN-16"]}],
    }  # fmt: skip
    assert told["offered"] == [
        {"kind": "hooks", "gone": [], "new": ["prepareNextTurnWithContext", "shouldStopAfterTurn"]}
    ]
