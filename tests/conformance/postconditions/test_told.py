"""What a failure says, and how often; and what is shown of it elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from pi_trio.conformance.compare import canonical, fingerprint
from pi_trio.conformance.failed import is_failed_answer, tells_failure
from pi_trio.conformance.lines import asks, event_of
from pi_trio.conformance.protocol import Object
from pi_trio.jsonvalue import thaw

from .golden import RELEASE, RULED, expect_it, goldens, why_unsafe, why_unsafe_in


def with_failures(lines: Sequence[Object], change: Callable[[Object], Object]) -> list[Object]:
    """The lines of a trace that the subject has said, with every failed answer in them changed."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(item) for item in value]
        if not isinstance(value, dict):
            return value
        found = {key: changed(item) for key, item in value.items()}
        return {**found, **change(found)} if is_failed_answer(found) else found

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
        return isinstance(value, list) and any(map(tells_failure, value))

    def is_state(value: Any) -> bool:
        return isinstance(value, dict) and "isStreaming" in value

    for nth, messages in enumerate(containers(shown(line), has_failures)):
        at = next(at for at, message in enumerate(messages) if tells_failure(message))
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
