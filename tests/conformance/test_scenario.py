"""Scenarios: one JSON form, read back as it was written, and errors that name the path."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.scenario import Address, Rule, Scenario, ScenarioError

WHOLE: dict[str, Any] = {
    "name": "everything",
    "title": "All that a scenario can hold.",
    "topic": "test",
    "create": {
        "initialState": {"model": {"id": "m1"}}, "tools": [{"name": "a", "parameters": {}}], "hooks": ["finishTurn"],
        "listeners": ["L"], "tellListeners": [], "options": {"toolExecution": "sequential"}, "snapshot": True,
    },
    "answers": [
        {"fn": "streamFn", "nth": 0, "stream": [{"type": "start"}], "end": None},
        {"fn": "streamFn", "nth": 1, "stream": [], "fail": "gone"},
        {"fn": "execute", "key": "t1", "value": None},
        {"fn": "listener", "key": "L", "event": "turn_end", "nth": 0, "hold": True},
        {"fn": "execute", "throw": "boom"},
    ],
    "steps": [
        {"cmd": "prompt", "op": "p1", "input": "go"},
        {"cmd": "burst", "cmds": [{"cmd": "abort"}, {"cmd": "steer", "message": {"role": "user", "content": "no"}}]},
        {"cmd": "answer", "ask": {"fn": "listener", "key": "L", "event": "turn_end", "nth": 0}},
        {"cmd": "update", "ask": {"fn": "execute", "key": "t1"}, "value": {"content": []}},
        {"cmd": "setOption", "name": "model", "value": None},
        {"cmd": "create", "tools": []},
    ],
}  # fmt: skip


def test_a_scenario_is_read_back_as_it_was_written() -> None:
    scenario = Scenario.from_json(WHOLE)
    assert scenario.to_json() == WHOLE
    assert Scenario.from_json(scenario.to_json()) == scenario


def test_a_scenario_does_not_change_with_what_it_was_made_from() -> None:
    steps: list[Any] = [{"cmd": "prompt", "op": "p1", "input": ["go"]}]
    scenario = Scenario(name="a", title="A.", topic="t", steps=steps)
    steps[0]["input"].append("away")
    assert scenario.to_json()["steps"] == [{"cmd": "prompt", "op": "p1", "input": ["go"]}]


def test_the_create_command_holds_the_options() -> None:
    assert Scenario.from_json(WHOLE).create_command() == {"cmd": "create", **WHOLE["create"]}


def test_texts_are_all_string_values() -> None:
    texts = Scenario.from_json(WHOLE).texts()
    assert {"boom", "gone", "go", "no", "m1", "sequential"} <= texts
    assert "toolExecution" not in texts


def test_streams_are_closed_as_their_rule_says() -> None:
    ended, failed, *_ = Scenario.from_json(WHOLE).rules
    assert ended.close == {"cmd": "end"}
    assert failed.close == {"cmd": "fail", "error": "gone"}
    result = {"role": "assistant"}
    given = Rule.from_json({"fn": "streamFn", "stream": [], "end": result}, "")
    assert given.close == {"cmd": "end", "result": result}


def steps(*commands: Any) -> dict[str, Any]:
    return {**WHOLE, "steps": [*commands]}


def without(key: str) -> dict:
    return {name: value for name, value in WHOLE.items() if name != key}


@pytest.mark.parametrize(
    ("value", "path", "says"),
    [
        ([], "", "an object was expected"),
        (without("name"), "", "name is missing"),
        ({**WHOLE, "name": "Two Words"}, "name", "made of a-z"),
        ({**WHOLE, "stages": []}, "stages", "unknown here"),
        ({**WHOLE, "steps": {}}, "steps", "a list was expected"),
        ({**WHOLE, "create": {"tool": []}}, "create.tool", "unknown here"),
        ({**WHOLE, "create": {"hooks": [1]}}, "create.hooks", "a list of names"),
        ({**WHOLE, "create": {"tools": [{"label": "a"}]}}, "create.tools[0]", "name is missing"),
        ({**WHOLE, "create": {"tools": [{"name": "", "executionMode": 1}]}}, "create.tools[0].executionMode", "string"),
        ({**WHOLE, "create": {"options": {"toolExecution": {}}}}, "create.options.toolExecution", "a string"),
        (steps({"cmd": "setOption", "name": "toolExecution"}), "steps[0]", "value is missing"),
        ({**WHOLE, "answers": [{"fn": "execute"}]}, "answers[0]", "exactly one of"),
        ({**WHOLE, "answers": [{"fn": "execute", "value": 1, "hold": True}]}, "answers[0]", "exactly one of"),
        ({**WHOLE, "answers": [{"fn": "execute", "hold": False}]}, "answers[0].hold", "hold is true"),
        ({**WHOLE, "answers": [{"fn": "execute", "value": 1, "end": None}]}, "answers[0]", "close a stream"),
        ({**WHOLE, "answers": [{"fn": "s", "stream": [], "end": None, "fail": "x"}]}, "answers[0]", "one of them"),
        ({**WHOLE, "answers": [{"fn": "s", "stream": [{}]}]}, "answers[0].stream[0]", "type is missing"),
        ({**WHOLE, "answers": [{"fn": "s", "nth": -1, "value": 1}]}, "answers[0].nth", "a number from 0"),
        ({**WHOLE, "steps": [{"cmd": "shout"}]}, "steps[0].cmd", 'there is no command "shout"'),
        ({**WHOLE, "steps": [{"cmd": "prompt", "input": "go"}]}, "steps[0]", "op is missing"),
        ({**WHOLE, "steps": [{"cmd": "abort", "now": True}]}, "steps[0].now", "unknown here"),
        ({**WHOLE, "steps": [{"cmd": "answer", "ask": "c1"}]}, "steps[0].ask", "an object was expected"),
        (steps({"cmd": "answer", "ask": {"fn": "x", "nth": True}}), "steps[0].ask.nth", "a whole number"),
        ({**WHOLE, "steps": [{"cmd": "answer", "ask": {"fn": "x"}, "value": 1, "throw": "y"}]}, "steps[0]", "not both"),
        (steps({"cmd": "burst", "cmds": [{"cmd": "burst", "cmds": []}]}), "steps[0].cmds[0]", "no burst"),
        ({**WHOLE, "steps": [{"cmd": "burst", "cmds": [{"cmd": "x"}]}]}, "steps[0].cmds[0].cmd", "no command"),
    ],
)  # fmt: skip
def test_errors_name_the_path(value: Any, path: str, says: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_json(value)
    assert caught.value.path == path
    assert says in caught.value.message


def test_an_address_has_a_number_even_if_none_is_given() -> None:
    assert Address.from_json({"fn": "execute", "key": "t1"}, "").to_json() == {
        "fn": "execute",
        "key": "t1",
        "nth": 0,
    }
