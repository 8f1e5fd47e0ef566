"""Clauses are read from their text, and what is no clause is named by file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_trio.conformance.clauses import Clause, Clauses, read_clauses, written
from pi_trio.conformance.vectors import VectorError
from pi_trio.profile import UnknownProfileError

ONE = """\
# Turns

What a turn is.

## TURN-01 A turn has a beginning

It begins with `turn_start`,
and with nothing else.

Or so it seems.

- level: MUST
- releases: 0.80.2, 0.85.0, 1.0.3, 1.6.0
- group: events
- why: Somebody counts
  them.
- trap: None.
- evidence: `text_plain`, `tool_single`
- see: S-30, D-02, TURN-02

## TURN-02 Truncated calls fail

They do.

- level: MUST
- releases: 0.85.0, 1.0.3, 1.6.0
- decided by: `truncated_calls` = `failed`
- group: tools
- why: They may be cut.
- evidence: `length_truncated_calls`

## TURN-03 A promise

Kept.

- level: RULING D-02
- releases: 0.80.2
- group: containment
- why: Because.
- evidence: `a`
"""


def read(folder: Path, text: str, name: str = "turn.md") -> Clauses:
    path = folder / "clauses" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_clauses(folder)


def test_a_clause_is_what_its_text_says(tmp_path: Path) -> None:
    clauses = read(tmp_path, ONE)
    assert list(clauses) == ["TURN-01", "TURN-02", "TURN-03"]
    assert clauses["TURN-01"] == Clause(
        id="TURN-01",
        title="A turn has a beginning",
        rule="It begins with `turn_start`, and with nothing else.\n\nOr so it seems.",
        level="MUST",
        releases=("0.80.2", "0.85.0", "1.0.3", "1.6.0"),
        group="events",
        why="Somebody counts them.",
        trap="None.",
        evidence=("text_plain", "tool_single"),
        see=("S-30", "D-02", "TURN-02"),
        file="clauses/turn.md",
        line=5,
    )
    assert (clauses["TURN-02"].field, clauses["TURN-02"].values) == ("truncated_calls", ("failed",))
    assert (clauses["TURN-03"].level, clauses["TURN-03"].ruling) == ("RULING", "D-02")


def test_what_is_in_force_follows_the_release(tmp_path: Path) -> None:
    clauses = read(tmp_path, ONE)
    assert [clause.id for clause in clauses.in_force("pi-1.6.0")] == ["TURN-01", "TURN-02"]
    assert [clause.id for clause in clauses.in_force("pi-0.80.2")] == ["TURN-01", "TURN-03"]


def test_a_field_takes_its_clauses_along(tmp_path: Path) -> None:
    clauses = read(tmp_path, ONE)
    mixed = clauses.in_force("pi-0.80.2,truncated_calls=pi-1.0.3,durations=pi-1.6.0")
    assert [clause.id for clause in mixed] == ["TURN-01", "TURN-02", "TURN-03"]
    mixed = clauses.in_force("pi-1.6.0,truncated_calls=pi-1.0.3,truncated_calls=pi-0.80.2")
    assert [clause.id for clause in mixed] == ["TURN-01"]
    with pytest.raises(UnknownProfileError):
        clauses.in_force("pi-9")


def test_families_are_read_in_their_order_and_clauses_by_number(tmp_path: Path) -> None:
    (tmp_path / "clauses").mkdir()
    (tmp_path / "clauses" / "README.md").write_text("## RUN-09 No clause\n")
    one = "\n## {} A\n\nB.\n\n- level: MUST\n- releases: 1.6.0\n- group: hooks\n- why: C.\n- evidence: `d`\n"
    read(tmp_path, "# A\n" + one.format("ABORT-01"), "abort.md")
    clauses = read(tmp_path, "# R\n" + one.format("RUN-10") + one.format("RUN-09"), "run.md")
    assert list(clauses) == ["RUN-09", "RUN-10", "ABORT-01"]
    assert [clause.id for clause in clauses.of_family("RUN")] == ["RUN-09", "RUN-10"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## TURN-02 Truncated", "## TOOL-02 Truncated", "line 21: the heading of a clause is `## TURN-05 Title`"),
        ("## TURN-02 Truncated", "## TURN-01 Truncated", "line 21: TURN-01 is taken, see line 5"),
        ("## TURN-03 A promise", "## TURN-03", "line 32: the heading"),
        ("level: RULING D-02", "level: RULING", "line 36: the level is"),
        ("- level: RULING D-02\n", "", "line 32: TURN-03 has no `- level: …`"),
        ("group: containment", "group: cats", "line 38: the group is one of"),
        ("releases: 0.80.2\n", "releases: 0.80.2, 0.81\n", "line 37: releases are some of"),
        ("releases: 0.85.0, 1.0.3", "releases: 1.0.3, 0.85.0", "line 26: releases are"),
        ("releases: 0.85.0, 1.0.3, 1.6.0", "releases: 1.0.3, 1.6.0", "is failed in 0.85.0, 1.0.3, 1.6.0"),
        ("`truncated_calls` = `failed`", "`truncated_calls`", "line 27: decided by is"),
        ("`truncated_calls` = `failed`", "`cats` = `failed`", "line 27: decided by is"),
        ("`truncated_calls` = `failed`", "`truncated_calls` = `faild`", "is faild in no release"),
        ("- why: Because.\n", "", "line 32: TURN-03 lacks: why"),
        ("- why: Because.\n", "- why: Because.\n- why: Of that.\n", "line 40: 'why' is given twice"),
        ("- why: Because.\n", "- why: Because.\n- who: Me.\n", "line 40: 'who' is no part of a clause"),
        ("- why: Because.\n", "- why: Because.\nOf that.\n", "line 40: behind its list a clause has ended"),
        ("Kept.", "", "line 32: TURN-03 has no rule"),
        ("evidence: `a`", "evidence: `a` and `b`", "line 40: evidence: "),
        ("evidence: `a`", "evidence: `a`, `a`", "line 40: evidence: "),
        ("see: S-30, D-02", "see: S-30 D-02", "line 19: see: "),
    ],
)  # fmt: skip
def test_what_is_no_clause_is_named_by_file_and_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert ONE.count(old) == 1
    with pytest.raises(VectorError) as caught:
        read(tmp_path, ONE.replace(old, new))
    assert says in str(caught.value)
    assert f"{tmp_path}/clauses/turn.md, line " in str(caught.value)


def test_a_folder_without_clauses_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(VectorError, match="holds no clauses"):
        read_clauses(tmp_path)


def test_how_values_are_written() -> None:
    assert [written(value) for value in (True, False, "failed", ("a", "b"), ())] == [
        "yes", "no", "failed", "a, b", "nothing",
    ]  # fmt: skip
