"""What only earlier releases have: a stop hook behind the turn's end, and a prompt beside the transcript.

`shouldStopAfterTurn` is a hook of the loop up to 0.85.0, and of the agent in 0.85.0 alone; since 1.0.3 `finishTurn`
stands in its place. Up to 0.85.0 the prompt is a text that can be set, and goes with the context. What later releases
can play of it shows what has become of it there.
"""

from __future__ import annotations

from pi_trio.conformance.scripting import (
    CALL,
    DONE,
    NEXT,
    OK,
    STOP,
    A,
    answer,
    answers,
    broken,
    continue_,
    finish,
    follow_up,
    holds,
    prompt,
    response,
    scenario,
    set_option,
    state,
    steer,
    throws,
    topic,
    user,
)

PROMPTED = {"systemPrompt": "Be brief."}

SCENARIOS = topic(
    "earlier_releases",
    # The stop hook.
    scenario(
        "should_stop_after_turn",
        "shouldStopAfterTurn says true behind a tool turn's end: the run is over, and both queues stay full.",
        tools=A,
        hooks=[STOP],
        responses=[CALL, DONE, DONE],
        rules=[answers(STOP, True, nth=0)],
        steps=[prompt("go"), steer("s1"), follow_up("f1"), finish("t1", "A"), state(), continue_()],
    ),
    scenario(
        "should_stop_after_turn_says_no",
        "shouldStopAfterTurn is asked behind each good turn, before the polls; what is not true goes on.",
        tools=A,
        hooks=[STOP, NEXT],
        responses=[CALL, response("one"), response("two"), broken(())],
        rules=[OK, answers(STOP, False, nth=0), answers(STOP, 0, nth=1)],
        steps=[follow_up("f1"), follow_up("f2"), prompt("go")],
    ),
    scenario(
        "should_stop_after_turn_truthy",
        "Any true value of shouldStopAfterTurn stops the run.",
        tools=A,
        hooks=[STOP],
        responses=[CALL],
        rules=[OK, answers(STOP, "enough")],
        steps=[prompt("go")],
    ),
    scenario(
        "should_stop_after_turn_held",
        "A message that is steered while shouldStopAfterTurn waits has its turn in this run.",
        hooks=[STOP],
        responses=[response("one"), DONE],
        rules=[holds(STOP, nth=0)],
        steps=[prompt("go"), steer("s1"), answer(STOP, False), state()],
    ),
    scenario(
        "should_stop_after_turn_throws",
        "When shouldStopAfterTurn fails behind a turn's end the failure has a turn_end without a turn_start.",
        tools=A,
        hooks=[STOP],
        responses=[CALL, DONE],
        rules=[OK, throws(STOP, "no decision")],
        steps=[prompt("go"), state()],
    ),
    scenario(
        "loop_should_stop_after_turn",
        "In the loop, shouldStopAfterTurn comes before the polls, and behind what prepares the next turn.",
        target="loop",
        tools=A,
        hooks=[NEXT, STOP],
        responses=[CALL, DONE],
        rules=[OK, answers(STOP, True, nth=1)],
        steps=[prompt("go")],
    ),
    # What prepares the next turn behind the last.
    scenario(
        "prepare_next_turn_throws_without_next_turn",
        "prepareNextTurn would fail, and no turn follows that it could prepare.",
        hooks=[NEXT],
        responses=[DONE],
        rules=[throws(NEXT, "no room")],
        steps=[prompt("go"), state()],
    ),
    # The prompt.
    scenario(
        "prepare_next_turn_context_without_prompt",
        "A context from prepareNextTurn that has no prompt takes it from the rest of the run.",
        tools=A,
        hooks=[NEXT],
        state=PROMPTED,
        responses=[CALL, response("one"), response("two"), DONE],
        rules=[OK, answers(NEXT, {"context": {"messages": [user("summary")], "tools": [*A]}}, nth=0)],
        steps=[follow_up("f1"), prompt("go"), state(), prompt("again")],
    ),
    scenario(
        "prepare_next_turn_context_with_prompt",
        "A context from prepareNextTurn that has a prompt of its own brings it for the rest of the run.",
        tools=A,
        hooks=[NEXT],
        state=PROMPTED,
        responses=[CALL, DONE, DONE],
        rules=[
            OK,
            answers(
                NEXT,
                {"context": {"systemPrompt": "Be kind.", "messages": [user("summary")], "tools": [*A]}},
                nth=0,
            ),
        ],
        steps=[prompt("go"), state(), prompt("again")],
    ),
    scenario(
        "set_system_prompt",
        "A prompt that is set during a run counts from the next one on, and the state shows it at once.",
        tools=A,
        state=PROMPTED,
        responses=[CALL, DONE, DONE],
        steps=[
            prompt("go"),
            set_option("systemPrompt", "Be kind."),
            state(),
            finish("t1", "A"),
            prompt("again"),
        ],
    ),
    scenario(
        "loop_set_system_prompt",
        "In the loop, a prompt that is set between two runs goes with the requests of the second.",
        target="loop",
        state=PROMPTED,
        responses=[response("one"), response("two")],
        steps=[prompt("go"), set_option("systemPrompt", "Be kind."), prompt("again")],
    ),
)
