"""The hand-written scenarios by topic: the rules of the loop, its weaknesses, and the faults seen in ports.

A scenario is added to the module of its topic; `all_scenarios` collects them and refuses two of one name.
"""

from __future__ import annotations

from functools import cache

from pi_trio.conformance.scenario import Scenario

from . import (
    abort,
    abort_tools,
    arguments,
    batch,
    earlier_releases,
    failure,
    failure_closing,
    listeners,
    low_level,
    low_level_between,
    low_level_failing,
    queues,
    request_hooks,
    response,
    run,
    state,
    together,
    together_failing,
    tool_hooks,
    transcript,
    turn_hooks,
    updates,
    values,
)

MODULES = (
    run, response, batch, arguments, updates, tool_hooks, turn_hooks, request_hooks, queues, abort,
    abort_tools, listeners, failure, failure_closing,
    together, together_failing, state, transcript, values,
    low_level, low_level_failing, low_level_between, earlier_releases,
)  # fmt: skip
"""The topics in the order in which they are best read."""


@cache
def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario, topic by topic.

    Raises:
        ValueError: two scenarios have one name.
    """
    scenarios = tuple(scenario for module in MODULES for scenario in module.SCENARIOS)
    names = [scenario.name for scenario in scenarios]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two scenarios are called {', '.join(sorted(twice))}")
    return scenarios
