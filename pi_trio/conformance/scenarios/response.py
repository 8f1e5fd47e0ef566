"""One response of the model: which events are heard, which message they make, how a stream may end."""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.scripting import (
    AB,
    CALL,
    DONE,
    HALF,
    HELLO,
    OK,
    T1,
    TWO,
    A,
    Object,
    abort,
    answers,
    assistant,
    break_off,
    broken,
    call,
    continue_,
    done,
    end_stream,
    follow_up,
    messages,
    play,
    prompt,
    push,
    response,
    scenario,
    state,
    steer,
    streams,
    text,
    thinking,
    throws,
    topic,
)


def _text_event(kind: str, index: int, *content: str, **fields: Any) -> Object:
    """A text event whose partial holds these texts, whatever the event says."""
    return {
        "type": f"text_{kind}",
        "contentIndex": index,
        **fields,
        "partial": assistant(*content, stop="pending"),
    }


SCENARIOS = topic(
    "response",
    scenario(
        "response_every_block",
        "Thinking, text and a call stream in pieces: each event is one update with its own partial.",
        tools=A,
        responses=[
            response(
                thinking("hm", thinkingSignature="s1"),
                ("Let me ", "look"),
                call("t1", "a", {"s": "x"}, thoughtSignature="s2"),
            ),
            DONE,
        ],
        rules=[OK],
        steps=[prompt("go")],
    ),
    scenario(
        "text_no_start_event",
        "Deltas without a start event are dropped: message_start and message_end come at done.",
        responses=[HELLO[1:]],
        steps=[prompt("hi")],
    ),
    scenario(
        "text_only_done",
        "A stream of one done event gives message_start and message_end.",
        responses=[HELLO[-1:]],
        steps=[prompt("hi")],
    ),
    scenario(
        "error_without_start",
        "A stream of one error event is a whole message: start, end, and the run is over.",
        responses=[broken((), says="401 no key")],
        steps=[prompt("hi"), state()],
    ),
    scenario(
        "stream_end_without_done_with_result",
        "A stream that ends with a result but without done: the result is the message.",
        responses=[streams(HALF, end=assistant("Hello, all of it"))],
        steps=[prompt("hi")],
    ),
    scenario(
        "stream_end_at_once_with_result",
        "A stream that ends with a result and no event at all still gives message_start and message_end.",
        responses=[streams((), end=assistant("Hello"))],
        steps=[prompt("hi")],
    ),
    scenario(
        "stream_end_without_done_no_result",
        "A stream that ends without done and result leaves the run open, whatever is tried then.",
        steps=[
            prompt("hi"),
            play(HALF),
            end_stream(),
            abort(),
            follow_up("still there?"),
            prompt("again"),
        ],
    ),
    scenario(
        "stream_iteration_throws",
        "When reading the stream fails, so does the run, and the partial message is nowhere.",
        responses=[streams(HALF, fail="socket closed"), DONE],
        steps=[prompt("hi"), prompt("again")],
    ),
    scenario(
        "stream_double_start",
        "A second start event starts a second message that alone is ended.",
        responses=[(HELLO[0], *HELLO)],
        steps=[prompt("hi"), messages()],
    ),
    scenario(
        "stream_double_start_then_tool",
        "The first partial of a doubly started message stays in the context: the next request shows it.",
        tools=A,
        responses=[(*HALF, *CALL), DONE],
        rules=[OK],
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "streamfn_rejects",
        "A stream function that fails fails the run; continue is then refused, a new prompt works.",
        responses=[throws("streamFn", "no route to host"), DONE],
        steps=[prompt("hi"), continue_(), prompt("again")],
    ),
    scenario(
        "unknown_provider_events",
        "Provider events of a type that Pi does not know are ignored, before the start and after it.",
        responses=[
            (
                {"type": "ping", "n": 1},
                HELLO[0],
                {"type": "usage_delta", "partial": HELLO[1]["partial"]},
                *HELLO[1:],
            )
        ],
        steps=[prompt("hi")],
    ),
    scenario(
        "events_after_done",
        "What a provider sends after done has no effect, and neither has a second end.",
        steps=[
            prompt("hi"),
            play(HELLO),
            push(HELLO[2]),
            push(done(assistant("another"))),
            end_stream(result=assistant("a third")),
        ],
    ),
    scenario(
        "partial_taken_as_given",
        "Each partial is shown as it is given, deltas are never added up, done has the final message.",
        responses=[
            (
                HELLO[0],
                _text_event("start", 0, ""),
                _text_event("delta", 0, "something else", delta="abc"),
                _text_event("delta", 3, delta="into nowhere"),
                done(assistant("final")),
            )
        ],
        steps=[prompt("hi")],
    ),
    scenario(
        "blocks_interleave",
        "Two text blocks grow in turns, and their ends come last.",
        responses=[
            (
                HELLO[0],
                _text_event("start", 0, ""),
                _text_event("delta", 0, "a", delta="a"),
                _text_event("start", 1, "a", ""),
                _text_event("delta", 1, "a", "b", delta="b"),
                _text_event("delta", 0, "aa", "b", delta="a"),
                _text_event("end", 0, "aa", "b", content="aa"),
                _text_event("end", 1, "aa", "b", content="b"),
                done(assistant("aa", "b")),
            )
        ],
        steps=[prompt("hi")],
    ),
    scenario(
        "unknown_block_and_fields",
        "A block of an unknown type and unknown fields of an answer survive, in the next request too.",
        responses=[
            (
                done(
                    assistant(
                        text("see"),
                        {"type": "citation", "url": "a:b", "at": 1.5},
                        responseId="r1",
                        diagnostics=[{"type": "slow", "timestamp": 0}],
                        score=0.25,
                        note=None,
                    )
                ),
            ),
            DONE,
        ],
        steps=[prompt("hi"), prompt("again")],
    ),
    scenario(
        "empty_answer",
        "An answer without content ends the run as any other.",
        responses=[response()],
        steps=[prompt("hi")],
    ),
    scenario(
        "stop_with_tool_calls",
        "Calls of a message that says stop are executed: the blocks count, not the stop reason.",
        tools=A,
        responses=[response(T1, stop="stop"), DONE],
        rules=[OK],
        steps=[prompt("go")],
    ),
    scenario(
        "tool_use_without_calls",
        "A message that says toolUse but holds no call ends the run.",
        tools=A,
        responses=[response("nothing to do", stop="toolUse")],
        steps=[prompt("go")],
    ),
    scenario(
        "length_without_calls",
        "A text cut off by the token limit ends the run as a good one.",
        responses=[response("once upon a", stop="length")],
        steps=[prompt("tell"), state()],
    ),
    scenario(
        "done_with_error_message",
        "The message decides how a response ended: done with stop reason error is an error.",
        tools=A,
        responses=[(*CALL[:-1], done(assistant(T1, stop="error", errorMessage="bad gateway")))],
        steps=[prompt("go"), state()],
    ),
    scenario(
        "error_without_text",
        "An error message without a text leaves the state without one, too.",
        responses=[
            (
                *HALF,
                {
                    "type": "error",
                    "reason": "error",
                    "error": assistant("Hel", stop="error", errorMessage=""),
                },
            )
        ],
        steps=[prompt("hi"), state()],
    ),
    scenario(
        "deferred",
        "A deferred answer counts as a good one: the follow-up's turn runs.",
        responses=[
            response(
                "later",
                stop="deferred",
                deferred={"provider": "acme", "modelId": "m1", "api": "script", "id": "d1"},
            ),
            DONE,
        ],
        steps=[follow_up("and then?"), prompt("go")],
    ),
    scenario(
        "deferred_with_tool_calls",
        "The calls of a deferred answer are executed.",
        tools=A,
        responses=[response(T1, stop="deferred"), DONE],
        rules=[OK],
        steps=[prompt("go")],
    ),
    scenario(
        "provider_error",
        "A provider error ends the run without poll or retry; the decision of finishTurn is ignored.",
        hooks=["finishTurn"],
        rules=[answers("finishTurn", {"action": "continue"}, nth=0)],
        responses=[broken(HALF, says="429 too many requests"), response("one"), DONE],
        steps=[
            steer("s1"),
            prompt("hi"),
            state(),
            follow_up("f1"),
            continue_(),
        ],
    ),
    scenario(
        "provider_error_with_queues",
        "A provider error leaves both queues full; continue delivers steering, then the follow-up.",
        responses=[None, response("one"), response("two")],
        steps=[
            prompt("hi"),
            play(HALF),
            steer("s1"),
            follow_up("f1"),
            push(break_off(HALF)),
            state(),
            continue_(),
        ],
    ),
    scenario(
        "provider_error_with_tool_calls",
        "The calls of an errored message never start and get no result; the next request has them still.",
        tools=AB,
        responses=[broken(TWO[:-1]), DONE],
        steps=[prompt("go"), prompt("again")],
    ),
    scenario(
        "error_clears_with_next_run",
        "The error text of a failed turn stays in the state until the next run starts.",
        responses=[broken(HALF), None],
        steps=[prompt("hi"), state(), prompt("again"), state(), play(DONE, 1)],
    ),
)
