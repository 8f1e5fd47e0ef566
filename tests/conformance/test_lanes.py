"""What may change places inside a step, and what may not: the law of partial order, and each of its sentences."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.lanes import Arranger

Message = dict[str, Any]


def event(kind: str, call: str | None = None, key: str = "L", **fields: Any) -> Message:
    about = {} if call is None else {"toolCallId": call}
    return {"tell": "event", "key": key, "event": {"type": f"{kind}", **about, **fields}}


def start(call: str, key: str = "L") -> Message:
    return event("tool_execution_start", call, key)


def update(call: str, value: int = 0, key: str = "L") -> Message:
    return event("tool_execution_update", call, key, value=value)


def end(call: str, key: str = "L") -> Message:
    return event("tool_execution_end", call, key)


def ask(fn: str, call: str) -> Message:
    return {"ask": f"{fn} {call}", "fn": fn, "key": call, "args": {"about": call}, "aborted": False}


def signal(of: Message) -> Message:
    return {"tell": "signal", "ask": of["ask"]}


def withdrawn(of: Message) -> Message:
    return {"tell": "withdrawn", "ask": of["ask"]}


def line(message: Message, known: dict[str, Message]) -> Message:
    """A message as a trace has it."""
    if "tell" in message:
        about = known.get(message.get("ask", ""))
        return (
            message
            if about is None
            else {**message, "ask": {"fn": about["fn"], "key": about["key"], "nth": 0}}
        )
    address = {"fn": message["fn"], "key": message["key"], "nth": 0}
    return {"ask": address, "args": message["args"], "aborted": message["aborted"]}


def arranged(
    expected: list[Message], said: list[Message], before: list[Message] | None = None, *, partial: bool = True
) -> list[Message]:
    """What a subject said in one step, in the order of what was expected; `before` are the asks of earlier steps."""
    known = {message["ask"]: message for message in [*(before or ()), *expected] if "fn" in message}
    arranger = Arranger([line(message, known) for message in expected], lambda shown: shown, partial=partial)
    arranger.arrange(before or [])
    return arranger.arrange(said)


E1, E2, E3 = (ask("execute", call) for call in ("t1", "t2", "t3"))
A1, A2 = (ask("afterToolCall", call) for call in ("t1", "t2"))
TURN_END = event("turn_end")
RESULT = event("message_start", message={"role": "toolResult"})

FREE: dict[str, tuple[list[Message], list[Message], list[Message]]] = {
    "calls start to run in any order": ([], [E1, E2, E3], [E3, E1, E2]),
    "calls that run end in any order": ([E1, E2], [end("t1"), end("t2")], [end("t2"), end("t1")]),
    "an end may fall between the steps of another call": (
        [E1, E2], [update("t1"), A1, end("t2")], [end("t2"), update("t1"), A1],
    ),
    "all listeners of one event may come before all of another": (
        [E1, E2],
        [end("t1"), end("t1", "M"), end("t2"), end("t2", "M")],
        [end("t1"), end("t2"), end("t2", "M"), end("t1", "M")],
    ),
    "withdrawals of two calls": (
        [E1, E2],
        [signal(E1), signal(E2), withdrawn(E1), end("t1"), withdrawn(E2), end("t2")],
        [signal(E2), signal(E1), withdrawn(E2), end("t2"), withdrawn(E1), end("t1")],
    ),
    "updates of two calls": ([E1, E2], [update("t1"), update("t2")], [update("t2"), update("t1")]),
    "a second update may start before the first has reached everybody": (
        [E1],
        [update("t1", 1), update("t1", 1, "M"), update("t1", 2), update("t1", 2, "M")],
        [update("t1", 1), update("t1", 2), update("t1", 1, "M"), update("t1", 2, "M")],
    ),
    "calls that are refused at their launch": ([], [end("t1"), end("t2")], [end("t2"), end("t1")]),
    "signals of two calls": ([E1, E2], [signal(E1), signal(E2)], [signal(E2), signal(E1)]),
}  # fmt: skip

BOUND: dict[str, tuple[list[Message], list[Message], list[Message]]] = {
    "a call's own events": ([E1], [update("t1"), A1], [A1, update("t1")]),
    "an end is said to one listener after the other": (
        [E1], [end("t1"), end("t1", "M")], [end("t1", "M"), end("t1")],
    ),
    "updates of one call, for one listener": (
        [E1], [update("t1", 1), update("t1", 2)], [update("t1", 2), update("t1", 1)],
    ),
    "one update, for two listeners": (
        [E1], [update("t1", 1), update("t1", 1, "M")], [update("t1", 1, "M"), update("t1", 1)],
    ),
    "starts are serial": ([], [start("t1"), start("t2")], [start("t2"), start("t1")]),
    "a start comes before every call": ([], [start("t2"), E1], [E1, start("t2")]),
    "a refusal comes before every call": ([], [end("t2"), E1], [E1, end("t2")]),
    "a refusal comes before the next start": ([], [end("t1"), start("t2")], [start("t2"), end("t1")]),
    "no hook is asked while a call runs": (
        [], [ask("beforeToolCall", "t2"), E1], [E1, ask("beforeToolCall", "t2")],
    ),
    "everything comes before the join": ([E1, E2], [end("t2"), RESULT], [RESULT, end("t2")]),
    "the run's own events": ([], [RESULT, TURN_END], [TURN_END, RESULT]),
    "a signal comes before every consequence": ([E1, E2], [signal(E1), end("t2")], [end("t2"), signal(E1)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FREE)
def test_it_may_come_otherwise(name: str) -> None:
    before, expected, said = FREE[name]
    assert arranged(expected, said, before) == expected
    assert arranged(said, expected, before) == said
    assert arranged(expected, said, before, partial=False) == said


@pytest.mark.parametrize("name", BOUND)
def test_it_may_not_come_otherwise(name: str) -> None:
    before, expected, said = BOUND[name]
    assert arranged(expected, said, before) == said
    assert arranged(expected, expected, before) == expected


def test_what_is_not_expected_stays_where_it_is() -> None:
    odd = event("turn_end", key="X")
    assert arranged([E1, E2], [E2, odd, E1]) == [E2, odd, E1]
    assert arranged([end("t1"), end("t2")], [end("t2"), end("t3"), end("t1")], [E1, E2, E3]) == [
        end("t1"), end("t2"), end("t3"),
    ]  # fmt: skip


def test_a_new_agent_has_executed_nothing() -> None:
    arranger = Arranger([line(end("t2"), {}), line(E1, {})], lambda shown: shown, partial=True)
    arranger.arrange([E2])
    assert arranger.arrange([E1, end("t2")]) == [end("t2"), E1]
    arranger = Arranger([line(end("t2"), {}), line(E1, {})], lambda shown: shown, partial=True)
    arranger.arrange([E2])
    arranger.forget()
    assert arranger.arrange([E1, end("t2")]) == [E1, end("t2")]


def test_a_flood_is_not_arranged() -> None:
    many = [ask("execute", f"t{number}") for number in range(1000)]
    assert arranged(many, many[::-1]) == many[::-1]


LANES = {call: [ask("execute", call), update(call), ask("afterToolCall", call), end(call), end(call, "M")]
         for call in ("t1", "t2", "t3")}  # fmt: skip
launches = [LANES[call][:1] for call in LANES]
lives = [LANES[call][1:] for call in LANES]


def merged(draw: Any, lanes: list[list[Message]]) -> list[Message]:
    """Lanes merged in any way that keeps each."""
    order = draw(st.permutations([number for number, lane in enumerate(lanes) for _ in lane]))
    rest = [iter(lane) for lane in lanes]
    return [next(rest[number]) for number in order]


@st.composite
def merged_twice(draw: Any) -> tuple[list[Message], list[Message]]:
    return merged(draw, lives), merged(draw, lives)


@given(merged_twice())
def test_all_merges_of_the_calls_lanes_are_one(merges: tuple[list[Message], list[Message]]) -> None:
    """The law: two sequences with the same lanes become the same sequence, whichever of them is expected."""
    expected, said = merges
    before = [E1, E2, E3]
    step = [*expected, RESULT]
    assert arranged(step, [*said, RESULT], before) == step


@given(merged_twice(), st.data())
def test_a_swap_inside_a_lane_is_seen(merges: tuple[list[Message], list[Message]], data: Any) -> None:
    expected, said = merges
    call = data.draw(st.sampled_from(list(LANES)))
    places = [index for index, message in enumerate(said) if any(message is each for each in LANES[call])]
    first, second = sorted(data.draw(st.permutations(places))[:2])
    said[first], said[second] = said[second], said[first]
    assert arranged(expected, said, [E1, E2, E3]) != expected


# Callbacks without a call id.


def execute(tool: str, args: Any, key: str | None = None) -> Message:
    named: Message = {} if key is None else {"key": key}
    shown = {"tool": tool, **({} if key is None else {"toolCallId": key}), "args": args}
    return {"ask": f"{tool} {args}", "fn": "execute", **named, "args": shown, "aborted": False}


def test_a_nameless_call_is_known_by_its_tool_and_arguments() -> None:
    expected = [execute("a", 1, "t1"), execute("a", 2, "t2"), execute("b", 1, "t3")]
    guide = [line(message, {}) for message in expected]
    arranger = Arranger(guide, lambda shown: shown, partial=True, keyless=["execute"])
    said = [execute("b", 1), execute("a", 2), execute("a", 1)]
    assert arranger.arrange(said) == expected


def test_a_nameless_hook_is_known_by_its_call() -> None:
    call = {"type": "toolCall", "name": "a", "arguments": {"s": "x"}}
    named = {
        "ask": "h", "fn": "beforeToolCall", "key": "t1", "args": {"toolCall": {**call, "id": "t1"}}, "aborted": False,
    }  # fmt: skip
    nameless = {"ask": "h", "fn": "beforeToolCall", "args": {"toolCall": call}, "aborted": False}
    guide = [line(named, {})]
    arranger = Arranger(guide, lambda shown: shown, partial=False, keyless=["beforeToolCall"])
    assert arranger.arrange([nameless]) == [named]
    assert arranger.arrange([nameless]) == [nameless]


def test_only_who_is_declared_nameless_is_named() -> None:
    guide = [line(execute("a", 1, "t1"), {})]
    arranger = Arranger(guide, lambda shown: shown, partial=True)
    assert arranger.arrange([execute("a", 1)]) == [execute("a", 1)]
