"""The decisions of the Messages API."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from .cases import Case, data_of
from .decision import Decision, Difference

_APIS = ("anthropic-messages",)


def _chunks(case: Case) -> Iterator[list[bytes]]:
    """The bodies of the answers, in chunks."""
    for each in case["answers"]:
        yield [data for step in each.get("steps", ()) if (data := data_of(step)) is not None]


def _between_return_and_feed(case: Case, _: Difference) -> bool:
    """A chunk ends with a carriage return, and the next one begins with its line feed."""
    return any(
        one.endswith(b"\r") and other.startswith(b"\n")
        for chunks in _chunks(case)
        for one, other in itertools.pairwise([chunk for chunk in chunks if chunk])
    )


def _scratch(_: Case, difference: Difference) -> bool:
    return difference.path.endswith((".index", ".partialJson")) and difference.ours == "(absent)"


def _cut_and_reset(case: Case, _: Difference) -> bool:
    """The connection was reset in a body that ends with the connection."""
    return any(each.get("framing") == "close" and each.get("end") == "reset" for each in case["answers"])


def _cut_refusal(case: Case, _: Difference) -> bool:
    """The body of an error was cut off: Pi shows how, in its place."""
    return any(each.get("status", 200) >= 400 and each.get("end", "end") != "end" for each in case["answers"])


# --- values of another type -------------------------------------------------------------------------------

_TEXT = (str,)
_NUMBER = (int, float, type(None))

#: By kind of event: where values stand that are used, and of which types they may be.
_USAGE = {
    f"usage.{name}": _NUMBER
    for name in (
        *("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
        *("cache_creation.ephemeral_1h_input_tokens", "output_tokens_details.thinking_tokens"),
    )
}
_PLACES: dict[str, dict[str, tuple[type, ...]]] = {
    "message_start": {
        "message.id": (str, type(None)),
        "message.model": _TEXT,
        **{f"message.{path}": types for path, types in _USAGE.items()},
    },
    "content_block_start": {},
    "content_block_delta": {},
    "content_block_stop": {},
    "message_delta": {
        "delta.stop_reason": (str, type(None)),
        "delta.stop_details.explanation": (str, type(None)),
        **_USAGE,
    },
}
_BLOCKS: dict[str, dict[str, tuple[type, ...]]] = {
    "text": {"text": (str, type(None))},
    "thinking": {"thinking": (str, type(None)), "signature": (str, type(None))},
    "redacted_thinking": {"data": _TEXT},
    "tool_use": {"id": _TEXT, "name": _TEXT},
}
_DELTAS: dict[str, dict[str, tuple[type, ...]]] = {
    "text_delta": {"text": _TEXT},
    "thinking_delta": {"thinking": _TEXT},
    "input_json_delta": {"partial_json": _TEXT},
    "signature_delta": {"signature": _TEXT},
}
_ABSENT = object()


def _of_another_type(case: Case, _: Difference) -> bool:
    """An event has a value of a type that it cannot have, or lacks one that it must have."""
    return any(map(_is_odd, _events(case)))


def _is_odd(event: Any) -> bool:
    if not isinstance(event, dict) or (kind := _kind(event)) not in _PLACES:
        return False
    places = dict(_PLACES[kind])
    if kind.startswith("content_block_") and type(event.get("index")) is not int:
        return True
    for name, kinds in (("content_block", _BLOCKS), ("delta", _DELTAS)):
        part = event.get(name)
        if kind.endswith(("start", "delta")[name == "delta"]) and isinstance(part, dict):
            places |= {f"{name}.{key}": types for key, types in kinds.get(_kind(part), {}).items()}
    return any(not _fits(event, path.split("."), types) for path, types in places.items())


def _kind(value: dict[str, Any]) -> str:
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""


def _fits(value: Any, path: list[str], types: tuple[type, ...]) -> bool:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return type(None) in types
        value = value[name]
    return isinstance(value, types) and not (isinstance(value, bool) and bool not in types)


def _events(case: Case) -> Iterator[Any]:
    for chunks in _chunks(case):
        text = b"".join(chunks).decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        for event in text.split("\n\n"):
            lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
            try:
                yield json.loads("\n".join(lines), strict=False)
            except ValueError:
                continue


ANTHROPIC: tuple[Decision, ...] = (
    Decision(
        id="T-21",
        title="a carriage return and its line feed end one line, also in two reads of the network",
        apis=_APIS,
        covers=_between_return_and_feed,
    ),
    Decision(
        id="T-22",
        title="a value of a type that it cannot have fails the response",
        apis=_APIS,
        covers=_of_another_type,
    ),
    Decision(
        id="T-52",
        title="an answer that was cut off is told as such, and a refusal with what has come of it",
        apis=_APIS,
        covers=lambda case, difference: _cut_refusal(case, difference) or _cut_and_reset(case, difference),
    ),
    Decision(
        id="T-48",
        title="a message has none of the keys that an adapter notes on blocks that are open",
        apis=_APIS,
        releases=("0.85.0", "1.0.3"),
        covers=_scratch,
    ),
)
