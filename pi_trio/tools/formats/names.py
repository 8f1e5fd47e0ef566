"""Names of things inside documents (JSON Pointers), and UUIDs."""

from __future__ import annotations

import re
from typing import Final

_STEPS: Final = r"(?:/(?:[^~/]|~[01])*)*"
_POINTER: Final = re.compile(_STEPS)
_RELATIVE_POINTER: Final = re.compile(rf"(?:0|[1-9][0-9]*)(?:#|{_STEPS})")
_POINTER_FRAGMENT: Final = re.compile(r"#(?:/(?:[A-Za-z0-9_\-.!$&'()*+,;:=@]|%[0-9A-Fa-f]{2}|~[01])*)*")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_json_pointer(text: str) -> bool:
    """`/a/b~1c` (RFC 6901). The empty text points to the whole document."""
    return _POINTER.fullmatch(text) is not None


def is_relative_json_pointer(text: str) -> bool:
    """`1/a` or `2#`."""
    return _RELATIVE_POINTER.fullmatch(text) is not None


def is_json_pointer_fragment(text: str) -> bool:
    """`#/a/b%20c`."""
    return _POINTER_FRAGMENT.fullmatch(text) is not None


def is_uuid(text: str) -> bool:
    """Any version and variant, without braces or a prefix."""
    return _UUID.fullmatch(text) is not None
