"""The books of a scenario: addresses, rules, and how things stand."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.faults import ProtocolFault
from pi_trio.conformance.ledger import NOTHING, Ledger, rule_for
from pi_trio.conformance.scenario import Address, Rule


def execute(ask_id: str, key: str) -> dict:
    return {"ask": ask_id, "fn": "execute", "key": key, "args": {}}


def listener(ask_id: str, key: str, event: str) -> dict:
    return {"ask": ask_id, "fn": "listener", "key": key, "args": {"event": {"type": event}}}


@pytest.fixture
def ledger() -> Ledger:
    ledger = Ledger()
    for message in (
        execute("a", "t1"), execute("b", "t2"), execute("c", "t1"),
        listener("d", "L", "turn_start"), listener("e", "M", "turn_start"), listener("f", "L", "turn_end"),
        listener("g", "L", "turn_start"),
    ):  # fmt: skip
        ledger.note_ask(message)
    return ledger


@pytest.mark.parametrize(
    ("address", "ask_id"),
    [
        (Address(fn="execute", key="t1"), "a"),
        (Address(fn="execute", key="t1", nth=1), "c"),
        (Address(fn="execute", nth=1), "b"),
        (Address(fn="listener", key="L", nth=1), "f"),
        (Address(fn="listener", key="L", event="turn_start", nth=1), "g"),
        (Address(fn="listener", event="turn_start", nth=1), "e"),
        (Address(fn="execute", key="t1", nth=2), None),
        (Address(fn="execute", key="t3"), None),
        (Address(fn="streamFn"), None),
    ],
)
def test_an_address_counts_what_matches_it(ledger: Ledger, address: Address, ask_id: str | None) -> None:
    found = ledger.find(address)
    assert (found and found.id) == ask_id


def test_the_address_of_an_ask_finds_it_again(ledger: Ledger) -> None:
    for ask_id in "abcdefg":
        ask = ledger.by_id(ask_id)
        assert ledger.find(ask.address) is ask


def test_listeners_are_addressed_by_the_type_of_the_event(ledger: Ledger) -> None:
    assert ledger.by_id("g").address.to_json() == {
        "fn": "listener",
        "key": "L",
        "event": "turn_start",
        "nth": 1,
    }


def test_an_id_is_used_once(ledger: Ledger) -> None:
    with pytest.raises(ProtocolFault, match="used twice"):
        ledger.note_ask(execute("a", "t9"))


def test_an_ask_that_was_never_made_cannot_be_named(ledger: Ledger) -> None:
    with pytest.raises(ProtocolFault, match="never made"):
        ledger.note_tell({"tell": "withdrawn", "ask": "z"})


def test_only_what_is_under_way_can_settle(ledger: Ledger) -> None:
    ledger.note_start("p1")
    ledger.note_tell({"tell": "settled", "op": "p1", "ok": True})
    with pytest.raises(ProtocolFault, match="not under way"):
        ledger.note_tell({"tell": "settled", "op": "p1", "ok": True})


def rule(**given: Any) -> Rule:
    return Rule.from_json(given, "")


def test_the_first_rule_that_matches_wins(ledger: Ledger) -> None:
    rules = [
        rule(fn="execute", key="t1", nth=1, value=1),
        rule(fn="execute", key="t1", value=2),
        rule(fn="execute", nth=1, value=3),
        rule(fn="listener", event="turn_start", nth=2, value=4),
        rule(fn="listener", key="L", event="turn_end", value=5),
    ]
    values = {
        ask_id: found.value if (found := rule_for(ledger.by_id(ask_id), rules)) else None
        for ask_id in "abcfg"
    }
    assert values == {"a": 2, "b": 3, "c": 1, "f": 5, "g": 4}


def test_without_a_rule_tools_and_streams_are_held_and_all_else_is_answered(ledger: Ledger) -> None:
    stream = ledger.note_ask({"ask": "s", "fn": "streamFn", "args": {}})
    hook = ledger.note_ask({"ask": "h", "fn": "finishTurn", "args": {}})
    assert rule_for(ledger.by_id("a"), []) is None
    assert rule_for(stream, []) is None
    assert rule_for(hook, []) is NOTHING
    assert rule_for(ledger.by_id("d"), []) is NOTHING


def test_a_hang_is_an_unsettled_operation_with_nothing_open() -> None:
    ledger = Ledger()
    assert ledger.state() == "settled"
    ledger.note_start("p1")
    assert ledger.state() == "hang"
    ask = ledger.note_ask(execute("a", "t1"))
    assert ledger.state() == "open"
    ask.open = False
    assert ledger.state() == "hang"
    ask.streaming = True
    assert ledger.state() == "open"
    ledger.note_tell({"tell": "withdrawn", "ask": "a"})
    assert ledger.state() == "hang"
    ledger.note_tell({"tell": "settled", "op": "p1", "ok": True})
    assert ledger.state() == "settled"


def test_an_operation_that_the_driver_refused_never_began() -> None:
    ledger = Ledger()
    ledger.note_start("p1")
    ledger.note_refusal("p1")
    assert ledger.state() == "settled"
