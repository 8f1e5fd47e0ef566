"""No false alarm at what is allowed and rare: nobody records it, and the runtime does as all releases do."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from pi_trio.conformance.lines import event_of
from pi_trio.conformance.monitors import judge_events
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scripting import (
    HELLO,
    T1,
    abort,
    answer,
    assistant,
    at_once,
    broken,
    call,
    command,
    continue_,
    crash,
    finish,
    follow_up,
    holds_event,
    play,
    prompt,
    push,
    release,
    response,
    result,
    scenario,
    set_messages,
    state,
    steer,
    throws,
    tool,
    tool_message,
    topic,
    until,
    user,
)

from .playing import judged_runs, played
from .recordings import FORCE

A, B = tool("a"), tool("b")
CALLS = response(T1, call("t2", "a"))
NOTHING = {
    "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}  # fmt: skip
LOOKS_FAILED = assistant("", stop="error", errorMessage="of a run long ago", usage=NOTHING)
FINISH = (finish("t1", "one"), finish("t2", "two"))
SUBSCRIBE = command("subscribe", key="Z")
STARTED = until("start", HELLO)
TWINS = {
    "names": response(call("t1", "a"), call("t1", "b")),
    "results": response(call("t1", "a"), call("t1", "a")),
    "arguments": response(call("t1", "a", {"x": 1}), call("t1", "a", {"x": 2})),
}


def second(value: str) -> Object:
    """The second of two calls with one id returns."""
    return finish("t1", value, nth=1)


SUBSCRIBED = [
    scenario(
        f"subscribed_during_{event}_{nth}",
        "A listener joins while another holds an event.",
        tools=[A],
        responses=[CALLS, HELLO],
        rules=[holds_event("L", event, nth)],
        listeners=["L", "M"],
        told=["M", "Z"],
        snapshot=True,
        steps=[prompt("go"), *before, SUBSCRIBE, release("L", event, nth), *behind],
    )
    for events, before, behind in (
        (("message_start", "message_update", "message_end", "tool_execution_start"), (), FINISH),
        (("tool_execution_end", "turn_end"), FINISH, ()),
    )
    for event in events
    for nth in (0, 1)
]

TWINS_OF_ONE_ID = [
    scenario(
        "twins_by_their_names",
        "Two calls have one id and two names, and the second ends first.",
        tools=[A, B],
        responses=[TWINS["names"], HELLO],
        steps=[prompt("go"), second("B"), finish("t1", "A")],
    ),
    scenario(
        "twins_by_their_results",
        "Two equal calls end in the other order, with results that differ.",
        tools=[A],
        responses=[TWINS["results"], HELLO],
        steps=[prompt("go"), second("B"), finish("t1", "A")],
    ),
    scenario(
        "twins_by_their_usage",
        "Two equal calls end in the other order, with results that differ in their usage.",
        tools=[A],
        responses=[TWINS["results"], HELLO],
        steps=[
            prompt("go"),
            answer("execute", {**result("A"), "usage": NOTHING}, key="t1", nth=1),
            finish("t1", "A"),
        ],
    ),
    scenario(
        "twins_by_their_arguments",
        "Of two calls with one id the second reports, and ends first; then the first reports.",
        tools=[A],
        responses=[TWINS["arguments"], HELLO],
        steps=[
            prompt("go"),
            command("update", ask={"fn": "execute", "key": "t1", "nth": 1}, value=result("B")),
            second("B"),
            command("update", ask={"fn": "execute", "key": "t1", "nth": 0}, value=result("A")),
            finish("t1", "A"),
        ],
    ),
]

REFUSED = [
    scenario(
        "continue_refused_before_a_prompt",
        "In one stretch there is nothing to continue from, and then a prompt.",
        responses=[HELLO],
        steps=[at_once(continue_(), prompt("go"))],
    ),
    scenario(
        "continue_refused_before_an_aborted_prompt",
        "The prompt that runs in the place of what was refused is aborted with it.",
        responses=[None],
        steps=[at_once(continue_(), prompt("go"), abort()), state()],
    ),
    scenario(
        "refused_by_a_loop_before_a_prompt",
        "In one stretch there is nothing to continue from, and a prompt that is not taken; then a run is not aborted.",
        target="loop",
        responses=[HELLO],
        steps=[at_once(continue_(), prompt("go")), abort(), prompt("go")],
    ),
    scenario("continue_refused_twice", "Neither has begun a run.", steps=[at_once(continue_(), continue_())]),
]

QUEUED = [
    scenario(
        f"{name}_taken_unheard",
        "It was queued and said while nobody listened; then somebody hears another run.",
        listeners=[],
        told=["L"],
        responses=[None, HELLO, HELLO],
        steps=[prompt("go"), queue("later"), play(HELLO), command("subscribe", key="L"), prompt("again")],
    )
    for name, queue in (("steering", steer), ("follow_up", follow_up))
] + [
    scenario(
        f"steered_{name}",
        "Any message can be steered, whoever would say it otherwise.",
        tools=[A],
        responses=[None, response(T1), HELLO],
        steps=[prompt("go"), steer(message), *play(HELLO), finish("t1", "one")],
    )
    for name, message in (
        ("answer", assistant("said before")),
        ("calls", assistant(call("t9", "a"), stop="toolUse")),
        ("result", tool_message("t9", "a", "nine")),
        ("failure", LOOKS_FAILED),
    )
]

FAILING = [
    scenario(
        "steered_failure_before_a_failure",
        "What looks like a failure is steered, and then the run fails.",
        responses=[None, throws("streamFn", "boom")],
        steps=[prompt("go"), steer(LOOKS_FAILED), *play(HELLO)],
    ),
    scenario(
        "prompted_failure_and_its_equal",
        "A failure is replayed, and the run fails in the same words.",
        hooks=["transformContext"],
        rules=[throws("transformContext", "of a run long ago")],
        steps=[prompt([user("go"), LOOKS_FAILED])],
    ),
    scenario(
        "prompted_failures",
        "A transcript with two failures is replayed.",
        responses=[HELLO],
        steps=[prompt([user("go"), LOOKS_FAILED, LOOKS_FAILED, user("go on")])],
    ),
    scenario(
        "prompted_failure",
        "A transcript that ends in a failure is replayed.",
        responses=[HELLO],
        steps=[prompt([user("go"), LOOKS_FAILED])],
    ),
    scenario(
        "provider_in_the_words_of_a_tool",
        "A tool fails, and later the provider does, with the same text.",
        tools=[A],
        responses=[response(T1), broken(until("text_delta", HELLO), says="Overloaded")],
        steps=[prompt("go"), crash("t1", "Overloaded")],
    ),
]

EQUAL = [
    scenario(
        "steered_again_once_cleared",
        "Of two equal messages one was taken and cleared, and the other is queued behind another.",
        responses=[None, *[HELLO] * 4],
        rules=[holds_event("L", "turn_start", 1)],
        told=[],
        steps=[
            prompt("go"), steer("a"), *play(HELLO), command("clearQueue", which="all"), steer("b"), steer("a"),
            release("L", "turn_start", 1),
        ],
    ),
    scenario(
        "the_same_in_both_queues",
        "A follow-up was taken, and an equal message is steered behind another.",
        responses=[None, *[HELLO] * 4],
        rules=[holds_event("L", "turn_start", 1)],
        told=[],
        steps=[
            prompt("go"), follow_up("a"), *play(HELLO), steer("b"), steer("a"), release("L", "turn_start", 1),
        ],
    ),
    scenario(
        "prepared_and_steered",
        "A hook prepares a message that is queued as well, behind another.",
        hooks=["prepareNextTurn"],
        responses=[None, *[HELLO] * 4],
        steps=[
            prompt("go"), steer("b"), steer("a"), *play(HELLO), answer("prepareNextTurn", {"messages": [user("a")]}),
        ],
    ),
]  # fmt: skip

SET_MESSAGES = [
    scenario(
        "messages_set_together_with_a_prompt",
        "In one stretch a run begins, which is heard of as it was then, and the transcript is changed.",
        snapshot=True,
        responses=[HELLO, HELLO],
        steps=[prompt("go"), at_once(prompt("again"), set_messages())],
    )
]

CUT = [
    scenario(
        "start_and_abort_at_once",
        "An answer starts, and in the same stretch the run is aborted.",
        responses=[None],
        steps=[prompt("go"), at_once(answer("streamFn", "stream"), push(STARTED), abort())],
    ),
    scenario(
        "answer_prompted_behind_a_cut_one",
        "The next run says an answer that was given to it.",
        responses=[None, HELLO],
        steps=[
            prompt("go"), at_once(answer("streamFn", "stream"), push(STARTED), abort()),
            prompt([assistant("said before"), user("go on")]),
        ],
    ),
]  # fmt: skip

EARLIER = [
    scenario(
        "reset_under_a_run",
        "Where a reset during a run is not refused, the state looks idle while the run goes on.",
        snapshot=True,
        responses=[None],
        steps=[prompt("go"), answer("streamFn", "stream"), command("reset"), *push(HELLO)],
    ),
    scenario(
        "reset_together_with_a_prompt",
        "In one stretch a run begins, which is heard of as it was then, and the state is emptied.",
        snapshot=True,
        responses=[HELLO, HELLO],
        steps=[prompt("go"), at_once(prompt("again"), command("reset"))],
    ),
]


@pytest.mark.parametrize("cancels", [False, True], ids=["signal", "cancel"])
@pytest.mark.parametrize(
    ("release", "topic_of"),
    [
        ("1.6.0", SUBSCRIBED), ("1.6.0", TWINS_OF_ONE_ID), ("1.6.0", REFUSED), ("1.6.0", QUEUED), ("1.6.0", FAILING),
        ("1.6.0", EQUAL), ("1.6.0", CUT), ("1.6.0", SET_MESSAGES), ("0.80.2", EARLIER),
    ],
    ids=["subscribed", "twins", "refused", "queued", "failing", "equal", "cut", "set", "reset"],
)  # fmt: skip
def test_what_is_rare_breaks_no_clause(release: str, topic_of: Sequence[Object], cancels: bool) -> None:
    for run, judgement in judged_runs(topic_of, release, cancels=cancels):
        assert not any("unresolved" in line for line in run.lines), run.scenario.name
        assert judgement.findings == (), run.scenario.name


def test_a_log_with_a_replayed_failure_breaks_no_clause() -> None:
    """Without the commands: it shows in what follows."""
    replayed = [each for each in FAILING if each["name"] == "prompted_failure"]
    for run in played(topic("rare", *replayed), "1.6.0"):
        events = [event for line in run.lines if (event := event_of(line)) is not None]
        assert judge_events(events, FORCE).findings == ()


REPLAYED = {
    "user": user("again"),
    "answer": assistant("said before"),
    "levelled": assistant("said before", thinkingLevel="off"),
    "calls": assistant(call("t9", "a"), stop="toolUse"),
    "result": tool_message("t9", "a", "nine"),
    "failure": LOOKS_FAILED,
    "aborted": {**LOOKS_FAILED, "stopReason": "aborted"},
    "spent": assistant("", stop="error", errorMessage="of a provider"),
    "errored": assistant("half", stop="error", errorMessage="of a provider"),
}
ANSWERED_BY: dict[str, list[Any]] = {
    "hello": [HELLO], "whole": [HELLO[-1:]], "calls": [CALLS, HELLO], "fails": [throws("streamFn", "boom")],
    "breaks": [broken(until("text_delta", HELLO), says="Overloaded")],
}  # fmt: skip


def replays(chance: random.Random, number: int) -> Object:
    """A run that is given some messages of earlier ones."""
    names = chance.choices(list(REPLAYED), k=chance.randint(1, 5))
    answered = chance.choice(list(ANSWERED_BY))
    return scenario(
        f"replayed_{number}_{'_'.join(names)}_{answered}",
        "A transcript is given to a run.",
        tools=[A],
        responses=ANSWERED_BY[answered],
        steps=[prompt([REPLAYED[name] for name in names]), *(FINISH if answered == "calls" else ())],
    )


@pytest.mark.parametrize("release", ["0.80.2", "1.6.0"])
def test_a_log_in_which_anything_is_replayed_breaks_no_clause(release: str) -> None:
    chance = random.Random(release)
    for run in played(topic("rare", *(replays(chance, number) for number in range(120))), release):
        events = [event for line in run.lines if (event := event_of(line)) is not None]
        assert judge_events(events, FORCE).findings == (), run.scenario.name
        assert judge_events(events, FORCE, [release]).findings == (), run.scenario.name
