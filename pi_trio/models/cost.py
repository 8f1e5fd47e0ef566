"""What a response costs, by the prices of the catalog.

Prices may have tiers (0.85.0): a prompt that is longer than a tier's threshold is paid at its rates, and so is the
whole response. The operations are in Pi's order, so that the sums are equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..jsonvalue import Number
from ..messages import Model, ModelCost, Usage, UsageCost
from .dialect import Dialect

_MILLION = 1_000_000


def calculate_cost(model: Model, usage: Usage, dialect: Dialect) -> UsageCost:
    """The cost of `usage`, in US dollars. Cache writes that last an hour cost twice the input rate.

    Args:
        model: its `cost` has the prices; tiers are in its `extra`, as Pi's catalog has them.
        usage: what was used; its own cost is not looked at.
        dialect: whether there are tiers, and whether the cost says that it is computed.
    """
    rates = _rates(model.cost, usage, dialect)
    long = usage.cache_write_1h or 0
    short = usage.cache_write - long
    input_ = rates.input / _MILLION * usage.input
    output = rates.output / _MILLION * usage.output
    cache_read = rates.cache_read / _MILLION * usage.cache_read
    cache_write = (rates.cache_write * short + rates.input * 2 * long) / _MILLION
    return UsageCost(
        input=input_,
        output=output,
        cache_read=cache_read,
        cache_write=cache_write,
        total=input_ + output + cache_read + cache_write,
        total_from_provider=False if dialect.total_from_provider else None,
    )


def _rates(cost: ModelCost, usage: Usage, dialect: Dialect) -> ModelCost:
    """The rates of the highest tier that the prompt exceeds; of two with one threshold the first."""
    tiers: Any = cost.extra.get("tiers") if dialect.cost_tiers else None
    prompt = usage.input + usage.cache_read + usage.cache_write
    threshold: Number = -1
    for tier in tiers or ():
        above = tier["inputTokensAbove"]
        if prompt > above > threshold:
            cost, threshold = _tier_rates(tier), above
    return cost


def _tier_rates(tier: Mapping[str, Any]) -> ModelCost:
    return ModelCost(
        input=tier["input"],
        output=tier["output"],
        cache_read=tier["cacheRead"],
        cache_write=tier["cacheWrite"],
    )
