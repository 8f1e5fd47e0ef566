"""The features that a `hello` can declare, and the values that they can have.

A value that is not among these is a mistake of the one who wrote it: taken for "nothing of that is offered", it would
quietly leave out what the subject was to be judged by. So it is refused at once. Features of other names pass, as all
does that is not known: a later version may have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_CHOICES: Final[Mapping[str, tuple[str | bool, ...]]] = {
    "listeners": ("awaited", "sync", "none"),
    "delivery": ("overlapping", "serial"),
    "abort": ("advisory", "cancelling", "both"),
    "update": ("queued", "blocking"),
    "partials": ("given", "built"),
    "liveState": (True, False),
    "burst": (True, False),
    "toolModes": ("both",),
}
"""Features that are one of a few words."""

_LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "toolModes": ("parallel", "sequential"),
    "keyless": ("execute", "beforeToolCall", "afterToolCall"),
    "targets": (),
    "loopHooks": (),
    "options": (),
    "settable": (),
}
"""Features that are lists of names, and the names that can stand there; any, if none are given."""

_ALWAYS: Final[Mapping[str, str]] = {"targets": "agent"}
"""Names that a list has whatever else it has."""


def unknown_value(features: Mapping[str, Any]) -> str:
    """What is wrong with the first feature whose value it cannot have; empty if none is."""
    for name, value in features.items():
        choices, names = _CHOICES.get(name, ()), _LISTS.get(name)
        if (choices or names is not None) and not _is_among(value, choices) and not _is_list(value, names):
            return f"features.{name} is {_wanted(choices, names)}"
        if name in _ALWAYS and _ALWAYS[name] not in value:
            return f'features.{name} is a list with "{_ALWAYS[name]}" in it'
    return ""


def _is_among(value: Any, choices: tuple[str | bool, ...]) -> bool:
    return any(type(value) is type(choice) and value == choice for choice in choices)  # 1 is not true


def _is_list(value: Any, names: tuple[str, ...] | None) -> bool:
    if names is None or not isinstance(value, list):
        return False
    items: list[Any] = value
    return all(isinstance(item, str) and (not names or item in names) for item in items)


def _wanted(choices: tuple[str | bool, ...], names: tuple[str, ...] | None) -> str:
    words = [str(choice).lower() if isinstance(choice, bool) else f'"{choice}"' for choice in choices]
    if names is not None:
        words.append(f"a list of {', '.join(names)}" if names else "a list of names")
    return " or ".join(words)
