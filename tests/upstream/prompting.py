"""A conversation with real Pi, brought to the request or to open tool calls."""

from __future__ import annotations

import json
import re
from typing import Any

from .talk import MODEL, TOOLS, USER, Message, Talk, done, start


async def prompted(pi: Talk, *held: str, **create: Any) -> None:
    """A new agent with a prompt that has come as far as the request, or to the first of `held`."""
    create = {"initialState": {"model": MODEL}, "tools": TOOLS, "listeners": ["L"], **create}
    await pi.create(**create)
    await pi.do("prompt", op="p1", input=USER)
    await pi.settle(*held)


async def calling(pi: Talk, *calls: Message, held: tuple[str, ...] = (), **create: Any) -> int:
    """As `prompted`, and the model has asked for the calls. Returns how much had been said before."""
    await prompted(pi, **create)
    mark = len(pi.said)
    await pi.stream([start(), done(*calls, stop="toolUse")], 0, *held)
    return mark


def timeless(value: Any) -> Any:
    return json.loads(re.sub(r'("(?:timestamp|durationMs)": )\d+', r'\1"#"', json.dumps(value)))
