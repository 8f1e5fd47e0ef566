"""What an adapter's generator gives: one response of a provider, and the request that it answers.

Each api has a module here, `generate_<name>.py`, with one function `speak(chance: random.Random) -> Spoken`. It
makes what a provider may say, most of it valid and some of it odd (blocks that are missing or doubled, values that
are null or of another type), and knows nothing of chunks, faults and HTTP: that is `faults.py`'s business. The same
`chance` must give the same response: nothing else may be asked for randomness. What is the same for all apis is in
`contexts.py`.

    def speak(chance):
        model = a_model(chance, "anthropic-messages", "anthropic")
        events = [("message_start", {…}), …]
        return Spoken(model=model, context=a_context(chance, model), options={"maxTokens": 100}, events=events)

Optional functions there: `refuse(chance) -> Any` gives the JSON body of an error, as this provider words it;
`converse(chance) -> (model, calls, answers)` gives a whole case, of several calls (sessions, continuation, fallbacks);
`ask(chance) -> Asked` is for `bodies.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from random import Random
from typing import Any

import attrs

#: The module of each api, beside this one.
GENERATORS = {
    "anthropic-messages": "generate_anthropic",
    "openai-completions": "generate_chat",
    "openai-responses": "generate_responses",
    "openai-codex-responses": "generate_codex",
}


@attrs.frozen(kw_only=True)
class Spoken:
    """One response of a provider, and what it answers.

    Attributes:
        model: Pi's JSON, with `{server}` in its `baseUrl`.
        context: `{"systemPrompt"?, "messages", "tools"?}`.
        options: Pi's, in camelCase; the key need not be among them.
        events: each an event's name (None if it has none) and its data: JSON, or a text that is sent as it is.
        simple: the request goes through `streamSimple`.
        websocket: the events' data come as messages of a WebSocket, and not as an event stream.
        hooks: the callbacks that are recorded; in some cases all are, whatever this says.
    """

    model: dict[str, Any]
    context: dict[str, Any]
    options: dict[str, Any]
    events: list[tuple[str | None, Any]]
    simple: bool = False
    websocket: bool = False
    hooks: tuple[str, ...] = ()


def part_of(api: str, name: str) -> Callable[[Random], Any] | None:
    """A function of an api's generator; None if it has none of that name."""
    module = f"{__package__}.{GENERATORS[api]}"
    return (
        None
        if importlib.util.find_spec(module) is None
        else getattr(importlib.import_module(module), name, None)
    )
