"""Recordings: written compactly, read back, and damage is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.vectors import Recording, VectorError, Vectors, spec_folder

SCENARIO = Scenario(
    name="x", title="X.", topic="t", steps=[{"cmd": "prompt", "op": "p1", "input": "\ud800 é"}]
)
RECORDING = Recording(
    scenario=SCENARIO, release="1.6.0", lines=({"send": {"cmd": "create"}}, {"end": "settled"})
)


def test_a_recording_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path)
    path = vectors.write(RECORDING)
    assert path == tmp_path / "vectors" / "pi-1.6.0" / "x.jsonl"
    assert vectors.read("1.6.0", "x") == RECORDING
    assert vectors.names("1.6.0") == {"x"}


def test_the_file_is_compact_and_the_same_each_time(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path)
    first = vectors.write(RECORDING).read_bytes()
    assert vectors.write(RECORDING).read_bytes() == first
    assert first.splitlines()[1:] == [b'{"send":{"cmd":"create"}}', b'{"end":"settled"}']


def test_what_is_not_recorded_is_none(tmp_path: Path) -> None:
    assert Vectors(tmp_path).read("1.6.0", "x") is None
    assert Vectors(tmp_path).names("1.6.0") == frozenset()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("nonsense\n", "line 1"),
        ('{"scenario":{"name":"x"},"release":"1.6.0"}\n', "line 1: title is missing"),
        ('{"scenario":{"name":"x","title":"","topic":""},"release":"1.6.0"}\n[]\n', "line 2: an object"),
    ],
)
def test_damage_is_named_by_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    path = Vectors(tmp_path).path("1.6.0", "x")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(VectorError, match=says) as caught:
        Vectors(tmp_path).read("1.6.0", "x")
    assert str(path) in str(caught.value)


def test_the_spec_folder_is_found() -> None:
    assert spec_folder().is_dir()
