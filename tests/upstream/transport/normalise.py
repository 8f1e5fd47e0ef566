"""What is left of a result before the two sides are compared; all that is taken away is written down here.

- `timestamp`s that a clock has made are "#"; a message's `durationMs` is the collection's, and left out;
- a partial of Pi is the live message: what its adapters keep on the blocks while they stream is left out;
- a diagnostic has no stack;
- a text of the host language, in an error, is "(host text)" (`HOST_TEXTS`);
- of a request's headers, those are left out that say who the client is and how it speaks HTTP (`OWN_HEADERS`);
- random ids are "(uuid)", and the address of the server is "(server)".
"""

from __future__ import annotations

import re
from typing import Any

#: Later than any timestamp that a case gives, and earlier than any clock's.
_CLOCK = 1_600_000_000_000

_SCRATCH = {"index", "partialJson", "partialArgs", "streamIndex", "customInput"}

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_ADDRESS = re.compile(r"(https?|wss?)://(127\.0\.0\.1|localhost):\d+/[po]/\d+")

_SYNTAX = (
    r"(Unexpected token .*?|Expected .*?|Unexpected .*?|Unterminated .*?|Bad .*?|No number .*?|Exponent .*?)"
    r"( is not valid JSON| in JSON| JSON input| JSON)( at position \d+)?( \(line \d+ column \d+\))?"
)

#: What an error quotes of its host language, as patterns; the group `host` is what is replaced, or else all of it.
HOST_TEXTS: list[re.Pattern[str]] = [
    re.compile(r"Could not parse Anthropic SSE event \w*: (?P<host>.*?); data=", re.DOTALL),
    re.compile(r"Invalid Codex WebSocket JSON: (?P<host>.*)", re.DOTALL),
    re.compile(r"Invalid Codex SSE JSON: (?P<host>.*)", re.DOTALL),
    re.compile(rf"(?P<host>{_SYNTAX})", re.DOTALL),
    # Why a connection has failed, in the words of the system.
    re.compile(r"(Connection error\.|terminated|fetch failed|Request timed out\.): (?P<host>.*)", re.DOTALL),
    # A time from now on, in minutes, which may be over between the two sides.
    re.compile(r"Try again in ~(?P<host>\d{3,}) min"),
    # What cannot be read of a transcript or of a stream: JavaScript tells it by the operation that failed.
    re.compile(r"(?P<host>The signature of a thinking block is no item: .*)", re.DOTALL),
    re.compile(r"(?P<host>The provider's stream is malformed: .*)", re.DOTALL),
    re.compile(r"(?P<host>Cannot read properties of (undefined|null) \(reading '\w+'\))"),
    re.compile(r"(?P<host>\S+ is not (a function|iterable)( \(.*\))?)"),
    # What a finished tool call's arguments are wrong in, before the arguments themselves.
    re.compile(r"\A(?P<host>.*?)\n\nReceived arguments:\n", re.DOTALL),
]

#: Who the client is, and how it speaks HTTP.
OWN_HEADERS = re.compile(
    r"host|connection|content-length|transfer-encoding|user-agent|accept-(encoding|language)|sec-fetch-mode|pragma|"
    r"cache-control|x-stainless-.*|upgrade|sec-websocket-.*"
)
#: In a WebSocket's handshake what Node accepts, too.
OWN_OF_HANDSHAKE = re.compile(rf"{OWN_HEADERS.pattern}|accept")


def normalised(result: dict[str, Any]) -> dict[str, Any]:
    """A result of either side, with nothing in it that need not be equal."""
    calls = [_call(call) for call in result.get("calls", ())]
    requests = [_request(request) for request in result["requests"]]
    return {**result, "calls": calls, "requests": requests}


def _call(call: dict[str, Any]) -> dict[str, Any]:
    return {
        **call,
        **({"thrown": _host(call["thrown"])} if "thrown" in call else {}),
        **({"message": _message(call["message"])} if isinstance(call.get("message"), dict) else {}),
        "events": [_event(event) for event in call["events"]],
        # One before the first event says nothing, and may fall between two tries.
        "holds": [_event(hold) for hold in call["holds"] if hold.get("events")],
    }


def _event(event: dict[str, Any]) -> dict[str, Any]:
    if "hook" in event:
        return _request(event)
    event = _errors(event)
    if "partial" not in event:
        return event
    partial = _message(event["partial"])
    content = [
        {key: value for key, value in block.items() if key not in _SCRATCH} for block in partial["content"]
    ]
    return {**event, "partial": {**partial, "content": content}}


def _message(message: dict[str, Any]) -> dict[str, Any]:
    message = {key: value for key, value in message.items() if key != "durationMs"}
    return _errors(message)  # type: ignore[no-any-return]


def _errors(value: Any, key: str = "") -> Any:
    """A message or event, wherever it holds the time or speaks of an error."""
    if isinstance(value, list):
        return [_errors(item, key) for item in value]
    if isinstance(value, dict):
        # The arguments of a call are the model's: nothing in them is an error or a time.
        return {
            name: item if name == "arguments" else _errors(item, name)
            for name, item in value.items()
            if name != "stack"
        }
    if key in ("timestamp", "expiresAt") and isinstance(value, (int, float)) and value > _CLOCK:
        return "#"
    if isinstance(value, str) and key in ("errorMessage", "message", "argumentsError", "thrown"):
        return _host(value)
    return value


def _host(text: str) -> str:
    text = _ADDRESS.sub("(server)", text)
    for pattern in HOST_TEXTS:
        if found := pattern.search(text):
            start, end = found.span("host")
            text = f"{text[:start]}(host text){text[end:]}"
    return text


def _request(value: Any) -> Any:
    if isinstance(value, list):
        return [_request(item) for item in value]
    if isinstance(value, dict):
        own = OWN_OF_HANDSHAKE if value.get("method") in ("WEBSOCKET", "GET") else OWN_HEADERS
        return {
            key: {name: _request(text) for name, text in item.items() if not own.fullmatch(name)}
            if key == "headers" and isinstance(item, dict)
            else _request(item)
            for key, item in value.items()
        }
    if isinstance(value, str):
        return _ADDRESS.sub("(server)", _UUID.sub("(uuid)", value))
    return value
