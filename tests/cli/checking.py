"""What is checked: a short run, one with a fault, and logs that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pi_trio.conformance.vectors import spec_folder

VECTORS = spec_folder() / "vectors"
SESSIONS = Path(__file__).parent.parent / "conformance" / "logs" / "data"
USER = {"role": "user", "content": "hi", "timestamp": 0}
ANSWER = {
    "role": "assistant",
    "content": [{"type": "text", "text": "ho"}],
    "stopReason": "stop",
    "timestamp": 0,
}
RUN: tuple[dict[str, Any], ...] = (
    {"type": "agent_start"},
    {"type": "turn_start"},
    {"type": "message_start", "message": USER},
    {"type": "message_end", "message": USER},
    {"type": "message_start", "message": ANSWER},
    {"type": "message_end", "message": ANSWER},
    {"type": "turn_end", "message": ANSWER, "toolResults": []},
    {"type": "agent_end", "messages": [USER, ANSWER]},
)
EARLY = (RUN[0], RUN[2], RUN[3], RUN[1], *RUN[4:])
"""The user's message is said before the turn begins."""
