"""What the Codex endpoint may say, over either transport, and conversations that go on from one request to the next."""

from __future__ import annotations

from random import Random
from typing import Any

from . import event_stream, generate_responses
from .bodies import Asked, a_codex_token
from .cases import answer, call, chunk, frames
from .contexts import a_context, a_model, tools
from .spoken import Spoken

_ERRORS: tuple[dict[str, Any], ...] = (
    {"code": "rate_limit_exceeded", "message": "slow down"},
    {"error": {"code": "server_error", "message": "nested"}},
    {"error": {"code": "only_a_code"}},
    {"message": ""},
    {"status": 400, "error": {"type": "invalid_request_error"}},
    {"error": {"code": "previous_response_not_found", "message": "Previous response not found"}},
    {"error": {"code": "websocket_connection_limit_reached", "message": "Too many sockets"}},
)


def speak(chance: Random) -> Spoken:
    """A response of a few items."""
    model = a_model(chance, "openai-codex-responses", "openai-codex", **_of_model(chance))
    websocket = chance.random() < 0.6
    options = {**generate_responses.options(chance), **_own(chance, websocket)}
    if options.get("sessionId"):
        options["sessionId"] = _session(chance)
    return Spoken(
        model=model,
        context=a_context(chance, model, chance.choice((0, 0, 1, 3))),
        options=options,
        events=[(None, data) for data in (_ended(_response(chance)) if websocket else _response(chance))],
        simple=chance.random() < 0.4,
        websocket=websocket,
        hooks=("onPayload", "onResponse", "onProviderStreamEvent") if chance.random() < 0.05 else (),
    )


def _ended(events: list[Any]) -> list[Any]:
    """With an end: a socket that stays open would be waited for without one."""
    last = events[-1].get("type") if events and isinstance(events[-1], dict) else None
    ends = ("response.completed", "response.incomplete", "response.done", "response.failed", "error")
    return events if last in ends else [*events, {"type": "response.completed", "response": {"id": "resp_1"}}]


def _of_model(chance: Random) -> dict[str, Any]:
    fields = {"id": chance.choice(("model-1", "gpt-5.5")), **generate_responses.of_any_model(chance)}
    fields["baseUrl"] = "{server}" + chance.choice(
        ("", "", "/", "/codex", "/codex/responses", "/backend-api//")
    )
    return fields


def _own(chance: Random, websocket: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"apiKey": a_codex_token(), "transport": "sse"}
    if websocket:
        told["transport"] = chance.choice((None, "auto", "auto", "websocket", "websocket-cached"))
        told = {name: value for name, value in told.items() if value is not None}
    if chance.random() < 0.3:
        told["sessionId"] = "a session"
    if chance.random() < 0.1:
        told["textVerbosity"] = chance.choice(("low", "high"))
    if chance.random() < 0.05:
        told["reasoningEffort"] = "none"
    if chance.random() < 0.03:
        told["timeoutMs"] = chance.choice((0, -1, 100000.5))
    return told


def _session(chance: Random) -> str:
    """A session that no other case has: real Pi remembers them as long as its process lives."""
    return f"s-{chance.randrange(10**15)}" + chance.choice(("", "", "", "x" * 60))


def _response(chance: Random) -> list[Any]:
    events = [data for _, data in generate_responses.response(chance)]
    if chance.random() < 0.07:
        # Not the two last ones, which make the client ask again: an abort in between would be a race.
        return [*events[: chance.choice((0, len(events)))], {"type": "error", **chance.choice(_ERRORS[:-2])}]
    last = events[-1] if events else {}
    if last.get("type") in ("response.completed", "response.incomplete"):
        if chance.random() < 0.3:
            last = {**last, "type": "response.done"}
        if chance.random() < 0.3:
            last = {**last, "response": {**last["response"], "end_turn": chance.choice((True, False, "yes"))}}
        events[-1] = last
    if chance.random() < 0.1:
        events.insert(
            chance.randint(0, len(events)), chance.choice(({"no": "type"}, {"type": 7}, [], 3, {"type": ""}))
        )
    return events


def refuse(chance: Random) -> Any:
    """The body of an error."""
    error: dict[str, Any] = {"message": chance.choice(("slow down", "no", "", None))}
    error["code"] = chance.choice(
        ("usage_limit_reached", "rate_limit_exceeded", "usage_not_included", "other", None)
    )
    if chance.random() < 0.5:
        error["plan_type"] = chance.choice(("Plus", "pro"))
    if chance.random() < 0.3:
        error["resets_at"] = chance.choice((1, 4_000_000_000))
    if chance.random() < 0.3:
        error["type"] = error.pop("code")
    return chance.choice(
        ({"error": error}, {"error": error}, {"error": error}, {"error": "text"}, {"detail": "no"})
    )


# --- conversations --------------------------------------------------------------------------------------------


def converse(chance: Random) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Several requests of a session: each goes on from the last response, mostly, and some of them fail."""
    model = a_model(chance, "openai-codex-responses", "openai-codex", **_of_model(chance))
    options = {
        "apiKey": a_codex_token(),
        "transport": chance.choice(("auto", "auto", "websocket-cached", "websocket")),
        "sessionId": _session(chance),
        **({"cacheRetention": "none"} if chance.random() < 0.05 else {}),
    }
    messages: list[dict[str, Any]] = [_user("hello")]
    declared = tools(chance)
    calls: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for turn in range(chance.randint(2, 4)):
        told = _turn(chance, turn)
        asked = {**options, **({"temperature": 0.5} if chance.random() < 0.1 else {})}
        context = {"systemPrompt": "Be brief.", "messages": list(messages), "tools": declared}
        calls.append(call(context, asked))
        answers += _answers(chance, told)
        messages += [{"$message": turn}, *_results(told, turn), _user(f"and {turn}")]
        if chance.random() < 0.1:
            messages = [_user("something else")]
    return model, calls, answers


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": 1}


def _turn(chance: Random, turn: int) -> list[Any]:
    """A response that can be gone on from."""
    items: list[dict[str, Any]] = []
    if chance.random() < 0.5:
        summary = [{"type": "summary_text", "text": "hm"}]
        items.append(
            {"type": "reasoning", "id": f"rs_{turn}", "summary": summary, "encrypted_content": "gAAA"}
        )
    if chance.random() < 0.5:
        items.append(
            {
                "type": "message",
                "id": f"msg_{turn}",
                "role": "assistant",
                "content": [{"type": "output_text", "text": f"turn {turn}"}],
            }
        )
    if chance.random() < 0.5 or not items:
        arguments = '{"path":"a"}'
        item = {"type": "function_call", "id": f"fc_{turn}", "call_id": f"call_{turn}", "name": "read"}
        items.append({**item, "arguments": arguments})
    events: list[Any] = [{"type": "response.created", "response": {"id": f"resp_{turn}"}}]
    for index, item in enumerate(items):
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    status = chance.choice(("completed", "completed", "completed", "completed", "incomplete"))
    response: dict[str, Any] = {"id": f"resp_{turn}", "status": status}
    if status == "incomplete":
        response["incomplete_details"] = {"reason": chance.choice(("max_output_tokens", "content_filter"))}
    events.append({"type": "response.completed", "response": response})
    return events


def _results(told: list[Any], turn: int) -> list[dict[str, Any]]:
    called = any(event.get("item", {}).get("type") == "function_call" for event in told)
    result = {
        "role": "toolResult",
        "toolCallId": f"call_{turn}|fc_{turn}",
        "toolName": "read",
        "content": [{"type": "text", "text": "done"}],
        "isError": False,
        "timestamp": 1,
    }
    return [result] if called else []


def _answers(chance: Random, told: list[Any]) -> list[dict[str, Any]]:
    """How the endpoint answers one request; a failure is followed by what the next try gets."""
    # A socket that the server closes between two requests would be a race.
    good = frames([event_stream.data_text(event) for event in told])
    stream = answer([chunk(piece) for piece in event_stream.plain([(None, event) for event in told])])
    kind = chance.random()
    if kind < 0.65:
        return [good]
    error = {"type": "error", **chance.choice(_ERRORS[-2:])}
    if kind < 0.8:
        return [frames([event_stream.data_text(error)]), good, stream]
    if kind < 0.9:
        cut = [event_stream.data_text(event) for event in told[: chance.choice((0, 0, 1, 2))]]
        return [frames(cut, end=chance.choice(("close", "drop")), code=1011, reason="bad"), stream]
    return [answer(["no"], status=chance.choice((401, 403))), stream]


# --- requests -------------------------------------------------------------------------------------------------

context_of = generate_responses.context_of


def ask(chance: Random) -> Asked:
    """A model with any features, and options of any kind."""
    model = a_model(chance, "openai-codex-responses", "openai-codex", **_of_model(chance))
    told = {**generate_responses.options(chance), **_own(chance, False)}
    if told.get("sessionId"):
        told["sessionId"] = _session(chance)
    told.pop("timeoutMs", None)
    return Asked(model=model, options=told, simple=chance.random() < 0.5)
