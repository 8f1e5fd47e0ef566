"""The texts that Pi fixes, as the tester knows them: whoever follows Pi says exactly these.

They are written down here once more, and not taken from the runtime, which is judged by them.
"""

from __future__ import annotations

from typing import Final

PROMPT_REFUSED: Final = (
    "Agent is already processing a prompt. "
    "Use steer() or followUp() to queue messages, or wait for completion."
)
CONTINUE_REFUSED: Final = "Agent is already processing. Wait for completion before continuing."
RESET_REFUSED: Final = "Agent is already processing. Wait for completion before resetting."
NOTHING_TO_CONTINUE: Final = "No messages to continue from"
EMPTY_CONTEXT: Final = "Cannot continue: no messages in context"
ASSISTANT_TAIL: Final = "Cannot continue from message role: assistant"
BLOCKED: Final = "Tool execution was blocked"
ABORTED: Final = "Operation aborted"
TRUNCATED: Final = "was not executed: the response hit the output token limit"
"""What a call is told that is not executed since its answer was cut off; its name comes before it."""
CUT: Final = "Request was aborted"
"""The runtime's own, fixed by a ruling, as the next one is."""
NO_RESULT: Final = "Stream ended without a result"

FIXED_TEXTS: Final = frozenset({
    PROMPT_REFUSED, CONTINUE_REFUSED, RESET_REFUSED, NOTHING_TO_CONTINUE, EMPTY_CONTEXT, ASSISTANT_TAIL, BLOCKED,
    ABORTED, CUT, NO_RESULT,
    "Agent is already processing.",
    "Agent listener invoked outside active run",
    "No default stream function configured. Pass streamFn explicitly or call setDefaultStreamFn().",
})  # fmt: skip
"""Texts that must be exact."""
