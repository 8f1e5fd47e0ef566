"""What it means that the reply to a command is not as expected: by what was asked for."""

from __future__ import annotations

from typing import Final

from .conditions import over, scene
from .rule import Table, rule

COMMANDS: Final[Table] = {
    "reset": (
        rule("RUN-21 RUN-22", scene(lambda s: s.running)),
        rule("RUN-20"),
    ),
    "clearQueue": (rule("QUEUE-15"),),
    **dict.fromkeys(("steer", "followUp"), (rule("QUEUE-18"),)),
    "peekQueued": (rule("QUEUE-20", scene(lambda s: s.returned)), rule("QUEUE-16 QUEUE-15")),
    **dict.fromkeys(("setTools", "setMessages", "setOption"), (rule("STATE-10"),)),
    "subscribe": (rule("STATE-15"),),
    "unsubscribe": (rule("STATE-16"),),
    "abort": (rule("ABORT-02", scene(lambda s: not s.running)), rule("ABORT-01")),
    "prompt": (rule("RUN-09", scene(lambda s: s.running)), rule("RUN-19")),
    "continue": (rule("RUN-10", scene(lambda s: s.running)), rule("RUN-13")),
    "waitForIdle": (rule("RUN-18", scene(lambda s: s.running)), rule("RUN-30")),
    "state": (rule("STATE-08"),),
    "messages": (rule("STATE-07"),),
    "create": (rule("STATE-12"),),
    "update": (rule("TOOL-20", over), rule("TOOL-22")),
    "push": (rule("STREAM-19", scene(lambda s: not s.streaming)), rule("STREAM-03")),
    **dict.fromkeys(("end", "fail"), (rule("STREAM-06"),)),
}  # fmt: skip
