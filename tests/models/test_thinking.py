"""Levels of thinking: those that a model has, the nearest one, and their budgets."""

from __future__ import annotations

import pytest

from pi_trio.models.dialect import DIALECT_0_80_2, DIALECT_1_6_0
from pi_trio.models.thinking import (
    clamp_thinking_level,
    fit_thinking_budget,
    limits_with_thinking,
    supported_thinking_levels,
    thinking_budget,
)

from .modelling import model

PLAIN = model()
REASONING = model(reasoning=True)
MAPPED = model(reasoning=True, thinkingLevelMap={"xhigh": "xhigh", "minimal": None, "off": None})
NONE = model(reasoning=True, thinkingLevelMap=dict.fromkeys(DIALECT_1_6_0.thinking_levels))


@pytest.mark.parametrize(
    ("which", "levels"),
    [
        (PLAIN, "off"),
        (REASONING, "off minimal low medium high"),
        (MAPPED, "low medium high xhigh"),
        (NONE, ""),
    ],
)
def test_the_levels_of_a_model(which, levels):
    assert supported_thinking_levels(which, DIALECT_1_6_0) == tuple(levels.split())


@pytest.mark.parametrize(
    ("which", "wish", "level"),
    [
        (PLAIN, "high", "off"),
        (REASONING, "low", "low"),
        (REASONING, "xhigh", "high"),
        (REASONING, "max", "high"),
        (REASONING, "strong", "off"),
        (MAPPED, "off", "low"),
        (MAPPED, "minimal", "low"),
        (MAPPED, "max", "xhigh"),
        (MAPPED, "strong", "low"),
        (NONE, "low", "off"),
        (NONE, "strong", "off"),
    ],
)
def test_the_nearest_level(which, wish, level):
    assert clamp_thinking_level(which, wish, DIALECT_1_6_0) == level


def test_there_was_a_time_without_max():
    everything = model(reasoning=True, thinkingLevelMap={"xhigh": "x", "max": "m"})
    assert supported_thinking_levels(everything, DIALECT_1_6_0)[-1] == "max"
    assert supported_thinking_levels(everything, DIALECT_0_80_2)[-1] == "xhigh"


def test_budgets():
    assert [thinking_budget(level) for level in ("minimal", "low", "medium", "high", "xhigh", "max")] == [
        1024, 2048, 8192, 16384, 16384, 16384,
    ]  # fmt: skip
    assert thinking_budget("max", {"high": 5}) == 5
    assert [fit_thinking_budget(8192, limit) for limit in (20_000, 4096, 1000)] == [8192, 3072, 0]


@pytest.mark.parametrize(
    ("max_tokens", "level", "limit", "budget"),
    [
        (None, "low", 8192, 2048),
        (None, "high", 8192, 7168),
        (4000, "low", 6048, 2048),
        (4000, "high", 8192, 7168),
    ],
)
def test_a_callers_limit_is_for_the_answer(max_tokens, level, limit, budget):
    assert limits_with_thinking(max_tokens, 8192, level) == (limit, budget)
