"""What a response costs."""

from __future__ import annotations

import pytest

from pi_trio.models.cost import calculate_cost
from pi_trio.models.dialect import DIALECT_0_80_2, DIALECT_1_0_3, DIALECT_1_6_0

from .modelling import model, usage

TIERS = [
    {"inputTokensAbove": 200_000, "input": 10, "output": 20, "cacheRead": 1, "cacheWrite": 12},
    {"inputTokensAbove": 400_000, "input": 100, "output": 200, "cacheRead": 10, "cacheWrite": 120},
    {"inputTokensAbove": 400_000, "input": 7, "output": 7, "cacheRead": 7, "cacheWrite": 7},
]
TIERED = model(cost={"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1.25, "tiers": TIERS})


def test_each_kind_of_token_has_its_price():
    cost = calculate_cost(model(), usage(1_000_000, 500_000, 2_000_000, 400_000), DIALECT_1_6_0)
    assert (cost.input, cost.output, cost.cache_read, cost.cache_write) == (1, 1, pytest.approx(0.2), 0.5)
    assert cost.total == pytest.approx(2.7)


def test_an_hour_in_the_cache_costs_twice_the_input():
    cost = calculate_cost(model(), usage(cache_write=1_000_000, cache_write_1h=400_000), DIALECT_1_6_0)
    assert cost.cache_write == pytest.approx(0.6 * 1.25 + 0.4 * 2)


@pytest.mark.parametrize(("prompt", "rate"), [(200_000, 1), (200_001, 10), (400_000, 10), (400_001, 100)])
def test_tiers_are_for_longer_prompts_and_for_all_of_it(prompt, rate):
    cost = calculate_cost(TIERED, usage(1, 1_000_000, prompt - 2, 1), DIALECT_1_6_0)
    assert cost.output == 2 * rate
    assert calculate_cost(TIERED, usage(prompt, 1_000_000), DIALECT_0_80_2).output == 2


def test_only_the_newest_release_says_that_a_cost_is_computed():
    assert calculate_cost(model(), usage(1), DIALECT_1_0_3).total_from_provider is None
    assert calculate_cost(model(), usage(1), DIALECT_1_6_0).total_from_provider is False
