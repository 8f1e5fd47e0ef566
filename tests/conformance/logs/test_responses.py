"""Logs of what providers say: judged by the family MODEL-, whatever stands around them."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.abort import AbortController
from pi_trio.codec import unstructure
from pi_trio.conformance.logs import Basis
from pi_trio.conformance.transport.vector import read_transport_vectors
from pi_trio.conformance.vectors import spec_folder
from pi_trio.messages import UserMessage
from pi_trio.models.scripted import ScriptedProvider, assistant, thinking, tool_call
from pi_trio.models.stream import ModelContext, StreamOptions

from .judging import CLAUSES, a_run, broken, judge, log_of

VECTORS = read_transport_vectors(spec_folder())


def response(name: str = "anthropic_call", release: str = "1.6.0") -> list[dict[str, Any]]:
    """The events of a recorded response, with its message where it belongs."""
    call = VECTORS[name].of(release)["calls"][0]
    *told, last = (event for event in call["events"] if "hook" not in event)
    key = "message" if last["type"] == "done" else "error"
    return [*told, {**last, key: call["message"]}]


@pytest.mark.parametrize("release", ["0.85.0", "1.0.3", "1.6.0"])
def test_recorded_responses_are_good(release: str) -> None:
    told = [event for name in VECTORS for event in response(name, release)]
    for basis in (Basis.of_releases(CLAUSES), Basis.of_profile(CLAUSES, f"pi-{release}")):
        checked, remarks = judge(log_of(*told), basis, complete=True)
        assert not remarks
        assert checked.conformant
        assert (checked.responses, checked.runs, checked.events) == (len(VECTORS), 0, len(told))
    assert f"pi-{release}" in judge(log_of(*response("anthropic_call_cut_short", release)))[0].profiles


def test_a_log_tells_its_release_by_arguments_that_break_off() -> None:
    assert judge(log_of(*response()))[0].profiles == {"pi-0.85.0", "pi-1.0.3", "pi-1.6.0"}
    assert judge(log_of(*response("chat_call_cut_short")))[0].profiles == {"pi-1.6.0"}


def test_each_fault_is_named_at_its_line() -> None:
    told = response()
    without_start = told[1:]
    assert broken(judge(log_of(*without_start))[1]) == [(1, "MODEL-01")]
    twice = [*told[:3], told[2], *told[3:]]
    assert broken(judge(log_of(*twice))[1]) == []  # a piece more is a piece more, where the block has ended
    late = [*told, told[2]]
    assert broken(judge(log_of(*late))[1]) == [(len(late), "MODEL-02")]
    assert broken(judge(log_of(*told[:-1], {**told[-1], "reason": "stop"}))[1]) == [(len(told), "MODEL-04")]


def test_the_end_of_a_log_may_be_missing_unless_it_is_complete() -> None:
    told = response()[:-1]
    checked, remarks = judge(log_of(*told))
    assert checked.conformant
    assert [remark.text for remark in remarks] == [
        "the log ends in the middle of a response; that is no fault"
    ]
    assert not judge(log_of(*told), complete=True)[0].conformant


def test_the_beginning_may_be_missing_midway() -> None:
    told = response()
    log = log_of(*told[3:], *told)
    assert judge(log)[0].remarks["broken"]
    checked, remarks = judge(log, midway=True)
    assert checked.conformant
    assert not remarks


def test_a_line_that_cannot_be_read_is_one_fault() -> None:
    told = response()
    checked, remarks = judge(log_of(*told[:3], b"oops\n", *told[4:], *told))
    assert [remark.kind for remark in remarks] == ["unreadable"]
    assert checked.responses == 2


def test_between_the_events_of_an_agent_they_are_nothing() -> None:
    run = a_run()
    checked, remarks = judge(log_of(*run[:5], *response(), *run[5:]))
    assert checked.responses == 0
    assert sum(checked.skipped.values()) == len(response())
    assert not remarks


def test_a_release_whose_transport_is_not_recorded_judges_none() -> None:
    checked, _ = judge(log_of(*response()), Basis.of_profile(CLAUSES, "pi-0.80.2"))
    assert not checked.judged
    assert sum(checked.skipped.values()) == len(response())


def test_both_forms_may_stand_in_one_log() -> None:
    checked, remarks = judge(log_of(*response(), *a_run()))
    assert not remarks
    assert (checked.responses, checked.runs) == (1, 1)


async def test_what_the_scripted_provider_says_is_good() -> None:
    said = [
        assistant("Hello", "and again"),
        assistant(thinking("Hm"), tool_call("read", {"path": "a"})),
        assistant("Half", stop_reason="error", error_message="broken"),
        assistant("Stopped", stop_reason="aborted"),
    ]
    provider = ScriptedProvider(said)
    lines: list[dict[str, Any]] = []
    for raised in (False, False, False, False, False, True):  # the fifth has nothing left to say, and fails
        controller = AbortController()
        if raised:
            controller.abort()
        context = ModelContext(messages=(UserMessage(content="hi", timestamp=1),))
        stream = provider.stream(provider.models[0], context, StreamOptions(signal=controller.signal))
        async with stream:
            lines += [unstructure(event) async for event in stream]
    checked, remarks = judge(log_of(*lines), complete=True)
    assert not remarks
    assert checked.responses == 6
