"""What can go wrong with a request on its way: what happened, which the adapters put into the words of their APIs."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ..errors import PiTrioError


class TransportError(PiTrioError):
    """A request has failed on its way."""


@attrs.frozen(eq=False)
class StatusError(TransportError):
    """The provider has refused the request.

    Attributes:
        status: of HTTP; not in the two hundreds.
        headers: of the answer, by their names in lower case.
        body: of the answer; of a very long one the beginning, and `…`.
        phrase: what the server calls the status.
    """

    status: int
    headers: Mapping[str, str]
    body: str
    phrase: str = ""

    def __str__(self) -> str:
        return f"{self.status} {self.body}".rstrip()


@attrs.frozen(eq=False)
class ConnectionFailedError(TransportError):
    """No answer has come: `cause` says why, in words of the system."""

    cause: str

    def __str__(self) -> str:
        return f"connection failed: {self.cause}"


class HeadersTimeoutError(TransportError):
    """The headers of the answer have taken too long."""

    def __str__(self) -> str:
        return "the answer has taken too long"


@attrs.frozen(eq=False)
class BodyFailedError(TransportError):
    """The connection has failed in the body of the answer: `cause` says why."""

    cause: str

    def __str__(self) -> str:
        return f"the answer was cut off: {self.cause}"


@attrs.frozen(eq=False)
class MalformedAnswerError(TransportError):
    """The answer has come, and is none that can be read: `cause` says why."""

    cause: str

    def __str__(self) -> str:
        return f"the answer cannot be read: {self.cause}"


@attrs.frozen(eq=False)
class RetryTooLateError(TransportError):
    """The server asks for a pause that is too long. Seconds, as they are shown; `failure` is what it had answered."""

    delay: str
    limit: str
    failure: TransportError

    def __str__(self) -> str:
        return f"the server asks for a pause of {self.delay} s (limit: {self.limit} s): {self.failure}"


@attrs.frozen(eq=False)
class RequestAbortedError(TransportError):
    """The signal was raised.

    Attributes:
        while_waiting: for the answer, for the body, or not at all: it was noticed before the next wait.
    """

    while_waiting: str

    def __str__(self) -> str:
        return "aborted"
