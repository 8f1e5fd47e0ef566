"""What a response has used, as Anthropic tells it: at the beginning, and again in part at the end."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import attrs

from ...jsonvalue import JSON, Number
from ...messages import Model, ModelCost, Usage
from ..cost import calculate_cost
from ..dialect import Dialect
from ..exchange import ResponseFailedError
from .compat import compat_of, is_openrouter

_FIELDS: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class Meter:
    """The usage of one response.

    Args:
        model: what is asked; another one may answer, and has its own prices.
        dialect: what is told, and what it costs.
    """

    def __init__(self, model: Model, dialect: Dialect) -> None:
        self._model = self._served = model
        self._dialect = dialect

    def begin(self, usage: Usage, told: Mapping[str, JSON], served: JSON) -> Usage:
        """The usage at the beginning, of the model that answers. It may begin again."""
        self._served = self._priced(served)
        counts = {name: _number(told.get(key)) or 0 for name, key in _FIELDS.items()}
        counts["cache_write_1h"] = _number(_long_writes(told)) or 0
        return self._counted(_changed(usage, counts))

    def go_on(self, usage: Usage, told: JSON) -> Usage:
        """The usage after a later word: what it does not tell stays."""
        if not isinstance(told, Mapping):
            return self._counted(usage)
        keys = {name: told.get(key) for name, key in _FIELDS.items()}
        if self._dialect.anthropic_later_cache_times:
            keys["cache_write_1h"] = _long_writes(told)
        details = told.get("output_tokens_details")
        if self._dialect.message_extras and isinstance(details, Mapping):
            keys["reasoning"] = details.get("thinking_tokens")
        counts = {name: _number(count) for name, count in keys.items() if count is not None}
        usage = self._counted(_changed(usage, counts))
        if not self._dialect.anthropic_billed_cost or not is_openrouter(self._model):
            return usage
        billed = _billed(told)
        if billed is None:
            return usage
        return attrs.evolve(usage, cost=attrs.evolve(usage.cost, total=billed, total_from_provider=True))

    def _priced(self, served: Any) -> Model:
        for fallback in compat_of(self._model, self._dialect).fallbacks if served != self._model.id else ():
            if fallback.get("provider") == self._model.provider and fallback.get("model") == served:
                cost: Any = fallback.get("cost")
                return attrs.evolve(self._model, id=served, cost=_cost(cost)) if cost else self._model
        return self._model

    def _counted(self, usage: Usage) -> Usage:
        total = usage.input + usage.output + usage.cache_read + usage.cache_write
        usage = attrs.evolve(usage, total_tokens=total)
        return attrs.evolve(usage, cost=calculate_cost(self._served, usage, self._dialect))


def _changed(usage: Usage, counts: Mapping[str, Any]) -> Usage:
    return attrs.evolve(usage, **counts)


def _cost(told: Mapping[str, Any]) -> ModelCost:
    tiers = {"tiers": told["tiers"]} if "tiers" in told else {}
    return ModelCost(
        input=told["input"],
        output=told["output"],
        cache_read=told["cacheRead"],
        cache_write=told["cacheWrite"],
        extra=tiers,
    )


def _long_writes(told: Mapping[str, JSON]) -> JSON:
    created = told.get("cache_creation")
    return created.get("ephemeral_1h_input_tokens") if isinstance(created, Mapping) else None


def _number(count: JSON) -> Number | None:
    if count is None or (isinstance(count, (int, float)) and not isinstance(count, bool)):
        return count
    raise ResponseFailedError(f"The provider's stream is malformed: a count of tokens is {count!r:.40}")


def _billed(told: Mapping[str, Any]) -> Any:
    """What OpenRouter has billed: its own price, with that of the provider where that has been paid by another key."""
    cost = told.get("cost")
    if not _is_cost(cost):
        return None
    if told.get("is_byok") is False:
        return cost
    details = told.get("cost_details")
    if told.get("is_byok") is not True or not isinstance(details, Mapping):
        return None
    upstream: Any = details.get("upstream_inference_cost", "")
    if upstream is None:
        parts: list[Any] = [
            details.get(f"upstream_inference_{part}_cost") for part in ("prompt", "completions")
        ]
        upstream = sum(parts) if all(map(_is_cost, parts)) else None
    return cost + upstream if _is_cost(upstream) else None


def _is_cost(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value) and value >= 0
