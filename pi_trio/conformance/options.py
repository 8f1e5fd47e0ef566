"""Options by name: which of them a scenario sets, and which a subject has.

Not every release has every option, so a subject that follows another one is not to blame for lacking some. It says
which it has (`options` for those of `create`, `settable` for those of `setOption`); one that says nothing has those of
the release that its profile starts from. The tester has its own table of these, because it shares no code with whom it
judges; tests hold it to the runtime and to real Pi.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from .protocol import Object

_OF_ALL: Final = (
    "steeringMode", "followUpMode", "toolExecution", "sessionId", "thinkingBudgets", "transport", "maxRetryDelayMs",
)  # fmt: skip
_SETTABLE_IN_ALL: Final = ("steeringMode", "followUpMode", "toolExecution", "model", "thinkingLevel")

_WITH_IDENTITY: Final = (*_OF_ALL, "identity")
_WITH_PROMPT: Final = (*_SETTABLE_IN_ALL, "systemPrompt")

OF_CREATE: Final = {
    "pi-0.80.2": _OF_ALL, "pi-0.85.0": _OF_ALL, "pi-1.0.3": _OF_ALL, "pi-1.6.0": _WITH_IDENTITY,
}  # fmt: skip
OF_SET_OPTION: Final = {
    "pi-0.80.2": _WITH_PROMPT, "pi-0.85.0": _WITH_PROMPT, "pi-1.0.3": _SETTABLE_IN_ALL, "pi-1.6.0": _SETTABLE_IN_ALL,
}  # fmt: skip
_NEWEST: Final = "pi-1.6.0"
"""What is assumed of a profile that is not known."""

_OF_THE_TESTER: Final = "abortMode"
"""The option that is sent only to who understands it: see `abort` among the features."""


def needed(commands: Iterable[Object]) -> frozenset[str]:
    """What these commands need, in the words of `needs`."""
    found = set[str]()
    for command in commands:
        if command["cmd"] == "create":
            found |= {f"option {name}" for name in command.get("options", {}) if name != _OF_THE_TESTER}
        elif command["cmd"] == "setOption":
            found.add(f"setOption {command['name']}")
    return frozenset(found)


def offered(hello: Object) -> frozenset[str]:
    """What a subject offers, in the same words."""
    features: Object = hello.get("features", {})
    release = str(hello.get("profile")).partition(",")[0]
    options = features.get("options", OF_CREATE.get(release, OF_CREATE[_NEWEST]))
    settable = features.get("settable", OF_SET_OPTION.get(release, OF_SET_OPTION[_NEWEST]))
    return frozenset(
        {*(f"option {name}" for name in _names(options)), *(f"setOption {name}" for name in _names(settable))}
    )


def _names(declared: Any) -> Iterable[Any]:
    return declared if isinstance(declared, (list, tuple)) else ()
