"""Recordings: written compactly, read back, and damage is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_trio.conformance.ruled import Golden
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


HEADER = '{"scenario":{"name":"x","title":"","topic":""},"release":"1.6.0"}'
SEND = '{"send":{"cmd":"create"}}'
END = '{"end":"settled"}'
GOOD = [
    SEND,
    '{"ask":{"fn":"listener","key":"L","event":"turn_start","nth":0},"args":{"event":{"type":"turn_start"}}}',
    '{"tell":"withdrawn","ask":{"fn":"execute","key":"t1","nth":0}}',
    '{"tell":"settled","op":"p1","ok":false,"error":"(host text)"}',
    '{"error":"driver: no"}',
    '{"unresolved":{"fn":"execute"}}',
    '{"reply":null}',
    END,
]


def written(tmp_path: Path, lines: list[str], folder: str = "pi-1.6.0") -> Path:
    path = tmp_path / "vectors" / folder / "x.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize("cut", range(1, len(GOOD) + 1))
def test_a_trace_that_was_cut_off_is_no_trace(tmp_path: Path, cut: int) -> None:
    path = written(tmp_path, [HEADER, *GOOD[: len(GOOD) - cut]])
    with pytest.raises(VectorError) as caught:
        Vectors(tmp_path).read("1.6.0", "x")
    number = 1 + len(GOOD) - cut
    assert str(caught.value).startswith(f"{path}, line {number}: the trace breaks off here")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"send":5}', "send: an object was expected, not 5"),
        ('{"send":{"cmd":"no"}}', 'send.cmd: there is no command "no"'),
        ('{"send":{"cmd":"answer","ask":7}}', "send.ask: an object was expected"),
        ('{"ask":3}', "ask: an object was expected, not 3"),
        ('{"ask":{"fn":"execute"}}', "args is missing"),
        ('{"ask":{"fn":"listener","key":"L"},"args":{}}', "an event is an object with a type"),
        ('{"tell":"event","key":"L","event":[]}', "an event is an object with a type"),
        ('{"tell":7}', "tell is not a string"),
        ('{"error":null}', "error: a string was expected"),
        ('{"unresolved":{}}', "unresolved: fn is missing"),
        ('{"what":1}', "a line of a trace has one of send, "),
        (END, "behind the end of the trace nothing more was expected"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, line: str, says: str) -> None:
    """In a recording, and on either side of a golden trace."""
    lines = [*GOOD[:3], line, *GOOD[3:]]
    number = 5 + (line == END)
    path = written(tmp_path, [HEADER, *lines])
    with pytest.raises(VectorError) as caught:
        Vectors(tmp_path).read("1.6.0", "x")
    assert str(caught.value).startswith(f"{path}, line {number}: ")
    assert says in str(caught.value)
    for mark in "+-":
        entries = [f'{{"=":{each}}}' for each in [*GOOD[:3], "{}", *GOOD[3:]]]
        entries[3] = f'{{"{mark}":{line},"ruling":"D-01"}}'
        path = written(tmp_path / mark, ['{"scenario":"x","release":"1.6.0","enters":0}', *entries], "ruled")
        with pytest.raises(VectorError) as caught:
            Golden.read(path)
        assert str(caught.value).startswith(f"{path}, line {number}: ")


def test_a_whole_trace_is_read(tmp_path: Path) -> None:
    written(tmp_path, [HEADER, *GOOD])
    recording = Vectors(tmp_path).read("1.6.0", "x")
    assert recording is not None
    assert len(recording.lines) == len(GOOD)


def test_a_recording_is_of_the_release_under_which_it_lies(tmp_path: Path) -> None:
    written(tmp_path, [HEADER, *GOOD], "pi-1.0.3")
    with pytest.raises(VectorError, match=r"line 1: the release is 1\.0\.3 here"):
        Vectors(tmp_path).read("1.0.3", "x")


def test_a_command_names_the_folder_that_is_meant(tmp_path: Path) -> None:
    assert Vectors(tmp_path / "a b").command("record", "1.6.0", "x") == (
        f"pi-trio vectors record --release 1.6.0 x --spec '{tmp_path}/a b'"
    )
    assert Vectors.shipped().command("record", "1.6.0") == "pi-trio vectors record --release 1.6.0"


def test_the_spec_folder_is_found() -> None:
    assert spec_folder().is_dir()
