"""Wires as logs: what goes over them between a tester and a subject, both sides or the subject's alone."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from pi_trio.conformance.logs import WITHOUT_QUIESCENCE

from .judging import a_run, broken, judge, kinds, log_of
from .wires import HELLO, NAMES, interleaved, messages


def test_each_session_on_a_wire_says_its_profile_for_itself(wires: dict[str, list[str]]) -> None:
    wire = list(messages(wires["tools_parallel_reverse"]))
    old = [{"tell": "event", "key": "L", "event": event} for event in a_run()]
    first = {**HELLO, "profile": "pi-0.80.2"}
    done, remarks = judge(log_of(first, *old, HELLO, *wire), complete=True)
    assert remarks == []
    assert (done.judged_as, list(done.fits)) == (None, [{"pi-0.80.2"}, {"pi-1.6.0"}])
    done, remarks = judge(log_of(HELLO, *wire, first, *old), complete=True)
    assert remarks == []
    assert (done.judged_as, list(done.fits)) == (None, [{"pi-1.6.0"}, {"pi-0.80.2"}])
    assert judge(log_of(HELLO, *wire, HELLO, *wire), complete=True)[0].judged_as == "pi-1.6.0"


def test_who_replies_before_all_has_come_is_judged_when_it_has(wires: dict[str, list[str]]) -> None:
    """Without quiescence the reply is no word on what the command has caused."""
    for name, lines in wires.items():
        late: list[Any] = []
        for message in messages(lines):
            if "re" in message:
                late.insert(max(at for at, each in enumerate(late) if "cmd" in each) + 1, message)
            else:
                late.append(message)
        done, remarks = judge(log_of({**HELLO, "quiescence": "none"}, *late), complete=True)
        assert [remark for remark in remarks if remark.kind != "as Pi"] == [], name
        assert done.conformant, name


def test_a_wire_as_the_tester_shows_it(wires: dict[str, list[str]]) -> None:
    for name, wire in wires.items():
        log = "".join(f"    {line}\n" for line in wire).encode()
        done, remarks = judge(log, complete=True)
        assert [remark for remark in remarks if remark.kind != "as Pi"] == [], name
        assert done.conformant, name
        assert "pi-1.6.0" in done.profiles, name


def test_a_wire_of_many_agents_that_says_its_profile(wires: dict[str, list[str]]) -> None:
    log = log_of(HELLO, *(message for wire in wires.values() for message in messages(wire)))
    done, remarks = judge(log, complete=True)
    assert {remark.kind for remark in remarks} <= {"as Pi"}
    assert done.judged_as == "pi-1.6.0"
    assert done.runs >= len(NAMES) - 1


def test_the_subjects_side_alone(wires: dict[str, list[str]]) -> None:
    for name in ("tools_parallel_reverse", "listener_subscribed_again"):
        done, remarks = judge(log_of(*messages(wires[name], "<")))
        assert remarks == []
        assert done.runs == 1
    said = [{"tell": "event", "key": "L", "event": event} for event in a_run()]
    assert judge(log_of(*said))[1] == []
    assert broken(judge(log_of(said[0], *said[2:]))[1]) == [(2, "TURN-01")]


def test_a_fault_on_the_wire_is_found_in_its_line(wires: dict[str, list[str]]) -> None:
    sent = list(messages(wires["tools_parallel_reverse"]))
    at = next(
        number for number, each in enumerate(sent) if each.get("event", {}).get("type") == "turn_start"
        or each.get("args", {}).get("event", {}).get("type") == "turn_start"
    )  # fmt: skip
    _, remarks = judge(log_of(*sent[:at], *sent[at + 1 :]))
    assert broken(remarks)[0][1] == "TURN-01"


def test_a_wire_that_breaks_off(wires: dict[str, list[str]]) -> None:
    sent = list(messages(wires["tools_parallel_reverse"]))
    _, remarks = judge(log_of(*sent[: len(sent) // 2]))
    assert [remark.kind for remark in remarks] == ["note"]


def test_what_is_no_message_of_the_protocol() -> None:
    made = [{"id": 1, "cmd": "create", "listeners": ["L"]}, {"re": 1, "ok": None}]
    for message in (
        {"re": 1},
        {"re": "x", "ok": None},
        {"cmd": 1},
        {"ask": "c1", "fn": "listener", "args": {}},
        {"tell": "settled", "op": "p9", "ok": True},
        {"cmd": "answer", "ask": "c9", "value": None},
    ):
        _, remarks = judge(log_of(*made, message))
        assert remarks[0].kind == "unreadable", message


def test_what_was_refused_is_not_under_way() -> None:
    burst = [{"cmd": "continue", "op": "c"}, {"cmd": "prompt", "op": "p", "input": "go"}]
    log = log_of(
        HELLO, {"id": 1, "cmd": "create", "target": "loop", "listeners": ["L"]}, {"re": 1, "ok": None},
        {"id": 2, "cmd": "burst", "cmds": burst},
        {"tell": "settled", "op": "c", "ok": False, "error": "Cannot continue: no messages in context"},
        {"re": 2, "ok": [{"ok": None}, {"error": "refused: a run is going on"}]},
        {"id": 3, "cmd": "prompt", "op": "q", "input": "go"}, {"re": 3, "error": "refused: a run is going on"},
    )  # fmt: skip
    assert judge(log, complete=True)[1] == []


# --- commands that are sent ahead -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_who_sends_ahead_is_judged_as_if_nobody_had(wires: dict[str, list[str]], seed: int) -> None:
    chance = random.Random(seed)
    for name, lines in wires.items():
        wire = list(messages(lines))
        early = interleaved(wire, chance, ahead=1 + seed)
        assert sorted(map(str, early)) == sorted(map(str, wire))
        done, remarks = judge(log_of(HELLO, *early), complete=True)
        plain, others = judge(log_of(HELLO, *wire), complete=True)
        assert [remark.text for remark in remarks] == [remark.text for remark in others], name
        assert done.reached == plain.reached, name
        assert done.conformant, name


@pytest.mark.parametrize("seed", range(4))
def test_a_subject_without_quiescence_is_judged_by_what_its_lateness_cannot_hide(
    wires: dict[str, list[str]], seed: int
) -> None:
    chance = random.Random(seed)
    for name, lines in wires.items():
        late = interleaved(list(messages(lines)), chance, ahead=seed, late=True)
        done, remarks = judge(log_of({**HELLO, "quiescence": "none"}, *late), complete=True)
        assert [remark for remark in remarks if remark.kind != "as Pi"] == [], name
        assert (done.conformant, done.left_out) == (True, WITHOUT_QUIESCENCE), name


def test_an_abort_behind_its_prompt_has_not_come_before_the_reply() -> None:
    """The listener is asked before the abort is read, so its signal is not raised yet."""
    log = log_of(
        HELLO, {"id": 1, "cmd": "create", "listeners": ["L"]}, {"re": 1, "ok": None},
        {"id": 2, "cmd": "prompt", "op": "p", "input": "hi"}, {"id": 3, "cmd": "abort"},
        {"ask": "c1", "fn": "listener", "key": "L", "args": {"event": {"type": "agent_start"}}, "aborted": False},
        {"re": 2, "ok": None}, {"tell": "signal", "ask": "c1"}, {"re": 3, "ok": None},
    )  # fmt: skip
    done, remarks = judge(log)
    assert broken(remarks) == []
    assert done.conformant


def test_what_is_wrong_with_a_command_is_said_of_its_own_line() -> None:
    log = log_of(
        {"id": 1, "cmd": "create"}, {"id": 2, "cmd": "subscribe"}, {"id": 3, "cmd": "answer", "ask": "c9"},
        {"re": 1, "ok": None}, {"re": 2, "ok": None}, {"re": 3, "ok": None},
    )  # fmt: skip
    assert kinds(judge(log)[1]) == [(2, "unreadable")]
    late = log_of(
        {"id": 1, "cmd": "create"},
        {"id": 3, "cmd": "answer", "ask": "c9"},
        {"re": 1, "ok": None},
        {"re": 3, "ok": None},
    )
    assert kinds(judge(late)[1]) == [(2, "unreadable")]


def test_a_reply_that_is_missing_holds_nothing_up() -> None:
    """The number of a later one tells which commands were read by then."""
    wire = [
        {"id": 1, "cmd": "create", "listeners": ["L"], "tellListeners": ["L"]}, {"re": 1, "ok": None},
        {"id": 2, "cmd": "sync"}, {"id": 3, "cmd": "prompt", "op": "p", "input": "hi"}, {"re": 3, "ok": None},
        {"tell": "settled", "op": "p", "ok": True},
    ]  # fmt: skip
    assert [remark.kind for remark in judge(log_of(HELLO, *wire))[1]] == []


def test_commands_that_nobody_replies_to_are_not_kept_for_ever() -> None:
    made = [{"id": 1, "cmd": "create", "listeners": ["L"]}, {"re": 1, "ok": None}]
    sent = [{"id": number, "cmd": "sync"} for number in range(2, 1_100)]
    events = [{"tell": "event", "key": "L", "event": event} for event in a_run()]
    done, remarks = judge(log_of(*made, *sent, *events))
    assert [(remark.line, remark.kind) for remark in remarks] == [(1_004, "note")]
    assert (done.runs, done.conformant) == (1, True)


OLD = {**HELLO, "profile": "pi-0.80.2"}
"""As which `a_run` is right."""

# --- one side alone -------------------------------------------------------------------------------------------


def test_the_testers_side_alone_is_nothing_to_judge(wires: dict[str, list[str]]) -> None:
    sent = [message for wire in wires.values() for message in messages(wire, ">")]
    done, remarks = judge(log_of(*sent), complete=True)
    assert (remarks, done.judged) == ([], False)
    assert (done.sides["tester"], done.sides["subject"]) == (len(sent), 0)
    many = [{**sent[0], "id": 0}, *({"id": number, "cmd": "sync"} for number in range(3_000))]
    assert judge(log_of(*many))[1] == []


def test_the_subjects_side_alone_does_not_show_that_an_agent_is_abandoned() -> None:
    said = [{"tell": "event", "key": "L", "event": event} for event in a_run()]
    done, remarks = judge(log_of(OLD, *said[:5], {"re": 7, "ok": None}, *said))
    assert (broken(remarks), done.runs) == ([], 2)


def test_what_is_found_in_the_subjects_side_alone_may_be_no_fault() -> None:
    said = [{"tell": "event", "key": "L", "event": event} for event in a_run()]
    _, remarks = judge(log_of(OLD, said[0], *said[2:], said[0], *said[2:]))
    assert [(remark.line, remark.kind) for remark in remarks] == [(3, "note"), (3, "broken"), (11, "broken")]
    assert "both sides of a wire" in remarks[0].text


def test_a_line_that_cannot_be_read_is_all_that_is_found(wires: dict[str, list[str]]) -> None:
    for name, lines in wires.items():
        wire = [json.dumps(message).encode() + b"\n" for message in messages(lines)]
        for at in range(2, len(wire), 3):
            damaged = wire[at][: len(wire[at]) // 2] + b"\n"
            _, remarks = judge(log_of(HELLO, *wire[:at], damaged, *wire[at + 1 :]))
            assert [each for each in kinds(remarks) if each[1] != "as Pi"] == [(at + 2, "unreadable")], name


def test_so_many_listeners_nobody_follows() -> None:
    start = {"type": "agent_start"}
    said = [{"tell": "event", "key": f"L{number}", "event": start} for number in range(101)]
    for before in ([], [HELLO]):
        _, remarks = judge(log_of(*before, *said))
        assert kinds(remarks)[0] == (101 + len(before), "unreadable")
        assert "more than 100 listeners" in remarks[0].text
    names = [f"L{number}" for number in range(101)]
    create = {"cmd": "create", "listeners": names}
    assert kinds(judge(log_of({"send": create}, {"reply": None}))[1]) == [(1, "unreadable")]
    joining = [{"send": {"cmd": "subscribe", "key": name}} for name in names]
    assert kinds(judge(log_of({"send": {"cmd": "create"}}, *joining))[1]) == [(102, "unreadable")]
