"""The language of scenarios: streams that add up, rules and steps in their JSON form, operations numbered."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.scenario import Address, Rule, ScenarioError
from pi_trio.conformance.scripting import (
    ABORTED,
    DONE,
    MODEL,
    T1,
    after,
    answer,
    answers,
    assistant,
    at_once,
    break_off,
    broken,
    call,
    continue_,
    crash,
    create,
    end_stream,
    fail_stream,
    fails_at,
    finish,
    follow_up,
    holds,
    holds_event,
    play,
    prompt,
    push,
    raises,
    release,
    response,
    returns,
    scenario,
    steer,
    streams,
    text,
    thinking,
    throws,
    tool,
    topic,
    until,
    update,
    user,
    wait_for_idle,
)

LETTERS = st.text("abc", max_size=5)
PARTS = st.one_of(
    LETTERS,
    st.lists(LETTERS, min_size=1, max_size=3).map(tuple),
    LETTERS.map(thinking),
    st.builds(call, st.just("t1"), st.just("a"), st.one_of(st.none(), st.just({"s": "x"}))),
)
ANSWERS = st.lists(PARTS, max_size=4)


def kinds(events):
    return [event["type"] for event in events]


@given(ANSWERS)
def test_partials_grow_to_the_final_message(parts):
    *streamed, last = response(*parts)
    final = last["message"]
    assert last == {"type": "done", "reason": final["stopReason"], "message": final}
    assert streamed[0] == {"type": "start", "partial": {**final, "content": [], "stopReason": "pending"}}
    for event in streamed[1:]:
        content, index = event["partial"]["content"], event["contentIndex"]
        assert len(content) == index + 1, "blocks come one after the other"
        assert content[:-1] == final["content"][:index], "what is finished does not change any more"
    assert streamed[-1]["partial"]["content"] == final["content"]


@given(ANSWERS)
def test_deltas_and_ends_say_what_the_blocks_hold(parts):
    *streamed, last = response(*parts)
    for index, block in enumerate(last["message"]["content"]):
        own = [event for event in streamed if event.get("contentIndex") == index]
        stem = own[0]["type"].removesuffix("_start")
        assert kinds(own) == [f"{stem}_start", *[f"{stem}_delta"] * (len(own) - 2), f"{stem}_end"]
        if stem == "toolcall":
            assert own[-1]["toolCall"] == block
        else:
            assert own[-1]["content"] == block[stem] == "".join(event["delta"] for event in own[1:-1])


@given(ANSWERS)
def test_partials_share_nothing(parts):
    events = response(*parts)
    before = copy.deepcopy(events[1:])
    events[0]["partial"]["content"].append("changed")
    assert events[1:] == before


def test_stop_reason_follows_the_content():
    assert response("hi")[-1]["reason"] == "stop"
    assert response("hi", T1)[-1]["reason"] == "toolUse"
    assert response(T1, stop="length")[-1]["reason"] == "length"


@given(ANSWERS, st.integers(min_value=0))
def test_until_and_after_cut_a_response_in_two(parts, number):
    events = response(*parts)
    kind = kinds(events)[number % len(events)]
    head, tail = until(kind, events), after(kind, events)
    assert head + tail == events
    assert kinds(head).index(kind) == len(head) - 1


def test_a_response_that_breaks_off_keeps_the_last_partial():
    started = until("text_delta", response(("Hel", "lo")))
    *head, last = broken(started, says="503")
    assert tuple(head) == started
    assert last == break_off(started, says="503")
    assert last["error"] == {**started[-1]["partial"], "stopReason": "error", "errorMessage": "503"}
    assert kinds(ABORTED) == ["error"]
    assert ABORTED[0]["error"]["content"] == []


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            answers("finishTurn", {"action": "end"}, nth=1),
            ("finishTurn", None, None, 1, "value", {"action": "end"}),
        ),
        (throws("getApiKey", "no"), ("getApiKey", None, None, None, "throw", "no")),
        (holds("beforeToolCall", key="t1"), ("beforeToolCall", "t1", None, None, "hold", True)),
        (returns("t1", "A"), ("execute", "t1", None, None, "value", {"content": [text("A")]})),
        (returns("t1", None), ("execute", "t1", None, None, "value", None)),
        (raises("t1", "no"), ("execute", "t1", None, None, "throw", "no")),
        (holds_event("L", "turn_end"), ("listener", "L", "turn_end", 0, "hold", True)),
        (fails_at("L", "turn_end", None), ("listener", "L", "turn_end", None, "throw", "L failed")),
        (streams(DONE, 2), ("streamFn", None, None, 2, "stream", list(DONE))),
    ],
)
def test_rules_are_read_as_they_are_meant(rule, expected):
    read = Rule.from_json(rule, "rule")
    assert (read.fn, read.key, read.event, read.nth, read.deed, read.value) == expected


@pytest.mark.parametrize(
    ("ending", "close"),
    [
        ({}, None),
        ({"end": None}, {"cmd": "end"}),
        ({"end": assistant("x")}, {"cmd": "end", "result": assistant("x")}),
        ({"fail": "closed"}, {"cmd": "fail", "error": "closed"}),
    ],
)
def test_a_stream_is_closed_as_its_rule_says(ending, close):
    assert Rule.from_json(streams(DONE, **ending), "rule").close == close


@pytest.mark.parametrize(
    ("step", "address"),
    [
        (finish("t1", "A"), Address(fn="execute", key="t1")),
        (finish("t1", "A", nth=1), Address(fn="execute", key="t1", nth=1)),
        (crash("t1", "no"), Address(fn="execute", key="t1")),
        (update("t1", "half"), Address(fn="execute", key="t1")),
        (release("L", "turn_end", 2), Address(fn="listener", key="L", event="turn_end", nth=2)),
        (answer("finishTurn"), Address(fn="finishTurn")),
        (play(DONE, 1)[0], Address(fn="streamFn", nth=1)),
        (push(DONE[0])[0], Address(fn="streamFn")),
        (end_stream(), Address(fn="streamFn")),
        (fail_stream("closed", 1), Address(fn="streamFn", nth=1)),
    ],
)
def test_steps_address_what_they_mean(step, address):
    assert Address.from_json(step["ask"], "ask") == address


def test_an_answer_of_nothing_has_no_value():
    assert "value" not in finish("t1")
    assert finish("t1", "A")["value"] == {"content": [text("A")]}


def test_play_opens_the_stream_and_sends_each_event_in_a_step_of_its_own():
    opened, *pushed = play(DONE)
    assert opened["value"] == "stream"
    assert [step["event"] for step in pushed] == list(DONE)


def test_text_is_short_for_a_users_message():
    assert steer("s")["message"] == follow_up("s")["message"] == user("s")
    assert steer(T1)["message"] is T1


def test_operations_are_numbered_in_the_order_of_the_script_bursts_included():
    steps = [prompt("a"), at_once(prompt("b"), continue_()), [wait_for_idle(), prompt("c")], continue_()]
    made = scenario("x", "X.", steps=steps)
    burst = made["steps"][1]["cmds"]
    assert [step.get("op") for step in made["steps"]] == ["p1", None, "w1", "p3", "c2"]
    assert [step["op"] for step in burst] == ["p2", "c1"]


def test_making_a_scenario_leaves_its_parts_alone():
    step, rule, state = prompt("a"), holds("finishTurn"), {"messages": [user("hi")]}
    before = copy.deepcopy((step, rule, state))
    made = scenario("x", "X.", steps=[step], rules=[rule], state=state, responses=[DONE])
    made["create"]["initialState"]["messages"].append("changed")
    made["create"]["initialState"]["model"]["id"] = "changed"
    made["answers"][1]["stream"].clear()
    assert (step, rule, state) == before
    assert MODEL["id"] == "m1"
    assert kinds(DONE)[-1] == "done"


def test_responses_answer_their_requests_behind_the_other_rules():
    made = scenario(
        "x",
        "X.",
        steps=[],
        rules=[holds("streamFn", nth=3)],
        responses=[DONE, None, throws("streamFn", "no")],
    )
    assert [(rule.get("nth"), "stream" in rule) for rule in made["answers"]] == [
        (3, False),
        (0, True),
        (2, False),
    ]


def test_the_agent_has_one_told_listener_and_a_model_unless_it_is_said_otherwise():
    plain = scenario("x", "X.", steps=[])["create"]
    assert (plain["listeners"], plain["tellListeners"], plain["initialState"]) == (
        ["L"],
        ["L"],
        {"model": MODEL},
    )
    given = scenario("x", "X.", steps=[], listeners=["L", "M"], told=["M"], state={"model": None})["create"]
    assert (given["tellListeners"], given["initialState"]) == (["M"], {})
    assert {"options", "snapshot", "target"}.isdisjoint(given)
    assert create(snapshot=True)["snapshot"] is True
    assert create(target="loop")["target"] == "loop"


def test_a_topic_makes_scenarios_of_what_it_is_given():
    made = scenario("x", "X.", tools=[tool("a")], responses=[DONE], steps=[prompt("a")])
    (read,) = topic("things", made)
    assert read.to_json() == {**made, "topic": "things"}
    with pytest.raises(ScenarioError):
        topic("things", scenario("Not A Name", "X.", steps=[]))
