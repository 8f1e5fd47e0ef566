"""What the Codex endpoint says besides the events of the Responses API: its errors, and one end with three names.

Events come as JSON texts, over a WebSocket or as data of server-sent events. An error is the endpoint's own word: no
other way of asking would help, but for two codes that say that the socket is to blame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...errors import CodecError
from ...jsontext import parse_json, print_json
from ...jsonvalue import ABSENT, JSON
from ..exchange import ResponseFailedError

_ENDS: Final = ("response.done", "response.completed", "response.incomplete")
_STATUSES: Final = ("completed", "incomplete", "failed", "cancelled", "queued", "in_progress")

#: The server does not know the response that a request goes on from.
PREVIOUS_NOT_FOUND: Final = "previous_response_not_found"
#: There are too many sockets.
CONNECTION_LIMIT: Final = "websocket_connection_limit_reached"


class CodexError(ResponseFailedError):
    """The endpoint has answered, with an error or with what cannot be read: to ask in another way would not help."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


def parsed_message(text: str, transport: str) -> JSON:
    """What a message says. `transport` is named where it is no JSON.

    Raises:
        CodexError: it is none.
    """
    try:
        return parse_json(text)
    except CodecError as error:
        raise CodexError(f"Invalid Codex {transport} JSON: {error}") from None


class CodexEvents:
    """Reads the messages of one response.

    Attributes:
        end_turn: whether the turn is over, if the endpoint says so.
        ended: the last event has come; what comes behind it is not of this response.
    """

    def __init__(self) -> None:
        self.end_turn: bool | None = None
        self.ended = False

    def read(self, event: Any) -> Iterable[JSON]:
        """The event as the Responses API would say it; none if it says nothing.

        Raises:
            CodexError: the endpoint has failed.
            ResponseFailedError: the message is nothing at all.
        """
        if event is None:
            raise ResponseFailedError("The provider's stream is malformed: null is no event")
        kind = event.get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str) or not kind:
            return ()
        if kind == "error":
            raise _error(event)
        if kind == "response.failed":
            raise _failed(event.get("response"))
        if kind not in _ENDS:
            return (event,)
        self.ended = True
        return (self._completed(event),)

    def _completed(self, event: dict[str, JSON]) -> JSON:
        response = event.get("response", ABSENT)
        if not isinstance(response, dict):
            return {**event, "type": "response.completed"}
        end_turn = response.get("end_turn")
        if isinstance(end_turn, bool):
            self.end_turn = end_turn
        known = {name: value for name, value in response.items() if name != "status"}
        if response.get("status") in _STATUSES:
            known["status"] = response["status"]
        return {**event, "type": "response.completed", "response": known}


def _error(event: dict[str, JSON]) -> CodexError:
    nested = event.get("error")
    places = (event, nested) if isinstance(nested, dict) else (event,)
    code, message = (
        next((text for place in places if isinstance(text := place.get(name), str)), None)
        for name in ("code", "message")
    )
    return CodexError(f"Codex error: {message or code or print_json(event)}", code)


def _failed(response: JSON) -> CodexError:
    error = response.get("error") if isinstance(response, dict) else None
    code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    text = message if isinstance(message, str) and message else "Codex response failed"
    return CodexError(text, code if isinstance(code, str) else None)
