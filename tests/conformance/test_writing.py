"""A file is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_trio.conformance.writing import write_whole


def test_a_new_file_and_a_new_content(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_whole(file, b"one")
    plain = tmp_path / "plain"
    plain.touch()
    assert file.stat().st_mode == plain.stat().st_mode
    file.chmod(0o640)
    write_whole(file, b"two")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"two", 0o640)
    assert {*tmp_path.iterdir()} == {file, plain}


def test_a_link_keeps_pointing(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("file")
    write_whole(link, b"one")
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"one"


def test_who_is_interrupted_leaves_the_old_file_and_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(file, b"new")
    assert file.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize("name", [".", "no/file", "x" * 300])
def test_a_place_where_no_file_can_be_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(OSError, match=r".") as caught:
        write_whole(tmp_path / name, b"")
    assert caught.value.filename == str(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_a_device_is_written_to() -> None:
    write_whole(Path(os.devnull), b"nothing")
    assert Path(os.devnull).is_char_device()
