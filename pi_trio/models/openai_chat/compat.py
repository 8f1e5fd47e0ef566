"""What an endpoint of the Chat Completions API can do: many speak it, and each leaves something out or adds something.

It is told by who the provider is and where the endpoint stands; a model's own `compat` (in its `extra`, as Pi's catalog
has it) wins key by key. Whoever is not known here is taken for one that does all that OpenAI does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

import attrs

from ...jsonvalue import JSON
from ...messages import Model
from ..dialect import Dialect

_EMPTY: Final[Mapping[str, JSON]] = {}


@attrs.frozen(kw_only=True)
class Compat:
    """The abilities and habits of an endpoint, under Pi's names in snake_case.

    Attributes:
        supports_store, supports_developer_role, supports_reasoning_effort, supports_usage_in_streaming,
            supports_strict_mode, supports_long_cache_retention: it takes the field, or the role.
        supports_finish_reason: each response says why it has ended.
        max_tokens_field: what the limit of a response is called.
        requires_tool_result_name: a result names its tool.
        requires_assistant_after_tool_result: no user speaks directly after a result.
        requires_non_null_assistant_content: an assistant that only calls has the content "", not null.
        requires_tools_with_tool_history: a request without tools says so where the conversation has calls.
        requires_thinking_as_text: thinking goes back as text.
        requires_reasoning_content_on_assistant_messages: each response has its thinking, if only an empty one.
        thinking_format: how it is told to think (`thinking.py`).
        chat_template_kwargs, chat_template_args: values for the template of the model.
        thinking_token_budget_field, supports_thinking_token_budget: where it takes a limit for thinking.
        zai_tool_stream: arguments of calls are streamed only if one asks for it.
        supports_openai_grammar_tools: tools may have a grammar.
        supports_mid_convo_system_messages, supports_mid_convo_tool_additions: the conversation may bring them late.
        deferred_tools_mode: `kimi` takes tools that a result has named after that result (0.85.0).
        cache_control_format: `anthropic` for an endpoint that wants to be told what to cache.
        prompt_cache_key_mode: `auto`, `enabled`, `disabled`: whether the session names the cache.
        send_session_affinity_headers, session_affinity_format: how requests of a session stay together.
        open_router_routing, vercel_gateway_routing: which providers a gateway may ask.
        vllm_priority: of the request.
    """

    supports_store: bool
    supports_developer_role: bool
    supports_reasoning_effort: bool
    supports_usage_in_streaming: bool = True
    supports_finish_reason: bool = True
    supports_strict_mode: bool
    supports_long_cache_retention: bool
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"]
    requires_tool_result_name: bool = False
    requires_assistant_after_tool_result: bool = False
    requires_non_null_assistant_content: bool = False
    requires_tools_with_tool_history: bool
    requires_thinking_as_text: bool = False
    requires_reasoning_content_on_assistant_messages: bool
    thinking_format: str
    chat_template_kwargs: Mapping[str, JSON] = _EMPTY
    chat_template_args: Mapping[str, JSON] = _EMPTY
    thinking_token_budget_field: str | None = None
    supports_thinking_token_budget: bool = False
    zai_tool_stream: bool = False
    supports_openai_grammar_tools: bool = False
    supports_mid_convo_system_messages: bool = False
    supports_mid_convo_tool_additions: bool = False
    deferred_tools_mode: str | None = None
    cache_control_format: str | None
    prompt_cache_key_mode: str = "auto"
    send_session_affinity_headers: bool
    session_affinity_format: str
    open_router_routing: Mapping[str, JSON] | None = None
    vercel_gateway_routing: Mapping[str, JSON] | None = None
    vllm_priority: JSON = None


#: Hosts that need to be known: the providers that are there, and what their addresses contain.
_HOSTS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "ant-ling": (("ant-ling",), ("api.ant-ling.com",)),
    "cerebras": (("cerebras",), ("cerebras.ai",)),
    "chutes": ((), ("chutes.ai",)),
    "cloudflare gateway": (("cloudflare-ai-gateway",), ("gateway.ai.cloudflare.com",)),
    "cloudflare workers": (("cloudflare-workers-ai",), ("api.cloudflare.com",)),
    "moonshot": (("moonshotai", "moonshotai-cn"), ("api.moonshot.",)),
    "nvidia": (("nvidia",), ("integrate.api.nvidia.com",)),
    "openai": (("openai",), ("api.openai.com",)),
    "opencode": (("opencode",), ("opencode.ai",)),
    "openrouter": (("openrouter",), ("openrouter.ai",)),
    "together": (("together",), ("api.together.ai", "api.together.xyz")),
    "xai": (("xai",), ("api.x.ai",)),
    "zai": (("zai", "zai-coding-cn"), ("api.z.ai", "open.bigmodel.cn")),
}

_NOT_STANDARD: Final = _HOSTS.keys() - {"openai", "openrouter"} | {"deepseek"}
_NO_EFFORT: Final = {"xai", "zai", "moonshot", "together", "cloudflare gateway", "nvidia", "ant-ling"}
_NO_STRICTNESS: Final = {"moonshot", "together", "cloudflare gateway", "nvidia"}
_NO_LONG_CACHE: Final = {"together", "cloudflare workers", "cloudflare gateway", "nvidia", "ant-ling"}
_MAX_TOKENS: Final = {
    "chutes", "deepseek", "moonshot", "cloudflare gateway", "together", "nvidia", "ant-ling", "zai",
}  # fmt: skip
#: The hosts that have a way of their own to be told to think, in the order in which they are looked for.
_THINKING_FORMATS: Final = ("deepseek", "zai", "together", "ant-ling", "openrouter")


def compat_of(model: Model, dialect: Dialect) -> Compat:
    """What the endpoint of a model can do."""
    values = _detected(model, dialect)
    given = model.extra.get("compat")
    for name, value in given.items() if isinstance(given, Mapping) else ():
        field = _in_snake_case(name)
        if value is not None and field in _FIELDS and name not in dialect.chat_unknown_compat:
            values[field] = value
    return Compat(**values)


def is_openrouter(model: Model) -> bool:
    """Whether the model is asked by way of OpenRouter."""
    return "openrouter" in _hosts_of(model)


def _detected(model: Model, dialect: Dialect) -> dict[str, Any]:
    hosts = _hosts_of(model)
    standard = hosts.isdisjoint(_NOT_STANDARD)
    openrouter = "openrouter" in hosts
    if dialect.chat_developer_role == "by_host":
        passed_on = openrouter and model.id.startswith(("anthropic/", "openai/"))
        developer = passed_on or (standard and not openrouter)
    else:
        developer = "openai" in hosts
    claude = model.provider == "openrouter" and model.id.startswith("anthropic/")
    return {
        "supports_store": standard,
        "supports_developer_role": developer,
        "supports_reasoning_effort": hosts.isdisjoint(_NO_EFFORT),
        "supports_strict_mode": dialect.chat_strict_default == "false" and hosts.isdisjoint(_NO_STRICTNESS),
        "supports_long_cache_retention": hosts.isdisjoint(_NO_LONG_CACHE),
        "max_tokens_field": "max_completion_tokens" if hosts.isdisjoint(_MAX_TOKENS) else "max_tokens",
        "requires_tools_with_tool_history": dialect.chat_empty_tools == "with_history",
        "requires_reasoning_content_on_assistant_messages": "deepseek" in hosts,
        "thinking_format": next((host for host in _THINKING_FORMATS if host in hosts), "openai"),
        "cache_control_format": "anthropic" if claude else None,
        "send_session_affinity_headers": dialect.chat_openrouter_sessions and openrouter,
        "session_affinity_format": "openrouter" if openrouter else "openai",
    }


def _hosts_of(model: Model) -> set[str]:
    url = model.base_url
    hosts = {
        host
        for host, (providers, addresses) in _HOSTS.items()
        if model.provider in providers or any(address in url for address in addresses)
    }
    if model.provider == "deepseek" or "deepseek.com" in url.lower():
        hosts.add("deepseek")
    return hosts


def _in_snake_case(name: str) -> str:
    """A key of Pi's catalog as a field: `supportsOpenAIGrammarTools` is `supports_openai_grammar_tools`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", name.replace("OpenAI", "Openai")).lower()


_FIELDS: Final = frozenset(field.name for field in attrs.fields(Compat))
