"""A trace that a person can follow: where two sides part, it is told how, and what says nothing is left out."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import pi_trio
from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.sequence import show_golden
from pi_trio.conformance.ruled import Entry, Golden, golden_names, read_golden
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.vectors import Vectors

SCENARIO = Scenario(name="s", title="T.", topic="t", create={})
SENT: Object = {"send": {"cmd": "sync"}}
SPEC = Vectors(Path(pi_trio.__file__).parent.parent / "spec")


def shown(golden: Golden) -> list[str]:
    console = Console(file=StringIO(), markup=False, highlight=False)
    show_golden(console, SCENARIO, golden, everything=False)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()[3:]


def golden(*entries: Entry) -> Golden:
    return Golden(scenario="s", release="1.6.0", enters=0, entries=(Entry("=", SENT), *entries))


def ended(text: str) -> Object:
    return {"tell": "event", "key": "L", "event": {"type": "agent_end", "messages": [{"content": text}]}}


def test_two_lines_that_read_the_same_are_told_apart() -> None:
    rows = shown(golden(Entry("-", ended("a"), "D-01"), Entry("+", ended("b"), "D-01")))
    assert rows[1][2:] == rows[2][2:]
    assert rows[3].split() == ["at", "event.messages[0].content:", "-", '"a"', "+", '"b"']


def test_of_several_the_one_that_reads_the_same_is_meant() -> None:
    aborted: Object = {"tell": "signal", "ask": {"fn": "streamFn"}}
    rows = shown(golden(Entry("-", aborted, "D-01"), Entry("-", ended("a"), "D-01"), Entry("+", ended("b"))))
    assert [row.strip() for row in rows if " at " in row] == ['at event.messages[0].content:   - "a"   + "b"']
    assert next(row for row in rows if row.startswith("+")).endswith("(no ruling yet)")


@pytest.mark.parametrize("mark", ["-", "+"])
def test_what_says_nothing_is_left_out_on_both_sides(mark) -> None:
    send = {"send": {"cmd": "continue", "op": "c1"}}
    rows = shown(golden(Entry(mark, send, "D-01"), Entry(mark, {"reply": None}, "D-01")))
    assert len(rows) == 2
    assert rows[1].startswith(mark)


@pytest.mark.parametrize("read", [read_golden, read_cancel_golden])
def test_every_golden_trace_shows_how_the_sides_differ(read) -> None:
    found = [read(SPEC, "1.6.0", name) for name in sorted(golden_names(SPEC, "1.6.0"))]
    for each in filter(None, found):
        rows = shown(each)
        assert any(row.startswith(("-", "+")) for row in rows), each.scenario
        for row, following, third in zip(rows, rows[1:], [*rows[2:], ""], strict=False):
            if row.startswith("-") and following.startswith("+") and row[2:] == following[2:]:
                assert third.lstrip().startswith("at "), each.scenario
