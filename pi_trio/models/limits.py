"""What a simple request asks of every provider alike: how long the answer may be, and how it is drawn.

The limit of the answer is fitted into the context window, since a provider refuses a request whose input and limit do
not fit together, and the input is known by estimate only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, cast

import attrs

from ..jsonvalue import JSON
from ..messages import Model, ThinkingLevel
from .dialect import Dialect
from .estimate import estimate_context
from .request_options import ProviderOptions
from .stream import ModelContext
from .thinking import clamp_thinking_level

#: Tokens of the window that stay free, at least.
_MARGIN: Final = 4096
#: Of the estimated input, so much is left free besides: providers count with tokenizers of their own.
_MARGIN_RATIO: Final = 0.15
#: As long as it leaves room for an answer of this size; below that, the margin is the fixed one again.
_ROOM_WITH_RATIO: Final = 32768


def clamp_max_tokens(model: Model, context: ModelContext, max_tokens: float, dialect: Dialect) -> float:
    """`max_tokens` as far as the context window has room for it; 1 at least.

    A window of 0 is unknown, and limits nothing.
    """
    if dialect.context_margin == "none":
        return max_tokens
    window = model.context_window
    if window <= 0:
        return max(1, max_tokens)
    used = estimate_context(context, dialect).tokens
    room = window - used - _MARGIN
    if dialect.context_margin == "ratio":
        generous = window - used - max(_MARGIN, math.ceil(used * _MARGIN_RATIO))
        room = generous if generous >= _ROOM_WITH_RATIO else min(_ROOM_WITH_RATIO, room)
    return min(max_tokens, max(1, room))


def sampling_params(
    model: Model, level: ThinkingLevel | None, given: Mapping[str, JSON] | None, dialect: Dialect
) -> Mapping[str, JSON] | None:
    """The sampling parameters of a request: the model's, those of its level, the caller's; the later ones win."""
    if dialect.sampling_params == "none":
        return None
    layers = [model.extra.get("samplingParams"), given]
    if dialect.sampling_params == "level":
        by_level = model.extra.get("samplingParamsByThinkingLevel")
        if isinstance(by_level, Mapping):
            layers.insert(1, by_level.get(clamp_thinking_level(model, level or "off", dialect)))
    present = [cast("Mapping[str, JSON]", layer) for layer in layers if layer is not None]
    if not present:
        return None
    return {name: value for layer in present for name, value in layer.items()}


def base_options(model: Model, context: ModelContext, options: ProviderOptions) -> ProviderOptions:
    """The options of a simple request with what every provider needs filled in.

    That is `max_tokens` (fitted) and `sampling_params` (merged). `deferred` is dropped: no adapter asks for it.
    """
    dialect = options.dialect
    limit = options.max_tokens
    if limit is None and dialect.max_tokens_default == "model":
        limit = cast("int", model.max_tokens)
    if limit is not None:
        limit = cast("int", clamp_max_tokens(model, context, limit, dialect))
    return attrs.evolve(
        options,
        max_tokens=limit,
        sampling_params=sampling_params(model, options.reasoning, options.sampling_params, dialect),
        deferred=None,
    )
