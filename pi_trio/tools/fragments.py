"""What the fragment of a reference says: its text, and the way that a JSON Pointer goes."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from .js_value import Plain

_MALFORMED_ESCAPE: Final = re.compile("%(?![0-9a-fA-F]{2})")


def unescaped(fragment: str) -> str | None:
    """The fragment without its percent signs; None where `decodeURIComponent` of JavaScript would throw."""
    if _MALFORMED_ESCAPE.search(fragment):
        return None
    try:
        return unquote(fragment, errors="strict")
    except UnicodeDecodeError:
        return None


def passed(node: Plain, pointer: str) -> list[Plain] | None:
    """What a JSON Pointer that begins with a slash passes on its way from a node, last what it points to.

    None where it leads nowhere.
    """
    way: list[Plain] = []
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and key in map(str, range(len(node))):
            node = node[int(key)]
        else:
            return None
        way.append(node)
    return way
