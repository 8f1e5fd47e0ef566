"""Hypothesis strategies for JSON, and for everything that the protocol says.

`json_values` are JSON as JavaScript can hold it. For each data class there are two strategies, both made from
the annotations of its fields, so that a new field is covered on the day it is added: `objects(cls)` makes
instances as Python code would, `wire_json(cls)` makes the JSON of one as a foreign implementation might write
it: keys in any order, unknown fields between them, nulls where the protocol leaves a field out.

Importing this module also settles how Hypothesis works in this suite: the same examples in every run, and no
opinion on how long one takes on a busy machine.
"""

from __future__ import annotations

from random import Random
from typing import Any, get_args

import attrs
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pi_trio import events, messages
from pi_trio.jsonvalue import SAFE_INTEGER
from pi_trio.wire import (
    Wire,
    is_array,
    is_json,
    is_number,
    is_optional,
    is_text_object,
    is_wire,
    known_fields,
    present_type,
    tag_of,
    wire_name,
)

settings.register_profile(
    "pi_trio", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pi_trio")


def _as_javascript_sees_it(text: str) -> str:
    """Two adjacent halves of a surrogate pair are one character there, so let them be one here."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


characters = st.characters(exclude_categories=())
"""Any code point, surrogates included."""

strings = st.text(characters, max_size=8).map(_as_javascript_sees_it)

numbers = st.one_of(
    st.integers(-9, 99),
    st.integers(-SAFE_INTEGER, SAFE_INTEGER),
    st.floats(allow_nan=False, allow_infinity=False),
)

atoms = st.one_of(st.none(), st.booleans(), numbers, strings)

json_values: st.SearchStrategy[Any] = st.recursive(
    atoms,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(strings, inner, max_size=3)),
    max_leaves=6,
)

sections = st.dictionaries(strings, st.none() | strings, max_size=3)

unknown_fields = st.dictionaries(strings.map("x-".__add__), json_values, max_size=2)
"""Fields that no class knows."""

_unknown_tags = strings.map("x-".__add__)


def objects(annotation: Any) -> st.SearchStrategy[Any]:
    """Python values for a field of this type; instances, for a data class or a union of some."""
    if is_json(annotation):
        return json_values
    if is_text_object(annotation):
        return sections
    if is_wire(annotation):
        return _instances(annotation)
    if is_array(annotation):
        return st.lists(objects(get_args(annotation)[0]), max_size=2).map(tuple)
    if is_optional(annotation):
        return objects(present_type(annotation))
    if is_number(annotation):
        return numbers
    if members := get_args(annotation):
        return st.one_of(*map(objects, members))
    return {str: strings, bool: st.booleans(), int: st.integers(0, 9)}[annotation]


def _instances(cls: type[Wire]) -> st.SearchStrategy[Any]:
    required: dict[str, st.SearchStrategy[Any]] = {"extra": unknown_fields}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for field in known_fields(cls):
        kind = required if field.default is attrs.NOTHING else optional
        kind[field.name] = _unknown_tags if field.name in ("role", "type") else objects(field.type)
    if cls is messages.Diagnostic:
        required["type"] = strings
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: cls(**fields))


def wire_json(annotation: Any) -> st.SearchStrategy[Any]:
    """JSON that the codec accepts for this type."""
    if is_wire(annotation):
        return _foreign_json(annotation)
    if is_array(annotation):
        return st.lists(wire_json(get_args(annotation)[0]), max_size=2)
    if is_optional(annotation):
        return wire_json(present_type(annotation))
    if is_json(annotation) or is_number(annotation) or not get_args(annotation):
        return objects(annotation)
    if is_text_object(annotation):
        return sections
    return st.one_of(*map(wire_json, get_args(annotation)))


def _foreign_json(cls: type[Wire]) -> st.SearchStrategy[Any]:
    tag = tag_of(cls)
    required: dict[str, st.SearchStrategy[Any]] = {} if tag is None else {tag[0]: st.just(tag[1])}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for field in known_fields(cls):
        name = wire_name(field.name)
        if field.default is attrs.NOTHING:
            is_open_tag = tag is None and name in ("role", "type") and cls is not messages.Diagnostic
            required[name] = _unknown_tags if is_open_tag else wire_json(field.type)
        else:
            optional[name] = st.none() | wire_json(field.type)
    known = st.fixed_dictionaries(required, optional=optional)
    return st.builds(_mixed, known, unknown_fields, st.integers(0, 999))


def _mixed(known: dict[str, Any], unknown: dict[str, Any], order: int) -> dict[str, Any]:
    """All fields in one of many orders; 0 is that of the class."""
    fields = [*known.items(), *unknown.items()]
    if order:
        Random(order).shuffle(fields)
    return dict(fields)


DATA_CLASSES: tuple[type[Wire], ...] = tuple(
    cls
    for module in (messages, events)
    for cls in vars(module).values()
    if is_wire(cls) and cls.__module__.startswith(module.__name__) and not cls.__name__.startswith("_")
)
"""Every data class of the protocol."""

any_message = objects(messages.Message)
any_stream_event = objects(events.StreamEvent)
any_agent_event = objects(events.AgentEvent)
any_object = st.sampled_from(DATA_CLASSES).flatmap(objects)
