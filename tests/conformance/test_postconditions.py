"""What rulings promise, as predicates: the runtime keeps it, Pi does not, and nothing else passes for safe."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.compare import canonical, fingerprint
from pi_trio.conformance.decide import judge, judge_runtime
from pi_trio.conformance.deliveries import Delivery
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import (
    Expectation,
    consult_runtime,
    expected_of_cancelling,
    expected_of_runtime,
)
from pi_trio.conformance.lines import asks, event_of
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.postconditions import ALWAYS, broken, unsafe
from pi_trio.conformance.postconditions.promises import awaiting
from pi_trio.conformance.postconditions.said import Conversation, conversations
from pi_trio.conformance.postconditions.told import is_failure
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Golden, golden_names, read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome
from pi_trio.jsonvalue import thaw
from pi_trio.profile import PI_1_6_0, PROFILES

from .planted import FAULTS, Fault
from .planted.otherwise import SAFE, UNSAFE, Way

RELEASE = "1.6.0"
VECTORS = Vectors.shipped()
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
RULED = sorted(golden_names(VECTORS, RELEASE) & SCENARIOS.keys())


def expect_it(name: str, *, cancelling: bool = False) -> Expectation:
    expect = expected_of_cancelling if cancelling else expected_of_runtime
    return expect(VECTORS, RELEASE, SCENARIOS[name], hello(PI_1_6_0))


def why_unsafe(lines: Sequence[Object], expected: Expectation) -> str:
    assert expected.enters is not None
    return unsafe(
        lines,
        runtime=expected.lines,
        release=expected.unruled_side,
        enters=expected.enters,
        rulings=expected.rulings,
    )


def played(names: Sequence[str], profile: str = f"pi-{RELEASE}") -> Iterator[Run]:
    """What the runtime does, as it is now; each scenario on a runtime of its own."""
    for name in names:
        with first_in_first_out():
            run = trio.run(consult_runtime, runtime_inside(profile, 30), [SCENARIOS[name]])[name]
        assert isinstance(run, Run)
        yield run


# The two sides.


def goldens(release: str) -> Iterator[Golden]:
    for name in sorted(golden_names(VECTORS, release)):
        golden = read_golden(VECTORS, release, name)
        assert golden is not None
        yield golden


def why_unsafe_in(golden: Golden, lines: Sequence[Object]) -> str:
    runtime, release = golden.runtime_side(), golden.release_side()
    return unsafe(lines, runtime=runtime, release=release, enters=golden.enters, rulings=golden.rulings())


every_release = pytest.mark.parametrize("release", [profile.release for profile in PROFILES.values()])


@every_release
def test_the_runtime_keeps_what_rulings_promise(release: str) -> None:
    found = {each.scenario: why_unsafe_in(each, each.runtime_side()) for each in goldens(release)}
    assert found
    assert {name: why for name, why in found.items() if why} == {}


@every_release
def test_real_pi_does_not_keep_it(release: str) -> None:
    """In each golden trace, what the release does breaks a promise of one of the very rulings that apply."""
    kept = [
        each.scenario for each in goldens(release) if not any(broken(each.release_side(), each.rulings()))
    ]
    safe = [each.scenario for each in goldens(release) if not why_unsafe_in(each, each.release_side())]
    assert (kept, safe) == ([], [])


def test_where_no_ruling_applies_both_keep_it() -> None:
    """The predicates say nothing against what release and runtime agree on."""
    found = {}
    for name in sorted(VECTORS.names(RELEASE) - set(RULED))[::2]:
        recording = VECTORS.read(RELEASE, name)
        assert recording is not None
        wrong = [
            what
            for each in conversations(recording.lines)
            for predicate in ALWAYS
            for what in predicate(each)
        ]
        found.update({name: wrong} if wrong else {})
    assert found == {}


CANCELLED = [name for name in SCENARIOS if read_cancel_golden(VECTORS, RELEASE, name) is not None]
AS_SAFE = {
    "abort_and_delta_same_tick",
    "together_abort_and_failure_in_tools",
    "together_abort_and_hold_at_end",
    "together_abort_and_hold_in_stream",
}
"""There the run is as well rid of its waits in the advisory mode: the modes differ in words, or in order."""


@pytest.mark.parametrize("name", CANCELLED)
def test_an_abort_that_is_advice_does_not_cancel(name: str) -> None:
    expected = expect_it(name, cancelling=True)
    assert why_unsafe(expected.lines, expected) == ""
    advisory = [expected.lines[0], *expected.unruled_side[1:]]
    assert bool(why_unsafe(advisory, expected)) == (name not in AS_SAFE)


# Other ways.


@pytest.mark.parametrize("way", SAFE, ids=lambda way: way.make.__name__)
def test_who_is_as_careful_in_another_way_is_not_strict(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.owner, way.name, way.make(getattr(way.owner, way.name)))
    for run in played(way.shows):
        expected = expect_it(run.scenario.name)
        verdict = judge(run, expected)
        assert (verdict.outcome, run.scenario.name) == (Outcome.NON_STRICT, run.scenario.name), verdict.reason
        assert verdict.reason.startswith("otherwise safe: ")
        assert verdict.hunks
        assert judge_runtime(run, expected).outcome is Outcome.FAIL


@pytest.mark.parametrize("way", UNSAFE, ids=lambda way: way.make.__name__)
def test_who_only_seems_to_be_fails(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(way.owner, way.name, way.make(getattr(way.owner, way.name)))
    for run in played(way.shows):
        verdict = judge(run, expect_it(run.scenario.name))
        assert verdict.outcome in (Outcome.FAIL, Outcome.HANG), run.scenario.name


@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("abort_answers_every_call=pi-1.0.3", "failed_run_sequential_orphan"),
        ("durations=pi-1.0.3", "listener_throws_tool_execution_update"),
        ("message_thinking_level=pi-0.85.0", "stream_end_without_done_no_result"),
    ],
)
def test_who_follows_another_release_in_it_fails(field: str, name: str) -> None:
    """That what closes a run is as in an older release is no ruling's matter."""
    for run in played([name], f"pi-{RELEASE},{field}"):
        assert judge(run, expect_it(name)).outcome is Outcome.FAIL


# Faults.

BEHIND = ("F04", "F05", "F14", "F15", "F17", "F19", "F20", "F24", "F28", "F30")
"""Faults that show behind the command that enters a ruling, so that the promises are all that can find them there."""
SOME = [
    "tool_duplicate_call_ids_state", "failed_run_end_held", "stream_double_start_then_tool", "failed_run_keeps_queues",
    "failed_run_tool_ends_during_failure_events", "stream_end_without_done_no_result", "abort_then_listener_fails",
    "failed_run_leaves_tool_running_end_after_idle", "listener_throws_message_start", "loop_listener_throws_in_tools",
    "loop_stream_ends_without_result", "together_update_and_failure_in_tools", "failed_run_stream_goes_on",
    "second_listener_throws", "stream_ends_empty",
]  # fmt: skip


@pytest.mark.parametrize(
    "fault",
    [pytest.param(each, id=f"{each.id}-{each.make.__name__}") for each in FAULTS if each.id in BEHIND],
)
def test_no_planted_fault_passes_for_safe(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault.owner, fault.name, fault.make(getattr(fault.owner, fault.name)))
    behind = 0
    for run in played(SOME):
        expected = expect_it(run.scenario.name)
        verdict = judge(run, expected)
        assert not verdict.reason.startswith("otherwise safe"), run.scenario.name
        enters = expected.enters
        assert enters is not None
        same = fingerprint(run.lines[: enters + 1]) == fingerprint(expected.lines[: enters + 1])
        behind += same and verdict.outcome in (Outcome.FAIL, Outcome.HANG)
    assert behind


# Single lines.


def changed(expected: Expectation) -> Iterator[tuple[str, list[Object]]]:
    """The runtime's trace with one line behind the entering command left out, said twice, or said before its time."""
    lines = list(expected.lines)
    assert expected.enters is not None
    for at in range(expected.enters + 1, len(lines) - 1):
        if "tell" not in lines[at] and "ask" not in lines[at]:
            continue
        yield "left out", lines[:at] + lines[at + 1 :]
        if lines[at].get("tell") != "settled":  # which the tester takes for a fault at once
            yield "twice", lines[: at + 1] + lines[at:]
        if "tell" in lines[at + 1] or "ask" in lines[at + 1]:
            yield "swapped", [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def test_hardly_any_change_of_a_line_passes_for_safe() -> None:
    """What may be otherwise: where a withdrawal stands, and in which order calls are closed."""
    total, passed = 0, []
    for name in RULED[::15]:
        expected = expect_it(name)
        for how, lines in changed(expected):
            if fingerprint(lines) not in (expected.fingerprint, fingerprint(expected.unruled_side)):
                total += 1
                passed += [(name, how)] if not why_unsafe(lines, expected) else []
    assert total > 200
    assert len(passed) < 0.05 * total, passed


@pytest.mark.parametrize("nonsense", [{}, {"message": None}, {"message": {"role": []}}, {"toolCallId": {}}])
@pytest.mark.parametrize("kind", ["message_start", "turn_end", "agent_end", "tool_execution_end", "new"])
def test_what_cannot_be_understood_is_not_safe(kind: str, nonsense: Object) -> None:
    expected = expect_it("listener_throws_message_end")
    event = {"tell": "event", "key": "M", "event": {"type": kind, **nonsense}}
    assert why_unsafe([*expected.lines[:-1], event, expected.lines[-1]], expected)


@pytest.mark.parametrize("error", [TypeError, KeyError])
def test_a_fault_of_a_predicate_is_not_the_subjects(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(_: object) -> Iterator[str]:
        raise error
        yield

    name = RULED[0]
    expected = expect_it(name)
    assert expected.enters is not None
    odd = [*expected.lines[:-1], {"event": None}, expected.lines[-1]]
    assert why_unsafe(odd, expected)
    monkeypatch.setattr("pi_trio.conformance.postconditions.ALWAYS", (faulty,))
    with pytest.raises(error):
        why_unsafe(odd, expected)


# Replies.

SAID_BY_A_DRIVER: list[Object] = [
    {"error": "driver: there is no such ask"},
    {"reply": {"a": [1, {"role": 1, "type": [], "content": 3}]}},
    {"reply": False},
]


@pytest.mark.parametrize("said", SAID_BY_A_DRIVER, ids=str)
def test_who_refuses_a_command_or_replies_what_means_nothing_is_not_safe(said: Object) -> None:
    """Also where the command is no more than the answer that a listener gets."""
    heard = 0
    for name in RULED[::10]:
        expected = expect_it(name)
        assert expected.enters is not None
        for at in range(expected.enters + 2, len(expected.lines)):
            if expected.lines[at].get("reply", said) is None:
                heard += 1
                lines = [*expected.lines[:at], said, *expected.lines[at + 1 :]]
                assert why_unsafe(lines, expected), (name, at)
    assert heard > 100


# What a failure says, and how often.


def with_failures(lines: Sequence[Object], change: Callable[[Object], Object]) -> list[Object]:
    """The lines of a trace that the subject has said, with every failed answer in them changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(item) for item in value]
        if not isinstance(value, dict):
            return value
        found = {key: changed(item) for key, item in value.items()}
        failed = found.get("role") == "assistant" and found.get("stopReason") in ("error", "aborted")
        return {**found, **change(found)} if failed else found

    return [line if "send" in line else changed(line) for line in thaw([*lines])]


LIES: dict[str, Callable[[Object], Object]] = {
    "reason": lambda answer: {"stopReason": "aborted" if answer["stopReason"] == "error" else "error"},
    "model": lambda answer: {"model": "nobody"},
    "provider": lambda answer: {"api": "x", "provider": "y"},
    "content": lambda answer: {"content": [{"type": "text", "text": "all is well"}]},
    "usage": lambda answer: {"usage": {**answer["usage"], "input": 999}},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_failure_is_told_as_one_of_the_two_has_it(lie: str) -> None:
    safe, total = [], 0
    for name in RULED[::4]:
        expected = expect_it(name)
        assert expected.enters is not None
        shared = expected.enters + 1
        odd = [*expected.lines[:shared], *with_failures(expected.lines[shared:], LIES[lie])]
        if fingerprint(odd) in (expected.fingerprint, fingerprint(expected.unruled_side)):
            continue
        total += 1
        safe += [] if why_unsafe(odd, expected) else [name]
    assert total > 15
    # Where runtime and release tell it with two reasons, who has them the other way round is safe.
    assert len(safe) <= (lie == "reason"), safe


@pytest.mark.parametrize("error", [None, "the moon is full"])
@pytest.mark.parametrize("name", ["prepare_next_turn_throws", "finish_turn_throws"])
def test_a_failure_is_told_once(name: str, error: str | None) -> None:
    """Not again in a turn behind it, whatever the error is called there."""
    expected = expect_it(name)
    lines = list(expected.lines)
    kinds = [(event_of(line) or {}).get("type") for line in lines]
    (end,) = (at for at, kind in enumerate(kinds) if kind == "agent_end")
    start = max(at for at, kind in enumerate(kinds) if kind == "turn_start")
    again = with_failures(lines[start:end], lambda answer: {"errorMessage": error or answer["errorMessage"]})
    assert not any("send" in line for line in again)
    last = thaw(lines[end])
    last["event"]["messages"].append(again[-1]["event"]["message"])
    assert "told twice" in why_unsafe([*lines[:end], *again, last, *lines[end + 1 :]], expected)


# What is shown of a failure elsewhere.


def shown(line: Object) -> Any:
    """What a line shows beside what it tells: a reply, the arguments of a callback, or the state with an event."""
    if "reply" in line:
        return line["reply"]
    args = line.get("args", {})
    return line.get("state", args.get("state")) if event_of(line) is not None else args


def containers(value: Any, kind: Callable[[Any], bool]) -> Iterator[Any]:
    """The values of a kind in another one, itself and those in it."""
    if kind(value):
        yield value
    if isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from containers(item, kind)


INVENTED: Object = {
    "role": "assistant", "content": [], "api": "x", "provider": "y", "model": "z", "stopReason": "error",
    "usage": {}, "timestamp": "#",
}  # fmt: skip

TRANSCRIPT_LIES: dict[str, Callable[[list[Any], int], object]] = {
    "invented": lambda messages, at: messages.append(INVENTED),
    "left out": lambda messages, at: messages.pop(at),
    "twice": lambda messages, at: messages.append(messages[at]),
    "model": lambda messages, at: messages[at].update(model="zork"),
    "content": lambda messages, at: messages[at].update(content=[{"type": "text", "text": "all is well"}]),
    "usage": lambda messages, at: messages[at].update(usage={"input": {"role": "assistant"}}),
    "text": lambda messages, at: messages[at].update(errorMessage="all went well"),
    "moved": lambda messages, at: messages.insert(0, messages.pop(at)),
}
STATE_LIES: dict[str, Callable[[Object], object]] = {
    "error": lambda state: state.update(errorMessage="all went well"),
    "odd error": lambda state: state.update(errorMessage=5),
    "no error": lambda state: state.pop("errorMessage", None),
    "streaming": lambda state: state.update(streamingMessage=INVENTED),
    "pending": lambda state: state.update(pendingToolCalls=["t9"]),
    "signal": lambda state: state.update(signal="zork"),
}


def lies(line: Object) -> Iterator[tuple[str, Object]]:
    """The line with one lie in what it shows."""

    def has_failures(value: Any) -> bool:
        return isinstance(value, list) and any(map(is_failure, value))

    def is_state(value: Any) -> bool:
        return isinstance(value, dict) and "isStreaming" in value

    for nth, messages in enumerate(containers(shown(line), has_failures)):
        at = next(at for at, message in enumerate(messages) if is_failure(message))
        for name, lie in TRANSCRIPT_LIES.items():
            if name != "moved" or at > 0:
                odd = thaw(line)
                lie([*containers(shown(odd), has_failures)][nth], at)
                yield name, odd
    for nth, _ in enumerate(containers(shown(line), is_state)):
        for name, change in STATE_LIES.items():
            odd = thaw(line)
            change([*containers(shown(odd), is_state)][nth])
            yield name, odd


@pytest.mark.parametrize("release", ["0.80.2", RELEASE])
def test_a_failure_is_shown_as_it_was_told(release: str) -> None:
    """In the transcript, in what a callback is given, and in the state: whoever is safe may tell it in another way."""
    safe, total = [], Counter[str]()
    for golden in [*goldens(release)][::8]:
        lines = golden.runtime_side()
        for at in range(golden.enters + 1, len(lines)):
            for name, odd in lies(lines[at]):
                if canonical(odd) != canonical(lines[at]):
                    total[name] += 1
                    told = [*lines[:at], odd, *lines[at + 1 :]]
                    safe += [] if why_unsafe_in(golden, told) else [(golden.scenario, at, name)]
    assert total.keys() == TRANSCRIPT_LIES.keys() | STATE_LIES.keys()
    assert safe == []


def test_what_the_hook_is_given_of_a_failure_was_told() -> None:
    expected = expect_it("stream_ends_finish_turn")
    (at,) = (at for at, line in enumerate(expected.lines) if asks(line) == "finishTurn")
    odd = thaw([*expected.lines])
    odd[at]["args"]["newMessages"][1]["usage"]["output"] = {"role": "assistant"}
    assert "neither runtime nor release says" in why_unsafe(odd, expected)


# However much is said.


def flood_of(kind: str, count: int) -> Iterator[Object]:
    """That many things that come to nothing."""
    for n in range(count):
        address = {"fn": "zzz", "nth": n}
        message = {"role": "user", "content": str(n)}
        update = {"type": "tool_execution_update", "toolCallId": f"t{n}", "toolName": "a", "args": {}}
        if kind == "asks":
            yield from ({"ask": address, "args": {}}, {"tell": "withdrawn", "ask": address})
        elif kind == "updates":
            yield {"tell": "event", "key": "L", "event": update, "state": {"pendingToolCalls": []}}
        else:
            yield from (
                {"tell": "event", "key": "L", "event": {"type": each, "message": message}}
                for each in ("message_start", "message_end")
            )


@pytest.mark.parametrize("kind", ["asks", "updates", "messages"])
def test_the_work_grows_with_what_is_said(kind: str) -> None:
    """And not with its square: a subject may say very much."""

    def work(count: int) -> int:
        calls = 0

        def counted(*_: object) -> None:
            nonlocal calls
            calls += 1

        lines = [{"send": {"cmd": "create", "listeners": ["L"]}}, *flood_of(kind, count), {"end": "settled"}]
        (conversation,) = conversations(lines)
        before = sys.getprofile()
        sys.setprofile(counted)
        try:
            for predicate in ALWAYS:
                next(predicate(conversation), None)
        finally:
            sys.setprofile(before)
        return calls

    assert work(400) < 2.5 * work(200)


class Heard:
    """As much of a conversation as `awaiting` looks at."""

    def __init__(self, events: list[Delivery], lines: int) -> None:
        self.events = events
        self.lines: list[Object] = [{"tell": "event"} for _ in range(lines)]
        self.settlements: list[Any] = []


deliveries = st.lists(
    st.builds(
        lambda kind, call, first, more: Delivery({"type": kind, "toolCallId": call}, first, first + more),
        st.sampled_from(["turn_start", "tool_execution_update", "tool_execution_end"]),
        st.sampled_from(["t1", "t2"]),
        st.integers(0, 9),
        st.integers(0, 4),
    ),
    max_size=6,
)


@given(deliveries)
def test_only_what_calls_say_is_on_its_way_at_once(found: list[Delivery]) -> None:
    events = sorted(found, key=lambda each: each.first)

    def side_by_side(one: Object, other: Object) -> bool:
        if "turn_start" in (one["type"], other["type"]):
            return False
        both = one["type"] == other["type"] == "tool_execution_update"
        return both or bool(one["toolCallId"] != other["toolCallId"])

    late = [
        each.event["type"]
        for at, each in enumerate(events)
        if any(other.last > each.first and not side_by_side(other.event, each.event) for other in events[:at])
    ]
    said = [what.split()[0] for what in awaiting(cast(Conversation, Heard(events, 14)))]
    assert said == late
