"""The hand-written scenarios as a collection: whole, named, distinct, and covering what a suite must cover."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import MODULES, all_scenarios
from pi_trio.conformance.scripting import scenario, topic
from pi_trio.jsontext import parse_json, print_json

SCENARIOS = all_scenarios()
EVENTS = (
    "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end",
    "tool_execution_start", "tool_execution_update", "tool_execution_end",
)  # fmt: skip
HOOKS = (
    "beforeToolCall", "afterToolCall", "prepareNextTurn", "prepareNextTurnWithContext", "prepareRequest", "finishTurn",
    "shouldStopAfterTurn", "transformContext", "convertToLlm", "getApiKey",
)  # fmt: skip
POLLS = ("getSteeringMessages", "getFollowUpMessages")


def commands(steps):
    for step in steps:
        yield step
        yield from commands(step.get("cmds", ()))


def creates(scenario):
    return [scenario.create, *(step for step in scenario.steps if step["cmd"] == "create")]


def test_there_are_as_many_as_the_suite_needs():
    assert len(SCENARIOS) >= 160


def test_names_are_unique():
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)


def test_two_of_one_name_are_refused(monkeypatch):
    class Twin:
        SCENARIOS = topic("twins", scenario(SCENARIOS[0].name, "X.", steps=[]))

    monkeypatch.setattr("pi_trio.conformance.scenarios.MODULES", (*MODULES, Twin))
    with pytest.raises(ValueError, match=SCENARIOS[0].name):
        all_scenarios.__wrapped__()


def test_no_two_do_the_same():
    doings = Counter(
        print_json(
            {key: value for key, value in scenario.to_json().items() if key not in ("name", "title", "topic")}
        )
        for scenario in SCENARIOS
    )
    assert doings.most_common(1)[0][1] == 1


def test_titles_are_one_sentence():
    assert [each.title for each in SCENARIOS if not re.fullmatch(r"[A-Za-z][^\n.]*\.", each.title)] == []


def test_json_forms_are_read_back():
    assert [
        each.name for each in SCENARIOS if Scenario.from_json(parse_json(print_json(each.to_json()))) != each
    ] == []


def test_only_hooks_that_are_installed_are_awaited():
    def stray(each):
        installed = {hook for create in creates(each) for hook in create["hooks"]}
        asked = {rule.fn for rule in each.rules} | {
            step["ask"]["fn"] for step in commands(each.steps) if "ask" in step
        }
        implied = {"streamFn", "execute", "listener"}
        if each.create.get("target") == "loop":
            implied |= {*POLLS}
        return (installed - {*HOOKS}) | (asked - installed - implied)

    assert {each.name: stray(each) for each in SCENARIOS if stray(each)} == {}


def test_only_listeners_that_are_asked_are_held_or_fail():
    def stray(each):
        told = {name for create in creates(each) for name in create["tellListeners"]}
        named = {rule.key for rule in each.rules if rule.fn == "listener"}
        named |= {
            step["ask"]["key"] for step in commands(each.steps) if step.get("ask", {}).get("fn") == "listener"
        }
        return named & told

    assert {each.name: stray(each) for each in SCENARIOS if stray(each)} == {}


def test_messages_have_timestamp_0():
    def messages(value):
        if isinstance(value, dict):
            if isinstance(value.get("role"), str):
                yield value
            for item in value.values():
                yield from messages(item)
        elif isinstance(value, list):
            for item in value:
                yield from messages(item)

    late = [
        each.name for each in SCENARIOS for message in messages(each.to_json()) if message["timestamp"] != 0
    ]
    assert late == []


@pytest.mark.parametrize("event", EVENTS)
def test_a_listener_fails_at_each_type_of_event_once_and_always(event):
    names = {scenario.name for scenario in SCENARIOS}
    assert {f"listener_throws_{event}", f"listener_always_throws_{event}"} <= names


@pytest.mark.parametrize("event", EVENTS)
def test_a_listener_holds_each_type_of_event(event):
    assert any(
        rule.deed == "hold" and rule.event == event for scenario in SCENARIOS for rule in scenario.rules
    )


@pytest.mark.parametrize("hook", [*HOOKS, *POLLS, "streamFn", "execute"])
def test_each_callback_throws_somewhere(hook):
    rules = {rule.fn for scenario in SCENARIOS for rule in scenario.rules if rule.deed == "throw"}
    steps = {
        step["ask"]["fn"] for scenario in SCENARIOS for step in commands(scenario.steps) if "throw" in step
    }
    assert hook in rules | steps


@pytest.mark.parametrize("hook", [*HOOKS, "streamFn", "execute"])
def test_each_callback_is_open_while_something_else_happens(hook):
    # Whatever a step answers was open until then. `execute` and `streamFn` are held unless a rule answers them.
    answered = {
        step["ask"]["fn"] for scenario in SCENARIOS for step in commands(scenario.steps) if "ask" in step
    }
    assert hook in answered


@pytest.mark.parametrize("cmd", ["abort", "answer", "update", "push", "prompt", "steer"])
def test_races_are_declared_for(cmd):
    assert cmd in {part["cmd"] for each in SCENARIOS for step in each.steps for part in step.get("cmds", ())}
