"""What the collection raises, and the message of a response that never came to be."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ..errors import PiTrioError
from ..jsonvalue import Number
from ..messages import AssistantMessage, Model, Usage
from ..timestamps import now

ErrorCode: TypeAlias = Literal["model_source", "model_validation", "provider", "stream", "auth", "oauth"]


class ModelsError(PiTrioError):
    """Something of a collection of models has failed.

    Attributes:
        code: what: a source of models, a model's data, the provider, the stream, the key, or an OAuth token.
        message: the text, as it stands in the error message of a response.
    """

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.message = message


class OperationAbortedError(PiTrioError):
    """An operation was given up because its signal was raised."""

    def __init__(self) -> None:
        super().__init__("This operation was aborted")


def text_of_error(error: BaseException) -> str:
    """The text of an error, or its name if it says nothing; of a group of one, that of the one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def with_cause(message: str, cause: BaseException) -> str:
    """A text that ends with that of the cause, unless it has it already."""
    detail = text_of_error(cause).strip()
    return message if not detail or detail in message else f"{message}: {detail}"


def blank_response(
    model: Model, stop_reason: str, error_message: str | None, *, timestamp: Number | None = None
) -> AssistantMessage:
    """A response without content, for a request that has failed before anything came."""
    return AssistantMessage(
        content=(),
        api=model.api,
        provider=model.provider,
        model=model.id,
        usage=Usage.zero(),
        stop_reason=stop_reason,
        error_message=error_message,
        timestamp=now() if timestamp is None else timestamp,
    )
