"""A scenario as a subject with declared features can play it.

A subject may do some things otherwise than Pi without being wrong, and says so in its `hello`. Where the same
scenario can be asked in the subject's own way, it is, and the reference is asked in that way too, so that the
comparison stays exact. Where it cannot, the scenario stays as it is, and `needs` finds what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from pi_trio.jsonvalue import thaw

from .lines import commands_in
from .protocol import Object
from .rebuilding import Contradiction, rebuilt
from .scenario import Scenario


def mirrored(scenario: Scenario, features: Object) -> Scenario:
    """The scenario in the way of a subject that declares `features`; the same object if nothing changes."""
    changed = scenario
    if features.get("listeners") in ("sync", "none"):
        changed = _unawaited(changed, heard=features["listeners"] == "sync")
    if tool_modes(features) == frozenset({"sequential"}):
        changed = _sequential(changed)
    if features.get("partials") == "built":
        changed = _rebuilt(changed)
    if features.get("abort") == "cancelling":
        changed = cancelling(changed)
    return scenario if changed == scenario else changed


def tool_modes(features: Object) -> frozenset[str]:
    """The modes in which a subject executes the calls of a batch. What is not understood is none."""
    declared: Any = features.get("toolModes", "both")
    if declared == "both":
        return frozenset({"parallel", "sequential"})
    names = declared if isinstance(declared, list) else []
    return frozenset(mode for mode in ("parallel", "sequential") if mode in names)


def cancelling(scenario: Scenario) -> Scenario:
    """With aborts that cancel, unless the scenario itself speaks of the mode."""

    def fresh(create: Object) -> Object:
        return {**create, "options": {"abortMode": "cancel", **create.get("options", {})}}

    return _each_create(scenario, fresh)


def aborts(scenario: Scenario) -> bool:
    """Whether there is an abort in it. Without one it does not matter what an abort does."""
    return any(command["cmd"] == "abort" for command in commands(scenario))


def holds_listeners(scenario: Scenario) -> bool:
    """Whether it matters in a scenario that listeners are awaited: one is kept waiting, or fails."""
    rules = (rule for rule in scenario.rules if rule.fn == "listener")
    return any(rule.deed != "value" for rule in rules) or any(
        command.get("ask", {}).get("fn") == "listener" for command in commands(scenario)
    )


def contradicts_itself(scenario: Scenario) -> bool:
    """Whether a stream in it says one thing in its deltas and another in its partials."""
    try:
        for events in _streams(scenario):
            rebuilt(events)
    except Contradiction:
        return True
    return False


def commands(scenario: Scenario) -> Iterator[Object]:
    """The commands of the script, those in bursts too."""
    return (command for step in scenario.steps for command in commands_in(step))


def _unawaited(scenario: Scenario, *, heard: bool) -> Scenario:
    """With listeners that are called and not awaited (all are in notify mode), or with none."""
    if holds_listeners(scenario):
        return scenario
    if any(command["cmd"] == "create" for command in commands(scenario)):
        return scenario  # a second agent, whose listeners are its own; no scenario needs it otherwise
    names = [*scenario.create.get("listeners", ())]
    names += [command["key"] for command in commands(scenario) if command["cmd"] == "subscribe"]
    told: list[str] = (
        list(dict.fromkeys([*scenario.create.get("tellListeners", ()), *names])) if heard else []
    )
    listeners = scenario.create.get("listeners", []) if heard else []
    return attrs.evolve(
        scenario, create={**scenario.create, "listeners": [*listeners], "tellListeners": told}
    )


def _sequential(scenario: Scenario) -> Scenario:
    """With calls that run one after the other, unless the scenario itself speaks of the mode."""

    def fresh(create: Object) -> Object:
        return {**create, "options": {"toolExecution": "sequential", **create.get("options", {})}}

    return _each_create(scenario, fresh)


def _each_create(scenario: Scenario, change: Callable[[Object], Object]) -> Scenario:
    """With every agent of it created in another way."""
    steps = [change(step) if step["cmd"] == "create" else step for step in scenario.steps]
    return attrs.evolve(scenario, create=change(scenario.create), steps=steps)


def _rebuilt(scenario: Scenario) -> Scenario:
    """With every partial as the deltas have it."""
    if contradicts_itself(scenario):
        return scenario
    answers = [
        {**rule, "stream": rebuilt(thaw(rule["stream"]))} if "stream" in rule else rule
        for rule in scenario.answers
    ]
    pushed = {stream: iter(rebuilt(events)) for stream, events in _pushed(scenario).items()}
    events = iter([next(pushed[stream]) for stream, _ in _pushes(scenario)])

    def fresh(command: Object) -> Object:
        if command["cmd"] == "push":
            return {**command, "event": next(events)}
        if command["cmd"] == "burst":
            return {**command, "cmds": [fresh(part) for part in command["cmds"]]}
        return command

    return attrs.evolve(scenario, answers=answers, steps=[fresh(step) for step in scenario.steps])


def _streams(scenario: Scenario) -> Iterator[list[Object]]:
    """The events of each stream: those that rules feed, and those that the script pushes."""
    for rule in scenario.answers:
        if "stream" in rule:
            yield thaw(rule["stream"])
    yield from _pushed(scenario).values()


def _pushed(scenario: Scenario) -> dict[tuple[int, int], list[Object]]:
    streams: defaultdict[tuple[int, int], list[Object]] = defaultdict(list)
    for stream, event in _pushes(scenario):
        streams[stream].append(thaw(event))
    return dict(streams)


def _pushes(scenario: Scenario) -> Iterator[tuple[tuple[int, int], Object]]:
    """What the script pushes, each with its stream: the number of the agent, and that of its stream."""
    agent = 0
    for command in commands(scenario):
        if command["cmd"] == "create":
            agent += 1
        elif command["cmd"] == "push":
            yield (agent, command["ask"].get("nth", 0)), command["event"]
