"""The keywords of a schema object, as far as their values are well formed. One that is not counts for nothing.

What must be an object may also be an array: its items are members then, with their indices as keys.
"""

from __future__ import annotations

from math import isfinite
from typing import TypeAlias, TypeGuard

from ..js_value import Plain, is_number

Node: TypeAlias = dict[str, Plain]


def is_schema(value: Plain) -> TypeGuard[Node | bool]:
    """Whether `value` can be a schema."""
    return isinstance(value, dict | bool)


def schema_at(node: Node, keyword: str) -> Node | bool | None:
    """The keyword's schema; None if there is none."""
    value = node.get(keyword)
    return value if is_schema(value) else None


def schemas_at(node: Node, keyword: str) -> list[Plain] | None:
    """The keyword's list of schemas; None unless it is one."""
    value = node.get(keyword)
    return value if isinstance(value, list) and all(map(is_schema, value)) else None


def schemas_by_key(node: Node, keyword: str) -> dict[str, Plain] | None:
    """The keyword's schemas by key; None unless all are schemas."""
    members = members_of(node.get(keyword))
    return members if members is not None and all(map(is_schema, members.values())) else None


def texts_at(node: Node, keyword: str) -> list[str] | None:
    """The keyword's list of texts; None unless it is one."""
    return texts(node.get(keyword))


def texts(value: Plain) -> list[str] | None:
    """`value` if it is a list of texts."""
    if not isinstance(value, list):
        return None
    found = [item for item in value if isinstance(item, str)]
    return found if len(found) == len(value) else None


def text_at(node: Node, keyword: str) -> str | None:
    """The keyword's text; None if there is none."""
    value = node.get(keyword)
    return value if isinstance(value, str) else None


def number_at(node: Node, keyword: str) -> int | float | None:
    """The keyword's number; None if there is none."""
    value = node.get(keyword)
    return value if is_number(value) and isfinite(value) else None


def members_of(value: Plain) -> dict[str, Plain] | None:
    """The members of an object or array by key; None of anything else."""
    if isinstance(value, list):
        return {str(index): item for index, item in enumerate(value)}
    return value if isinstance(value, dict) else None
