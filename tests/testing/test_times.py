"""Messages bear the time that a test sets."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio import Agent
from pi_trio.testing import ScriptedModel, ScriptedTool, assistant, frozen_time, tool_call
from pi_trio.timestamps import now


@given(st.integers(0, 2**52))
def test_the_time_is_what_was_set(ms):
    with frozen_time(ms):
        assert now() == ms


async def test_everything_in_a_run_bears_it():
    with frozen_time(5) as clock, ScriptedModel([tool_call("work"), "Done."]) as model:
        agent = Agent(stream_fn=model, tools=[ScriptedTool("work", lambda call: pass_time(clock, 6))])
        result = await agent.prompt("Go!")
    assert [message.timestamp for message in result.messages] == [5, 5, 6, 6]


def pass_time(clock, ms: int) -> str:
    clock.ms = ms
    return "ok"


def test_it_goes_on_behind_the_block():
    with pytest.raises(KeyError), frozen_time():
        assert assistant("x").timestamp == 0
        raise KeyError
    before = int(time.time() * 1000)
    assert now() >= before


def test_blocks_nest():
    with frozen_time(1):
        with frozen_time(2):
            assert now() == 2
        assert now() == 1


def test_blocks_may_end_in_any_order():
    one, other = frozen_time(1), frozen_time(2)
    before = int(time.time() * 1000)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert now() == 2
    other.__exit__(None, None, None)
    assert now() >= before


@pytest.mark.parametrize("ms", ["x", None, True])
def test_a_time_is_a_number(ms):
    with pytest.raises(TypeError, match="Unix milliseconds were expected, not"), frozen_time(ms):
        pass


@pytest.mark.parametrize("ms", [math.nan, math.inf, -math.inf])
def test_a_time_is_finite(ms):
    with pytest.raises(ValueError, match="Unix milliseconds were expected, not"), frozen_time(ms):
        pass


@pytest.mark.parametrize("ms", ["x", True, math.nan])
def test_the_time_stays_a_number(ms):
    with frozen_time(5) as frozen:
        with pytest.raises((TypeError, ValueError), match="Unix milliseconds were expected, not"):
            frozen.ms = ms
        assert now() == 5
