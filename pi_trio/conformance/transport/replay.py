"""Plays a recorded case to this package's adapters, without network: what they make of the same bytes.

The result has the form of a recorded one, and is settled in the same way, so the two can be compared as JSON. Pauses
take no time: the clock jumps to their end.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import httpx
import trio
from trio.testing import MockClock

from pi_trio.abort import AbortController
from pi_trio.codec import structure, unstructure
from pi_trio.events import StreamDone, StreamError
from pi_trio.jsontext import parse_json, print_json
from pi_trio.messages import AssistantMessage, Message, Model, ToolDeclaration
from pi_trio.models import dialect as dialects
from pi_trio.models.dialect import Dialect
from pi_trio.models.overflow import is_context_overflow
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.retrying import is_retryable
from pi_trio.models.stream import ModelContext

from .pretended import ADDRESS, PretendedProvider
from .settled import settled
from .vector import TransportVector

ADAPTERS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic-messages": ("pi_trio.models.anthropic.adapter", "AnthropicMessages"),
    "openai-completions": ("pi_trio.models.openai_chat.adapter", "OpenAIChat"),
    "openai-responses": ("pi_trio.models.openai_responses.adapter", "OpenAIResponses"),
}
"""By api: the module of its adapter, and the class, which is made with a client of httpx."""

PATIENCE: Final = 100_000
"""Seconds, which nobody has to wait: who takes longer is waiting for nothing."""

_COMMON: Final = {field.name for field in attrs.fields(ProviderOptions)}
_OF_EVENTS: Final = {
    "content_index": "contentIndex",
    "delta": "delta",
    "content": "content",
    "tool_call": "toolCall",
}


def replay(vector: TransportVector, release: str) -> dict[str, Any]:
    """What the adapter of the vector's api makes of it, as in a release."""
    return trio.run(_replay, vector, release, clock=MockClock(autojump_threshold=0))


async def _replay(vector: TransportVector, release: str) -> dict[str, Any]:
    module, name = ADAPTERS[vector.api]
    player = _Player(dialects.dialect_of(release))
    provider = PretendedProvider(vector.case["answers"], player.abort)
    async with httpx.AsyncClient(transport=provider) as client:
        adapter = getattr(importlib.import_module(module), name)(client)
        model = structure(_placed(vector.case["model"]), Model)
        calls: list[dict[str, Any]] = []
        with trio.move_on_after(PATIENCE) as scope:
            for call in vector.case["calls"]:
                calls.append(await player.call(adapter, model, shaped(call, release)))  # noqa: PERF401
    hang = {"hang": True} if scope.cancelled_caught else {}
    result = parse_json(print_json({"calls": calls, "requests": provider.requests}))
    assert isinstance(result, dict)
    return {**settled(result), **hang}


def shaped(call: dict[str, Any], release: str) -> dict[str, Any]:
    """A call as the adapters of a release get it: up to 0.85.0 with prompt and tools beside the messages, of which none
    is a system message; later with a system message of them in front of all others.
    """
    context = dict(call["context"])
    if release == "0.85.0":
        messages = [message for message in context["messages"] if message["role"] != "system"]
        return {**call, "context": {**context, "messages": messages}}
    prompt, tools = context.pop("systemPrompt", None), context.pop("tools", None)
    if prompt is not None or tools:
        added = {"toolsAdded": tools} if tools else {}
        first = {"role": "system", "content": prompt or "", **added, "timestamp": 0}
        context["messages"] = [first, *context["messages"]]
    return {**call, "context": context}


def _placed(model: dict[str, Any]) -> dict[str, Any]:
    return {**model, "baseUrl": model["baseUrl"].replace("{server}", ADDRESS)}


class _Player:
    """Makes the calls of a case, and hears what is said."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._controller = AbortController()
        self._events: list[dict[str, Any]] = []

    def abort(self) -> None:
        """Raise the signal of the call that is under way."""
        self._controller.abort()

    async def call(self, adapter: Any, model: Model, call: dict[str, Any]) -> dict[str, Any]:
        """Make one call, and give its result."""
        self._controller, self._events = AbortController(), []
        hooks = {hook: self._hook(hook) for hook in call.get("hooks", ())}
        options = options_of({**call["options"], **hooks}, self._controller, self._dialect)
        if call.get("abort") == -1:
            self._controller.abort()
        make = adapter.stream_simple if call.get("simple") else adapter.stream
        try:
            opened = make(model, context_of(call["context"]), options)
        except Exception as error:  # what a call raises is its result
            return {"thrown": str(error), "events": []}
        try:
            async with opened as stream:
                async for event in stream:
                    self._events.append(event_told(event))
                message = await stream.result()
        except Exception as error:  # it should have been an event
            return {"raised": f"{type(error).__name__}: {error}", "events": self._events}
        return {"events": self._events, "message": unstructure(message), **self._meaning(message)}

    def _hook(self, hook: str) -> Callable[..., None]:
        def heard(value: Any, *_: object) -> None:
            self._events.append({"hook": hook, "value": parse_json(print_json(value))})

        return heard

    def _meaning(self, message: AssistantMessage) -> dict[str, Any]:
        if message.stop_reason != "error":
            return {}
        overflow = is_context_overflow(message, dialect=self._dialect)
        return {"meaning": {"overflow": overflow, "retryable": is_retryable(message, self._dialect)}}


def event_told(event: Any) -> dict[str, Any]:
    """An event of a stream as a vector has it: all but the messages in it."""
    told: dict[str, Any] = {"type": event.type}
    if isinstance(event, (StreamDone, StreamError)):
        told["reason"] = event.reason
    for name, key in _OF_EVENTS.items():
        if hasattr(event, name):
            value = getattr(event, name)
            told[key] = value if isinstance(value, (int, str)) else unstructure(value)
    return told


def context_of(context: dict[str, Any]) -> ModelContext:
    """An adapter's context from Pi's JSON."""
    messages: list[Message] = [structure(each, Message) for each in context["messages"]]
    tools = context.get("tools")
    return ModelContext(
        messages=tuple(messages),
        system_prompt=context.get("systemPrompt"),
        tools=None if tools is None else tuple(structure(tool, ToolDeclaration) for tool in tools),
    )


def options_of(options: dict[str, Any], controller: AbortController, dialect: Dialect) -> ProviderOptions:
    """An adapter's options from Pi's JSON, with those of one adapter only under `provider`."""
    snake = {re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower(): value for key, value in options.items()}
    common = {key: value for key, value in snake.items() if key in _COMMON}
    own = {key: value for key, value in snake.items() if key not in _COMMON}
    return ProviderOptions(**common, provider=own, signal=controller.signal, dialect=dialect)
