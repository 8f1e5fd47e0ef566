"""A log on its way through the monitors: what is judged, what is passed over, and how it goes on behind a bad line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_trio.conformance.logs import Basis, LogCheck, Remark
from pi_trio.conformance.vectors import Vectors

from .judging import ANSWER, ANY, CLAUSES, SESSIONS, USER, a_run, broken, judge, kinds, log_of

HEADER = {"type": "session", "version": 3, "id": "x", "timestamp": "", "cwd": "/"}


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


# --- what Pi prints -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_what_pi_prints_is_conformant_and_tells_its_release(path: Path) -> None:
    done, remarks = judge(path.read_bytes(), complete=True)
    assert (remarks, done.conformant, done.complete) == ([], True, True)
    release = f"pi-{path.stem.split('-')[1]}"
    assert release in done.profiles
    # Nothing that a session shows tells 0.80.2 from 0.85.0, and a refused request tells nothing at all.
    older = {"pi-0.80.2", "pi-0.85.0"}
    if "refused" not in path.stem:
        assert done.profiles == (older if release in older else {release})
    assert not done.skipped


def test_what_the_session_says_is_passed_over_and_counted() -> None:
    path = next(path for path in SESSIONS if path.stem == "pi-1.6.0-extension")
    done, _ = judge(path.read_bytes())
    assert dict(done.session) == {
        "agent_settled": 2, "auto_retry_end": 1, "auto_retry_start": 1, "custom messages of extensions": 8,
        "entry_appended": 2, "queue_update": 2,
    }  # fmt: skip
    assert (done.runs, done.events) == (3, len(lines_of(path)) - 1 - 8 - 2 * 8)


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_log_may_end_anywhere_and_begin_anywhere(path: Path) -> None:
    lines = lines_of(path)
    for at in range(1, len(lines)):
        done, remarks = judge(b"".join(lines[:at]) + lines[at][: len(lines[at]) // 2])
        assert {remark.kind for remark in remarks} == {"note"}
        assert not done.complete
        done, remarks = judge(lines[0] + b"".join(lines[at:]), midway=True)
        assert remarks == []


@pytest.mark.parametrize("release", ["1.0.3", "1.6.0"])
@pytest.mark.parametrize(
    "name",
    [
        "failed_run_end_held", "failed_run_end_held_and_abort", "failed_run_held_update_after_agent_end",
        "failed_run_tool_ends_during_failure_events", "failed_run_tool_leaks_into_next_run",
        "failed_run_update_held_of_finished_tool", "together_hold_and_failure_in_tools",
    ],
)  # fmt: skip
def test_a_tail_may_have_calls_of_a_run_that_failed_before_it(release: str, name: str) -> None:
    lines = lines_of(Vectors.shipped().path(release, name))
    for at in range(1, len(lines)):
        assert not {"broken", "unreadable"} & {
            each.kind for each in judge(b"".join(lines[at:]), midway=True)[1]
        }


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.stem)
def test_a_line_that_cannot_be_read_is_one_fault_wherever_it_stands(path: Path) -> None:
    lines = lines_of(path)
    for at in range(1, len(lines)):
        damaged = lines[at][: len(lines[at]) // 2] + b"\n"
        _, remarks = judge(b"".join([*lines[:at], damaged, *lines[at + 1 :]]), complete=at + 1 < len(lines))
        assert kinds(remarks) == [(at + 1, "unreadable")]


def test_a_missing_line_is_a_fault_of_the_agent() -> None:
    for path in SESSIONS:
        lines = lines_of(path)
        kept = [line for line in lines if b'"type":"turn_end"' not in line[:20]]
        _, remarks = judge(b"".join(kept))
        assert {clause for _, clause in broken(remarks)} == {"TURN-01", "RUN-02"} - (
            {"TURN-01"} if len(lines) < 20 else set()
        )


# --- events ---------------------------------------------------------------------------------------------------


def test_a_run() -> None:
    done, remarks = judge(log_of(*a_run()))
    assert remarks == []
    assert (done.runs, done.events, done.lines) == (1, 9, 9)
    assert done.profiles == {"pi-0.80.2", "pi-0.85.0"}
    assert {"RUN-01", "TURN-01", "MSG-04", "RUN-05"} <= done.reached


def test_it_is_judged_as_what_it_is_said_to_be() -> None:
    done, remarks = judge(log_of(*a_run()), Basis.of_profile(CLAUSES, "pi-1.6.0"))
    assert broken(remarks) == [(8, "MSG-05")]
    assert done.judged_as == "pi-1.6.0"
    composite = "pi-1.6.0,message_thinking_level=pi-0.85.0"
    done, remarks = judge(log_of(*a_run()), Basis.of_profile(CLAUSES, composite))
    assert (remarks, done.judged_as) == ([], composite)


def test_blank_lines_and_the_ends_of_windows() -> None:
    log = b"\xef\xbb\xbf" + log_of(*a_run()).replace(b"\n", b"\r\n\r\n")
    done, remarks = judge(log)
    assert (remarks, done.events) == ([], 9)


def test_the_last_line_needs_no_end() -> None:
    done, remarks = judge(log_of(*a_run()).removesuffix(b"\n"))
    assert (remarks, done.complete) == ([], True)


def test_types_that_nobody_knows_are_counted_and_named() -> None:
    done, remarks = judge(
        log_of(
            {"type": "turn_begin"}, *a_run(), {"type": "turn_begin"}, *({"type": f"t{n}"} for n in range(200))
        )
    )
    assert remarks == []
    assert done.skipped["turn_begin"] == 2
    assert len(done.skipped) < 120
    assert done.skipped.total() == 202


@pytest.mark.parametrize(
    "line", [{"event": "turn_start"}, {}, {"type": 7}, {"type": None}, {"type": ["turn_start"]}, {"type": {}}]
)
def test_an_object_that_is_nothing_cannot_be_read(line: Any) -> None:
    done, remarks = judge(log_of(*a_run(), line, *a_run()))
    assert kinds(remarks) == [(10, "unreadable")]
    assert not done.conformant
    assert done.runs == 2


@pytest.mark.parametrize("complete", [False, True])
def test_an_object_that_is_nothing_ends_no_log(complete: bool) -> None:
    run = a_run()
    _, remarks = judge(log_of(*run[:5], {"x": 1}, *run[5:]), complete=complete)
    assert kinds(remarks) == [(6, "unreadable")]


def test_updates_may_be_trimmed_without_a_header() -> None:
    """Then it is said that nobody can tell whether they are right."""
    run = a_run()
    run[5] = {
        "type": "message_update",
        "usage": {},
        "assistantMessageEvent": {"type": "text_delta", "delta": "ho"},
    }
    done, remarks = judge(log_of(*run))
    assert (remarks, done.left_out) == ([], {"MSG-04"})
    assert not judge(log_of(*a_run()))[0].left_out


def test_a_message_of_an_extension_is_passed_over_only_in_a_session() -> None:
    custom = {"role": "custom", "customType": "note", "content": "x", "display": True, "timestamp": 0}
    said = [{"type": kind, "message": custom} for kind in ("message_start", "message_end")]
    run = a_run()
    log = [*run[:8], *said, run[8], *said]
    assert judge(log_of(HEADER, *log))[1] == []
    assert broken(judge(log_of(*log))[1])[0] == (9, "TURN-01")
    injected = [*run[:4], *said, *run[4:8], {"type": "agent_end", "messages": [USER, custom, ANSWER]}]
    assert judge(log_of(HEADER, *injected))[1] == judge(log_of(*injected))[1] == []


def test_a_log_of_several_sessions() -> None:
    newer = json.loads(json.dumps(a_run()).replace('"stop"', '"stop", "thinkingLevel": "off"'))
    done, remarks = judge(log_of(HEADER, *a_run(), HEADER, *newer))
    assert remarks == []
    assert (done.profiles, list(done.fits.values())) == (frozenset(), [1, 11])
    done, remarks = judge(log_of(HEADER, *a_run()[:5], HEADER, *a_run()))
    assert [(remark.line, remark.text) for remark in remarks] == [
        (7, "the session before ends in the middle of a run (answer open); that is no fault")
    ]
    assert (done.runs, done.profiles) == (2, {"pi-0.80.2", "pi-0.85.0"})


def test_a_complete_log_may_not_end_in_the_middle() -> None:
    for log in (a_run()[:5], [*a_run(), {"type": "agent_start"}]):
        done, remarks = judge(log_of(*log), complete=True)
        assert broken(remarks) == [(len(log), "RUN-02")]
        done, remarks = judge(log_of(*log))
        assert (kinds(remarks), done.complete, done.conformant) == ([(len(log), "note")], False, True)
    done, remarks = judge(log_of(*a_run())[:-5], complete=True)
    assert [(remark.line, remark.kind, remark.text) for remark in remarks] == [
        (9, "unreadable", "the log ends in the middle of a line"),
        (9, "broken", "a run without its agent_end: turn ended"),
    ]


def test_a_complete_log_may_not_end_while_a_failure_is_told() -> None:
    """That may be a listener's doing, as Pi has it; but nobody knows of one here."""
    failure = {
        **ANSWER,
        "content": [{"type": "text", "text": ""}],
        "stopReason": "error",
        "errorMessage": "no",
    }
    told = [{"type": kind, "message": failure} for kind in ("message_start", "message_end")]
    closing = {"type": "turn_end", "message": failure, "toolResults": []}
    run = [*a_run()[:4], *told, closing]
    for length in (5, 6, 7):
        done, remarks = judge(log_of(*run[:length]), complete=True)
        assert broken(remarks) == [(length, "RUN-02")]
        assert not done.conformant
        assert judge(log_of(*run[:length]))[0].conformant


@pytest.mark.parametrize("last", [b"garbage", b'{"type":"agent_start"} x', b"[1,2", b'{"some":"object"}'])
def test_the_last_line_may_be_cut_but_not_be_anything(last: bytes) -> None:
    done, remarks = judge(log_of(*a_run()) + last)
    assert (kinds(remarks), done.conformant) == ([(10, "unreadable")], False)
    done, remarks = judge(log_of(*a_run()) + b'{"type":"agent_st')
    assert (kinds(remarks), done.conformant) == ([(10, "note")], True)


def test_two_agents_in_one_log() -> None:
    one = a_run()
    mixed = [event for pair in zip(one, one, strict=True) for event in pair]
    _, remarks = judge(log_of(*mixed))
    (note,) = [remark for remark in remarks if remark.kind == "note"]
    assert note.line == 2
    assert "two agents" in note.text
    # One run that was broken off is no second agent, whatever comes behind it.
    _, remarks = judge(log_of(*one[:5], *one, *one))
    assert broken(remarks) == [(6, "RUN-02")]
    assert not any("two agents" in remark.text for remark in remarks)


def test_a_run_inside_another_may_be_what_one_listener_has_missed() -> None:
    run = a_run()
    for log in ([*run[:5], *run, *run[:7], *run], [*run[:2], *run[:2]]):
        _, remarks = judge(log_of(*log))
        (note,) = [remark for remark in remarks if "ended unheard" in remark.text]
        assert (note.line, "RUN-02") in broken(remarks)
        assert note.kind == "note"
    _, remarks = judge(log_of(*run, run[1], *run))
    assert not any("unheard" in remark.text for remark in remarks)


def test_a_key_given_twice_counts_as_the_last() -> None:
    lines = log_of(*a_run()).splitlines(keepends=True)
    lines[1] = b'{"type":"turn_end","type":"turn_start"}\n'
    assert judge(b"".join(lines))[1] == []
    lines[1] = b'{"type":"turn_start","type":"turn_end"}\n'
    _, remarks = judge(b"".join(lines))
    assert remarks[0].raw == lines[1]


def test_a_line_of_many_megabytes() -> None:
    run = json.loads(json.dumps(a_run()).replace('"ho"', json.dumps("ho" * 3_000_000)))
    done, remarks = judge(log_of(*run))
    assert (remarks, done.events) == ([], 9)


@pytest.mark.parametrize("depth", [400, 5_000, 200_000])
def test_deep_nesting_is_no_fault_of_the_tester(depth: int) -> None:
    deep = (
        b'{"type":"message_end","message":{"role":"user","content":' + b"[" * depth + b"]" * depth + b"}}\n"
    )
    run = log_of(*a_run()).splitlines(keepends=True)
    done, remarks = judge(b"".join([*run[:3], deep, *run[4:]]))
    assert {remark.line for remark in remarks} <= {4, 9}
    assert done.runs == 1


def test_a_log_that_breaks_off_while_it_is_read() -> None:
    class Broken(io.BytesIO):
        def __next__(self) -> bytes:
            line = super().readline()
            if not line:
                raise OSError("the disk is gone")
            return line

    remarks: list[Remark] = []
    check = LogCheck(ANY, remarks.append)
    check.read(Broken(log_of(*a_run())))
    assert [(remark.line, remark.text) for remark in remarks] == [
        (10, "the log cannot be read on: the disk is gone")
    ]
    assert check.end().runs == 1


def test_one_that_is_interrupted_has_no_end_to_judge() -> None:
    remarks: list[Remark] = []
    check = LogCheck(ANY, remarks.append, complete=True)
    check.read(io.BytesIO(log_of(*a_run()[:5])))
    done = check.end(interrupted=True)
    assert (remarks, done.interrupted, done.runs) == ([], True, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
NAMES = [
    "type", "message", "messages", "toolResults", "role", "cmd", "ask", "tell", "re", "send", "reply", "end", "op",
    "fn", "key", "args", "event", "scenario", "release", "enters", "=", "+", "listeners", "cmds", "profile", "options",
    "hooks", "tools", "state", "throw", "which", "name",
]  # fmt: skip
VALUES = [
    "agent_start", "turn_end", "message_start", "message_end", "message_update", "tool_execution_end", "session",
    "create", "subscribe", "prompt", "answer", "burst", "listener", "execute", "event", "settled", "hello", "signal",
    "L", "assistant", "toolResult", "steer", "push", "end", "fail", "setOption", "clearQueue",
]  # fmt: skip
OBJECTS = st.dictionaries(
    st.sampled_from(NAMES),
    st.sampled_from(VALUES)
    | JSON
    | st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES) | JSON, max_size=4),
    max_size=5,
)
SOME = [*lines_of(SESSIONS[0])[:30], *log_of(*a_run()).splitlines(keepends=True)]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.binary(max_size=30).map(lambda raw: raw + b"\n") | OBJECTS | st.sampled_from(SOME), max_size=12
    )
)
def test_nothing_in_a_log_is_a_fault_of_the_tester(lines: list[Any]) -> None:
    judge(log_of(*lines))
    judge(log_of(*lines), complete=True, midway=True)


# --- what is not judged, and what is no fault of the log ------------------------------------------------------


def test_only_a_header_makes_a_session_of_a_log() -> None:
    run = a_run()
    run[3] = {"type": "message_end", "message": {**USER, "content": "another"}}
    run[8] = {"type": "agent_end", "messages": [run[3]["message"], ANSWER]}
    for first in ([], [{"type": "response"}], [{"type": "queue_update"}], [{"type": "agent_settled"}]):
        done, remarks = judge(log_of(*first, *run))
        assert broken(remarks) == [(4 + len(first), "MSG-02")]
        assert not done.left_out
    done, remarks = judge(log_of(HEADER, *run))
    assert (remarks, done.left_out) == ([], {"MSG-02", "MSG-04"})
    assert not done.left_out & done.reached


def test_a_settled_agent_is_a_sessions_from_then_on() -> None:
    run = a_run()
    run[3] = {"type": "message_end", "message": {**USER, "content": "another"}}
    run[8] = {"type": "agent_end", "messages": [run[3]["message"], ANSWER]}
    done, remarks = judge(log_of(*a_run(), {"type": "agent_settled"}, *run))
    assert (remarks, done.left_out) == ([], {"MSG-02", "MSG-04"})
    assert done.profiles == {"pi-0.80.2", "pi-0.85.0"}


def test_an_update_without_its_partial_shows_nothing() -> None:
    run = a_run()
    del run[5]["assistantMessageEvent"]["partial"]
    done, remarks = judge(log_of(*run))
    assert remarks == []
    assert "MSG-04" not in done.reached
    run[5]["assistantMessageEvent"]["partial"] = USER
    assert broken(judge(log_of(*run))[1]) == [(6, "MSG-04")]


def test_an_error_where_it_is_told_is_none_of_the_log() -> None:
    def say(_: Remark) -> None:
        raise OSError("no space left")

    check = LogCheck(ANY, say)
    with pytest.raises(OSError, match="no space left"):
        check.read(io.BytesIO(b"...\n"))


def test_lines_that_cannot_be_read_for_one_reason_have_one_cause() -> None:
    bad = [b'{"type": "a"' + b" " * count + b" oops}\n" for count in range(8)]
    bad += [b'{"type":"a"}' + b" " * count + b'{"type":"b"}\n' for count in range(8)]
    bad += [b"\xff\n", b" \xff\n"]
    _, remarks = judge(b"".join(bad))
    assert len({remark.text for remark in remarks}) == len(bad)
    assert len({remark.cause for remark in remarks}) == 3


@pytest.mark.parametrize("ending", [b"\n", b""])
def test_a_line_of_the_greatest_length_is_read(ending: bytes) -> None:
    line = b'{"type":"agent_start"}'
    for longest, unreadable in ((len(line), 0), (len(line) - 1, 1)):
        check = LogCheck(ANY, lambda _: None, longest=longest)
        check.read(io.BytesIO(line + ending))
        assert check.end().remarks["unreadable"] == unreadable
