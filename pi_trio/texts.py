"""The texts that Pi fixes: whoever follows it says exactly these, in whatever language it is written."""

from __future__ import annotations

from typing import Final

BUSY_PROMPT: Final = (
    "Agent is already processing a prompt. "
    "Use steer() or followUp() to queue messages, or wait for completion."
)
BUSY_CONTINUE: Final = "Agent is already processing. Wait for completion before continuing."
BUSY_RESET: Final = "Agent is already processing. Wait for completion before resetting."
NOTHING_TO_CONTINUE: Final = "No messages to continue from"
EMPTY_CONTEXT: Final = "Cannot continue: no messages in context"
ASSISTANT_TAIL: Final = "Cannot continue from message role: assistant"
NO_STREAM_FUNCTION: Final = (
    "No default stream function configured. Pass streamFn explicitly or call setDefaultStreamFn()."
)

NOT_FOUND: Final = "Tool {} not found"
BLOCKED: Final = "Tool execution was blocked"
OPERATION_ABORTED: Final = "Operation aborted"
TRUNCATED: Final = (
    'Tool call "{}" was not executed: the response hit the output token limit, so its arguments may be truncated. '
    "Re-issue the tool call with complete arguments."
)

#: Of a request that an abort has ended. Pi's scripted provider says it, and the rulings where no provider can.
REQUEST_ABORTED: Final = "Request was aborted"
#: Of a response that ended without a result: a ruling's text (D-05), upstream waits for ever.
NO_RESULT: Final = "Stream ended without a result"
