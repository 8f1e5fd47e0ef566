"""The events of an agent as Pi's JSON mode prints them: what `pi-trio check` reads, too.

The first line is a session's header. Of the events only `message_update` is told otherwise than it is: without the
message so far, which would make the output grow with the square of the answer; its usage stays.
"""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from typing import Any, Final

import attrs

from pi_trio.codec import unstructure
from pi_trio.events import AgentEvent, MessageUpdate, ToolCallStart, UnknownStreamEvent
from pi_trio.jsonvalue import JSON
from pi_trio.messages import AssistantMessage, Model, ToolCall
from pi_trio.models.builder import ResponseBuilder
from pi_trio.timestamps import now

VERSION: Final = 3
"""Of the form of sessions; the same in all releases."""

_NOTHING_YET: Final[AssistantMessage] = ResponseBuilder(Model.unknown(), timestamp=0).partial


def header() -> JSON:
    """The first line."""
    moment = (
        datetime.fromtimestamp(now() / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
    return {
        "type": "session",
        "version": VERSION,
        "id": _session_id(),
        "timestamp": moment,
        "cwd": os.getcwd(),
    }


def projected(event: AgentEvent) -> JSON:
    """An event as it is printed."""
    if not isinstance(event, MessageUpdate) or not isinstance(event.message, AssistantMessage):
        said: JSON = unstructure(event)
        return said
    told: Any = event.assistant_message_event
    if not isinstance(told, UnknownStreamEvent) and hasattr(told, "partial"):
        said_of_it: dict[str, Any] = unstructure(attrs.evolve(told, partial=_NOTHING_YET))
        del said_of_it["partial"]
    else:
        said_of_it = unstructure(told)
    if isinstance(told, ToolCallStart):
        block = event.message.content[told.content_index]
        assert isinstance(block, ToolCall)
        said_of_it |= {"id": block.id, "toolName": block.name}
    usage = unstructure(event.message.usage)
    return {"type": event.type, "usage": usage, "assistantMessageEvent": said_of_it}


def _session_id() -> str:
    """A UUID of version 7: its first part is the time."""
    chance = random.SystemRandom()
    bits = now() << 80 | 7 << 76 | chance.getrandbits(12) << 64 | 2 << 62 | chance.getrandbits(62)
    digits = f"{bits:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
