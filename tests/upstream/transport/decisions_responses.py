"""The decisions of the Responses API and of the Codex endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .cases import Case, data_of
from .decision import Decision, Difference

_APIS = ("openai-responses", "openai-codex-responses")
_CODEX = ("openai-codex-responses",)


def _ends(difference: Difference, *ends: str) -> bool:
    return difference.path.endswith(ends)


# --- T-44: values of another type -----------------------------------------------------------------------------

#: Which fields of an event are texts, and which are objects and arrays.
_TEXTS = {
    *(
        "type",
        "delta",
        "id",
        "call_id",
        "name",
        "namespace",
        "arguments",
        "input",
        "text",
        "refusal",
        "status",
    ),
    *("message", "code", "reason", "phase", "encrypted_content", "service_tier", "action"),
}
_OBJECTS = {
    "response",
    "item",
    "part",
    "usage",
    "incomplete_details",
    "input_tokens_details",
    "output_tokens_details",
}
_ARRAYS = {"summary", "content", "output", "input_transformations"}
_NUMBERS = {
    "output_index",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
}
_NUMBERS |= {"reasoning_tokens"}


def _other_types(case: Case, difference: Difference) -> bool:
    """An event has a field of another type than the API's; what is asked does not hang on it."""
    return difference.path.startswith("calls[") and any(_is_odd(event) for event in _events(case))


def _events(case: Case) -> Iterator[Any]:
    for each in case["answers"]:
        told = [data_of(step) or b"" for step in each.get("frames", each.get("steps", ()))]
        if "frames" in each:
            texts = [data.decode("utf-8", "replace") for data in told]
        else:
            lines = "\n".join(b"".join(told).decode("utf-8", "replace").splitlines())
            texts = [
                "\n".join(
                    line[5:].removeprefix(" ") for line in event.split("\n") if line.startswith("data:")
                )
                for event in lines.split("\n\n")
            ]
        for text in texts:
            try:
                yield json.loads(text)
            except ValueError:
                continue


def _is_odd(value: Any, key: str = "") -> bool:
    if isinstance(value, dict):
        kind = value.get("type")
        missing = isinstance(kind, str) and any(
            kind.endswith(end) and field not in value
            for end, field in (
                (".delta", "delta"),
                ("_input.done", "input"),
                ("_arguments.done", "arguments"),
                ("_call", "name"),
            )
        )
        return (
            (key in _TEXTS | _ARRAYS | _NUMBERS)
            or missing
            or any(_is_odd(item, name) for name, item in value.items())
        )
    if isinstance(value, list):
        return key in _TEXTS | _OBJECTS | _NUMBERS or any(_is_odd(item) for item in value)
    if value is None:
        return key in ("", "delta", "name", "namespace", "arguments", "input")
    if isinstance(value, bool):
        return key in _TEXTS | _OBJECTS | _ARRAYS | _NUMBERS
    return (
        (key in _TEXTS and not isinstance(value, str))
        or key in _OBJECTS | _ARRAYS
        or (key in _NUMBERS and isinstance(value, str))
    )


# --- all ------------------------------------------------------------------------------------------------------


def _cut_and_reset(case: Case, difference: Difference) -> bool:
    """The connection was reset in a body that ends with the connection: we say so, and read no event half come."""
    cut = any(each.get("framing") == "close" and each.get("end") == "reset" for each in case["answers"])
    if _ends(difference, ".message.errorMessage"):
        return cut and str(difference.ours).startswith("terminated")
    return cut and (".message." in difference.path or ".events[" in difference.path)


def _known_at_the_start(case: Case, difference: Difference) -> bool:
    """The first text of a call's arguments has come with the call, and the partial shows it already."""
    return ".arguments" in difference.path.partition(".content[")[2] and difference.theirs in (
        "(absent)",
        {},
    )


def _returned(case: Case, difference: Difference) -> bool:
    """A carriage return ends a line for us; that release waits for what comes behind it."""
    told = b"".join(data_of(step) or b"" for each in case["answers"] for step in each.get("steps", ()))
    cut = any(each.get("end", "end") != "end" for each in case["answers"])
    if ".holds[" in difference.path and _ends(difference, ".events"):
        return b"\r" in told and difference.ours > difference.theirs
    return b"\r" in told and difference.path.startswith("calls[") and (cut or ".holds[" in difference.path)


def _scratch(case: Case, difference: Difference) -> bool:
    return difference.path.endswith((".customInput", ".partialJson")) and difference.ours == "(absent)"


def _why_no_socket(case: Case, difference: Difference) -> bool:
    """Node tells nobody why a socket could not be opened."""
    said = str(difference.ours).startswith("WebSocket failed: ")
    return ".diagnostics[" in difference.path and difference.theirs == "WebSocket error" and said


def _cut_refusal(case: Case, difference: Difference) -> bool:
    """The body of an error was cut off: Pi shows how, in its place. Codex asks again, where it may."""
    cut = any(each.get("status", 200) >= 400 and each.get("end", "end") != "end" for each in case["answers"])
    again = case["api"] in _CODEX and any(call["options"].get("maxRetries") for call in case["calls"])
    shown = _ends(difference, ".message.errorMessage") and "terminated" in str(difference.theirs)
    return cut and (shown or again)


def _unauthorised(case: Case, difference: Difference) -> bool:
    """Node asks once more where a handshake is answered with 401: so the next answers are for other requests."""
    if all(call["options"].get("transport") == "sse" for call in case["calls"]):
        return False
    refused = next((at for at, each in enumerate(case["answers"]) if each.get("status") == 401), None)
    if refused is None:
        return False
    request = re.match(r"requests\[(\d+)\]", difference.path)
    return request is None or int(request[1]) > refused


def _name_of_error(case: Case, difference: Difference) -> bool:
    """What the language calls an error."""
    return (
        difference.path.endswith(".error.name")
        and difference.ours == "Error"
        and "Error" in str(difference.theirs)
    )


RESPONSES: tuple[Decision, ...] = (
    Decision(
        id="T-41",
        title="a status or an id that is null is none",
        apis=("openai-responses",),
        covers=lambda _case, difference: (
            _ends(difference, "rawStopReason", "responseId") and difference.theirs is None
        ),
    ),
    Decision(
        id="T-44",
        title="a field of another type than the API's is ignored, or fails the response",
        apis=_APIS,
        covers=_other_types,
    ),
    Decision(
        id="T-46",
        title="what a call says with its beginning is shown from there on",
        apis=_APIS,
        releases=("0.85.0", "1.0.3"),
        covers=_known_at_the_start,
    ),
    Decision(
        id="T-47",
        title="an event is told with the blank line that ends it, also where that ends with a carriage return",
        apis=("openai-responses",),
        releases=("0.85.0",),
        covers=_returned,
    ),
    Decision(
        id="T-48",
        title="a message has none of the keys that an adapter notes on blocks that are open",
        apis=_APIS,
        releases=("0.85.0", "1.0.3"),
        covers=_scratch,
    ),
    Decision(
        id="T-51",
        title="the note of a socket that failed says why, and calls only its close by a name",
        apis=_CODEX,
        covers=lambda case, difference: _why_no_socket(case, difference) or _name_of_error(case, difference),
    ),
    Decision(
        id="T-54",
        title="a handshake that is answered with 401 is not repeated",
        apis=_CODEX,
        covers=_unauthorised,
    ),
    Decision(
        id="T-45",
        title="a reset is a failure, also in a body that the end of the connection ends",
        apis=("openai-responses",),
        covers=_cut_and_reset,
    ),
    Decision(
        id="T-52",
        title="an answer that was cut off is told as such, and a refusal with what has come of it",
        apis=_APIS,
        covers=lambda case, difference: _cut_refusal(case, difference) or _cut_and_reset(case, difference),
    ),
)
