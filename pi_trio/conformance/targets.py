"""Whom a `create` is about: an agent, or the loop alone; what that needs of a subject, and who offers it.

The loop is a target that was added when there were adapters already, so it has to be declared: a subject that
says nothing of targets has the agent alone, and is not driven through scenarios of the loop. There a subject
also needs `sync`, because `state`, which is as good a look at an agent, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .protocol import Object

AGENT = "agent"


def needed(creates: Iterable[Object]) -> frozenset[str]:
    """What these `create` commands need, in the words of `needs`."""
    found = set[str]()
    for create in creates:
        target, hooks = create.get("target", AGENT), create.get("hooks", ())
        if target == AGENT:
            found |= {f"hook {hook}" for hook in hooks}
        else:
            found |= {f"feature targets: {target}", "command sync"}
            found |= {f"hook {hook} of the {target}" for hook in hooks}
    return frozenset(found)


def offered(hello: Object) -> frozenset[str]:
    """What a subject offers, in the same words."""
    features: Object = hello.get("features", {})
    targets, hooks, loop_hooks = features.get("targets"), hello["hooks"], features.get("loopHooks")
    if not isinstance(loop_hooks, list):
        loop_hooks = [name for name in hooks if name != "prepareNextTurnWithContext"]
    declared: list[Any] = targets if isinstance(targets, list) else [AGENT]
    found = {f"feature targets: {target}" for target in declared} | {f"hook {name}" for name in hooks}
    if "loop" in declared:
        found |= {f"hook {name} of the loop" for name in loop_hooks}
    return frozenset(found)
