"""`reasoning_details`: reasoning in the form of OpenRouter, which has to go back as it came.

They come in pieces, beside the readable reasoning, and are kept as JSON in the signature of the thinking block: texts
and summaries that follow each other are one, encrypted ones stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from ...errors import CodecError
from ...jsontext import parse_json, print_json
from ...jsonvalue import ABSENT, JSON, Absent
from ...tools.js_value import adopt

Detail: TypeAlias = Mapping[str, JSON]

#: What grows when another detail of the same type follows, by type.
_GROWS: Final[Mapping[str, str]] = {"reasoning.text": "text", "reasoning.summary": "summary"}


class ReasoningDetails:
    """The details of one response, as they come."""

    def __init__(self) -> None:
        self._details: list[dict[str, JSON | Absent]] = []
        self._pieces: list[list[str]] = []  # of each detail's text: it may come in many

    def __bool__(self) -> bool:
        return bool(self._details)

    def append(self, detail: Detail) -> None:
        """The next one."""
        last = self._details[-1] if self._details else {}
        type_ = str(detail["type"])
        grows = _GROWS.get(type_)
        if grows is None or last.get("type") != type_:
            self._details.append(dict(detail))
            self._pieces.append([] if grows is None else [str(detail[grows])])
            return
        self._pieces[-1].append(str(detail[grows]))
        if grows == "text" and not last.get("signature"):
            last["signature"] = detail.get("signature", ABSENT)
        if last.get("id", ABSENT) in (None, ABSENT):
            last["id"] = detail.get("id", ABSENT)
        if not last.get("format"):
            last["format"] = detail.get("format", ABSENT)
        if last.get("index", ABSENT) is ABSENT:
            last["index"] = detail.get("index", ABSENT)

    def printed(self) -> str:
        """All of them, as the JSON of a signature."""
        return print_json([adopt(detail) for detail in self._whole()])

    def _whole(self) -> list[dict[str, JSON]]:
        whole: list[dict[str, JSON]] = []
        for detail, pieces in zip(self._details, self._pieces, strict=True):
            grows = _GROWS.get(str(detail["type"]))
            told = detail if grows is None else {**detail, grows: "".join(pieces)}
            whole.append({key: value for key, value in told.items() if not isinstance(value, Absent)})
        return whole


def is_detail(value: JSON) -> bool:
    """Whether a provider's value is a detail as we know them."""
    if not isinstance(value, dict):
        return False
    if not _is_text_or(value, "id", (None, ABSENT)) or not _is_text_or(value, "format", (ABSENT,)):
        return False
    index = value.get("index", ABSENT)
    if index is not ABSENT and (isinstance(index, bool) or not isinstance(index, (int, float))):
        return False
    match value.get("type"):
        case "reasoning.summary":
            return isinstance(value.get("summary"), str)
        case "reasoning.encrypted":
            return isinstance(value.get("data"), str)
        case "reasoning.text":
            return isinstance(value.get("text"), str) and _is_text_or(value, "signature", (None, ABSENT))
        case _:
            return False


def signed_details(signature: str | None) -> list[JSON] | None:
    """The details that the signature of a thinking block holds, if it does."""
    details = _parsed(signature)
    return details if isinstance(details, list) and details and all(map(is_detail, details)) else None


def encrypted_detail(signature: str | None) -> JSON:
    """The one detail that the signature of a call holds, as older releases kept it; None if it holds none."""
    detail = _parsed(signature)
    if isinstance(detail, dict) and is_detail(detail) and detail["type"] == "reasoning.encrypted":
        return detail if detail.get("id") and detail["data"] else None
    return None


def _is_text_or(value: Detail, name: str, others: tuple[object, ...]) -> bool:
    given = value.get(name, ABSENT)
    return isinstance(given, str) or given in others


def _parsed(signature: str | None) -> JSON:
    if not signature:
        return None
    try:
        return parse_json(signature)
    except CodecError:
        return None
