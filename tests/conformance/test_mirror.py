"""Scenarios in the way of subjects that may do otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.mirror import contradicts_itself, holds_listeners, mirrored
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scripting import (
    DONE,
    T1,
    at_once,
    call,
    command,
    create,
    fails_at,
    finish,
    holds_event,
    play,
    prompt,
    release,
    response,
    scenario,
    set_option,
    tool,
    topic,
)

TOOLS = [tool("a")]


def one(**given: Any) -> Scenario:
    (made,) = topic("t", scenario("x", "X.", **{"steps": [prompt("go")], **given}))
    return made


@pytest.mark.parametrize(
    "features", [{}, {"burst": False}, {"listeners": "awaited", "toolModes": "both", "new": 1}]
)
def test_who_follows_pi_plays_the_scenario_itself(features: dict[str, Any]) -> None:
    for each in all_scenarios():
        assert mirrored(each, features) is each


def test_listeners_that_are_not_awaited_are_told() -> None:
    given = one(listeners=["L", "M"], told=["M"], steps=[command("subscribe", key="N"), prompt("go")])
    told = mirrored(given, {"listeners": "sync"})
    assert told.create["listeners"] == ["L", "M"]
    assert told.create["tellListeners"] == ["M", "L", "N"]
    assert told.steps == given.steps
    none = mirrored(given, {"listeners": "none"})
    assert (none.create["listeners"], none.create["tellListeners"]) == ([], [])


def test_a_scenario_in_which_all_are_told_is_no_other() -> None:
    given = one(listeners=["L"])
    assert mirrored(given, {"listeners": "sync"}) is given


@pytest.mark.parametrize(
    "given",
    [
        one(listeners=["L"], told=[], rules=[holds_event("L", "turn_end")]),
        one(listeners=["L"], told=[], rules=[fails_at("L", "turn_end")]),
        one(listeners=["L"], told=[], steps=[prompt("go"), release("L", "turn_end")]),
        one(listeners=["L"], told=[], steps=[prompt("go"), at_once(release("L", "turn_end"))]),
    ],
)
@pytest.mark.parametrize("listeners", ["sync", "none"])
def test_a_listener_that_is_kept_waiting_or_fails_cannot_be_told(given: Scenario, listeners: str) -> None:
    assert holds_listeners(given)
    assert mirrored(given, {"listeners": listeners}) is given


def test_who_has_one_mode_runs_calls_in_it() -> None:
    given = one(tools=TOOLS, settings={"sessionId": "s"})
    changed = mirrored(given, {"toolModes": ["sequential"]})
    assert changed.create["options"] == {"sessionId": "s", "toolExecution": "sequential"}
    assert mirrored(given, {"toolModes": ["parallel"]}) is given
    spoken = one(tools=TOOLS, settings={"toolExecution": "parallel"})
    assert mirrored(spoken, {"toolModes": ["sequential"]}) is spoken


AGAIN = {**create(tools=TOOLS), "cmd": "create"}


def test_a_second_agent_is_created_in_the_same_way() -> None:
    given = one(tools=TOOLS, steps=[prompt("go"), AGAIN, prompt("go")])
    for features, option in (
        ({"toolModes": ["sequential"]}, {"toolExecution": "sequential"}),
        ({"abort": "cancelling"}, {"abortMode": "cancel"}),
    ):
        own = mirrored(given, features)
        assert [each["options"] for each in (own.create, own.steps[1])] == [option, option]


def test_the_streams_of_two_agents_are_two() -> None:
    """Though each is the first of its agent."""
    first, second = response("one"), response("two")
    pushed = [{"cmd": "push", "ask": {"fn": "streamFn", "nth": 0}, "event": event} for event in first]
    more = [{"cmd": "push", "ask": {"fn": "streamFn", "nth": 0}, "event": event} for event in second]
    given = one(rules=[], steps=[prompt("go"), *pushed, AGAIN, prompt("go"), *more])
    assert not contradicts_itself(given)
    own = mirrored(given, {"partials": "built"})
    alone = mirrored(one(rules=[], steps=[prompt("go"), *more]), {"partials": "built"})
    assert own.steps[-len(more) :] == alone.steps[-len(more) :]


def test_whose_aborts_cancel_is_asked_so() -> None:
    given = one(
        settings={"sessionId": "s"}, steps=[prompt("go"), create(settings={"abortMode": "signal"}), create()]
    )
    changed = mirrored(given, {"abort": "cancelling"})
    assert changed.create["options"] == {"abortMode": "cancel", "sessionId": "s"}
    assert [step.get("options") for step in changed.steps] == [
        None,
        {"abortMode": "signal"},
        {"abortMode": "cancel"},
    ]
    assert mirrored(changed, {"abort": "cancelling"}) is changed


@pytest.mark.parametrize("abort", ["advisory", "both", None, {}])
def test_who_does_not_have_to_cancel_is_not_asked_to(abort: Any) -> None:
    given = one()
    assert mirrored(given, {"abort": abort}) is given


def test_who_rebuilds_gets_partials_that_add_up() -> None:
    arguments = call("t1", "a", {"s": "x"})
    given = one(
        tools=TOOLS,
        responses=[response(arguments), None],
        steps=[prompt("go"), finish("t1"), play(response(arguments, stop="stop"), 1), set_option("model", 1)],
    )
    changed = mirrored(given, {"partials": "built"})
    assert changed != given
    streams = [rule["stream"] for rule in changed.answers if "stream" in rule]
    pushed = [step["event"] for step in changed.steps if step["cmd"] == "push"]
    for events in (*streams, pushed):
        assert events[2]["type"] == "toolcall_delta"
        assert events[2]["partial"]["content"] == [arguments]
    assert [step for step in changed.steps if step["cmd"] != "push"] == [
        step for step in given.steps if step["cmd"] != "push"
    ]


def test_who_rebuilds_is_not_asked_about_contradictions() -> None:
    twice = (response("one")[0], *response("one"))
    given = one(responses=[twice])
    assert contradicts_itself(given)
    assert mirrored(given, {"partials": "built"}) is given
    assert not contradicts_itself(one(responses=[DONE, response(T1)]))
