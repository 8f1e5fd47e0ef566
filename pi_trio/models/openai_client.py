"""What OpenAI's client makes of an answer before an adapter sees it: events, and the texts of failures.

Each event's data is JSON; an error may stand among them, and `[DONE]` says that there are no more. The texts of
failures are those that the releases show, whose clients are of different age.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ..errors import CodecError
from ..jsontext import parse_json, print_json
from ..jsonvalue import JSON
from ..tools.js_value import utf16_length
from .dialect import Dialect
from .exchange import Answer, EndOfAnswer, ResponseFailedError, Wording
from .sse import ServerSentEvent
from .transport_errors import StatusError

_DONE: Final = "[DONE]"
#: So much of a body is shown in an error.
_LONGEST_BODY: Final = 4000


# --- events -----------------------------------------------------------------------------------------------


class DoneAnswer:
    """An answer that is over when its data says so."""

    def __init__(self, answer: Answer, dialect: Dialect) -> None:
        self._answer = answer
        self._reads_on = dialect.openai_done == "reads_on"
        self._done = False

    async def receive(self) -> Iterable[ServerSentEvent]:
        """As the answer's own."""
        try:
            batch = await self._answer.receive()
        except EndOfAnswer as end:
            raise EndOfAnswer(self._before_done(end.last)) from None
        batch = self._before_done(batch)
        if self._done and not self._reads_on:
            raise EndOfAnswer(batch)
        return batch

    def _before_done(self, batch: Iterable[ServerSentEvent]) -> list[ServerSentEvent]:
        before: list[ServerSentEvent] = []
        for event in batch:
            data = event.data
            self._done = self._done or (data.startswith(_DONE) if self._reads_on else data == _DONE)
            if self._done:
                break
            before.append(event)
        return before


def parsed_event(event: ServerSentEvent, dialect: Dialect) -> JSON:
    """What an event says.

    Raises:
        ResponseFailedError: that the response has failed, or nothing that could be read.
    """
    try:
        data = parse_json(event.data)
    except CodecError as error:
        told = "Error reading response: malformed server-sent event JSON."
        if not dialect.openai_error_events:
            told = f"The provider's stream is malformed: {error}"
        raise ResponseFailedError(told) from None
    if event.event is not None and event.event.startswith("thread."):
        return {"event": event.event, "data": data}
    problem = data.get("error") if isinstance(data, dict) else None
    if event.event == "error" and dialect.openai_error_events:
        raise ResponseFailedError(_words(data if problem is None else problem) or _NOTHING_TOLD)
    if _is_true(problem):
        raise ResponseFailedError(_words(problem) or _NOTHING_TOLD)
    return data


# --- failures ---------------------------------------------------------------------------------------------

_NOTHING_TOLD: Final = "(no status code or body)"


def status_text(failure: StatusError, prefix: str | None, dialect: Dialect) -> str:
    """The text of an answer with an error status: what its `error` says, or all of it.

    With a prefix it is `prefix (status): …`, else `status: …` or `status …`.
    """
    plain = client_text(failure, dialect)
    problem = _problem(failure, dialect)
    if isinstance(problem, dict) and problem and (whole := print_json(problem)) not in plain:
        plain = _cut(whole)
        return f"{failure.status}: {plain}" if prefix is None else f"{prefix} ({failure.status}): {plain}"
    return plain if prefix is None else f"{prefix} ({failure.status}): {plain}"


def client_text(failure: StatusError, dialect: Dialect) -> str:
    """The same in the client's own words: the status, and the message of the `error`."""
    problem = _problem(failure, dialect)
    message = failure.body if problem is _NO_JSON else _words(problem)
    return f"{failure.status} {message or 'status code (no body)'}"


_NO_JSON: Final = object()


def _problem(failure: StatusError, dialect: Dialect) -> Any:
    """The `error` of the body, or the body if it may stand for one; `_NO_JSON` where it is none, or says nothing."""
    try:
        body = parse_json(failure.body)
    except CodecError:
        return _NO_JSON
    if not _is_true(body):
        return _NO_JSON
    problem = body.get("error") if isinstance(body, dict) else None
    whole = dialect.openai_error_bodies == "any" and problem is None and isinstance(body, (dict, list))
    return body if whole else problem


def openai_wording(dialect: Dialect, prefix: str | None, aborted_in_body: str) -> Wording:
    """How the client words the failures of a request."""

    def caused(text: str) -> Callable[[str], str]:
        return lambda cause: f"{text}: {cause}" if dialect.connection_cause else text

    return Wording(
        status=lambda failure: status_text(failure, prefix, dialect),
        late=lambda failure: client_text(failure, dialect),
        connection=caused("Connection error."),
        timeout=caused("Request timed out.")("no headers in time"),
        body=caused("terminated"),
        aborted={
            "answer": "Request aborted",
            "body": aborted_in_body,
            "nothing": "Request was aborted",
        },
    )


def _words(problem: JSON) -> str:
    """What an error says: its message, or all of it."""
    message = problem.get("message") if isinstance(problem, dict) else None
    if _is_true(message):
        return message if isinstance(message, str) else print_json(message)
    return print_json(problem) if _is_true(problem) else ""


def _is_true(value: Any) -> bool:
    return isinstance(value, (list, dict)) or bool(value)


def _cut(text: str) -> str:
    if utf16_length(text) <= _LONGEST_BODY:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    kept = units[: 2 * _LONGEST_BODY].decode("utf-16-le", "surrogatepass")
    return f"{kept}... [truncated {len(units) // 2 - _LONGEST_BODY} chars]"
