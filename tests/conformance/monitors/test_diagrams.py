"""The diagrams in the spec are those of the tables."""

from __future__ import annotations

from pathlib import Path

from pi_trio.conformance.monitors import TRANSITIONS
from pi_trio.conformance.monitors.diagrams import DIAGRAMS, pages, write
from pi_trio.conformance.vectors import spec_folder


def test_they_are_fresh() -> None:
    folder = spec_folder() / "diagrams"
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == dict(pages())


def test_every_transition_is_in_one() -> None:
    shown = {each.name for diagram in DIAGRAMS for each in diagram.transitions()}
    assert shown == set(TRANSITIONS)


def test_they_are_written(tmp_path: Path) -> None:
    write(tmp_path / "diagrams")
    assert {path.name for path in (tmp_path / "diagrams").iterdir()} == {name for name, _ in pages()}
