"""Golden traces hold both sides, and say under which ruling they differ."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Entry, Golden, golden_names, golden_path, propose, read_golden
from pi_trio.conformance.vectors import VectorError, Vectors

CREATE: Object = {"send": {"cmd": "create"}}
PROMPT: Object = {"send": {"cmd": "prompt"}}
ABORT: Object = {"send": {"cmd": "abort"}}
A: Object = {"reply": "a"}
B: Object = {"reply": "b"}
C: Object = {"reply": "c"}
END: Object = {"end": "settled"}

traces = st.lists(st.sampled_from([PROMPT, A, B, C]), max_size=8).map(lambda lines: [CREATE, *lines])


@given(traces, traces)
def test_a_proposal_reads_as_either_side(said: list, runtime: list) -> None:
    golden = propose("x", "1.6.0", said, runtime, "D-01")
    if golden is None:
        assert fingerprint(said) == fingerprint(runtime)
    else:
        assert golden.release_side() == tuple(said)
        assert golden.runtime_side() == tuple(runtime)
        assert golden.faults() == []


def test_rulings_that_were_reviewed_stay() -> None:
    reviewed = Golden(
        scenario="x",
        release="1.6.0",
        enters=0,
        entries=(Entry("=", CREATE), Entry("-", A, "D-01"), Entry("+", B, "D-02")),
    )
    golden = propose("x", "1.6.0", [CREATE, A], [CREATE, B, C], "D-09", former=reviewed)
    assert golden is not None
    assert [(entry.mark, entry.ruling) for entry in golden.entries] == [
        ("=", ""),
        ("-", "D-01"),
        ("+", "D-02"),
        ("+", "D-09"),
    ]
    assert golden.rulings() == ("D-01", "D-02", "D-09")


def test_equal_lines_keep_the_rulings_of_their_places() -> None:
    reviewed = Golden(
        scenario="x",
        release="1.6.0",
        enters=0,
        entries=(
            Entry("=", CREATE),
            Entry("-", A, "D-01"),
            Entry("=", PROMPT),
            Entry("-", A, "D-02"),
            Entry("=", ABORT),
            Entry("+", C, "D-03"),
        ),
    )
    said, runtime = [CREATE, A, PROMPT, A, ABORT], [CREATE, PROMPT, B, ABORT, C]
    golden = propose("x", "1.6.0", said, runtime, "D-09", former=reviewed)
    assert golden is not None
    assert [(entry.mark, entry.line, entry.ruling) for entry in golden.entries if entry.mark != "="] == [
        ("-", A, "D-01"),
        ("-", A, "D-02"),
        ("+", B, "D-09"),
        ("+", C, "D-03"),
    ]


@given(traces, traces, st.data())
def test_what_was_reviewed_is_proposed_again_as_it_was(
    said: list, runtime: list, data: st.DataObject
) -> None:
    bare = propose("x", "1.6.0", said, runtime, "D-01")
    if bare is None:
        return
    ids = st.sampled_from(["D-01", "D-02", "D-03"])
    reviewed = attrs.evolve(
        bare,
        entries=tuple(
            entry if entry.mark == "=" else attrs.evolve(entry, ruling=data.draw(ids))
            for entry in bare.entries
        ),
    )
    assert propose("x", "1.6.0", said, runtime, "D-09", former=reviewed) == reviewed


def test_the_ruling_is_entered_by_the_last_command_before_the_difference() -> None:
    golden = propose("x", "1.6.0", [CREATE, A, PROMPT, A, B], [CREATE, A, PROMPT, A, C], "D-01")
    assert golden is not None
    assert golden.enters == 2


@pytest.mark.parametrize(
    ("entries", "enters", "says"),
    [
        ([("=", CREATE, "")], 0, "no line differs"),
        ([("=", CREATE, ""), ("+", A, "")], 0, "1 differing lines name no ruling"),
        ([("=", CREATE, ""), ("+", A, "D-01"), ("=", PROMPT, "")], 2, "line 2 is not a shared command"),
        ([("=", CREATE, ""), ("=", A, ""), ("+", A, "D-01")], 1, "line 1 is not a shared command"),
        ([("=", CREATE, ""), ("+", A, "D-01")], 7, "line 7 is not a shared command"),
        ([("=", CREATE, ""), ("+", A, "D-01")], -1, "line -1 is not a shared command"),
    ],
)
def test_faults_are_found(entries: list, enters: int, says: str) -> None:
    golden = Golden(
        scenario="x", release="1.6.0", enters=enters, entries=tuple(Entry(*entry) for entry in entries)
    )
    assert any(says in fault for fault in golden.faults())


def test_a_golden_trace_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path)
    golden = propose("x", "1.6.0", [CREATE, A, END], [CREATE, B, END], "D-01")
    assert golden is not None
    golden.write(golden_path(vectors, "1.6.0", "x"))
    assert read_golden(vectors, "1.6.0", "x") == golden
    assert golden_names(vectors, "1.6.0") == {"x"}
    assert read_golden(vectors, "1.6.0", "y") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("{}\n", "line 1: scenario, release and enters"),
        ('{"scenario":"x","release":"1","enters":0}\n{"*":{}}\n', "line 2: an object with one of"),
        ('{"scenario":"x","release":"1","enters":0}\n{"+":{},"-":{}}\n', "line 2: an object with one of"),
    ],
)
def test_damage_is_named_by_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    path = golden_path(Vectors(tmp_path), "1.6.0", "x")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(VectorError, match=says) as caught:
        Golden.read(path)
    assert str(path) in str(caught.value)
