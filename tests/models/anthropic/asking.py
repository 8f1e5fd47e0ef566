"""Models, contexts and options for the tests of the Messages API."""

from __future__ import annotations

from typing import Any

import attrs

from pi_trio.messages import AssistantMessage, Model, ModelCost, ToolCall, ToolDeclaration, Usage, UserMessage
from pi_trio.models.dialect import DIALECT_1_6_0
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext

KEY = "sk-ant-api-secret"
TOKEN = "sk-ant-oat01-secret"

MODEL = Model(
    id="claude",
    name="Claude",
    api="anthropic-messages",
    provider="anthropic",
    base_url="http://127.0.0.1:1",
    reasoning=True,
    input=("text", "image"),
    cost=ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75),
    context_window=200_000,
    max_tokens=8192,
)
USER = UserMessage(content="Hi", timestamp=1)
READ = ToolDeclaration(name="read", description="Reads.", parameters={"type": "object", "properties": {}})
CALL = ToolCall(id="toolu_1", name="read", arguments={"path": "a"})


def model_with(compat: dict[str, Any] | None = None, **fields: Any) -> Model:
    extra = {**MODEL.extra, **({"compat": compat} if compat else {})}
    for name in ("headers", "thinkingLevelMap"):
        if name in fields:
            extra[name] = fields.pop(name)
    return attrs.evolve(MODEL, extra=extra, **fields)


def context_of(*messages: Any, prompt: str | None = None, tools: Any = None) -> ModelContext:
    return ModelContext(messages=messages or (USER,), system_prompt=prompt, tools=tools)


def said(*content: Any, **fields: Any) -> AssistantMessage:
    own = {
        "api": MODEL.api,
        "provider": MODEL.provider,
        "model": MODEL.id,
        "stop_reason": "stop",
        "timestamp": 2,
    }
    return AssistantMessage(content=content, usage=Usage.zero(), **{**own, **fields})


def options(*, dialect=DIALECT_1_6_0, api_key: str | None = KEY, **fields: Any) -> ProviderOptions:
    """Options in Pi's terms; those that are not common go to the provider."""
    common = {field.name for field in attrs.fields(ProviderOptions)}
    own = {name: value for name, value in fields.items() if name not in common}
    shared = {name: value for name, value in fields.items() if name in common}
    return ProviderOptions(dialect=dialect, api_key=api_key, provider=own, **shared)
