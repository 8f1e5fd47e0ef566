"""Which messages tell that something failed: the one place that says how an answer shows it, and a result."""

from __future__ import annotations

from typing import Any

from .protocol import Object


def is_failed(message: Object) -> bool:
    """Whether a message, if it is an answer, ended in error or aborted."""
    return message.get("stopReason") in ("error", "aborted")


def is_failed_answer(message: Any) -> bool:
    """Whether it is an answer that ended so."""
    return isinstance(message, dict) and message.get("role") == "assistant" and is_failed(message)


def is_failed_result(message: Any) -> bool:
    """Whether it is the result of a call that failed."""
    return (
        isinstance(message, dict) and message.get("role") == "toolResult" and message.get("isError") is True
    )


def tells_failure(message: Any) -> bool:
    """Whether it is either."""
    return is_failed_answer(message) or is_failed_result(message)
