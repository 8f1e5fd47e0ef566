"""What a case of the transport's lockstep is: one JSON value, the same for real Pi and for this package.

    {"name": …, "api": "anthropic-messages", "model": {…}, "calls": [CALL, …], "answers": [ANSWER, …]}

`model` is Pi's own JSON. In its `baseUrl`, `{server}` stands for the place where the local server answers this case,
`{tls}` for the same over TLS, and `{refused}` for a port that nobody listens on.

A CALL is one request for a response; the calls of a case are made one after the other:

    {"context": {"systemPrompt"?, "messages", "tools"?}, "options": {…}, "simple"?: true, "abort"?: n,
     "partials"?: true, "payload"?: {…}, "hooks"?: ["onPayload", "onResponse", "onProviderStreamEvent"]}

`options` are Pi's, in camelCase. `simple` calls `streamSimple`. `abort` raises the signal when the n-th event is
pushed (0 is the first), -1 before the call. `partials` compares the `partial` of every event too. `hooks` are
recorded between the events, and `onPayload` merges `payload` into the body. A message `{"$message": k}` of a
context stands for the one that call k ended with.

An ANSWER is what the server says to one request of the client (one POST, or one message on a WebSocket), in order;
when they are used up it says 599.

    {"status": 200, "headers": {…}, "framing": "chunked", "before"?: [STEP, …], "steps": [STEP, …], "end": "end"}
    {"frames": [STEP, …], "end": "open" | "close" | "drop" | "reset", "code"?: 1000, "reason"?: ""}

A STEP is a text or `{"b64": …}`, which is one chunk (or one WebSocket message: text or binary), or one of the
waits: `{"hold": true}` goes on when the client has done all that it can with what it has, `{"abort": true}` has the
client raise its signal at that point and waits until it has hung up, and `{"stall": true}` waits for that without
an abort. Steps `before` come before the head of the answer, which is not sent if there is no `status`.

`framing` is `chunked`, `length` (`content-length`, of all steps), or `close` (the end of the connection ends the
body). `end` of a body: `end` as it should, `close` without the end that the framing asks for, `reset` by a TCP
reset. A WebSocket stays `open` after the answer, or is closed by a frame, or drops (without one), or is reset. An
answer with `status` to a WebSocket handshake refuses it.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Sequence
from typing import Any, TypeAlias

Case: TypeAlias = dict[str, Any]
Step: TypeAlias = str | dict[str, Any]

#: What a test's key looks like: adapters treat keys of other shapes in other ways.
KEY = "sk-test-0123456789"

HOLD: Step = {"hold": True}
ABORT: Step = {"abort": True}
STALL: Step = {"stall": True}


def case(
    api: str,
    model: dict[str, Any],
    calls: Sequence[dict[str, Any]],
    answers: Sequence[dict[str, Any]],
    name: str = "",
) -> Case:
    """A case as a JSON value of its own, which nobody else changes."""
    return copy.deepcopy(
        {"name": name, "api": api, "model": model, "calls": list(calls), "answers": list(answers)}
    )


def call(context: dict[str, Any], options: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """One call; it has a key unless the options say `apiKey` themselves (None for no key)."""
    merged = {"apiKey": KEY, **(options or {})}
    return {"context": context, "options": {k: v for k, v in merged.items() if v is not None}, **more}


def answer(
    steps: Sequence[Step],
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    framing: str = "chunked",
    end: str = "end",
    before: Sequence[Step] = (),
) -> dict[str, Any]:
    """An answer over HTTP; an event stream unless the headers say otherwise."""
    return {
        "status": status,
        "headers": {"content-type": "text/event-stream"} if headers is None else headers,
        "framing": framing,
        "before": list(before),
        "steps": list(steps),
        "end": end,
    }


def frames(steps: Sequence[Step], *, end: str = "open", code: int = 1000, reason: str = "") -> dict[str, Any]:
    """An answer on a WebSocket."""
    return {"frames": list(steps), "end": end, "code": code, "reason": reason}


def chunk(data: bytes) -> Step:
    """A chunk: a text where it is one, so that a case can be read."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def data_of(step: Step) -> bytes | None:
    """The bytes of a step; None if it is a wait."""
    if isinstance(step, str):
        return step.encode("utf-8", "surrogatepass")
    return base64.b64decode(step["b64"]) if "b64" in step else None


def secured(the_case: Case) -> Case:
    """The case over TLS."""
    model = the_case["model"]
    return {**the_case, "model": {**model, "baseUrl": model["baseUrl"].replace("{server}", "{tls}")}}


def trickled(the_case: Case) -> Case | None:
    """The case with a hold after each chunk and the partial of each event; None if it is too short or too long."""
    first = the_case["answers"][0] if the_case["answers"] else {}
    kind = "frames" if "frames" in first else "steps"
    said = [step for step in first.get(kind, ()) if data_of(step)]
    if not 1 < len(said) < 40:
        return None
    steps = [part for step in said for part in (step, HOLD)]
    if len(the_case["calls"]) > 1:
        steps.pop()  # at the last one, the next call may have begun
    calls = [{**each, "partials": True} for each in the_case["calls"]]
    return {**the_case, "calls": calls, "answers": [{**first, kind: steps}, *the_case["answers"][1:]]}


#: The releases whose providers see a transcript alone: prompt and tools are its first, a system message.
_WITH_TRANSCRIPTS = ("1.0.3", "1.6.0")


def of_release(the_case: Case, release: str) -> Case:
    """The case as this release's adapters are called: with a transcript, or with messages, prompt and tools."""
    shape = _as_transcript if release in _WITH_TRANSCRIPTS else _as_context
    calls = [{**each, "context": shape(each["context"])} for each in the_case["calls"]]
    return {**the_case, "calls": calls}


def _as_transcript(context: dict[str, Any]) -> dict[str, Any]:
    prompt, tools = context.get("systemPrompt"), context.get("tools")
    if prompt is None and not tools:
        return {"messages": context["messages"]}
    first: dict[str, Any] = {"role": "system", "content": prompt or ""}
    if tools:
        first["toolsAdded"] = tools
    return {"messages": [{**first, "timestamp": 0}, *context["messages"]]}


def _as_context(context: dict[str, Any]) -> dict[str, Any]:
    messages = [message for message in context["messages"] if message.get("role") != "system"]
    return {**context, "messages": messages}
