"""Surprises and rulings are read from their documents as they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_trio.conformance.deviations import Deviation, read_deviations
from pi_trio.conformance.vectors import VectorError, spec_folder

RULINGS = """\
# R

## How to read

- no: item

## D-01 one

It is
so.

And so.

- upstream: A
  b.
- pi_trio: C.
"""
SURPRISES = "## S-01 two\n\nOdd.\n\n- verdict: D-01.\n\n## Behind it\n\nNothing.\n"


def read(folder: Path, rulings: str = RULINGS, surprises: str = SURPRISES) -> dict[str, Deviation]:
    (folder / "deviations").mkdir()
    (folder / "deviations" / "rulings.md").write_text(rulings)
    (folder / "deviations" / "surprises.md").write_text(surprises)
    return read_deviations(folder)


def test_a_section_is_one(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert list(found) == ["D-01", "S-01"]
    assert found["D-01"] == Deviation(
        id="D-01", title="one", paragraphs=("It is so.", "And so."), items={"upstream": "A b.", "pi_trio": "C."},
        file="deviations/rulings.md", line=7,
    )  # fmt: skip
    assert found["S-01"].items == {"verdict": "D-01."}


def test_an_id_is_taken_once(tmp_path: Path) -> None:
    with pytest.raises(VectorError, match=r"surprises\.md, line 1: D-01 is taken"):
        read(tmp_path, surprises=SURPRISES.replace("S-01", "D-01"))


def test_a_missing_document(tmp_path: Path) -> None:
    with pytest.raises(VectorError, match=r"rulings\.md cannot be read"):
        read_deviations(tmp_path)


def test_those_of_the_spec_are_whole() -> None:
    found = read_deviations(spec_folder())
    assert [name for name in found if name.startswith("S-")] == [f"S-{number:02}" for number in range(1, 36)]
    assert [name for name in found if name.startswith("D-")] == [f"D-{number:02}" for number in range(1, 13)]
    assert all(
        {"releases", "verdict", "scenarios"} <= set(each.items)
        for name, each in found.items()
        if name[0] == "S"
    )
    assert all(
        {"upstream", "pi_trio", "scenarios"} <= set(each.items)
        for name, each in found.items()
        if name[0] == "D"
    )
