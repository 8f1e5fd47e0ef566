"""The hooks around one tool call: blocking it, changing its result, and what their errors become."""

from __future__ import annotations

from pi_trio.conformance.scripting import (
    AB,
    ABC,
    DONE,
    T1,
    T2,
    T3,
    TOOL_HOOKS,
    USAGE,
    answer,
    answers,
    call,
    holds,
    parameters,
    prompt,
    raises,
    response,
    result,
    returns,
    scenario,
    state,
    text,
    throws,
    tool,
    topic,
)

TWO = response(T1, T2)
THREE = response(T1, T2, T3)
BEFORE, AFTER = TOOL_HOOKS

SCENARIOS = topic(
    "tool_hooks",
    scenario(
        "tool_blocked",
        "The second of three calls is blocked with a reason: an error before the third starts.",
        tools=ABC,
        hooks=TOOL_HOOKS,
        responses=[THREE, DONE],
        rules=[
            answers(BEFORE, {"block": True, "reason": "not today"}, key="t2"),
            returns("t1", "A"),
            returns("t3", "C"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "tool_blocked_default_reason",
        "Without a reason, or with an empty one, the fixed text says that the call was blocked.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[TWO, DONE],
        rules=[
            answers(BEFORE, {"block": True}, key="t1"),
            answers(BEFORE, {"block": True, "reason": ""}, key="t2"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "tool_blocked_truthy",
        "Any true value blocks: yes and 1 do, 0 and an empty text do not.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[response(T1, T2, call("t3", "a", {"s": "3"}), call("t4", "b", {"s": "4"})), DONE],
        rules=[
            answers(BEFORE, {"block": "yes"}, key="t1"),
            answers(BEFORE, {"block": 1, "reason": "one"}, key="t2"),
            answers(BEFORE, {"block": 0, "reason": "zero"}, key="t3"),
            answers(BEFORE, {"block": "", "reason": "nothing"}, key="t4"),
            returns("t3", "A"),
            returns("t4", "B"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "tool_blocked_all_terminate",
        "When every call is blocked with terminate, the run ends after turn_end.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[TWO],
        rules=[answers(BEFORE, {"block": True, "reason": "no", "terminate": True})],
        steps=[prompt("go")],
    ),
    scenario(
        "tool_blocked_and_tool_terminate",
        "A blocked call with terminate and a tool that terminates make a batch that terminates.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[TWO],
        rules=[
            answers(BEFORE, {"block": True, "reason": "no", "terminate": True}, key="t1"),
            returns("t2", result("B", terminate=True)),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "tool_blocked_terminate_not_exactly_true",
        "A block with terminate 1 does not terminate, and terminate without a block means nothing.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[response(T1), response(T2), DONE],
        rules=[
            answers(BEFORE, {"block": True, "reason": "no", "terminate": 1}, key="t1"),
            answers(BEFORE, {"terminate": True}, key="t2"),
            returns("t2", "B"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "before_tool_call_throws",
        "When beforeToolCall fails the call is refused with its text; the model is asked again.",
        tools=AB,
        hooks=TOOL_HOOKS,
        responses=[TWO, DONE],
        rules=[throws(BEFORE, "hook is down", key="t1"), throws(BEFORE, "hook is still down", key="t2")],
        steps=[prompt("go")],
    ),
    scenario(
        "before_tool_call_sees_state",
        "While beforeToolCall waits, the assistant's message is in the transcript and its call is pending.",
        tools=[tool("a")],
        hooks=[BEFORE],
        responses=[response(T1), DONE],
        rules=[holds(BEFORE), returns("t1", "A")],
        steps=[prompt("go"), state(), answer(BEFORE, key="t1")],
    ),
    scenario(
        "after_tool_call_overrides",
        "afterToolCall replaces some fields of three results; their other fields stay.",
        tools=ABC,
        hooks=[AFTER],
        responses=[THREE, DONE],
        rules=[
            *(
                returns(
                    f"t{n}",
                    result(
                        name,
                        details={"by": name},
                        usage={**USAGE, "input": n},
                        structuredContent={"v": n},
                        colour="red",
                    ),
                )
                for n, name in ((1, "A"), (2, "B"), (3, "C"))
            ),
            answers(AFTER, {"content": [text("new A")]}, key="t1"),
            answers(AFTER, {"details": [1], "isError": True}, key="t2"),
            answers(AFTER, {"content": None, "terminate": True, "usage": {**USAGE, "input": 9}}, key="t3"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "after_tool_call_null_fields",
        "A field that afterToolCall gives as null keeps the tool's value, and so does an empty answer.",
        tools=AB,
        hooks=[AFTER],
        responses=[TWO, DONE],
        rules=[
            *(
                returns(
                    f"t{n}", result("A", details={"n": n}, usage={**USAGE, "input": n}, structuredContent=n)
                )
                for n in (1, 2)
            ),
            answers(
                AFTER,
                {
                    "content": None,
                    "details": None,
                    "isError": None,
                    "terminate": None,
                    "usage": None,
                    "structuredContent": None,
                },
                key="t1",
            ),
            answers(AFTER, {}, key="t2"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "after_tool_call_structured_content",
        "Structured content is dropped only when the content is replaced without it.",
        tools=ABC,
        hooks=[AFTER],
        responses=[THREE, DONE],
        rules=[
            *(returns(f"t{n}", result("A", structuredContent={"v": n})) for n in (1, 2, 3)),
            answers(AFTER, {"structuredContent": {"v": "new"}}, key="t1"),
            answers(AFTER, {"content": [text("B")], "structuredContent": [0]}, key="t2"),
            answers(AFTER, {"content": []}, key="t3"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "after_tool_call_is_error",
        "afterToolCall makes an error a success and the reverse; its isError is passed on as it is.",
        tools=ABC,
        hooks=[AFTER],
        responses=[THREE, DONE],
        rules=[
            raises("t1", "broken"),
            returns("t2", "B"),
            returns("t3", "C"),
            answers(AFTER, {"isError": False}, key="t1"),
            answers(AFTER, {"isError": True}, key="t2"),
            answers(AFTER, {"isError": 1}, key="t3"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "after_tool_call_terminate",
        "afterToolCall can take a tool's terminate away, and can give it to every call of a batch.",
        tools=AB,
        hooks=[AFTER],
        responses=[response(T1), response(T2, call("t3", "a"))],
        rules=[
            returns("t1", result("A", terminate=True)),
            returns("t2", "B"),
            returns("t3", "C"),
            answers(AFTER, {"terminate": False}, key="t1"),
            answers(AFTER, {"terminate": True}),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "after_tool_call_throws",
        "When afterToolCall fails its text is the result, terminate is lost, and the batch goes on.",
        tools=AB,
        hooks=[AFTER],
        responses=[TWO, DONE],
        rules=[
            returns("t1", result("A", terminate=True, details={"n": 1})),
            raises("t2", "broken"),
            throws(AFTER, "cannot check A", key="t1"),
            throws(AFTER, "cannot check B", key="t2"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "after_tool_call_only_for_executed",
        "Of a blocked, an unknown, an invalid and a good call only the good one reaches afterToolCall.",
        tools=[tool("a"), tool("n", parameters(["n"], n="number"))],
        hooks=TOOL_HOOKS,
        responses=[response(T1, call("t2", "nothing"), call("t3", "n"), call("t4", "n", {"n": 1})), DONE],
        rules=[answers(BEFORE, {"block": True, "reason": "no"}, key="t1"), returns("t4", "N")],
        steps=[prompt("go")],
    ),
)
