"""A call's way to its arguments: preparation, coercion, validation, and who sees the raw ones."""

from __future__ import annotations

from pi_trio.conformance.scripting import (
    DONE,
    TOOL_HOOKS,
    Object,
    answers,
    call,
    finish,
    parameters,
    prompt,
    response,
    returns,
    scenario,
    tool,
    topic,
    update,
)

NUMBER = parameters(["n"], n="number", s="string")
"""A required number and an optional string."""


def _accepted(*ids: str) -> list[Object]:
    return [returns(call_id, "ok") for call_id in ids]


def _formatted(name: str) -> Object:
    return {"type": "string", "format": name}


SCENARIOS = topic(
    "arguments",
    scenario(
        "tool_invalid_args",
        "Wrong and missing numbers fail; a numeric string is coerced, an optional null is removed.",
        tools=[tool("a", NUMBER)],
        hooks=["beforeToolCall"],
        responses=[
            response(
                call("t1", "a", {"n": "seven"}),
                call("t2", "a"),
                call("t3", "a", {"n": "42", "s": 5}),
                call("t4", "a", {"n": 1, "s": None}),
            ),
            DONE,
        ],
        rules=_accepted("t3", "t4"),
        steps=[prompt("go")],
    ),
    scenario(
        "raw_and_validated_arguments",
        "Start, update and end belong to the raw arguments, hooks and tool get the validated ones.",
        tools=[tool("a", NUMBER)],
        hooks=TOOL_HOOKS,
        responses=[response(call("t1", "a", {"n": " 4.5e1 ", "s": True})), DONE],
        steps=[prompt("go"), update("t1", "half"), finish("t1", "A")],
    ),
    scenario(
        "tool_prepare_arguments",
        "Prepared arguments reach hooks and tool but no event; a preparation that fails is an error result.",
        tools=[
            tool("a", NUMBER, prepareArguments={"set": {"n": 7}}),
            tool("b", NUMBER, prepareArguments={"throw": "cannot read that"}),
        ],
        hooks=TOOL_HOOKS,
        responses=[response(call("t1", "a", {"s": "x"}), call("t2", "b", {"n": 1})), DONE],
        rules=_accepted("t1"),
        steps=[prompt("go")],
    ),
    scenario(
        "tool_prepare_arguments_invalid",
        "Prepared arguments are validated: a preparation that breaks them makes the call fail.",
        tools=[tool("a", NUMBER, prepareArguments={"set": {"n": "none"}})],
        hooks=TOOL_HOOKS,
        responses=[response(call("t1", "a", {"n": 1})), DONE],
        steps=[prompt("go")],
    ),
    scenario(
        "before_tool_call_changes_arguments",
        "Arguments that beforeToolCall changes in place are executed unchecked; events keep the raw ones.",
        tools=[tool("a", NUMBER)],
        hooks=TOOL_HOOKS,
        responses=[response(call("t1", "a", {"n": 1})), DONE],
        rules=[answers("beforeToolCall", {"args": {"n": "a lot", "extra": [1]}}), *_accepted("t1")],
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_error",
        "A call whose arguments could not be read fails before validation, and no hook is asked.",
        tools=[tool("a")],
        hooks=TOOL_HOOKS,
        responses=[response(call("t1", "a", argumentsError="unexpected end of the text")), DONE],
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_not_an_object",
        "Arguments that are a list, a text or a number fail the validation of an object.",
        tools=[tool("a")],
        responses=[response(call("t1", "a", [1]), call("t2", "a", "s=x"), call("t3", "a", 7)), DONE],
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_unknown_properties",
        "A property that the schema does not name is kept, unless the schema forbids more.",
        tools=[tool("a"), tool("b", {**parameters(s="string"), "additionalProperties": False})],
        responses=[
            response(
                call("t1", "a", {"s": "x", "more": {"deep": None}}), call("t2", "b", {"s": "x", "more": 1})
            ),
            DONE,
        ],
        rules=_accepted("t1"),
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_nested",
        "Coercion reaches into lists and nested objects; one bad element fails the call.",
        tools=[
            tool(
                "a",
                parameters(
                    ["points"],
                    points={"type": "array", "items": parameters(["x"], x="number", label="string")},
                    flag="boolean",
                ),
            )
        ],
        responses=[
            response(
                call("t1", "a", {"points": [{"x": "1"}, {"x": 2, "label": None}], "flag": "true"}),
                call("t2", "a", {"points": [{"x": 1}, {"x": {}}]}),
                call("t3", "a", {"points": [{"label": "p"}]}),
            ),
            DONE,
        ],
        rules=_accepted("t1"),
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_bounds_and_choices",
        "Enumerations, bounds, lengths and patterns hold after coercion.",
        tools=[
            tool("a", parameters(n={"type": "integer", "minimum": 5, "maximum": 9})),
            tool(
                "b",
                parameters(
                    e={"type": "string", "enum": ["x", "y"]},
                    s={"type": "string", "minLength": 3, "pattern": "^a"},
                ),
            ),
        ],
        responses=[
            response(
                call("t1", "a", {"n": "7"}),
                call("t2", "a", {"n": "3"}),
                call("t3", "b", {"e": "x", "s": "abc"}),
                call("t4", "b", {"e": "z"}),
                call("t5", "b", {"s": "b"}),
            ),
            DONE,
        ],
        rules=_accepted("t1", "t3"),
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_unions",
        "A value that fits a branch of a union stays; else the first branch that coercion reaches counts.",
        tools=[
            tool(
                "a",
                parameters(
                    u={"anyOf": [{"type": "number"}, {"type": "string"}]},
                    v={"anyOf": [{"type": "number"}, {"type": "null"}]},
                    w={"type": ["integer", "boolean"]},
                ),
            )
        ],
        responses=[
            response(
                call("t1", "a", {"u": "5", "v": "5", "w": "true"}),
                call("t2", "a", {"v": None, "w": 3}),
                call("t3", "a", {"u": {}}),
            ),
            DONE,
        ],
        rules=_accepted("t1", "t2"),
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_numbers",
        "Whole floats are integers, large numbers keep their value, texts are read as JavaScript does.",
        tools=[tool("a", parameters(i="integer", n="number", s="string"))],
        responses=[
            response(
                call("t1", "a", {"i": 5.0, "n": 1e21, "s": 2.50}),
                call("t2", "a", {"i": "0x10", "n": "1e3", "s": 1e-7}),
                call("t3", "a", {"n": "1_0"}),
                call("t4", "a", {"n": "Infinity"}),
                call("t5", "a", {"i": 2.5}),
            ),
            DONE,
        ],
        rules=_accepted("t1", "t2", "t5"),
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_defaults_not_applied",
        "A default of the schema is not filled in.",
        tools=[tool("a", parameters(n={"type": "number", "default": 9}))],
        responses=[response(call("t1", "a")), DONE],
        rules=_accepted("t1"),
        steps=[prompt("go")],
    ),
    scenario(
        "arguments_formats",
        "Formats are checked, some more strictly than others: a URN of a UUID, a bare host, a quoted mailbox.",
        tools=[
            tool(
                "a",
                parameters(
                    uuid=_formatted("uuid"),
                    url=_formatted("url"),
                    email=_formatted("email"),
                    date=_formatted("date"),
                    colour=_formatted("colour"),
                ),
            )
        ],
        responses=[
            response(
                call("t1", "a", {"uuid": "urn:uuid:9f8b5a34-0c3e-4d5f-8a67-1b2c3d4e5f60"}),
                call("t2", "a", {"url": "http://localhost"}),
                call("t3", "a", {"email": '"j. doe"@example.com'}),
                call("t4", "a", {"date": "2023-02-29"}),
                call("t5", "a", {"date": "2024-02-29", "colour": "of no known kind"}),
            ),
            DONE,
        ],
        rules=_accepted("t1", "t2", "t3", "t4", "t5"),
        steps=[prompt("go")],
    ),
)
