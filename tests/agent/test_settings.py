"""What is assigned to an agent is looked at then, and not by the run that would fall over it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pi_trio.agent.agent import Agent

WRONG = [
    ("steering_mode", "bogus", ValueError, "steering_mode is one of one-at-a-time, all, not 'bogus'"),
    ("follow_up_mode", None, ValueError, "follow_up_mode is one of"),
    ("tool_execution", "serial", ValueError, "tool_execution is one of parallel, sequential"),
    ("abort_mode", "kill", ValueError, "abort_mode is one of cancel, signal"),
    ("settle_grace", None, TypeError, "settle_grace is a number of seconds"),
    ("settle_grace", "5", TypeError, "math.inf for no limit"),
    ("settle_grace", True, TypeError, "a number of seconds"),
    ("settle_grace", math.nan, ValueError, "from 0"),
    ("settle_grace", -1, ValueError, "from 0"),
    ("model", "gpt", TypeError, "model is a Model, not 'gpt'"),
    ("tools", [len], TypeError, "a Tool was expected, not <built-in function len>: is @tool missing?"),
    ("tools", ["add"], TypeError, "a Tool was expected, not 'add'"),
]


@pytest.mark.parametrize(("name", "value", "kind", "says"), WRONG)
def test_what_makes_no_sense_is_refused(name: str, value: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        Agent(**{name: value})
    agent = Agent()
    before = getattr(agent, name)
    with pytest.raises(kind, match=says):
        setattr(agent, name, value)
    assert getattr(agent, name) == before


def test_before_it_is_set_a_setting_is_missing_as_any_attribute() -> None:
    agent = Agent.__new__(Agent)
    assert not hasattr(agent, "settle_grace")
    with pytest.raises(AttributeError, match="settle_grace has not been set yet"):
        agent.settle_grace  # noqa: B018


@pytest.mark.parametrize("value", [0, 2.5, math.inf])
def test_a_grace_may_be_none_or_endless(value: float) -> None:
    assert Agent(settle_grace=value).settle_grace == value
