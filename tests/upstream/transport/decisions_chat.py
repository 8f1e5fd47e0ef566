"""The decisions of the Chat Completions API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .cases import Case, data_of
from .decision import Decision, Difference
from .decisions_responses import _cut_refusal

_APIS = ("openai-completions",)

# --- what was said --------------------------------------------------------------------------------------------


def _body(case: Case) -> bytes:
    return b"".join(data_of(step) or b"" for each in case["answers"] for step in each.get("steps", ()))


def _events(case: Case) -> Iterator[Any]:
    """What the server says that is JSON."""
    text = _body(case).decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for event in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")]
        try:
            yield json.loads("\n".join(lines))
        except ValueError:
            continue


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    """All values in a value, with the keys that they stand under."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)


# --- values of another type -----------------------------------------------------------------------------------

_TYPES: dict[type, tuple[str, ...]] = {
    str: (
        "id", "model", "content", "reasoning_content", "reasoning", "reasoning_text", "name", "arguments", "input",
        "finish_reason", "message",
    ),
    int: (
        "prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens", "prompt_cache_hit_tokens",
        "reasoning_tokens", "cost",
    ),
    dict: ("delta", "function", "custom", "usage", "prompt_tokens_details", "completion_tokens_details", "error"),
    list: ("choices", "tool_calls", "reasoning_details"),
}  # fmt: skip
_TYPE_OF = {name: type_ for type_, names in _TYPES.items() for name in names}


def _of_another_type(case: Case, _: Difference) -> bool:
    return any(
        key in _TYPE_OF and value is not None and not _fits(value, _TYPE_OF[key])
        for event in _events(case)
        for key, value in _values(event)
    ) or any(_has_odd_call(event) for event in _events(case))


def _fits(value: Any, type_: type) -> bool:
    if type_ is int:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, type_)


def _has_odd_call(event: Any) -> bool:
    calls = [value for key, value in _values(event) if key == "tool_calls" and isinstance(value, list)]
    return any(not isinstance(call, dict) for each in calls for call in each)


# --- the others -----------------------------------------------------------------------------------------------


def _all_said(case: Case, difference: Difference) -> bool:
    """Whoever gets an event aborts, and what differs is the last event, and what the message says of it."""
    if "abort" not in case["calls"][0]:
        return False
    if difference.path.endswith("errorMessage"):
        return bool(difference.theirs == "Request was aborted")
    pair = (difference.theirs, difference.ours)
    if difference.path.endswith(".type"):
        return pair == ("error", "done")
    return difference.path.endswith(("eason", "stopReason")) and difference.theirs == "aborted"


def _object_arguments(case: Case, _: Difference) -> bool:
    return any(
        key == "arguments" and isinstance(value, dict)
        for event in _events(case)
        for key, value in _values(event)
    )


def _raw_object(_: Case, difference: Difference) -> bool:
    return difference.path.endswith("errorMessage") and str(difference.theirs).endswith("\n[object Object]")


def _cut_and_reset(case: Case, _: Difference) -> bool:
    """The connection was reset in a body that ends with the connection."""
    return any(each.get("framing") == "close" and each.get("end") == "reset" for each in case["answers"])


def _returned(case: Case, difference: Difference) -> bool:
    """A carriage return ends a line for us; that release waits for what comes behind it."""
    return b"\r" in _body(case) and (
        ".holds[" in difference.path or any(each.get("end") in ("close", "reset") for each in case["answers"])
    )


def _null(case: Case, difference: Difference) -> bool:
    """An id is null; or a whole event is, and whoever sees raw events sees one less."""
    if difference.path.endswith("responseId"):
        return difference.theirs is None
    return "hooks" in case["calls"][0] and any(event is None for event in _events(case))


CHAT: tuple[Decision, ...] = (
    Decision(
        id="T-61",
        title="an abort that comes when everything has been said is too late",
        apis=_APIS,
        covers=_all_said,
    ),
    Decision(
        id="T-62",
        title="an object in the words of the provider behind a gateway is shown as JSON",
        apis=_APIS,
        covers=_raw_object,
    ),
    Decision(
        id="T-63",
        title="arguments that come as an object are taken for their JSON text",
        apis=_APIS,
        covers=_object_arguments,
    ),
    Decision(
        id="T-64",
        title="a field of another type than the API's is ignored, or fails the response",
        apis=_APIS,
        covers=_of_another_type,
    ),
    Decision(
        id="T-52",
        title="a refusal whose body was cut off shows what has come of it",
        apis=_APIS,
        covers=_cut_refusal,
    ),
    Decision(
        id="T-65",
        title="an id that is null is none, and so is an event",
        apis=_APIS,
        covers=_null,
    ),
    Decision(
        id="T-47",
        title="an event is told with the blank line that ends it, also where that ends with a carriage return",
        apis=_APIS,
        releases=("0.85.0",),
        covers=_returned,
    ),
    Decision(
        id="T-45",
        title="a reset is a failure, also in a body that the end of the connection ends",
        apis=_APIS,
        covers=_cut_and_reset,
    ),
)
