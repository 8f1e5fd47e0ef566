"""Traces as logs: vectors and golden traces."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pi_trio.conformance.logs import Basis
from pi_trio.conformance.vectors import spec_folder

from .judging import CLAUSES, a_run, broken, judge, kinds, log_of

VECTORS = spec_folder() / "vectors"


@pytest.mark.parametrize("folder", ["pi-1.6.0", "pi-0.80.2", "ruled/pi-1.6.0", "cancel/pi-1.6.0"])
def test_every_vector_is_conformant_to_its_release(folder: str) -> None:
    for path in sorted((VECTORS / folder).glob("*.jsonl")):
        done, remarks = judge(path.read_bytes(), complete=True)
        assert [remark for remark in remarks if remark.kind != "as Pi"] == [], path.name
        assert done.conformant, path.name
        assert done.judged_as == folder.rpartition("/")[2]
        assert not done.rulings if "/" in folder else True, path.name


def test_vectors_in_one_log() -> None:
    paths = [VECTORS / release / "tool_single.jsonl" for release in ("pi-0.80.2", "pi-1.6.0")]
    done, remarks = judge(b"".join(path.read_bytes() for path in paths))
    assert (remarks, done.runs) == ([], 2)
    assert [set(each) for each in done.fits] == [{"pi-0.80.2"}, {"pi-1.6.0"}]
    assert done.profiles == frozenset()
    assert done.judged_as is None
    assert judge(b"".join(path.read_bytes() for path in [paths[0]] * 2))[0].judged_as == "pi-0.80.2"


def newer(run: list[Any]) -> list[Any]:
    """Events as the later releases say them."""
    level = '"stop", "thinkingLevel": "off"'
    return list(json.loads(json.dumps(run).replace('"stop"', level)))


def test_what_a_part_of_a_log_says_of_itself_holds_for_no_other() -> None:
    """Neither for a plain log behind it, nor for a recording of a release that nobody knows, nor for a trace."""
    older = (VECTORS / "pi-0.80.2" / "text_plain.jsonl").read_bytes()
    later = (VECTORS / "pi-1.6.0" / "text_plain.jsonl").read_bytes().splitlines(keepends=True)
    unknown = json.loads(later[0])
    unknown["release"] = "9.9.9"
    for behind in (log_of(*newer(a_run())), log_of(unknown, *later[1:]), log_of(*later[1:])):
        done, remarks = judge(older + behind)
        assert remarks == []
        assert done.judged_as is None
        begins = older.count(b"\n") + 1
        assert list(done.fits.values()) == [1, begins]


def test_a_vector_may_be_judged_as_another_release() -> None:
    path = VECTORS / "pi-0.80.2" / "length_truncated_calls.jsonl"
    done, remarks = judge(path.read_bytes(), Basis.of_profile(CLAUSES, "pi-1.6.0"))
    assert "TOOL-23" in {clause for _, clause in broken(remarks)}
    assert done.judged_as == "pi-1.6.0"


def test_a_trace_without_its_end() -> None:
    lines = (VECTORS / "pi-1.6.0" / "tool_single.jsonl").read_bytes().splitlines(keepends=True)
    done, remarks = judge(b"".join(lines[:-3]))
    assert [(remark.kind, remark.text) for remark in remarks] == [
        ("note", "the log ends in the middle of a trace; that is no fault")
    ]
    assert done.conformant
    done, remarks = judge(b"".join(lines[:-3]), complete=True)
    assert [remark.kind for remark in remarks] == ["unreadable"]
    golden = (
        (VECTORS / "ruled" / "pi-1.6.0" / "stream_double_start.jsonl").read_bytes().splitlines(keepends=True)
    )
    _, remarks = judge(b"".join(golden[:-1]))
    assert [remark.kind for remark in remarks] == ["note"]


def test_a_trace_without_a_header_is_judged_as_any_release() -> None:
    lines = (VECTORS / "pi-1.6.0" / "tool_single.jsonl").read_bytes().splitlines(keepends=True)
    done, remarks = judge(b"".join(lines[1:]))
    assert remarks == []
    assert "pi-1.6.0" in done.profiles
    assert done.judged_as is None


def test_a_line_that_cannot_be_read_hides_no_more_than_itself() -> None:
    lines = (VECTORS / "pi-1.6.0" / "text_plain.jsonl").read_bytes().splitlines(keepends=True)
    for at, line in enumerate(lines):
        if b'"tell":"event"' not in line:
            continue
        _, remarks = judge(b"".join([*lines[:at], b"...\n", *lines[at + 1 :]]))
        assert (at + 1, "unreadable") in kinds(remarks)
        assert all(clause.startswith("STATE") for _, clause in broken(remarks)), at


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"send": 1}, "send: an object was expected, not 1"),
        ({"send": {"cmd": "burst", "cmds": [1]}}, "send.cmds[0]: an object was expected, not 1"),
        ({"send": {"cmd": "subscribe"}}, "send: key is missing"),
        ({"send": {"cmd": "create", "listeners": [1]}}, "send.listeners: a list of names was expected"),
        ({"ask": {"key": "t1"}, "args": {}}, "fn is missing"),
        ({"ask": {"fn": "listener", "key": "L"}, "args": {}}, "an event is an object with a type"),
        ({"tell": "event", "key": "L"}, "an event is an object with a type"),
        ({"tell": "settled", "op": "p"}, "ok is missing"),
        (
            {"tell": "event", "key": "L", "event": {"type": "turn_start"}, "state": []},
            "state is not an object",
        ),
    ],
)
def test_what_is_no_line_of_a_trace(line: Any, why: str) -> None:
    _, remarks = judge(log_of({"send": {"cmd": "create", "listeners": ["L"]}}, line))
    assert remarks[0].kind == "unreadable"
    assert why in remarks[0].text


def damaged(value: Any, chance: random.Random) -> Any:
    """A JSON value in which something is missing, or is something else."""
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        what = chance.random()
        if what < 0.6:
            return {**value, key: damaged(value[key], chance)}
        if what < 0.8:
            return {name: item for name, item in value.items() if name != key}
        return {**value, chance.choice(["type", "cmd", "ask", "tell", "key", "event"]): value[key]}
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        return [*value[:at], damaged(value[at], chance), *value[at + 1 :]]
    return chance.choice([None, 1, "x", [], {}, True, {"a": 1}, [{}], "assistant", "toolResult", "t1"])


@pytest.mark.parametrize("seed", range(4))
def test_nothing_in_a_trace_is_a_fault_of_the_tester(seed: int, wires: dict[str, list[str]]) -> None:
    chance = random.Random(seed)
    logs = [
        path.read_text(encoding="utf-8").removesuffix("\n").split("\n")  # not at U+2028 in a text
        for path in sorted((VECTORS / "pi-1.6.0").glob("*.jsonl"))[::8]
    ]
    logs += [[line[2:] for line in wire] for wire in wires.values()]
    for lines in logs:
        at = chance.randrange(len(lines))
        line = json.dumps(damaged(json.loads(lines[at]), chance))
        judge("\n".join([*lines[:at], line, *lines[at + 1 :]]).encode(), complete=True)


def test_a_golden_trace_without_an_end_is_not_kept_for_ever() -> None:
    head = {"scenario": {}, "release": "1.6.0", "enters": 0}
    _, remarks = judge(log_of(head, *([{"=": {"send": {"cmd": "sync"}}}] * 10_001)))
    assert kinds(remarks)[0] == (10_002, "unreadable")
    assert "10,000 lines" in remarks[0].text


def test_a_line_of_a_golden_trace_that_cannot_be_read_is_told_in_its_place() -> None:
    head = {"scenario": {}, "release": "1.6.0", "enters": 0}
    sent = [{"=": {"send": {"cmd": "create"}}}, {"=": {"reply": None}}, {"=": {"send": 1}}]
    done, remarks = judge(log_of(head, *sent, {"=": {"end": "settled"}}, b"...\n"))
    assert kinds(remarks) == [(4, "unreadable"), (6, "unreadable")]
    assert done.lines == 6


def test_the_file_of_the_vectors_is_where_the_tests_think() -> None:
    assert len(list(Path(VECTORS / "pi-1.6.0").glob("*.jsonl"))) > 300


def test_an_agent_that_does_nothing_is_nothing_to_judge() -> None:
    made = [{"send": {"cmd": "create"}}, {"reply": None}]
    for lines in (made, [*made, {"send": {"cmd": "sync"}}, {"reply": None}, {"end": "settled"}]):
        done, _ = judge(log_of(*lines))
        assert not done.judged
        assert not done.conformant
    done, _ = judge(log_of(*made, {"send": {"cmd": "state"}}, {"reply": {}}))
    assert done.judged


@pytest.mark.parametrize("alone", [False, True])
def test_a_listener_that_leaves_and_comes_again_has_missed_what_came_between(alone: bool) -> None:
    """Also where no agent was seen to be created, and if nobody else listens."""
    lines = (VECTORS / "pi-1.6.0" / "listener_added_removed_in_delivery.jsonl").read_bytes().splitlines(True)
    if alone:
        lines = [line for line in lines if b'"key":"L"' not in line and b'"key":"N"' not in line]
    for at in range(1, len(lines)):
        _, remarks = judge(b"".join(lines[at:]), midway=True)
        assert broken(remarks) == []
