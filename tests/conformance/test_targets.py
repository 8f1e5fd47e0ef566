"""The loop alone has to be declared by a subject, and needs what an agent's scenarios can do without."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.needs import missing, needs
from pi_trio.conformance.protocol import COMMANDS
from pi_trio.conformance.scenario import Scenario

ALL: dict[str, Any] = {"commands": sorted(COMMANDS), "hooks": ["finishTurn", "prepareNextTurnWithContext"]}
BOTH: dict[str, Any] = {"targets": ["agent", "loop"]}
SYNC = {"send": {"cmd": "sync"}}


def lacking(create: dict[str, Any], *lines: Any, **hello: Any) -> tuple[str, ...]:
    scenario = Scenario(name="x", title="X.", topic="t", create=create)
    return missing(needs(scenario, [{"send": scenario.create_command()}, *lines]), {**ALL, **hello})


def test_who_declares_no_targets_has_the_agent_alone() -> None:
    assert lacking({}) == lacking({"target": "agent"}) == ()
    assert lacking({"target": "loop"}) == ("feature targets: loop",)
    assert lacking({"target": "loop"}, features=BOTH) == ()
    assert lacking({}, features={"targets": ["loop"]}) == ()


@pytest.mark.parametrize("nonsense", [{"loop": True}, 1, None])
def test_targets_that_are_no_list_declare_nothing(nonsense: Any) -> None:
    assert lacking({"target": "loop"}, features={"targets": nonsense}) == ("feature targets: loop",)


def test_a_later_create_counts_too() -> None:
    assert lacking({}, {"send": {"cmd": "create", "target": "loop"}}) == ("feature targets: loop",)


def test_the_hooks_of_the_loop_follow_from_those_of_the_agent() -> None:
    hooks = {"target": "loop", "hooks": ["finishTurn"]}
    assert lacking(hooks, features=BOTH) == ()
    assert lacking(hooks, features=BOTH, hooks=[]) == ("hook finishTurn of the loop",)
    with_context = {"target": "loop", "hooks": ["prepareNextTurnWithContext"]}
    assert lacking(with_context, features=BOTH) == ("hook prepareNextTurnWithContext of the loop",)


def test_hooks_that_only_the_loop_has_are_declared() -> None:
    features = {**BOTH, "loopHooks": ["shouldStopAfterTurn"]}
    hooks = ["shouldStopAfterTurn"]
    assert lacking({"target": "loop", "hooks": hooks}, features=features) == ()
    assert lacking({"hooks": hooks}, features=features) == ("hook shouldStopAfterTurn",)
    assert lacking({"target": "loop", "hooks": ["finishTurn"]}, features=features) == (
        "hook finishTurn of the loop",
    )


def test_the_loop_needs_sync_and_an_agent_does_not() -> None:
    without = [name for name in ALL["commands"] if name != "sync"]
    assert lacking({}, SYNC, commands=without) == ()
    assert lacking({"target": "loop"}, commands=without, features=BOTH) == ("command sync",)
