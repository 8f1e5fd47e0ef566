"""The body of a request to the Codex endpoint: that of the Responses API, with what this endpoint asks for besides."""

from __future__ import annotations

from typing import Any, Final

import attrs

from ...jsonvalue import JSON
from ...messages import Model, SystemMessage
from ..openai_responses.body import LEAST_OUTPUT_TOKENS, STANDING_EFFORT, Prepared, prepared
from ..openai_responses.input_items import input_items
from ..openai_responses.tools import compat, tool_items, tool_rules
from ..prompt_cache import cache_key
from ..request_options import ProviderOptions
from ..stream import ModelContext
from ..thinking import thinking_level_map
from ..transcript import system_text

_NO_PROMPT: Final = "You are a helpful assistant."


def session_of(options: ProviderOptions) -> str | None:
    """The session whose sockets and prompt are kept; None if nothing is to be kept."""
    return None if options.cache_retention == "none" else options.session_id


def prepare(model: Model, context: ModelContext, options: ProviderOptions) -> Prepared:
    """Make a context fit for a model of this endpoint.

    Raises:
        ResponseFailedError: a tool wishes for a grammar, and has none that fits.
    """
    rules = tool_rules(model, options.dialect, strict=None, strict_supported=True)
    prompt = options.dialect.codex_prompt == "item"
    ready = prepared(model, context, options.dialect, rules, prompt=prompt)
    return attrs.evolve(ready, rules=attrs.evolve(ready.rules, effort=told_effort(model, options)))


def told_effort(model: Model, options: ProviderOptions) -> str | None:
    """The effort that the input tells, where the model takes it there; None where the request names it."""
    level = options.provider.get("reasoning_effort")
    if (
        level is None
        or not options.dialect.responses_mid_effort
        or not compat(model, "supportsMidConvoEffort", False)
    ):
        return None
    return _effort(model, level, options)


def request_body(model: Model, context: ModelContext, options: ProviderOptions) -> dict[str, Any]:
    """The body of a request, as it is sent over either transport.

    Args:
        model: what is asked.
        context: the transcript.
        options: besides the common ones, `provider` may say `reasoning_effort`, `reasoning_summary` and
            `text_verbosity`.

    Raises:
        ResponseFailedError: something in the context cannot be sent.
    """
    return body_of(model, prepare(model, context, options), options)


def body_of(model: Model, ready: Prepared, options: ProviderOptions) -> dict[str, Any]:
    """The body of a request whose context is prepared."""
    dialect = options.dialect
    body: dict[str, Any] = {"model": model.id, "store": False, "stream": True}
    if dialect.codex_prompt == "instructions":
        body["instructions"] = _prompt(ready) or _NO_PROMPT
    body |= {
        "input": input_items(ready.messages, model, dialect, ready.rules),
        "text": {"verbosity": options.provider.get("text_verbosity") or "low"},
        "include": ["reasoning.encrypted_content"],
    }
    if (key := cache_key(session_of(options))) is not None:
        body["prompt_cache_key"] = key
    body |= {
        "tool_choice": "auto" if options.tool_choice is None else options.tool_choice,
        "parallel_tool_calls": True,
    }
    limited = dialect.codex_max_output_tokens and compat(model, "supportsMaxOutputTokens", True)
    if options.max_tokens and limited:
        body["max_output_tokens"] = max(options.max_tokens, LEAST_OUTPUT_TOKENS)
    if options.temperature is not None:
        body["temperature"] = options.temperature
    if options.service_tier is not None:
        body["service_tier"] = options.service_tier
    if ready.tools:
        body["tools"] = tool_items(ready.tools, ready.rules.tools, dialect)
    reasoning = _reasoning(model, options, standing=ready.rules.effort is not None)
    return body if reasoning is None else {**body, "reasoning": reasoning}


def _prompt(ready: Prepared) -> str:
    """The prompt that stands beside the input."""
    first = ready.messages[0] if ready.messages else None
    if isinstance(first, SystemMessage):
        return system_text(first)
    return ready.rules.prompt_beside or ""


def _reasoning(model: Model, options: ProviderOptions, *, standing: bool) -> JSON:
    """How hard the model is to think; None if nothing is said of it."""
    level = options.provider.get("reasoning_effort")
    if level is not None:
        effort = STANDING_EFFORT if standing else _effort(model, level, options)
        summary = options.provider.get("reasoning_summary")
        return effort and {"effort": effort, "summary": "auto" if summary is None else summary}
    off = thinking_level_map(model).get("off", "none")
    if not model.reasoning or off is None or options.dialect.codex_effort_off == "omitted":
        return None
    return {"effort": off}


def _effort(model: Model, level: str, options: ProviderOptions) -> str | None:
    """The model's own word for a level; None if it takes none for thinking not at all."""
    words = thinking_level_map(model)
    if level == "none":
        off = words.get("off", "none")
        if off is None and options.dialect.codex_effort_off == "omitted":
            off = "none"
        return None if off is None else str(off)
    word = words.get(level)
    return level if word is None else str(word)
