"""What a response has used, in the many forms in which it is told."""

from __future__ import annotations

import pytest

from pi_trio.models.dialect import DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.openai_chat.usage import usage_of

from ..modelling import model

CHAT = model(provider="openai")
ROUTER = model(provider="openrouter")


@pytest.mark.parametrize(
    ("told", "counts"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 3}, (10, 3, 0, 0)),
        ({"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 4}}, (6, 0, 4, 0)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 4}, (6, 0, 4, 0)),
        ({"prompt_tokens": 10, "cached_tokens": 4}, (6, 0, 4, 0)),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 0}, "cached_tokens": 4},
            (10, 0, 0, 0),
        ),
        (
            {"prompt_tokens": 10, "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 3}},
            (5, 0, 2, 3),
        ),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}, (0, 0, 4, 0)),
        ({"prompt_tokens": None, "prompt_tokens_details": None}, (0, 0, 0, 0)),
        ({"prompt_tokens": "10"}, (0, 0, 0, 0)),
        ([], (0, 0, 0, 0)),
    ],
)
def test_tokens(told, counts):
    usage = usage_of(told, CHAT, DIALECT_1_6_0)
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == counts
    assert usage.total_tokens == sum(counts)


def test_reasoning():
    told = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}}
    assert usage_of(told, CHAT, DIALECT_1_6_0).reasoning == 5
    assert usage_of({"reasoning_tokens": 5}, CHAT, DIALECT_1_6_0).reasoning == 5
    assert usage_of({"reasoning_tokens": 5}, CHAT, DIALECT_1_0_3).reasoning == 0


@pytest.mark.parametrize(
    ("told", "total"),
    [
        ({"cost": 0.5, "is_byok": False}, 0.5),
        ({"cost": 0.5, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.25}}, 0.75),
        (
            {
                "cost": 0.5,
                "is_byok": True,
                "cost_details": {
                    "upstream_inference_cost": None,
                    "upstream_inference_prompt_cost": 1,
                    "upstream_inference_completions_cost": 2,
                },
            },
            3.5,
        ),
    ],
)
def test_what_openrouter_has_billed_wins_over_the_catalog(told, total):
    cost = usage_of({"prompt_tokens": 10, **told}, ROUTER, DIALECT_1_6_0).cost
    assert (cost.total, cost.total_from_provider) == (total, True)
    assert usage_of({"prompt_tokens": 10, **told}, CHAT, DIALECT_1_6_0).cost.total_from_provider is False
    assert usage_of({"prompt_tokens": 10, **told}, ROUTER, DIALECT_1_0_3).cost.total_from_provider is None


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"cost": "1", "is_byok": False},
        {"cost": -1, "is_byok": False},
        {"cost": True, "is_byok": False},
        {"cost": 1},
        {"cost": 1, "is_byok": True},
        {"cost": 1, "is_byok": True, "cost_details": {}},
        {"cost": 1, "is_byok": True, "cost_details": {"upstream_inference_cost": None}},
    ],
)
def test_an_account_that_is_not_complete_counts_for_nothing(told):
    assert usage_of(told, ROUTER, DIALECT_1_6_0).cost.total_from_provider is False
