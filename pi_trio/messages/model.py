"""The model: what is asked, how hard it is to think, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import attrs

from ..jsonvalue import Number
from ..wire import Wire

ThinkingLevel: TypeAlias = str
"""`off`, `minimal`, `low`, `medium`, `high`, `xhigh`, and since 0.85.0 `max`."""


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class ModelCost(Wire):
    """US dollars for a million tokens."""

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number


@attrs.frozen(kw_only=True, repr=False)
class Model(Wire):
    """A model, and what is known of it.

    `input` lists what it takes (`text`, `image`); `context_window` and `max_tokens` count tokens. What
    Pi's catalog says besides (headers, compat, thinkingLevelMap, …) is in `extra`.
    """

    id: str
    name: str
    api: str
    provider: str
    base_url: str
    reasoning: bool
    input: tuple[str, ...] = attrs.field(converter=_texts)
    cost: ModelCost
    context_window: Number
    max_tokens: Number

    @classmethod
    def unknown(cls) -> Model:
        """The model of an agent that was given none."""
        return _UNKNOWN_MODEL


_UNKNOWN_MODEL = Model(
    id="unknown",
    name="unknown",
    api="unknown",
    provider="unknown",
    base_url="",
    reasoning=False,
    input=(),
    cost=ModelCost(input=0, output=0, cache_read=0, cache_write=0),
    context_window=0,
    max_tokens=0,
)
