"""What a session of Pi prints around the events of its agent, in the JSON mode and in the RPC mode.

The first line of the JSON mode is the session's header. Then events of the session stand between those of the agent,
updates lack the message so far (they have it in 0.80.2, but as it was when the line was written), and extensions add
messages to the transcript, which are said by events that are none of the agent's, and change messages that end.
"""

from __future__ import annotations

from typing import Final

from pi_trio.conformance.protocol import Object

HEADER: Final = "session"
SETTLED: Final = "agent_settled"
"""What says in the RPC mode, which has no header, that an agent is a session's, behind its first run."""

SESSION_TYPES: Final = frozenset({
    "agent_settled", "auto_retry_end", "auto_retry_start", "bash_execution_update", "compaction_end",
    "compaction_start", "entry_appended", "extension_error", "extension_ui_request", "queue_update", "response",
    "session_info_changed", "summarization_retry_attempt_start", "summarization_retry_finished",
    "summarization_retry_scheduled", "thinking_level_changed",
})  # fmt: skip
"""Types of what a session prints for itself."""

ENTRY_TYPES: Final = frozenset({
    "branch_summary", "compaction", "context_edit", "custom", "custom_message", "label", "message", "model_change",
    "session_info", "thinking_level_change", "usage",
})  # fmt: skip
"""Types in the file of a session, which has the same header, but no events."""

_ANSWER: Final[Object] = {"role": "assistant"}


def bare_update(event: Object) -> Object:
    """An update without the message so far, which is not judged; with the least that says that there was one."""
    told = event.get("assistantMessageEvent")
    if type(told) is dict and "partial" in told:
        event["assistantMessageEvent"] = {key: value for key, value in told.items() if key != "partial"}
    event["message"] = _ANSWER
    return event


def is_custom(event: Object) -> bool:
    """Whether it says a message such as extensions add."""
    message = event.get("message")
    return type(message) is dict and message.get("role") == "custom"
