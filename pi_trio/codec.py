"""JSON to data classes and back: one cattrs converter for all of them.

The law, for every JSON value that `structure` accepts: `unstructure` gives the same value again, with the
same keys in the same order. What a class does not know goes through `Wire.extra`; unions are told apart by
`role` or `type`, and an unknown one takes the class that is open for it, if the union has one.

What does not fit is refused with one error type, `CodecError`, whose path leads to the spot. Fields that
rules test for "exactly true" hold any JSON, so that a truthy string gets as far as the rule.

Inside, a structure hook raises with the path as it sees it, and each hook around it puts its own step in
front. A key that is missing is given to its hook as `ABSENT`, which no hook accepts: so it is the hook that
says what was expected.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import NoneType
from typing import Any, Final, TypeVar, get_args, overload

import attrs
from cattrs import Converter

from .errors import CodecError, join
from .jsontext import number_text, parse_json, print_json
from .jsonvalue import (
    ABSENT,
    JSON,
    SAFE_INTEGER,
    Absent,
    FrozenDict,
    FrozenList,
    check_number,
    freeze,
    freeze_object,
    kind_of,
)
from .wire import (
    NO_FIELDS,
    Wire,
    is_array,
    is_json,
    is_number,
    is_optional,
    is_text_object,
    is_text_or_array,
    is_wire,
    is_wire_union,
    known_fields,
    present_type,
    tag_of,
    wire_name,
)

T = TypeVar("T")

Structure = Callable[[Any, Any], Any]
"""How cattrs calls a hook: with the JSON value, and the type that is wanted."""

converter: Final = Converter(detailed_validation=False)
"""Knows all data classes of the protocol; own ones may be registered with it."""


@overload
def structure(value: JSON, cls: type[T], path: str = "") -> T: ...
@overload
def structure(value: JSON, cls: Any, path: str = "") -> Any: ...
def structure(value: JSON, cls: Any, path: str = "") -> Any:
    """Make an object of the protocol from JSON.

    Args:
        value: plain or frozen JSON; it is not kept.
        cls: a data class, a union such as `Message` or `StreamEvent`, or `tuple[Message, ...]`.
        path: where `value` stands in something larger; it leads the path of an error.

    Raises:
        CodecError: something is missing or is not of the type that its place needs.
    """
    try:
        return converter.structure(value, cls)
    except CodecError as error:
        raise CodecError(join(path, error.path), error.message) from None


def unstructure(value: Any) -> Any:
    """The JSON of an object of the protocol: dicts and lists, made anew.

    The free JSON in it (arguments, details, unknown fields) stays frozen and shared; `thaw` gives a copy
    that may be changed. Tuples of objects become lists, and JSON passes as it is.
    """
    return converter.unstructure(value)


@overload
def loads(text: str | bytes, cls: type[T]) -> T: ...
@overload
def loads(text: str | bytes, cls: Any) -> Any: ...
def loads(text: str | bytes, cls: Any) -> Any:
    """`structure` of `parse_json`; raises `CodecError` for both."""
    return structure(parse_json(text), cls)


def dumps(value: Any, *, indent: int | None = None) -> str:
    """`print_json` of `unstructure`; raises `CodecError` for a number or depth that is refused."""
    return print_json(converter.unstructure(value), indent=indent)


def _expected(what: str, found: object) -> CodecError:
    return CodecError("", f"expected {what}, found {kind_of(found)}")


# --- single values ----------------------------------------------------------------------------------------


def _string(value: JSON, _type: Any) -> str:
    if isinstance(value, str):
        return value
    raise _expected("string", value)


def _boolean(value: JSON, _type: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _expected("boolean", value)


def _number(value: JSON, _type: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _expected("number", value)
    check_number(value)
    return value


def _integer(value: JSON, _type: Any) -> int:
    number = _number(value, _type)
    if not (-SAFE_INTEGER <= number <= SAFE_INTEGER and number == int(number)):
        raise CodecError("", f"expected a whole number, found {number_text(number)}")
    return int(number)


def _json(value: JSON, _type: Any) -> JSON:
    return freeze(value)


def _text_object(value: JSON, _type: Any) -> FrozenDict:
    if not isinstance(value, dict):
        raise _expected("object", value)
    for key, item in value.items():
        if not isinstance(item, (str, NoneType)):
            raise _expected("string or null", item).under(key)
    return freeze_object(value)


# --- arrays and unions ------------------------------------------------------------------------------------


def _array_structurer(array: Any, knowing: Converter) -> Structure:
    element = get_args(array)[0]
    read = knowing.get_structure_hook(element)

    def read_array(value: JSON, _type: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise _expected("array", value)
        items: list[Any] = []
        for index, item in enumerate(value):
            try:
                items.append(read(item, element))
            except CodecError as error:
                raise error.under(index) from None
        return tuple(items)

    return read_array


def _text_or_array_structurer(union: Any, knowing: Converter) -> Structure:
    array = get_args(union)[1]
    read_array = knowing.get_structure_hook(array)

    def read_text_or_array(value: JSON, _type: Any) -> Any:
        if isinstance(value, str):
            return value
        if isinstance(value, (list, tuple)):
            return read_array(value, array)
        raise _expected("string or array", value)

    return read_text_or_array


def _optional_structurer(optional: Any, knowing: Converter) -> Structure:
    return knowing.get_structure_hook(present_type(optional))


def _union_structurer(union: Any, knowing: Converter) -> Structure:
    by_tag: dict[str, tuple[Structure, Any]] = {}
    open_class: tuple[Structure, Any] | None = None
    key = ""
    for cls in get_args(union):
        read = knowing.get_structure_hook(cls)
        match tag_of(cls):
            case (key, tag):
                by_tag[tag] = read, cls
            case None:
                open_class = read, cls

    def read_member(value: JSON, _type: Any) -> Any:
        if not isinstance(value, dict):
            raise _expected("object", value)
        tag = value.get(key, ABSENT)
        if not isinstance(tag, str):
            raise _expected("string", tag).under(key)
        read_and_class = by_tag.get(tag, open_class)
        if read_and_class is None:
            raise CodecError(key, f"expected one of {', '.join(by_tag)}, found {tag!r}")
        read, cls = read_and_class
        return read(value, cls)

    return read_member


# --- data classes: reading --------------------------------------------------------------------------------


@attrs.frozen
class _Key:
    """What is to be known of a key while an object is read."""

    place: int
    attribute: str
    read: Structure
    annotation: Any
    null_is_a_value: bool


def _tag_reader(tag: str) -> Structure:
    def read_tag(value: JSON, _type: Any) -> str:
        if value != tag:
            found = repr(value) if isinstance(value, str) else kind_of(value)
            raise CodecError("", f"expected {tag!r}, found {found}")
        return tag

    return read_tag


def _class_structurer(cls: type[Wire], knowing: Converter) -> Structure:
    tag = tag_of(cls)
    keys: dict[str, _Key] = {}
    required: dict[str, _Key] = {}
    if tag is not None:
        required[tag[0]] = keys[tag[0]] = _Key(0, "", _tag_reader(tag[1]), str, null_is_a_value=True)
    for place, field in enumerate(known_fields(cls), start=1):
        name, read = wire_name(field.name), knowing.get_structure_hook(field.type)
        is_required = field.default is attrs.NOTHING
        keys[name] = _Key(place, field.name, read, field.type, is_required or is_json(field.type))
        if is_required:
            required[name] = keys[name]
    required_names = frozenset(required)

    def read_object(value: JSON, _type: Any) -> Wire:
        if not isinstance(value, dict):
            raise _expected("object", value)
        known: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        last, in_order = -1, True
        for name, item in value.items():
            key = keys.get(name)
            if key is None or (item is None and not key.null_is_a_value):
                extra[name] = item
                continue
            if key.place < last or extra:
                in_order = False
            last = key.place
            try:
                known[key.attribute] = key.read(item, key.annotation)
            except CodecError as error:
                raise error.under(name) from None
        if not required_names <= value.keys():
            name = next(name for name in required if name not in value)
            try:
                required[name].read(ABSENT, required[name].annotation)
            except CodecError as error:
                raise error.under(name) from None
        known.pop("", None)  # the tag, which the class has already
        return cls(
            extra=FrozenDict(extra) if extra else NO_FIELDS,
            keys=None if in_order else tuple(value),
            **known,
        )

    return read_object


# --- data classes: writing --------------------------------------------------------------------------------

Unstructure = Callable[[Any], Any]


class _Writers(dict[type, Unstructure]):
    """The unstructure hook of a class, looked up by the class of the object at hand."""

    def __missing__(self, cls: type) -> Unstructure:
        self[cls] = converter.get_unstructure_hook(cls)
        return self[cls]


_writers: Final = _Writers()


def _write(value: Any) -> Any:
    return _writers[value.__class__](value)


def _write_array(value: Any) -> Any:
    return value if isinstance(value, str) else [_writers[item.__class__](item) for item in value]


def _write_object(value: Any) -> dict[str, Any]:
    return {name: _writers[item.__class__](item) for name, item in value.items()}


def _refuse_absent(value: Any) -> Any:
    raise _expected("a JSON value", value)


def _as_it_is(value: Any) -> Any:
    return value


def _writer_of(annotation: Any) -> Unstructure:
    """How a field is written."""
    if is_optional(annotation):
        return _writer_of(present_type(annotation))
    if is_wire(annotation) or is_wire_union(annotation):
        return _write
    if is_array(annotation) or is_text_or_array(annotation):
        return _write_array
    return _as_it_is


def _class_unstructurer(cls: type[Wire]) -> Unstructure:
    tag = tag_of(cls)
    fields = known_fields(cls)
    parts_of = attrgetter("extra", "keys", *(field.name for field in fields))
    # What says "not there" is the default: None or ABSENT, and nothing at all for a required field.
    plan = [(wire_name(field.name), field.default, _writer_of(field.type)) for field in fields]

    def write_object(value: Any) -> dict[str, Any]:
        extra, order, *items = parts_of(value)
        written = {tag[0]: tag[1]} if tag else {}
        for (name, absent, write), item in zip(plan, items, strict=True):
            if item is not absent:
                written[name] = item if write is _as_it_is else write(item)
        for name, item in extra.items():
            written.setdefault(name, item)
        if order is None:
            return written
        ordered = {name: written.pop(name) for name in order if name in written}
        ordered.update(written)
        return ordered

    return write_object


# --- the converter ----------------------------------------------------------------------------------------
# Of two factories that both apply, cattrs takes the one that was registered last.

for _cls, _read in ((str, _string), (bool, _boolean), (int, _integer)):
    converter.register_structure_hook(_cls, _read)
converter.register_structure_hook_func(is_number, _number)
converter.register_structure_hook_func(is_json, _json)
converter.register_structure_hook_func(is_text_object, _text_object)
converter.register_structure_hook_factory(is_array, _array_structurer)
converter.register_structure_hook_factory(is_text_or_array, _text_or_array_structurer)
converter.register_structure_hook_factory(is_wire_union, _union_structurer)
converter.register_structure_hook_factory(is_optional, _optional_structurer)
converter.register_structure_hook_factory(is_wire, _class_structurer)

converter.register_unstructure_hook(Absent, _refuse_absent)
converter.register_unstructure_hook(dict, _write_object)
converter.register_unstructure_hook(list, _write_array)
converter.register_unstructure_hook(tuple, _write_array)
converter.register_unstructure_hook(FrozenDict, _as_it_is)
converter.register_unstructure_hook(FrozenList, _as_it_is)
converter.register_unstructure_hook_factory(is_wire, _class_unstructurer)
