"""The ids of items: what the API takes as one, and what Pi keeps of them in a transcript.

A call's id in a transcript is `call|item`: the id that its result names, and that of its item. The id of a message's
item is in the signature of its text, as JSON.
"""

from __future__ import annotations

import re
from typing import Final

from ...errors import CodecError
from ...jsontext import parse_json
from ...messages import AssistantMessage, Model, ToolCall
from ...tools.js_value import utf16_length
from ..short_hash import short_hash

#: Providers whose calls have items with ids of their own.
_WITH_ITEM_IDS: Final = frozenset({"openai", "openai-codex", "opencode"})
_LONGEST: Final = 64
_FORBIDDEN: Final = re.compile(r"[^a-zA-Z0-9_-]")


def normalised_call_id(id_: str, source: AssistantMessage, model: Model) -> str:
    """The id that `model` takes for a call of another model."""
    if model.provider not in _WITH_ITEM_IDS or "|" not in id_:
        return _part(id_)
    call, item = id_.split("|")[:2]
    if (source.provider, source.api) == (model.provider, model.api):
        item = _part(item)
    else:
        item = f"fc_{short_hash(item)}"[:_LONGEST]
    if not item.startswith("fc_"):
        item = _part(f"fc_{item}")
    return f"{_part(call)}|{item}"


def _part(text: str) -> str:
    # A character beyond 16 bits is two units to Pi, and becomes two underscores.
    plain = _FORBIDDEN.sub(lambda found: "__" if found[0] > "\uffff" else "_", text)
    return plain[:_LONGEST].rstrip("_")


def parts_of(id_: str) -> tuple[str, str | None]:
    """The two halves of a call's id; None for an item without one."""
    call, *rest = id_.split("|")
    return call, rest[0] if rest else None


def item_id(call: ToolCall, prefix: str) -> str | None:
    """The id of a call's item, if it is one of the kind that the prefix says."""
    item = parts_of(call.id)[1]
    return item if item is not None and item.startswith(prefix) else None


def signed(signature: str | None) -> tuple[str | None, str | None]:
    """The item's id and phase that a text's signature tells. A bare text is an id, as older releases wrote it."""
    if not signature:
        return None, None
    if signature.startswith("{"):
        try:
            told = parse_json(signature)
        except CodecError:
            return signature, None
        if isinstance(told, dict) and told.get("v") == 1 and isinstance(told.get("id"), str):
            phase = told.get("phase")
            return str(told["id"]), phase if phase in ("commentary", "final_answer") else None
    return signature, None


def message_id(id_: str | None, fallback: str) -> str:
    """An id that the API takes for a message: not too long."""
    if not id_:
        return fallback
    return f"msg_{short_hash(id_)}" if utf16_length(id_) > _LONGEST else id_
