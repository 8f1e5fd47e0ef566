"""Keywords applied to values that they are not about, as 0.80.2 does where `type` is a list.

Where a schema says `"type": ["string", "null"], "minLength": 1`, that release asks null how long it is, and what
JavaScript makes of the question is the answer: null has no length, which is an error of its own; a boolean has an
undefined one, which is not at least 1. The functions here make the test of each group of keywords.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ..checks import SchemaError
from ..js_number import number_of
from ..js_value import Plain, joined, utf16_length
from .arrays import ArrayRule, Contains, Following, Leading, Unique
from .atoms import number_rules
from .dialect import Dialect
from .evaluated import Evaluated
from .keywords import Node, members_of, number_at, text_at
from .objects import Declared, Dependencies, Members, ObjectRule, Patterns, Required
from .patterns import unicode_pattern

#: Whether a value of another type passes; it may also be a `SchemaError`.
ForeignTest: TypeAlias = Callable[[Plain, Evaluated | None], bool]

#: These formats call methods of text; the others read any value as text first.
_FORMATS_OF_TEXT_ALONE: Final = frozenset(
    {"date-time", "hostname", "idn-hostname", "ipv4", "ipv6", "iri-reference", "uri"}
)

#: The name of a length, among the members that JavaScript finds in arrays and texts.
_LENGTH: Final = "length"


def object_test(rules: Sequence[ObjectRule]) -> ForeignTest:
    """The keywords on members. Arrays and texts have members, by index, and a length among them."""

    def passes(value: Plain, seen: Evaluated | None) -> bool:
        entries = members_of([*value] if isinstance(value, str) else value) or {}
        members = {**entries, _LENGTH: _length(value)} if isinstance(value, str | list) else {}
        for rule in rules:
            if value is None or (not isinstance(value, list) and _asks_for_keys(rule, members)):
                raise SchemaError("Cannot use 'in' operator on a value that is no object")
            # Going through the members gives the entries alone.
            if not rule.accepts(entries if isinstance(rule, Patterns) else members, seen):
                return False
        return True

    return passes


def _length(value: str | list[Plain]) -> int:
    return utf16_length(value) if isinstance(value, str) else len(value)


def _asks_for_keys(rule: ObjectRule, members: Members) -> bool:
    """Whether the rule asks if a key is there, which cannot be asked of an atom.

    Optional members are looked at first, and asked for only if that gives something.
    """
    if isinstance(rule, Declared):
        return any(key in members for key in rule.schemas)
    if isinstance(rule, Dependencies):
        return bool(members and rule.needed)
    return isinstance(rule, Required)


def array_test(rules: Sequence[ArrayRule]) -> ForeignTest:
    """The keywords on items. Text has units and a length, null has nothing, everything else an undefined length.

    An undefined length is no bound to an index, so single items are asked for. Most are undefined, for which null will
    do, but an object may have members of such names.
    """

    def passes(value: Plain, seen: Evaluated | None) -> bool:
        for rule in rules:
            if value is None or _calls_methods(rule, value):
                raise SchemaError("a value that is no array was taken for one")
            if isinstance(value, str):
                passed = rule.accepts([*value], seen)
            elif isinstance(rule, Leading):
                members = value if isinstance(value, dict) else {}
                passed = rule.accepts([members.get(str(index)) for index in range(len(rule.schemas))], seen)
            else:
                passed = isinstance(rule, Following)
            if not passed:
                return False
        return True

    return passes


def _calls_methods(rule: ArrayRule, value: Plain) -> bool:
    """Whether the rule calls a method that only arrays have: all that do more than count, or go by an index."""
    if isinstance(rule, Following):
        return rule.start == 0 or rule.additional
    if isinstance(rule, Contains):
        return not (rule.until_found and value == "")
    return isinstance(rule, Unique)


def string_test(node: Node, dialect: Dialect) -> ForeignTest:
    """The keywords of strings. Patterns and most formats read any value as text."""
    least, most = number_at(node, "minLength"), number_at(node, "maxLength")
    format_name, pattern = text_at(node, "format"), text_at(node, "pattern")
    has_form = dialect.formats.get(format_name or "")
    matches = None if pattern is None else unicode_pattern(pattern)

    def passes(value: Plain, _seen: Evaluated | None) -> bool:
        if (least or most is not None) and (value is None or (isinstance(value, list) and value)):
            raise SchemaError("a value that is no text was asked for its length")
        if least:
            return False
        if has_form is not None:
            if format_name in _FORMATS_OF_TEXT_ALONE:
                raise SchemaError(f"a value that is no text was taken for a {format_name}")
            if not has_form(_text(value)):
                return False
        return matches is None or matches(_text(value))

    return passes


def number_test(node: Node, dialect: Dialect) -> ForeignTest:
    """The keywords of numbers. Bounds read any value as a number; everything else is a multiple of everything."""
    bounds = list(number_rules({key: value for key, value in node.items() if key != "multipleOf"}, dialect))

    def passes(value: Plain, seen: Evaluated | None) -> bool:
        number = int(value or 0) if value is None or isinstance(value, bool) else number_of(_text(value))
        return all(rule.accepts(number, seen) for rule in bounds)

    return passes


def _text(value: Plain) -> str:
    """JavaScript's `String(value)`."""
    return "null" if value is None else joined([value], "")
