"""What a request is made of: the hooks before it, in their order, and the options sent along."""

from __future__ import annotations

from pi_trio.conformance.scripting import (
    DONE,
    T1,
    answer,
    answers,
    assistant,
    create,
    custom,
    done,
    follow_up,
    holds,
    messages,
    model,
    prompt,
    response,
    returns,
    scenario,
    set_option,
    state,
    steer,
    throws,
    tool,
    topic,
    user,
)

_A = tool("a")
CALL = response(T1)
OK = returns("t1", "A")
REQUEST_HOOKS = ["prepareRequest", "transformContext", "convertToLlm", "getApiKey"]
LEVELS = ("minimal", "xhigh", "max", "off")

SCENARIOS = topic(
    "request_hooks",
    scenario(
        "context_hooks_order",
        "prepareRequest, transformContext, convertToLlm, getApiKey, request; a transform does not last.",
        tools=[_A],
        hooks=REQUEST_HOOKS,
        responses=[CALL, DONE],
        rules=[
            OK,
            answers("transformContext", [user("transformed")], nth=0),
            answers("getApiKey", "key-1", nth=0),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "api_key_empty",
        "An empty key from getApiKey is no key, and neither is none.",
        tools=[_A],
        hooks=["getApiKey"],
        responses=[CALL, DONE],
        rules=[OK, answers("getApiKey", "", nth=0)],
        steps=[prompt("go")],
    ),
    scenario(
        "api_key_of_changed_model",
        "getApiKey is asked for the provider of the model that prepareRequest has chosen.",
        hooks=["prepareRequest", "getApiKey"],
        responses=[DONE],
        rules=[
            answers("prepareRequest", {"model": model("m2", provider="other")}),
            answers("getApiKey", "key-2"),
        ],
        steps=[prompt("go")],
    ),
    scenario(
        "prepare_request",
        "Model and level from prepareRequest stay for the second request; the state is untouched.",
        tools=[_A],
        hooks=["prepareRequest"],
        responses=[CALL, DONE],
        rules=[OK, answers("prepareRequest", {"model": model("m2"), "thinkingLevel": "low"}, nth=0)],
        steps=[prompt("go"), state()],
    ),
    scenario(
        "prepare_request_context",
        "A context from prepareRequest replaces the loop's own; the transcript does not show it.",
        tools=[_A],
        hooks=["prepareRequest"],
        responses=[CALL, DONE],
        rules=[
            OK,
            answers(
                "prepareRequest",
                {"context": {"messages": [user("only this")], "tools": [_A]}, "thinkingLevel": "off"},
                nth=0,
            ),
        ],
        state={"thinkingLevel": "high"},
        steps=[prompt("go"), messages()],
    ),
    scenario(
        "prepare_request_after_injection",
        "prepareRequest sees the steered message of its turn; one steered meanwhile waits for the next.",
        hooks=["prepareRequest"],
        responses=[response("one"), DONE],
        rules=[holds("prepareRequest", nth=0)],
        steps=[steer("s1"), prompt("go"), steer("s2"), answer("prepareRequest")],
    ),
    scenario(
        "prepare_request_throws",
        "When prepareRequest fails no request is made and the run fails.",
        hooks=["prepareRequest"],
        responses=[DONE],
        rules=[throws("prepareRequest", "over budget", nth=0)],
        steps=[prompt("go"), prompt("again")],
    ),
    scenario(
        "transform_context_throws",
        "When transformContext fails in the second turn the run fails; the next prompt works.",
        tools=[_A],
        hooks=["transformContext"],
        responses=[CALL, DONE],
        rules=[OK, throws("transformContext", "no room", nth=1)],
        steps=[prompt("go"), prompt("again")],
    ),
    scenario(
        "convert_to_llm_throws",
        "When convertToLlm fails in the first turn the run fails before any request.",
        hooks=["convertToLlm"],
        rules=[throws("convertToLlm", "cannot convert")],
        steps=[prompt("go"), state()],
    ),
    scenario(
        "get_api_key_throws",
        "When getApiKey fails the run fails; what is queued stays queued.",
        hooks=["getApiKey"],
        rules=[throws("getApiKey", "vault is sealed")],
        steps=[follow_up("f1"), prompt("go"), state()],
    ),
    scenario(
        "transform_context_drops_unknown_roles",
        "What transformContext adds goes through the default conversion, which drops unknown roles.",
        hooks=["transformContext"],
        responses=[DONE],
        rules=[answers("transformContext", [custom("note", body="hidden"), user("go")])],
        steps=[prompt("go")],
    ),
    scenario(
        "thinking_levels",
        "Each run asks for the state's level: off is no reasoning, and the answer carries the level.",
        state={"thinkingLevel": "high"},
        responses=[response(level) for level in ("high", *LEVELS)],
        steps=[
            prompt("first"),
            *(step for level in LEVELS for step in (set_option("thinkingLevel", level), prompt(level))),
        ],
    ),
    scenario(
        "thinking_level_on_failed_answer",
        "The level is set on an errored answer too, over what the provider says.",
        state={"thinkingLevel": "low"},
        responses=[(done(assistant("no", stop="error", errorMessage="refused", thinkingLevel="max")),)],
        steps=[prompt("go")],
    ),
    scenario(
        "request_options",
        "Session and identity go with every request; a field of the identity replaces the default's.",
        tools=[_A],
        settings={"sessionId": "s-1", "identity": {"userAgent": "short", "version": "9"}},
        responses=[CALL, DONE],
        rules=[OK],
        steps=[prompt("go")],
    ),
    scenario(
        "request_identity_replaced",
        "An attribution of one's own takes the place of Pi's, and null takes it away.",
        settings={"identity": {"attribution": {"name": "mine", "url": "https://example.org"}}},
        responses=[DONE, DONE],
        steps=[
            prompt("go"),
            create(settings={"identity": {"attribution": None}}),
            prompt("go"),
        ],
    ),
)
