"""The loop alone between its runs: what is refused, what a setting reaches, and a loop in place of another."""

from __future__ import annotations

from pi_trio.conformance.scripting import (
    AB,
    ABC,
    CALL,
    DONE,
    TWO,
    A,
    Object,
    call,
    command,
    continue_,
    create,
    declaration,
    finish,
    follow_up,
    loop,
    messages,
    model,
    play,
    prompt,
    response,
    returns,
    set_messages,
    set_option,
    set_tools,
    state,
    steer,
    system,
    topic,
    user,
    wait_for_idle,
)

_DECLARED = [system(toolsAdded=[declaration(A[0])])]


def _of_agents() -> list[Object]:
    """Commands on what the loop does not have."""
    return [
        state(),
        steer("s1"),
        follow_up("f1"),
        command("clearQueue", which="all"),
        command("peekQueued"),
        command("reset"),
        wait_for_idle(),
    ]


SCENARIOS = topic(
    "low_level",
    loop(
        "loop_refused",
        "What only an agent has is refused, without a run and during one, and a second run is refused too.",
        responses=[None],
        steps=[*_of_agents(), prompt("go"), *_of_agents(), prompt("again"), continue_(), play(DONE)],
    ),
    loop(
        "loop_settings_between_runs",
        "Messages, tools, model and level that are set between two runs are what the second one begins with.",
        tools=AB,
        responses=[response("one"), response(call("t1", "b"), call("t2", "c")), DONE],
        rules=[returns("t1", "B"), returns("t2", "C")],
        steps=[
            prompt("go"),
            set_tools(*ABC[1:]),
            set_messages(*_DECLARED, user("before")),
            set_option("model", model("m2")),
            set_option("thinkingLevel", "high"),
            set_option("toolExecution", "sequential"),
            prompt("again"),
            messages(),
        ],
    ),
    loop(
        "loop_settings_in_a_run",
        "What is set during a run does not reach it; what it adds is added to the messages that were set.",
        tools=AB,
        responses=[TWO, DONE, DONE],
        steps=[
            prompt("go"),
            set_messages(user("before")),
            set_tools(*A),
            set_option("model", model("m2")),
            set_option("toolExecution", "sequential"),
            messages(),
            finish("t1", "A"),
            finish("t2", "B"),
            messages(),
            prompt("again"),
        ],
    ),
    loop(
        "loop_created_anew",
        "A new loop takes the place of one whose tool still runs, and hears nothing of it.",
        tools=A,
        steps=[
            prompt("go"),
            play(CALL),
            create(target="loop", state={"messages": [user("before")]}),
            continue_(),
            play(DONE),
            messages(),
        ],
    ),
)
