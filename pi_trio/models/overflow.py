"""Whether a response has failed because the context did not fit, or was cut because it hardly did.

Ask this before `is_retryable`: a context that does not fit fails again.
"""

from __future__ import annotations

from typing import Final

from ..jsonvalue import Number
from ..messages import AssistantMessage
from .dialect import DIALECT_1_6_0, Dialect
from .failure_texts import CEREBRAS_OVERFLOW, NO_OVERFLOW, OVERFLOW

#: So much of the window, filled by a prompt that was answered with nothing, is a prompt that was cut to fit.
_FILLED: Final = 0.99


def is_context_overflow(
    message: AssistantMessage, context_window: Number | None = None, dialect: Dialect = DIALECT_1_6_0
) -> bool:
    """Whether the context was too long for the model.

    Args:
        message: the response.
        context_window: the model's, in tokens. With it those providers are found out that take too long a prompt in
            silence, or cut it.
        dialect: whose words count.
    """
    text = message.error_message
    if message.stop_reason == "error" and text and not NO_OVERFLOW.found_in(text, dialect.failure_texts):
        if OVERFLOW.found_in(text, dialect.failure_texts):
            return True
        if message.provider == "cerebras" and CEREBRAS_OVERFLOW.found_in(text, dialect.failure_texts):
            return True
    if not context_window:
        return False
    prompt = message.usage.input + message.usage.cache_read
    if message.stop_reason == "stop":
        return prompt > context_window
    return (
        message.stop_reason == "length" and message.usage.output == 0 and prompt >= context_window * _FILLED
    )


def is_recoverable_length(message: AssistantMessage, desired_max_output: Number) -> bool:
    """Whether a response was cut below the limit that the caller wanted: a shorter context may let it end.

    Args:
        message: the response.
        desired_max_output: the limit before it was fitted into the context window, in tokens.
    """
    return message.stop_reason == "length" and 0 < desired_max_output > message.usage.output
