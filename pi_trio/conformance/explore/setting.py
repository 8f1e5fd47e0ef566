"""With what a conversation begins: the agent, what it has installed, who listens, what is held, and in what mood.

A setting is a tuple of small numbers, one for each *dimension*; all zeros are the plainest agent. What a subject does
not offer is left out. The *mood* says which traits the stimuli do without: most faults need quiet surroundings to be
seen, and a conversation in which everything may happen seldom gets far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

import attrs

from .. import options, scripting, targets
from ..mirror import tool_modes
from ..protocol import Object
from . import material
from .stimuli import RULED, TRAITS, Stimulus, wheel

_HOOKS: Final = (None, None, None, *material.HOOKS)

_POLLS: Final = ("getSteeringMessages", "getFollowUpMessages")
"""Which only the loop asks for, and always."""

_HELD: Final = (
    *((event,) for event in material.EVENTS),
    ("tool_execution_update",), ("tool_execution_end",), ("tool_execution_update", "tool_execution_end"),
    ("tool_execution_start", "tool_execution_update"), ("turn_end", "agent_end"), ("message_start", "turn_start"),
    material.EVENTS,
)  # fmt: skip

_MOODS: Final[tuple[frozenset[str], ...]] = (
    RULED,
    frozenset(),
    TRAITS - {"abort"},
    TRAITS - {"failing"},
    RULED | {"abort"},
    frozenset({"malformed", "second start", "endless", "twins", "nothing", "state"}),
    RULED | {"state", "subscribing"},
    RULED - {"failing"},
)
"""Which traits a conversation does without."""

_DIMENSIONS: Final[dict[str, Sequence[Any]]] = {
    "tools": (0, 0, 0, 0, 1, 2, 3, 4, 5),
    "toolExecution": (None, None, None, "sequential", "parallel"),
    "steeringMode": (None, None, "all"),
    "followUpMode": (None, None, "all"),
    "abortMode": ("signal", "cancel"),
    "messages": (0, 0, 0, 1, 2, 3),
    "systemPrompt": (None, None, "rules"),
    "hook 1": _HOOKS,
    "hook 2": _HOOKS,
    "hook 3": _HOOKS,
    "listening": ("told", "asked", "told", "both"),
    "held": _HELD,
    "snapshot": (False, False, False, True),
    "mood": _MOODS,
    "again": (True, False, False, False),
    "target": ("agent", "agent", "agent", "agent", "agent", "agent", "loop"),
}

SIZES: Final = tuple(map(len, _DIMENSIONS.values()))
"""How many numbers there are for each dimension."""


@attrs.frozen(kw_only=True)
class Setting:
    """What a conversation begins with: `create`, the rules by which asks are held, and the wheel to draw from; and
    whether it is to be played again at its end.
    """

    create: Object
    answers: tuple[Object, ...]
    wheel: tuple[Stimulus, ...]
    again: bool


def setting(numbers: Sequence[int], hello: Object) -> Setting:
    """What these numbers stand for, for a subject that says `hello`."""
    chosen = {
        name: values[number] for (name, values), number in zip(_DIMENSIONS.items(), numbers, strict=True)
    }
    offered = targets.offered(hello) | options.offered(hello)
    features: Object = hello.get("features", {})
    loop = chosen["target"] == "loop" and "feature targets: loop" in offered
    hooks = list(dict.fromkeys(_hooks(chosen, offered, loop=loop)))
    listening = "told" if features.get("listeners", "awaited") != "awaited" else chosen["listening"]
    settings = dict(_settings(chosen, features, offered, loop=loop))
    state: Object = {"messages": material.TRANSCRIPTS[chosen["messages"]]}
    if chosen["systemPrompt"]:
        state["systemPrompt"] = chosen["systemPrompt"]
    create = scripting.agent(
        tools=material.TOOLSETS[chosen["tools"]],
        hooks=hooks,
        listeners=("L",) if listening != "both" else ("L", "M"),
        told={"told": ("L", "M", "N"), "asked": ("M", "N"), "both": ("M", "N")}[listening],
        state=state,
        settings=settings,
        snapshot=chosen["snapshot"] and not loop,
        target="loop" if loop else None,
    )
    held: list[Object] = [{"fn": fn, "hold": True} for fn in (*hooks, *(_POLLS if loop else ()))]
    if listening != "told":
        held += [{"fn": "listener", "key": "L", "event": event, "hold": True} for event in chosen["held"]]
    return Setting(
        create=create,
        answers=tuple(held),
        wheel=_wheel(chosen["mood"], frozenset(hello["commands"])),
        again=chosen["again"],
    )


def _hooks(chosen: Object, offered: frozenset[str], *, loop: bool) -> Iterator[str]:
    where = " of the loop" if loop else ""
    for name in ("hook 1", "hook 2", "hook 3"):
        if f"hook {chosen[name]}{where}" in offered:
            yield chosen[name]


def _settings(
    chosen: Object, features: Object, offered: frozenset[str], *, loop: bool
) -> Iterator[tuple[str, Any]]:
    """The options of `create`."""
    for name in ("toolExecution", "steeringMode", "followUpMode"):
        of_agent = name != "toolExecution"
        if chosen[name] and f"option {name}" in offered and not (loop and of_agent):
            if of_agent or chosen[name] in tool_modes(features):
                yield name, chosen[name]
    modes = {"both": chosen["abortMode"], "cancelling": "cancel"}
    if (mode := modes.get(features.get("abort", "advisory"), "signal")) != "signal":
        yield "abortMode", mode


@lru_cache
def _wheel(without: frozenset[str], commands: frozenset[str]) -> tuple[Stimulus, ...]:
    return wheel(without, commands)
