"""The body of a request to the Chat Completions API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from ...jsonvalue import JSON
from ...messages import AssistantMessage, Message, Model, ToolCall, ToolDeclaration, ToolResultMessage
from ..constrained_sampling import grammar_parameters
from ..limits import sampling_params
from ..request_options import ProviderOptions
from ..stream import ModelContext
from ..transcript import collapse_system_messages, place_tools, system_messages
from .caching import cache_fields, mark_for_cache
from .compat import Compat, compat_of
from .messages import MessageRules, message_items
from .thinking import thinking_fields
from .tools import tool_items


@attrs.frozen(kw_only=True)
class Prepared:
    """A context as a model of this API takes it.

    Attributes:
        messages: the transcript, its system messages replayed into one if the endpoint takes no later ones.
        tools: what stands beside it.
        rules: how the messages are written.
    """

    messages: Sequence[Message]
    tools: Sequence[ToolDeclaration]
    rules: MessageRules

    @property
    def compat(self) -> Compat:
        """What the endpoint can do."""
        return self.rules.compat


def prepare(model: Model, context: ModelContext, options: ProviderOptions) -> Prepared:
    """Make a context fit for a model.

    Raises:
        ResponseFailedError: a tool wishes for a grammar, and has none that fits.
    """
    dialect = options.dialect
    compat = compat_of(model, dialect)
    messages: Sequence[Message] = context.messages
    late: dict[str, ToolDeclaration] = {}
    if dialect.system_messages:
        if not compat.supports_mid_convo_system_messages:
            messages = collapse_system_messages(messages)
        additions = compat.supports_mid_convo_system_messages and compat.supports_mid_convo_tool_additions
        placed = place_tools(messages, "additions" if additions else "none", dialect)
        declared = [tool for message in system_messages(messages) for tool in message.tools_added or ()]
        tools: Sequence[ToolDeclaration] = placed.request_tools
        folded = placed.folded
    else:
        declared = [*(context.tools or ())]
        if compat.deferred_tools_mode == "kimi":
            late = {tool.name: tool for tool in declared if tool.name in _named_by_results(messages)}
        tools = [tool for tool in declared if tool.name not in late]
        folded = 0
    parameters = grammar_parameters(
        {tool.name: tool for tool in declared}.values(), compat.supports_openai_grammar_tools
    )
    rules = MessageRules(
        model=model,
        compat=compat,
        dialect=dialect,
        grammar_parameters=parameters,
        prompt=context.system_prompt,
        folded=folded,
        late_tools=late,
    )
    return Prepared(messages=messages, tools=tools, rules=rules)


def request_body(model: Model, context: ModelContext, options: ProviderOptions) -> dict[str, Any]:
    """The body of a request.

    Args:
        model: what is asked.
        context: the transcript.
        options: besides the common ones, `provider` may say `reasoning_effort`.

    Raises:
        ResponseFailedError: something in the context cannot be sent.
    """
    return body_of(model, prepare(model, context, options), options)


def body_of(model: Model, ready: Prepared, options: ProviderOptions) -> dict[str, Any]:
    """The body of a request whose context is prepared."""
    compat, dialect = ready.compat, options.dialect
    body: dict[str, Any] = {
        "model": model.id,
        "messages": message_items(ready.messages, ready.rules),
        "stream": True,
        **cache_fields(model, options, compat),
    }
    if compat.supports_usage_in_streaming:
        body["stream_options"] = {"include_usage": True}
    if compat.supports_store:
        body["store"] = False
    if options.max_tokens:
        body[compat.max_tokens_field] = options.max_tokens
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if ready.tools:
        body["tools"] = tool_items(ready.tools, compat, dialect)
        if compat.zai_tool_stream:
            body["tool_stream"] = True
    elif compat.requires_tools_with_tool_history and any(map(_has_calls, ready.messages)):
        body["tools"] = []
    mark_for_cache(body, options, compat)
    if options.tool_choice:
        body["tool_choice"] = options.tool_choice
    if compat.vllm_priority is not None:
        body["priority"] = compat.vllm_priority
    body |= thinking_fields(model, options, compat, options.max_tokens or model.max_tokens)
    return body | _routing(compat) | dict(_sampling(model, options) or {})


def _named_by_results(messages: Sequence[Message]) -> set[str]:
    results = (message for message in messages if isinstance(message, ToolResultMessage))
    return {name for result in results for name in result.added_tool_names or ()}


def _has_calls(message: Message) -> bool:
    if isinstance(message, AssistantMessage):
        return any(isinstance(block, ToolCall) for block in message.content)
    return isinstance(message, ToolResultMessage)


def _routing(compat: Compat) -> dict[str, JSON]:
    """Which providers a gateway may pass the request to."""
    fields: dict[str, JSON] = {}
    if compat.open_router_routing is not None:
        fields["provider"] = compat.open_router_routing
    vercel = compat.vercel_gateway_routing or {}
    gateway = {name: vercel[name] for name in ("only", "order") if vercel.get(name)}
    if gateway:
        fields["providerOptions"] = {"gateway": gateway}
    return fields


def _sampling(model: Model, options: ProviderOptions) -> Any:
    """What wins over all other fields."""
    if options.dialect.sampling_params != "level":
        return options.sampling_params
    effort = options.provider.get("reasoning_effort")
    return sampling_params(model, effort, options.sampling_params, options.dialect)
