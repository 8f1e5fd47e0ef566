"""Single lines: left out, said twice, swapped, nonsense, or a reply that should not be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.failed import is_failed_answer
from pi_trio.conformance.lines import event_of
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import read_golden
from pi_trio.jsonvalue import thaw

from .departures.departure import events
from .departures.failures import with_turns
from .golden import RULED, VECTORS, expect_it, why_unsafe, why_unsafe_in


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


@pytest.mark.parametrize("release", ["0.80.2", "0.85.0"])
def test_what_a_ruling_keeps_from_failing_goes_on_as_the_runtime(release: str) -> None:
    """Though the release has none of it: not a line may be missing, be it an update, an ask or what it ends with."""
    golden = read_golden(VECTORS, release, "tool_returns_nothing")
    assert golden is not None
    lines = [*golden.runtime_side()]
    assert "message_update" in {(event_of(line) or {}).get("type") for line in lines[golden.enters :]}
    safe = [
        lines[at]
        for at in range(golden.enters + 1, len(lines) - 1)
        if "send" not in lines[at]
        and lines[at] != {"reply": None}
        and not why_unsafe_in(golden, lines[:at] + lines[at + 1 :])
    ]
    assert safe == []


def test_who_goes_on_and_then_fails_as_the_release_is_not_safe() -> None:
    golden = read_golden(VECTORS, "0.80.2", "tool_returns_nothing")
    assert golden is not None
    messages = [event["message"] for _, event in events(golden.release_side(), "message_end")]
    failure = next(filter(is_failed_answer, messages))
    shared = golden.enters + 1
    lines = thaw([*golden.runtime_side()])
    went_on = [line for line in lines[shared:] if (event_of(line) or {}).get("type") != "message_update"]
    odd = [*lines[:shared], *with_turns(went_on, lambda _: failure)]
    assert "has gone on before that" in why_unsafe_in(golden, odd)


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
