"""One fault in a trace is put down to one clause, and what was not shown exercises none."""

from __future__ import annotations

import pytest

from pi_trio.conformance.lines import event_of
from pi_trio.conformance.monitors import judge_trace

from .planting import Lines, Plant, ask, at, changed, hears, judged, moved, recorded, sets, twice, without
from .recordings import FORCE

CAUSES: dict[str, tuple[str, str, Plant]] = {
    "no start": ("TOOL-01", "tool_single", without(hears("tool_execution_start"))),
    "no start of one": ("TOOL-01", "tools_parallel_reverse", without(hears("tool_execution_start"), 1)),
    "a late start": (
        "HOOK-01", "tool_single", moved(hears("tool_execution_start"), ask("execute", "t1")),
    ),
    "no end": ("TOOL-03", "tool_single", without(hears("tool_execution_end"))),
    "no end of one": ("TOOL-03", "tools_parallel_reverse", without(hears("tool_execution_end"), 2)),
    "no end of an answer": ("MSG-01", "tool_single", without(hears("message_end"), 1)),
    "another end of an answer": (
        "STREAM-05", "text_plain", changed(hears("message_end"), sets("event.message.model", "m9"), 1),
    ),
    "no start of an answer": ("MSG-01", "text_plain", without(hears("message_start"), 1)),
    "an update less": ("STREAM-03", "text_plain", without(hears("message_update"), 1)),
    "an update more": ("STREAM-03", "text_plain", twice(hears("message_update"), 1)),
    "a raised signal": ("ABORT-04", "tool_single", changed(ask("execute"), sets("aborted", True))),
    "a raised signal at a hook": (
        "ABORT-04", "tool_single", changed(ask("beforeToolCall"), sets("aborted", True)),
    ),
    "the id of another call": ("TOOL-41", "tool_single", changed(ask("execute"), sets("args.toolCallId", "zz"))),
    "other arguments": (
        "TOOL-41", "tools_parallel_reverse", changed(ask("execute"), sets("args.args", {"s": "other"})),
    ),
    "a report that is kept": ("TOOL-22", "updates_simple", without(hears("tool_execution_update"))),
}  # fmt: skip


@pytest.mark.parametrize(("clause", "name", "plant"), CAUSES.values(), ids=CAUSES)
def test_one_fault_is_put_down_to_one_clause_once(clause: str, name: str, plant: Plant) -> None:
    assert judged(recorded(name)) == []
    found = judged(plant(recorded(name)))
    assert [each.clause for each in found] == [clause]


def reached(lines: Lines) -> frozenset[str]:
    return judge_trace(lines, FORCE, ["1.6.0"]).reached


def never(kind: str, name: str) -> Lines:
    return [line for line in recorded(name) if (event_of(line) or {}).get("type") != kind]


@pytest.mark.parametrize("name", ["tool_single", "tools_parallel_reverse", "tools_parallel_five"])
def test_what_was_supplied_exercises_no_clause(name: str) -> None:
    """But for the one that is broken by what was not said."""
    clauses = {
        "TOOL-01",
        "TOOL-03",
        "TOOL-04",
        "TOOL-05",
        "TOOL-06",
        "TOOL-07",
        "TOOL-08",
        "TOOL-10",
        "TURN-05",
    }
    assert clauses & reached(never("tool_execution_start", name)) == {"TOOL-01", "TURN-05"}
    after = {"TOOL-03", "TOOL-05", "TOOL-06", "TOOL-08", "TOOL-10", "TURN-05"}
    assert after & reached(never("tool_execution_end", name)) == {"TOOL-03", "TURN-05"}


def test_what_nothing_has_shown_is_not_reached() -> None:
    shows_nothing = {"STREAM-10", "STREAM-12", "STREAM-01", "STATE-13", "STATE-14", "RUN-17", "TURN-05"}
    assert not shows_nothing & reached(recorded("text_plain"))
    assert {"STATE-13", "RUN-17"} <= reached(recorded("agent_end_listener_settlement"))
    assert {"STREAM-01", "STATE-14"} <= reached(recorded("listener_held_at_update"))
    assert {"STREAM-10", "STREAM-12"} <= reached(recorded("context_hooks_order"))


def test_an_answer_that_was_changed_is_compared_with_nothing_more() -> None:
    """Whether agent_end has it as it was said or as it was given."""
    for also in (False, True):
        lines = recorded("text_plain")
        changed(hears("message_end"), sets("event.message.model", "m9"), 1)(lines)
        if also:
            lines[at(lines, hears("turn_end"))]["event"]["message"]["model"] = "m9"
            lines[at(lines, hears("agent_end"))]["event"]["messages"][-1]["model"] = "m9"
        assert [each.clause for each in judged(lines)] == ["STREAM-05"]


def test_a_subject_that_starts_no_call_has_one_cause() -> None:
    """Whether the tool reports, ends, or is answered at once."""
    causes = set()
    for name in ("tool_single", "tools_parallel_reverse", "updates_simple", "tool_throws"):
        causes |= {each.cause for each in judged(never("tool_execution_start", name))}
    everything = {"tool_execution_start", "tool_execution_update", "tool_execution_end"}
    silent = [
        line for line in recorded("tool_single") if (event_of(line) or {}).get("type") not in everything
    ]
    causes |= {each.cause for each in judged(silent)}
    assert causes == {"TOOL-01: a call that was not started"}
