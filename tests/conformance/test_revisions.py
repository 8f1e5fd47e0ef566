"""What is published of the clauses does not change unnoticed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from pi_trio._version import __version__
from pi_trio.conformance.clauses import RELEASES, Clauses, read_clauses
from pi_trio.conformance.revisions import digest, due, main, read_revision, revision_path
from pi_trio.conformance.vectors import VectorError, spec_folder

Edit = Callable[[str, str], None]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec folder with the shipped clauses, frozen."""
    shutil.copytree(spec_folder() / "clauses", tmp_path / "clauses")
    assert main(["freeze"], tmp_path) == 0
    return tmp_path


@pytest.fixture
def edit(spec: Path) -> Edit:
    """Change the text of the clauses about turns."""

    def change(old: str, new: str) -> None:
        path = spec / "clauses" / "turn.md"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def numbers(spec: Path) -> list[tuple[int, str | None]]:
    found = [read_revision(spec, release) for release in RELEASES]
    return [(each.number, each.published) for each in found if each is not None]


def test_a_list_is_read_back_as_it_was_frozen(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clauses = read_clauses(spec)
    for release in RELEASES:
        frozen = read_revision(spec, release)
        assert frozen is not None
        assert list(frozen.digests.items()) == list(due(clauses, release).items())
        assert (frozen.number, frozen.published) == (1, None)
    capsys.readouterr()
    assert main([], spec) == 0
    assert capsys.readouterr().out == "nothing differs, nothing to do\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("- why: The prompts belong", "- why: Of course, the prompts belong", []),
        ("`turn_end.message` is the turn's answer", "`turn_end.message` is an answer", ["TURN-04 has changed"]),
        ("## TURN-04 turn_end carries", "## TURN-04 turn_end may carry", ["TURN-04 has changed"]),
        ("## TURN-28 A", "## TURN-98 A", ["TURN-98 is new", "TURN-28 is gone"]),
    ],
)  # fmt: skip
def test_what_changes_shows(
    spec: Path, edit: Edit, old: str, new: str, said: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    edit(old, new)
    capsys.readouterr()
    assert main([], spec) == (1 if said else 0)
    shown = [line.partition(": ")[2] for line in capsys.readouterr().out.splitlines() if "0.85.0" in line]
    assert shown == said


def test_an_unpublished_list_is_written_anew(spec: Path, edit: Edit) -> None:
    edit("Without calls", "With no calls")
    assert main(["freeze"], spec) == 0
    assert numbers(spec) == [(1, None)] * 4
    assert main([], spec) == 0


def test_behind_a_publication_comes_the_next_revision(spec: Path, edit: Edit) -> None:
    assert main(["publish"], spec) == 0
    assert numbers(spec) == [(1, __version__)] * 4
    edit("Only exactly true", "Exactly true only")  # a trap: nothing that was promised
    assert main([], spec) == 0
    edit(
        "It is asked when the results have been said", "It is asked once the results have been said"
    )  # 1.0.3 on
    assert main([], spec) == 1
    assert main(["freeze"], spec) == 0
    assert numbers(spec) == [(1, __version__), (1, __version__), (2, None), (2, None)]
    assert main(["freeze"], spec) == 0
    assert numbers(spec)[-1] == (2, None)
    assert main(["publish"], spec) == 0
    assert numbers(spec)[-1] == (2, __version__)


def test_nothing_is_published_that_is_not_frozen(
    spec: Path, edit: Edit, capsys: pytest.CaptureFixture[str]
) -> None:
    edit("Without calls", "With no calls")
    capsys.readouterr()
    assert main(["publish"], spec) == 2
    assert "freeze it first" in capsys.readouterr().out
    assert numbers(spec) == [(1, None)] * 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "line 2"),
        ("# A\nrevision one\n\n", "line 2"),
        ("# A\nrevision 1, unpublished\n\nRUN-01  xyz  A\n", "line 4"),
        ("# A\nrevision 1, unpublished\n\n" + "RUN-01  0123456789ab  A\n" * 2, "line 5"),
    ],
)
def test_damage_is_named_by_file_and_line(
    spec: Path, text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = revision_path(spec, "1.6.0")
    path.write_text(text)
    with pytest.raises(VectorError, match=says) as caught:
        read_revision(spec, "1.6.0")
    assert str(path) in str(caught.value)
    capsys.readouterr()
    assert main([], spec) == 2
    assert says in capsys.readouterr().out


def test_wrong_usage(spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["melt"], spec) == 2
    assert "usage" in capsys.readouterr().out


def test_what_decides_a_clause_is_part_of_what_it_means() -> None:
    clause = next(each for each in Clauses.shipped().values() if each.field is not None)
    for other in ({"field": "another"}, {"values": ("another",)}, {"field": None, "values": ()}):
        assert digest(attrs.evolve(clause, **other)) != digest(clause)
    for same in ({"why": "Because."}, {"trap": ""}, {"evidence": ("a",)}, {"line": 0}):
        assert digest(attrs.evolve(clause, **same)) == digest(clause)
