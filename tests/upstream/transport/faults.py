"""Makes cases of what a provider says: cut into chunks anywhere, truncated, refused, garbled, slow, aborted.

A case is made from its api, its seed and its number alone, so that `token` names it and `case_of` makes it again. The
kinds are in `stream_kinds.py` and `socket_kinds.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from .cases import Case, call, case
from .garbling import some_refusal
from .socket_kinds import SOCKET_KINDS
from .spoken import part_of
from .stream_kinds import KINDS

#: How many cases are told of by the generator whole, where it can, and in how many of the others all hooks are heard.
CONVERSATIONS = 0.15
HOOKED = 0.08


def token(api: str, seed: int, number: int) -> str:
    """The name of a generated case."""
    return f"{api}:{seed}:{number}"


def case_of(name: str) -> Case:
    """The case of a token."""
    api, seed, number = name.split(":")
    chance = Random(f"{api}/{seed}/{number}")
    converse, speak, refuse = (part_of(api, part) for part in ("converse", "speak", "refuse"))
    if converse is not None and chance.random() < CONVERSATIONS:
        model, calls, answers = converse(chance)
        return case(api, model, calls, answers, name=f"{name} conversation")
    assert speak is not None, api
    spoken = speak(chance)
    kinds = SOCKET_KINDS if spoken.websocket else KINDS
    kind = chance.choices(list(kinds), list(kinds.values()))[0]
    spoken, extra, answers = kind(spoken, chance, refuse or some_refusal)
    options = {**spoken.options, **extra.pop("options", {})}
    base_url = spoken.model["baseUrl"].replace("{server}", extra.pop("url", "{server}"))
    model = {**spoken.model, "baseUrl": base_url}
    more: dict[str, Any] = {**({"simple": True} if spoken.simple else {}), **extra}
    hooks = ("onPayload", "onResponse", "onProviderStreamEvent") if chance.random() < HOOKED else spoken.hooks
    if hooks:
        more["hooks"] = list(hooks)
    made = call(spoken.context, options, **more)
    return case(api, model, [made], answers, f"{name} {kind.__name__.lstrip('_')}")


def cases_of(api: str, seed: int, count: int) -> Iterator[Case]:
    """The first `count` cases of a seed."""
    return (case_of(token(api, seed, number)) for number in range(count))
