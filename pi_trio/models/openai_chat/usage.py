"""What a response has used, in the many forms in which endpoints tell it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TypeGuard

import attrs

from ...jsonvalue import ABSENT, JSON, Number
from ...messages import Model, Usage
from ..cost import calculate_cost
from ..dialect import Dialect
from .compat import is_openrouter


def usage_of(told: JSON, model: Model, dialect: Dialect) -> Usage:
    """The usage that a provider tells. What it does not tell is 0.

    Tokens that were read from the cache are told in three places: as OpenAI does, as DeepSeek, as Kimi. Those that were
    written to it are told beside them, by whoever passes Claude on. Neither counts as input.
    """
    usage = told if isinstance(told, Mapping) else {}
    prompt = _object(usage.get("prompt_tokens_details"))
    read = _first(
        prompt.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), usage.get("cached_tokens")
    )
    written = _count(prompt.get("cache_write_tokens"))
    input_ = max(0, _count(usage.get("prompt_tokens")) - read - written)
    output = _count(usage.get("completion_tokens"))
    reasoning = _count(_object(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    if not reasoning and dialect.chat_bare_reasoning_tokens:
        reasoning = _count(usage.get("reasoning_tokens"))
    counted = Usage(
        input=input_,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=reasoning,
        total_tokens=input_ + output + read + written,
        cost=Usage.zero().cost,
    )
    cost = calculate_cost(model, counted, dialect)
    billed = _billed(usage) if dialect.chat_reported_cost and is_openrouter(model) else None
    if billed is not None:
        cost = attrs.evolve(cost, total=billed, total_from_provider=True)
    return attrs.evolve(counted, cost=cost)


def _billed(usage: Mapping[str, JSON]) -> Number | None:
    """What OpenRouter says that it costs; None where it does not say all of it.

    Who brings a key of his own pays the provider besides, at once or for the prompt and the answer.
    """
    cost = usage.get("cost")
    if not _is_cost(cost):
        return None
    if usage.get("is_byok") is False:
        return cost
    details = usage.get("cost_details")
    if usage.get("is_byok") is not True or not isinstance(details, Mapping):
        return None
    upstream = details.get("upstream_inference_cost", ABSENT)
    parts = ("upstream_inference_prompt_cost", "upstream_inference_completions_cost")
    paid = [details.get(part) for part in parts] if upstream is None else [upstream]
    known = [part for part in paid if _is_cost(part)]
    return cost + sum(known) if len(known) == len(paid) else None


def _is_cost(value: object) -> TypeGuard[Number]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value) and value >= 0


def _object(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}


def _count(value: JSON) -> Number:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


def _first(*values: JSON) -> Number:
    """The first that is told at all."""
    return _count(next((value for value in values if value is not None), 0))
