"""System messages: how prompt and tools are declared at first, how later changes are announced."""

from __future__ import annotations

from pi_trio.conformance.scripting import (
    CALL,
    DONE,
    OK,
    T1,
    T2,
    answers,
    assistant,
    call,
    continue_,
    declaration,
    finish,
    messages,
    parameters,
    prompt,
    response,
    returns,
    scenario,
    set_messages,
    set_tools,
    state,
    steer,
    system,
    text,
    tool,
    topic,
    user,
)

A, B, C, Z = (tool(name) for name in "abcz")


SCENARIOS = topic(
    "transcript",
    scenario(
        "initial_system_message",
        "Prompt and tools make one leading system message, each tool with its declaration only.",
        state={"systemPrompt": "be brief"},
        tools=[
            tool("a", constrainedSampling={"type": "json_schema", "strict": "prefer"}),
            tool("b", outputSchema=parameters(n="number")),
        ],
        responses=[DONE],
        steps=[state(), prompt("go")],
    ),
    scenario(
        "initial_system_message_prompt_only",
        "A prompt without tools makes a system message without declarations, put before the given messages.",
        state={"systemPrompt": "be brief", "messages": [user("hello"), assistant("hi")]},
        responses=[DONE],
        steps=[messages(), prompt("go")],
    ),
    scenario(
        "system_prompt_reaches_the_request",
        "The prompt is in the request: as a system message, or, in the older releases, beside the messages.",
        state={"systemPrompt": "be brief"},
        responses=[DONE],
        steps=[prompt("go")],
    ),
    scenario(
        "initial_messages_with_system",
        "Given messages keep their own system message; tools missing in it are announced.",
        state={
            "systemPrompt": "ignored",
            "messages": [system("given", sections={"env": "linux"}), user("hello"), assistant("hi")],
        },
        tools=[A],
        responses=[DONE],
        steps=[state(), prompt("go")],
    ),
    scenario(
        "system_prompt_replayed",
        "The prompt is replayed from all system messages: contents joined, sections patched.",
        state={"messages": [system("base", sections={"env": "one", "rules": "be kind"}), user("hello")]},
        responses=[DONE],
        steps=[
            prompt(system("later", sections={"rules": None, "env": "two"})),
            state(),
            set_messages(user("hello"), system([text("a"), text("b")])),
            state(),
        ],
    ),
    scenario(
        "set_tools_between_runs",
        "Tools a and b become b and c: a system message says so before the prompt, and a is unknown.",
        tools=[A, B],
        responses=[response("one"), response(T1, call("t2", "c")), DONE],
        rules=[returns("t2", "C")],
        steps=[prompt("go"), set_tools(B, C), prompt("again")],
    ),
    scenario(
        "set_tools_reordered",
        "The same tools in another order, with another label, are no change.",
        tools=[A, B],
        responses=[DONE],
        steps=[set_tools(B, {**A, "label": "other"}), prompt("go")],
    ),
    scenario(
        "set_tools_changed_declaration",
        "A tool of the same name with another description is removed and added in one message.",
        tools=[A, B],
        responses=[DONE],
        steps=[set_tools({**A, "description": "does it better"}, B), prompt("go"), state()],
    ),
    scenario(
        "set_tools_parameter_order",
        "The order of keys in a schema counts as a change.",
        tools=[A],
        responses=[DONE],
        steps=[set_tools({**A, "parameters": dict(reversed(A["parameters"].items()))}), prompt("go")],
    ),
    scenario(
        "set_tools_constrained_sampling",
        "A tool of which only the constrained sampling is new is removed and added, with it.",
        tools=[A],
        responses=[DONE],
        steps=[
            set_tools({**A, "constrainedSampling": {"type": "json_schema", "strict": "prefer"}}),
            prompt("go"),
        ],
    ),
    scenario(
        "set_tools_none",
        "Taking all tools away is announced, and announced once.",
        tools=[A, B],
        responses=[response("one"), response("two")],
        steps=[set_tools(), prompt("go"), prompt("again")],
    ),
    scenario(
        "prompt_with_system_message",
        "A system message among the prompts carries the real change in place of its own tool fields.",
        tools=[A, B],
        responses=[DONE],
        steps=[
            set_tools(B, C),
            prompt(
                [
                    user("first"),
                    system("news", toolsAdded=[declaration(Z)], toolsRemoved=[{"name": "b"}]),
                    user("second"),
                ]
            ),
        ],
    ),
    scenario(
        "prompt_with_two_system_messages",
        "Of two system messages among the prompts the last carries the change.",
        tools=[A],
        responses=[DONE],
        steps=[
            set_tools(A, B),
            prompt([system("one", toolsAdded=[declaration(Z)]), user("go"), system("two")]),
            state(),
        ],
    ),
    scenario(
        "prompt_system_message_without_change",
        "A system message loses tool fields that change nothing; one without any stays as it is.",
        tools=[A],
        responses=[response("one"), response("two")],
        steps=[
            prompt([system("again", toolsAdded=[declaration(A)]), user("go")]),
            prompt([system("plain", note="kept"), user("go")]),
        ],
    ),
    scenario(
        "steered_system_message",
        "A steered system message with tool fields of its own loses them when nothing has changed.",
        tools=[A],
        responses=[CALL, DONE],
        steps=[
            prompt("go"),
            steer(system("stay calm", toolsAdded=[declaration(B)], toolsRemoved=[{"name": "a"}])),
            finish("t1", "A"),
            state(),
        ],
    ),
    scenario(
        "continue_declares_tools",
        "A change of the tools before continue is announced in the first turn, before the steered message.",
        tools=[A],
        state={"messages": [user("hello")]},
        responses=[DONE],
        steps=[set_tools(A, B), steer("s1"), continue_()],
    ),
    scenario(
        "continue_declares_tools_alone",
        "A change of the tools before continue is announced even when nothing is pending.",
        tools=[A],
        state={"messages": [user("hello")]},
        responses=[DONE],
        steps=[set_tools(B), continue_()],
    ),
    scenario(
        "prepare_next_turn_changes_tools",
        "A tool that prepareNextTurn brings is announced in the next turn, and runs.",
        tools=[A],
        hooks=["prepareNextTurn"],
        responses=[CALL, response(T2), DONE],
        rules=[
            OK,
            returns("t2", "B"),
            answers(
                "prepareNextTurn",
                {
                    "context": {
                        "messages": [system(toolsAdded=[declaration(A)]), user("kept")],
                        "tools": [A, B],
                    }
                },
                nth=0,
            ),
        ],
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "prepare_next_turn_compacts",
        "After a compaction with another tool the transcript declares tools that never ran together.",
        tools=[A, B, C],
        hooks=["prepareNextTurn"],
        responses=[CALL, response("one"), DONE],
        rules=[
            OK,
            answers("prepareNextTurn", {"context": {"messages": [user("compacted")], "tools": [Z]}}, nth=0),
        ],
        steps=[prompt("go"), messages(), prompt("again")],
    ),
    scenario(
        "prepare_next_turn_system_message",
        "A system message from prepareNextTurn carries the change, before the steered message.",
        tools=[A],
        hooks=["prepareNextTurn"],
        responses=[CALL, DONE],
        rules=[
            answers(
                "prepareNextTurn",
                {
                    "messages": [system("new tools")],
                    "context": {"messages": [system(toolsAdded=[declaration(A)])], "tools": [A, B]},
                },
            ),
        ],
        steps=[prompt("go"), steer("s1"), finish("t1", "A")],
    ),
    scenario(
        "prepare_request_changes_tools",
        "A tool that prepareRequest swaps in runs in that very turn, but is declared only in the next.",
        tools=[A],
        hooks=["prepareRequest"],
        responses=[response(T2), DONE],
        rules=[
            answers(
                "prepareRequest",
                {"context": {"messages": [system(toolsAdded=[declaration(A)]), user("go")], "tools": [B]}},
                nth=0,
            ),
            returns("t2", "B"),
        ],
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "sections_reach_the_request",
        "System messages with sections go to the provider as they are, in their places.",
        state={
            "messages": [
                system("base", sections={"env": "one"}),
                user("hello"),
                system("", sections={"env": None}),
                assistant("hi"),
            ]
        },
        responses=[DONE],
        steps=[prompt("go")],
    ),
)
