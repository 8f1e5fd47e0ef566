"""Headers of a request: how those of several sources become one set, and those that a destination asks for.

A name counts in any case. None takes a default away that the adapter would set, so it is kept until the adapter has
seen it.
"""

from __future__ import annotations

from typing import cast

import can_ada

from ..messages import Model
from .request_options import Headers


def merge_headers(base: Headers | None, override: Headers | None) -> Headers | None:
    """Both sets; a header of `override` takes the place of the same one in `base`, and stands at the end.

    None if there is neither.
    """
    if base is None and override is None:
        return None
    merged = dict(base or {})
    for name, value in (override or {}).items():
        for same in [known for known in merged if known.lower() == name.lower()]:
            del merged[same]
        merged[name] = value
    return merged


def model_headers(model: Model) -> Headers | None:
    """The headers that the catalog gives a model."""
    return cast("Headers | None", model.extra.get("headers"))


def session_headers(model: Model, session_id: str | None) -> Headers | None:
    """The header by which OpenCode keeps a conversation on one machine; None for other destinations."""
    if not session_id or not _is_opencode(model):
        return None
    return {"x-opencode-session": session_id}


def _is_opencode(model: Model) -> bool:
    if model.provider in ("opencode", "opencode-go"):
        return True
    try:
        return can_ada.parse(model.base_url).hostname == "opencode.ai"
    except ValueError:
        return False
