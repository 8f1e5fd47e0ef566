"""What a scenario needs of a subject, derived from the scenario and from the trace that is expected of it.

Nobody writes down what a scenario needs: such lists rot. The commands are those that the expected trace
sends, the hooks and the options are those that they name, and the features follow from what happens in it: a
feature is needed only where it would show. A subject that offers less is not driven through that scenario, and
the names given here say what it lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from . import options, targets
from .compare import canonical
from .deliveries import overlap, update_waits
from .lanes import signature
from .lines import KEYED, asks, commands_of, event_of
from .mirror import commands, contradicts_itself, holds_listeners, tool_modes
from .protocol import Object
from .scenario import Scenario

_LIVE: Final = frozenset({
    "state", "steer", "followUp", "setTools", "setMessages", "setOption", "clearQueue", "messages", "peekQueued",
})  # fmt: skip
"""Commands that touch the agent's state, which some implementations allow only between runs."""

_DEFAULTS: Final = {
    "listeners": "awaited", "delivery": "overlapping", "abort": "advisory", "update": "queued", "partials": "given",
    "liveState": True, "burst": True, "toolModes": "both",
}  # fmt: skip
"""What a subject has that declares nothing: everything, as in Pi."""

_TOOLS: Final = "feature toolModes"
"""Tools at all, in whatever mode their calls are executed."""

CANCELLING: Final = "feature abort: cancelling"
"""Aborts that end what waits."""


def needs(scenario: Scenario, expected: Sequence[Object]) -> frozenset[str]:
    """What the scenario needs, as `command push`, `hook finishTurn`, `feature listeners: awaited`."""
    found = {"order total"} if _races_show(scenario, expected) else set[str]()
    sent = [command for line in expected for command in commands_of(line)]
    found |= {f"command {command['cmd']}" for command in sent}
    found |= {f"feature {feature}" for feature in _features(scenario, expected)}
    if any(map(_speaks_of_tools, (scenario.create, *scenario.answers, *scenario.steps))):
        found.add(_TOOLS)
    found.discard("command sync")  # `state` serves as well
    creates = (command for command in sent if command["cmd"] == "create")
    return frozenset(found | targets.needed(creates) | options.needed(sent))


def offers(hello: Object) -> frozenset[str]:
    """What a subject offers, in the same words."""
    features: Object = {**_DEFAULTS, **hello.get("features", {})}
    offered = {f"command {name}" for name in hello["commands"]}
    offered |= targets.offered(hello) | options.offered(hello)
    offered.add(f"order {hello.get('order', 'total')}")
    for name, value in features.items():
        if name in ("keyless", "toolModes"):
            continue
        if value is True:
            offered.add(f"feature {name}")
        elif isinstance(value, str):
            offered.add(f"feature {name}: {value}")
    if features["listeners"] in ("awaited", "sync"):
        offered.add("feature listeners")
    if features["listeners"] != "awaited":  # called and gone, so nothing overlaps
        offered.discard("feature delivery: overlapping")
    if features["abort"] == "both":
        offered |= {"feature abort: advisory", CANCELLING}
    if modes := tool_modes(features):
        offered |= {_TOOLS, *(f"feature toolModes: {mode}" for mode in modes)}
    keyless = features.get("keyless")
    nameless: list[str] = keyless if isinstance(keyless, list) else []
    offered |= {f"feature key of {fn}" for fn in KEYED if fn not in nameless}
    return frozenset(offered)


def is_exact(hello: Object) -> bool:
    """Whether a subject can be driven without a trace to follow: it knows when a step is over, its order is total, and
    its callbacks say which call they are about.
    """
    quiet, order = hello.get("quiescence", "exact"), hello.get("order", "total")
    return quiet == "exact" and order == "total" and not hello.get("features", {}).get("keyless")


def missing(needed: Iterable[str], hello: Object) -> tuple[str, ...]:
    """What is needed and not offered, sorted. Of one without tools nothing is said of the modes of their calls."""
    lacks = set(needed) - offers(hello)
    if _TOOLS in lacks:
        lacks = {need for need in lacks if not need.startswith(f"{_TOOLS}: ")}
    return tuple(sorted(lacks))


def _features(scenario: Scenario, expected: Sequence[Object]) -> Iterator[str]:
    """The features in which a subject has to follow Pi, because they show."""
    for create in (scenario.create, *(each for each in commands(scenario) if each["cmd"] == "create")):
        yield from _from_create(create)
    if holds_listeners(scenario) or any(asks(line) == "listener" for line in expected):
        yield "listeners: awaited"
    if overlap(expected):
        yield "delivery: overlapping"
    if update_waits(expected):
        yield "update: queued"
    if contradicts_itself(scenario):
        yield "partials: given"
    yield from (f"key of {fn}" for fn in _indistinct(expected))
    running: set[str] = set()
    created: Object = scenario.create
    for line in expected:
        for command in commands_of(line):
            if command["cmd"] == "create":
                running, created = set(), command
            cancels = created.get("options", {}).get("abortMode") == "cancel"
            yield from _from_command(command, running=bool(running), cancels=cancels)
            if command["cmd"] in ("prompt", "continue"):
                running.add(command["op"])
        if line.get("tell") == "settled":
            running.discard(line["op"])
        if asks(line) == "execute" and not created.get("options", {}).get("toolExecution"):
            yield "toolModes: parallel"  # the default


def _speaks_of_tools(part: Any) -> bool:
    """Whether a part of a scenario declares a tool, or has a call or a result in it, wherever that may be."""
    if isinstance(part, (list, tuple)):
        return any(map(_speaks_of_tools, part))
    if not isinstance(part, Mapping):
        return False
    return (
        str(part.get("type")).lower().startswith("toolcall")  # a block, or an event of the provider
        or part.get("role") == "toolResult"
        or any(part.get(key) for key in ("tools", "toolsAdded", "toolsRemoved"))
        or any(map(_speaks_of_tools, part.values()))
    )


def _indistinct(expected: Sequence[Object]) -> Iterator[str]:
    """The functions of which two calls are open at once that differ in nothing but the call's id."""
    waiting: dict[str, tuple[str, str]] = {}
    for line in expected:
        for command in commands_of(line):
            if command["cmd"] == "answer":
                waiting.pop(canonical(command["ask"]), None)
            elif command["cmd"] == "create":
                waiting.clear()
        fn = asks(line)
        if fn in KEYED:
            key, said = str(line["ask"].get("key")), signature(line)
            if any(said == other and key != its for other, its in waiting.values()):
                yield fn
            waiting[canonical(line["ask"])] = (said, key)


def _races_show(scenario: Scenario, expected: Sequence[Object]) -> bool:
    """Whether what happens side by side can be seen in what comes later.

    Two calls that share an id cannot be told apart by who starts first, and the state that goes with an event
    tells which of two calls came first; so where their order is free, that is too.
    """
    if _shares_an_id(expected):
        return True
    if not any(create.get("snapshot") for create in (scenario.create, *scenario.steps)):
        return False
    calls: set[str] = set()
    for line in expected:
        if "send" in line:
            calls.clear()
        event = event_of(line) or {}
        if event.get("type") in ("tool_execution_end", "tool_execution_update"):
            calls.add(str(event.get("toolCallId")))
            if len(calls) > 1:
                return True
    return False


def _shares_an_id(expected: Sequence[Object]) -> bool:
    """Whether two calls with one id run at the same time."""
    running: Counter[str] = Counter()
    for line in expected:
        event = event_of(line) or {}
        if any(command["cmd"] == "create" for command in commands_of(line)):
            running.clear()
        if asks(line) == "execute":
            running[line["ask"]["key"]] += 1
        elif "send" in line and line["send"]["cmd"] == "answer" and line["send"]["ask"]["fn"] == "execute":
            running[str(line["send"]["ask"].get("key"))] -= 1
        elif event.get("type") == "turn_end":
            running.clear()
        if max(running.values(), default=0) > 1:
            return True
    return False


def _from_create(create: Object) -> Iterator[str]:
    mode = create.get("options", {}).get("toolExecution")
    modes = {tool["executionMode"] for tool in create.get("tools", ()) if "executionMode" in tool}
    yield from (f"toolModes: {each}" for each in modes | ({mode} if mode else set[str]()))


def _from_command(command: Object, *, running: bool, cancels: bool) -> Iterator[str]:
    name = command["cmd"]
    if name == "burst":
        yield "burst"
    elif name in ("subscribe", "unsubscribe"):
        yield "listeners"
    elif name == "setOption" and command["name"] == "toolExecution":
        yield f"toolModes: {command['value']}"
    elif name == "abort" and running:
        yield "abort: cancelling" if cancels else "abort: advisory"
    elif name in _LIVE and running:
        yield "liveState"
