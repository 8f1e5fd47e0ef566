"""How hard a model may think: the levels that it has, the nearest one to a wish, and what a level costs in tokens.

A model's `thinkingLevelMap` (in `extra`) gives its own word for a level, or null for a level that it does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..jsonvalue import JSON
from ..messages import Model, ThinkingLevel
from .dialect import Dialect

#: Levels that a model has only if its map names them.
_ONLY_IF_MAPPED: Final = ("xhigh", "max")
#: Tokens to think with, where neither the caller nor a map says otherwise.
DEFAULT_BUDGETS: Final[Mapping[str, int]] = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384}
#: Tokens that always remain for the answer, where thinking and answer share one limit.
ANSWER_TOKENS: Final = 1024


def thinking_level_map(model: Model) -> Mapping[str, JSON]:
    """The model's own words for levels; a level that is not in it has none of its own."""
    given = model.extra.get("thinkingLevelMap")
    return given if isinstance(given, Mapping) else {}


def supported_thinking_levels(model: Model, dialect: Dialect) -> tuple[ThinkingLevel, ...]:
    """The levels that the model has, from the least; only `off` for one that does not reason."""
    if not model.reasoning:
        return ("off",)
    words = thinking_level_map(model)
    return tuple(
        level
        for level in dialect.thinking_levels
        if (words[level] is not None if level in words else level not in _ONLY_IF_MAPPED)
    )


def clamp_thinking_level(model: Model, level: ThinkingLevel, dialect: Dialect) -> ThinkingLevel:
    """The level itself if the model has it, else the next higher one, else the next lower one.

    An unknown level becomes the least that the model has.
    """
    supported = supported_thinking_levels(model, dialect)
    levels = dialect.thinking_levels
    if level not in levels:
        return supported[0] if supported else "off"
    place = levels.index(level)
    nearest = (*levels[place:], *reversed(levels[:place]))
    return next((one for one in nearest if one in supported), "off")


def thinking_budget(level: ThinkingLevel, budgets: Mapping[str, int] | None = None) -> int:
    """The tokens that a level (not `off`) may think with; the levels above `high` have its budget.

    Args:
        level: the level that is asked for.
        budgets: tokens by level, in place of the usual ones.
    """
    name = "high" if level in _ONLY_IF_MAPPED else level
    return {**DEFAULT_BUDGETS, **(budgets or {})}[name]


def fit_thinking_budget(budget: int, limit: int) -> int:
    """A budget that leaves room for the answer below a limit that both share."""
    return min(budget, max(0, limit - ANSWER_TOKENS))


def limits_with_thinking(
    max_tokens: int | None,
    model_max_tokens: int,
    level: ThinkingLevel,
    budgets: Mapping[str, int] | None = None,
) -> tuple[int, int]:
    """The limit of a response that thinks, and how much of it may be thinking, both in tokens.

    A caller's limit is for the answer: the budget comes on top of it, as far as the model goes. Without one all that
    the model can give is shared.

    Args:
        max_tokens: the caller's limit, or None.
        model_max_tokens: the model's.
        level: the level that is asked for.
        budgets: tokens by level, in place of the usual ones.
    """
    budget = thinking_budget(level, budgets)
    limit = model_max_tokens if max_tokens is None else min(max_tokens + budget, model_max_tokens)
    return limit, fit_thinking_budget(budget, limit) if limit <= budget else budget
