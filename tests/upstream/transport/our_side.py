"""This package's adapters as the other side of the lockstep: the same cases in, the same results out."""

from __future__ import annotations

import importlib
import re
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import attrs
import trio

from pi_trio.abort import AbortController
from pi_trio.codec import structure, unstructure
from pi_trio.events import StreamDone, StreamError
from pi_trio.jsontext import parse_json, print_json
from pi_trio.messages import AssistantMessage, Message, Model, ToolDeclaration
from pi_trio.models.dialect import dialect_of
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext

from .cases import Case

#: Where the adapter of each api is: the module, and the class in it.
ADAPTERS = {
    "anthropic-messages": "pi_trio.models.anthropic:AnthropicMessages",
    "openai-completions": "pi_trio.models.openai_chat:OpenAIChat",
    "openai-responses": "pi_trio.models.openai_responses:OpenAIResponses",
    "openai-codex-responses": "pi_trio.models.codex:CodexResponses",
}

#: When so many passes of the scheduler have brought no event, all that has arrived in a socket has come out.
QUIET = 20

_COMMON = {field.name for field in attrs.fields(ProviderOptions)}


@cache
def adapter_of(api: str) -> Any:
    """The adapter of an api: one for all cases, as Pi has it."""
    module, _, name = ADAPTERS[api].partition(":")
    return getattr(importlib.import_module(module), name)()


@asynccontextmanager
async def open_adapter(api: str) -> AsyncIterator[Any]:
    """The adapter of an api, for one case: what it keeps between calls is gone with the case."""
    if api == "openai-codex-responses":
        from pi_trio.models.codex import CodexResponses, CodexSessions

        async with CodexSessions() as sessions:
            yield CodexResponses(sessions)
    else:
        yield adapter_of(api)


class OurSide:
    """As `PiSide`: `run` gives it a case, `wait` says that the server is waiting."""

    def __init__(self, release: str) -> None:
        self._dialect = dialect_of(release)
        self._running: dict[int, _Call] = {}

    async def run(self, case: Case, number: int) -> Any:
        """The result of a case whose base URL is the server's."""
        async with open_adapter(case["api"]) as adapter:
            return await self._run(adapter, case, number)

    async def _run(self, adapter: Any, case: Case, number: int) -> Any:
        model = structure(case["model"], Model)
        results: list[Any] = []
        for call in case["calls"]:
            messages = [
                results[message["$message"]]["message"] if "$message" in message else message
                for message in call["context"]["messages"]
            ]
            current = _Call({**call, "context": {**call["context"], "messages": messages}}, self._dialect)
            self._running[number] = current
            results.append(await current.made(adapter, model))
            current.over = True
        self._running.pop(number, None)
        return parse_json(print_json({"calls": results}))

    async def wait(self, number: int, kind: str) -> None:
        """Return when the case's client has done all that it can; "abort" raises its signal then."""
        current = self._running.get(number)
        passes = seen = 0
        while current is not None and passes < QUIET:
            await trio.lowlevel.checkpoint()
            passes = passes + 1 if current.heard == seen else 0
            seen = current.heard
        if current is not None and not current.over:
            current.hold(kind)


class _Call:
    def __init__(self, call: dict[str, Any], dialect: Any) -> None:
        self._call = call
        self._controller = AbortController()
        self._events: list[Any] = []
        self._holds: list[Any] = []
        self.pushed = 0
        self.over = False
        self._last: AssistantMessage | None = None
        hooks: dict[str, Any] = {hook: self._hook(hook) for hook in call.get("hooks", ())}
        if payload := call.get("payload"):
            hooks["onPayload"] = lambda body, *_: {**body, **payload}
        self._options = options_of({**call.get("options", {}), **hooks}, self._controller, dialect)
        if call.get("abort") == -1:
            self._controller.abort()

    @property
    def heard(self) -> int:
        """How much has come: events, and what the hooks were told."""
        return len(self._events)

    def _hook(self, hook: str) -> Callable[..., None]:
        def heard(value: Any, *_: object) -> None:
            self._events.append({"hook": hook, "value": _plain(value)})

        return heard

    def hold(self, kind: str) -> None:
        held: dict[str, Any] = {"events": self.pushed}
        if self._last is not None:
            held["partial"] = unstructure(self._last)
        self._holds.append(held)
        if kind == "abort":
            self._controller.abort()

    async def made(self, adapter: Any, model: Model) -> dict[str, Any]:
        make = adapter.stream_simple if self._call.get("simple") else adapter.stream
        try:
            opened = make(model, context_of(self._call["context"]), self._options)
        except Exception as error:
            return {"thrown": str(error), "events": [], "holds": []}
        try:
            async with opened as stream:
                async for event in stream:
                    self._heard(event)
                message = await stream.result()
                self.over = True
        except Exception:  # a failure is an event: this is a bug, which must not end the other cases
            return {"raised": traceback.format_exc(), "events": self._events, "holds": self._holds}
        return {"events": self._events, "holds": self._holds, "message": unstructure(message)}

    def _heard(self, event: Any) -> None:
        self._last = getattr(event, "partial", None)
        told: dict[str, Any] = {"type": event.type}
        if isinstance(event, (StreamDone, StreamError)):
            told["reason"] = event.reason
        for name, key in _FIELDS.items():
            if hasattr(event, name):
                told[key] = _plain(getattr(event, name))
        if self._call.get("partials") and self._last is not None:
            told["partial"] = unstructure(self._last)
        self._events.append(told)
        if self.pushed == self._call.get("abort"):
            self._controller.abort()
        self.pushed += 1


_FIELDS = {"content_index": "contentIndex", "delta": "delta", "content": "content", "tool_call": "toolCall"}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, dict, list)) else unstructure(value)


def context_of(context: dict[str, Any]) -> ModelContext:
    """An adapter's context from Pi's JSON."""
    messages: list[Message] = [structure(each, Message) for each in context["messages"]]
    tools = context.get("tools")
    return ModelContext(
        messages=tuple(messages),
        system_prompt=context.get("systemPrompt"),
        tools=None if tools is None else tuple(structure(tool, ToolDeclaration) for tool in tools),
    )


def options_of(options: dict[str, Any], controller: AbortController, dialect: Any) -> ProviderOptions:
    """An adapter's options from Pi's JSON, with those of one adapter only under `provider`."""
    snake = {re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower(): value for key, value in options.items()}
    common = {key: value for key, value in snake.items() if key in _COMMON}
    own = {key: value for key, value in snake.items() if key not in _COMMON}
    return ProviderOptions(**common, provider=own, signal=controller.signal, dialect=dialect)
