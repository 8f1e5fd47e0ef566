"""What a simple request asks of every provider alike."""

from __future__ import annotations

import pytest

from pi_trio.messages import UserMessage
from pi_trio.models.dialect import DIALECT_0_80_2, DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.limits import base_options, clamp_max_tokens, sampling_params
from pi_trio.models.request_options import ProviderOptions

from .modelling import context, model


def of_tokens(count: int, characters: float = 4):
    return context(UserMessage(content="x" * int(count * characters), timestamp=1))


@pytest.mark.parametrize(
    ("dialect", "window", "used", "limit"),
    [
        (DIALECT_0_80_2, 10, 1000, 8000),
        (DIALECT_1_0_3, 0, 1000, 8000),
        (DIALECT_1_0_3, 100_000, 1000, 8000),
        (DIALECT_1_0_3, 10_000, 1000, 4904),
        (DIALECT_1_0_3, 5_000, 1000, 1),
        (DIALECT_1_6_0, 200_000, 190_000, 5904),
        (DIALECT_1_6_0, 5_000, 1000, 1),
    ],
)
def test_the_answer_is_fitted_into_the_window(dialect, window, used, limit):
    characters = dialect.half_characters_per_token / 2
    which = model(contextWindow=window)
    assert clamp_max_tokens(which, of_tokens(used, characters), 8000, dialect) == limit


@pytest.mark.parametrize(
    ("used", "limit"), [(100_000, 85_000), (144_000, 34_400), (146_000, 32_768), (180_000, 15_904)]
)
def test_the_newest_margin_grows_with_the_input(used, limit):
    which = model(contextWindow=200_000)
    assert clamp_max_tokens(which, of_tokens(used, 3.5), 128_000, DIALECT_1_6_0) == limit


def test_the_limit_of_a_simple_request():
    options = ProviderOptions(dialect=DIALECT_0_80_2)
    assert base_options(model(), context(), options).max_tokens is None
    options = ProviderOptions(dialect=DIALECT_1_6_0, deferred=True, temperature=0.5)
    made = base_options(model(), context(), options)
    assert (made.max_tokens, made.deferred, made.temperature) == (8000, None, 0.5)
    assert base_options(model(), context(), ProviderOptions(max_tokens=9)).max_tokens == 9
    assert base_options(model(contextWindow=0), context(), ProviderOptions(max_tokens=0)).max_tokens == 1


def test_sampling_parameters_are_merged():
    which = model(
        reasoning=True,
        samplingParams={"a": 1, "b": 1, "c": 1},
        samplingParamsByThinkingLevel={"high": {"b": 2, "c": 2}, "off": {"b": 3}},
    )
    given = {"c": 9}
    assert sampling_params(which, "high", given, DIALECT_0_80_2) is None
    assert sampling_params(which, "high", given, DIALECT_0_85_0) == {"a": 1, "b": 1, "c": 9}
    assert sampling_params(which, "max", given, DIALECT_1_0_3) == {"a": 1, "b": 2, "c": 9}
    assert sampling_params(which, None, None, DIALECT_1_0_3) == {"a": 1, "b": 3, "c": 1}
    assert sampling_params(model(), "high", None, DIALECT_1_0_3) is None
    assert sampling_params(model(), "high", {}, DIALECT_1_0_3) == {}
