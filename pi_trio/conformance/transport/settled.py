"""What of a result depends on the day and the machine, and is left out of recordings and comparisons.

- a `timestamp` that a clock has made is "#", and a message's `durationMs` is left out;
- what an error quotes of its host language, such as what a JSON parser says, is "(host text)";
- the address of the server is "(server)";
- of an event, `partial` and the whole message are left out: the message stands beside the events;
- of a request there is the path and the body; who the client is, its headers tell, and those are its own.
"""

from __future__ import annotations

import re
from typing import Any, Final

_CLOCK: Final = 1_600_000_000_000
"""Later than any timestamp that a case gives, and earlier than any clock's. Milliseconds since 1970."""

_ADDRESS: Final = re.compile(r"https?://(127\.0\.0\.1|localhost):\d+/[po]/\d+|http://server")
_HOST_TEXTS: Final = (
    re.compile(r"(?<=\A)(?P<host>.*?)(?=\n\nReceived arguments:\n)", re.DOTALL),
    re.compile(r"(?<=Connection error\.: )(?P<host>.*)", re.DOTALL),
    re.compile(r"(?<=terminated: )(?P<host>.*)", re.DOTALL),
)
_TOLD: Final = ("errorMessage", "argumentsError", "thrown")
_LEFT_OUT: Final = ("partial", "message", "error")


def settled(result: dict[str, Any]) -> dict[str, Any]:
    """The part of a result that is the same every day."""
    return {
        "calls": [_call(call) for call in result["calls"]],
        "requests": [_request(request) for request in result["requests"]],
    }


def _call(call: dict[str, Any]) -> dict[str, Any]:
    told = {
        "events": [_event(event) for event in call["events"]],
        "message": _texts(call.get("message")),
        "thrown": _texts(call.get("thrown"), "thrown"),
        "raised": call.get("raised"),
        "meaning": call.get("meaning"),
    }
    return {name: value for name, value in told.items() if value is not None}


def _event(event: dict[str, Any]) -> dict[str, Any]:
    if "hook" in event:
        return {**event, "value": _hooked(event["value"])}
    return {key: _texts(value) for key, value in event.items() if key not in _LEFT_OUT}


def _hooked(value: Any) -> Any:
    """What a hook is shown: a body, or the status of an answer."""
    return {"status": value["status"]} if isinstance(value, dict) and "headers" in value else value


def _texts(value: Any, key: str = "") -> Any:
    if isinstance(value, list):
        return [_texts(item, key) for item in value]
    if isinstance(value, dict):
        # The arguments of a call are the model's: nothing in them is an error or a time.
        return {
            name: item if name == "arguments" else _texts(item, name)
            for name, item in value.items()
            if name != "durationMs"
        }
    if key == "timestamp" and isinstance(value, (int, float)) and value > _CLOCK:
        return "#"
    if isinstance(value, str) and key in _TOLD:
        value = _ADDRESS.sub("(server)", value)
        for pattern in _HOST_TEXTS:
            value = pattern.sub("(host text)", value)
    return value


def _request(request: dict[str, Any]) -> dict[str, Any]:
    return {"path": request["target"], "body": request["body"]}
