"""The clauses are complete, and true to the recordings, rulings and surprises that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pi_trio.cli import COMMANDS, main
from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.clauses import FAMILIES, GROUPS, LEVELS, RELEASES, Clause, Clauses, written
from pi_trio.conformance.deviations import read_deviations
from pi_trio.conformance.revisions import differences, due, read_revision
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.transport import vector as transport
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import FIELDS, PROFILES

VECTORS = Vectors.shipped()
SPEC = VECTORS.spec
CLAUSES = Clauses.shipped()
DEVIATIONS = read_deviations(SPEC)
SCENARIOS = {scenario.name for scenario in all_scenarios()}
ANSWERS = transport.read_transport_vectors(SPEC)
RECORDED = {release: VECTORS.names(release) for release in RELEASES}
README = (SPEC / "clauses" / "README.md").read_text(encoding="utf-8")
PROTOCOL = (SPEC / "driver-protocol.md").read_text(encoding="utf-8")

ONLY_THERE_OR_NOT = {
    ("prepare_next_turn_with_context", "no"),
    ("prepare_request", "no"),
    ("peek_queued_messages", "no"),
}
"""Values of which there is nothing to say: a hook or a command does not exist."""

SHOWN_BY_NO_TRACE = {"D-08", "D-11"}
"""Rulings about what the driver protocol cannot show: clauses refer to them, and tests of the runtime hold them."""

each_clause = pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)


def test_every_family_has_its_file_and_no_number_is_left_out() -> None:
    assert {path.stem for path in (SPEC / "clauses").glob("*.md")} == {"README", *map(str.lower, FAMILIES)}
    for family in FAMILIES:
        clauses = CLAUSES.of_family(family)
        assert [clause.id for clause in clauses] == [
            f"{family}-{number:02}" for number in range(1, len(clauses) + 1)
        ]
        lines = [clause.line for clause in clauses]
        assert lines == sorted(lines), "the numbers go with the order in the file"
    assert len(CLAUSES) >= 120


@each_clause
def test_the_evidence_shows_it(clause: Clause) -> None:
    """A MUST is recorded from each of its releases; a ruling has a golden trace in which it makes a line differ."""
    assert 1 <= len(clause.evidence) <= 6
    if clause.of_transport:
        assert {(name, True) for name in clause.evidence} == {
            (name, set(clause.releases) <= set(ANSWERS[name].releases)) for name in clause.evidence
        }
        return
    assert set(clause.evidence) <= SCENARIOS
    for name in clause.evidence:
        if clause.ruling is None:
            assert [release for release in clause.releases if name not in RECORDED[release]] == [], name
            continue
        read = read_cancel_golden if clause.ruling == "D-10" else read_golden
        for release in clause.releases:
            golden = read(VECTORS, release, name)
            assert golden is not None, (name, release)
            assert clause.ruling in golden.rulings(), (name, release)


def test_every_vector_of_the_transport_is_evidence_of_a_clause() -> None:
    named = [name for clause in CLAUSES.values() if clause.of_transport for name in clause.evidence]
    assert set(named) == set(ANSWERS)


def test_a_transport_is_judged_by_its_own_family() -> None:
    assert {clause.id for clause in CLAUSES.values() if clause.of_transport} == {
        clause.id for clause in CLAUSES.of_family("MODEL")
    }
    assert not any(clause.of_transport for clause in CLAUSES.in_force("pi-0.80.2"))


@each_clause
def test_what_it_refers_to_exists(clause: Clause) -> None:
    assert [name for name in clause.see if name not in CLAUSES and name not in DEVIATIONS] == []
    assert clause.id not in clause.see
    assert clause.ruling is None or clause.ruling in DEVIATIONS


@cache
def shown(name: str) -> str:
    """All that is recorded of a scenario, from any release and in any mode."""
    folders = [f"{kind}pi-{release}" for kind in ("", "ruled/", "cancel/") for release in RELEASES]
    folders.append("transport")
    files = [SPEC / "vectors" / folder / f"{name}.jsonl" for folder in folders]
    return "".join(file.read_text(encoding="utf-8") for file in files if file.exists())


def pieces(code: str) -> Iterator[str]:
    """What of a piece of code is to be found: the names in it, or a fixed text around what varies."""
    if " " in code:
        yield from code.split("NAME")
    else:
        yield from re.findall(r"[A-Za-z_]\w+", code)


OF_PI = {re.sub(r"_(\w)", lambda match: match[1].upper(), field) for field in FIELDS}
"""What Pi calls what a field of the profile is about: `prepareNextTurn`."""


@each_clause
def test_it_speaks_of_what_the_evidence_shows(clause: Clause) -> None:
    """Whatever stands as code in the rule is a name of the protocol, or occurs in a recording."""
    evidence = "".join(map(shown, clause.evidence)).replace('\\"', '"')
    named = [
        piece for code in re.findall(r"`([^`]+)`", f"{clause.title} {clause.rule}") for piece in pieces(code)
    ]
    assert [piece for piece in named if not (piece in evidence or piece in PROTOCOL or piece in OF_PI)] == []


def test_each_value_of_each_field_has_its_clauses() -> None:
    values = {(field, written(getattr(profile, field))) for field in FIELDS for profile in PROFILES.values()}
    told = {(clause.field, value) for clause in CLAUSES.values() for value in clause.values}
    assert values - told == ONLY_THERE_OR_NOT
    assert told <= values


def test_each_ruling_and_each_surprise_has_its_clauses() -> None:
    promised = {clause.ruling for clause in CLAUSES.values() if clause.ruling}
    assert promised == {name for name in DEVIATIONS if name.startswith("D-")} - SHOWN_BY_NO_TRACE
    seen = {name for clause in CLAUSES.values() for name in clause.see}
    assert {name for name in DEVIATIONS if name.startswith("S-")} | SHOWN_BY_NO_TRACE <= seen


def test_what_no_trace_shows_says_so_and_is_held_by_a_test_of_the_runtime() -> None:
    rulings = (SPEC / "deviations" / "rulings.md").read_text(encoding="utf-8")
    unshown = set(re.findall(r"^## (D-\d\d)[^#]*?^- scenarios: none:", rulings, re.MULTILINE))
    assert unshown == SHOWN_BY_NO_TRACE
    tests = [path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "agent").glob("test_*.py")]
    for name in sorted(unshown):
        assert any(name in text for text in tests)
        assert name in README


def test_no_two_clauses_say_the_same() -> None:
    for what in ("title", "rule"):
        told = [(getattr(clause, what), clause.field) for clause in CLAUSES.values()]
        assert len(set(told)) == len(told)


@pytest.mark.parametrize("release", RELEASES)
def test_the_list_of_a_release_is_fresh(release: str) -> None:
    """After a change: `python -m pi_trio.conformance.revisions freeze`."""
    assert differences(read_revision(SPEC, release), due(CLAUSES, release)) == []


def test_the_readme_names_families_groups_and_levels() -> None:
    assert re.findall(r"^\| \[(\w+)\]", README, re.MULTILINE) == list(FAMILIES)
    assert set(re.findall(r"\*(\w+)\*", README.partition("**group**")[2].partition("- **")[0])) == set(GROUPS)
    levels = README.partition("**level**")[2].partition("- **")[0]
    assert all(f"*{level}" in levels for level in LEVELS)


@pytest.mark.parametrize("command", re.findall(r"`pi-trio ([^`]+)`", README))
def test_the_commands_of_the_readme(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *words = command.split()
    assert name in COMMANDS
    scenario = "stream_double_start" if "--ruled" in words else "text_plain"
    assert main([name, *(scenario if word == "NAME" else word for word in words)]) == 0
    assert capsys.readouterr().out


def test_the_composite_profile_of_the_readme() -> None:
    (name,) = re.findall(r"`(pi-\S+=\S+)`", README)
    mixed, base = (
        {clause.id for clause in CLAUSES.in_force(each)} for each in (name, name.partition(",")[0])
    )
    assert {"TOOL-24"} <= mixed - base
    assert {"TOOL-23"} <= base - mixed
