"""What every data class of the protocol has in common.

A message or event that came in as JSON must go out again as the same JSON, also when a newer Pi has put
fields in it that this package does not know. So each object carries, besides its known fields, the unknown
ones (`extra`) and the order of all its keys (`keys`). Objects are frozen: `attrs.evolve` makes changed
copies, in which a new key goes to the end and a key whose value is gone disappears.

The rules, once for all classes: an attribute is named in snake_case after its camelCase key. `None` is an
optional field that is not there; a field that may hold any JSON, null included, says `ABSENT` instead. A
null where the protocol knows only "there or not" is foreign, so it is kept in `extra` under its key until
the field gets a value. `role` and `type` are class attributes where the class fixes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import attrs

from .jsonvalue import ABSENT, JSON, Absent, FrozenDict, freeze_object

T = TypeVar("T", bound=attrs.AttrsInstance)

NO_FIELDS = FrozenDict()
"""The `extra` of an object without unknown fields."""


@attrs.frozen(kw_only=True, repr=False)
class Wire:
    """Base of all messages, content blocks and events.

    Attributes:
        extra: the fields that the class does not know, in their order.
        keys: all keys in the order in which they were read; None where that is the order of the class,
            with the unknown ones last, as for every object made in Python. Not part of equality.
    """

    extra: Mapping[str, JSON] = attrs.field(default=NO_FIELDS, converter=freeze_object)
    keys: tuple[str, ...] | None = attrs.field(default=None, eq=False)

    def __repr__(self) -> str:
        shown = [f"{field.name}={value!r}" for field, value in present_fields(self)]
        if self.extra:
            shown.append(f"extra={self.extra!r}")
        return f"{type(self).__name__}({', '.join(shown)})"


def quick(cls: type[T]) -> type[T]:
    """A data class whose constructor is a fifth quicker than that of attrs, for what is made at every event of a run.

    It does the same: but frozen slots are filled quickest by their descriptors, and a default needs no converter after
    the first time. Not for all classes, because it is made when the class is imported, and that takes time.
    """
    assert not hasattr(cls, "__attrs_post_init__")
    known: dict[str, object] = {}
    parameters: list[str] = []
    body: list[str] = []
    for field in attrs.fields(cls):
        assert field.validator is None
        assert field.init
        assert field.alias == field.name
        assert not isinstance(field.default, attrs.Factory)  # type: ignore[arg-type]
        name = value = parameter = field.name
        known[f"set_{name}"] = getattr(cls, name).__set__
        known[f"default_{name}"] = default = field.default
        if default is not attrs.NOTHING:
            parameter = f"{name}=default_{name}"
        if field.converter is not None:
            known[f"convert_{name}"] = field.converter
            value = f"convert_{name}({name})"
            if default is not attrs.NOTHING:
                known[f"default_{name}"] = field.converter(default)
                value = f"{name} if {name} is default_{name} else {value}"
        parameters.append(parameter)
        body.append(f"    set_{name}(self, {value})")
    exec("\n".join([f"def __init__(self, *, {', '.join(parameters)}):", *body]), known)  # noqa: S102  (as attrs does)
    made: Any = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__module__ = cls.__module__
    made.__annotations__ = cls.__init__.__annotations__
    cls.__init__ = made  # type: ignore[method-assign]
    return cls


def maker(cls: type[T], *also: str) -> Callable[..., T]:
    """A function that makes objects of a class: of the fields without a default and of these others, in the order of
    the class, taken as they are.

    It takes two thirds of the time of a `quick` constructor, which Python calls by way of a dictionary of its
    arguments. For what happens at every delta.
    """
    known: dict[str, Any] = {"cls": cls, "new": object.__new__}
    parameters: list[str] = []
    body: list[str] = []
    for field in attrs.fields(cls):
        name = field.name
        known[f"set_{name}"] = getattr(cls, name).__set__
        if field.default is attrs.NOTHING or name in also:
            parameters.append(name)
        else:
            known[name] = field.default
        body.append(f"    set_{name}(made, {name})")
    lines = [f"def make({', '.join(parameters)}):", "    made = new(cls)", *body, "    return made"]
    exec("\n".join(lines), known)  # noqa: S102  (as `quick`)
    make: Callable[..., T] = known["make"]
    return make


def changer(cls: type[T], *names: str) -> Callable[..., T]:
    """A function that makes changed copies of objects of a class: `attrs.evolve` for these fields, taken as they are.

    It takes a fifth of the time. What is of a subclass is left to `attrs.evolve`. For what happens at every response.
    """
    known: dict[str, Any] = {"cls": cls, "new": object.__new__, "evolve": attrs.evolve}
    given = ", ".join(f"{name}={name}" for name in names)
    body = [f"    if type(old) is not cls: return evolve(old, {given})", "    made = new(cls)"]
    for field in attrs.fields(cls):
        name = field.name
        known[f"set_{name}"] = getattr(cls, name).__set__
        body.append(f"    set_{name}(made, {name if name in names else f'old.{name}'})")
    lines = [f"def change(old, {', '.join(names)}):", *body, "    return made"]
    exec("\n".join(lines), known)  # noqa: S102  (as `quick`)
    change: Callable[..., T] = known["change"]
    return change


@cache
def wire_name(attribute: str) -> str:
    """The JSON key of an attribute: `cache_write_1h` -> `cacheWrite1h`."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), attribute)


_known_fields: dict[type, tuple[attrs.Attribute[object], ...]] = {}


def known_fields(cls: type[Wire]) -> tuple[attrs.Attribute[object], ...]:
    """The fields that stand for keys, in the order in which Pi writes them; types resolved."""
    if cls not in _known_fields:
        attrs.resolve_types(cls)
        fields = attrs.fields(cls)
        _known_fields[cls] = tuple(field for field in fields if field.name not in ("extra", "keys"))
    return _known_fields[cls]


def present_fields(value: Wire) -> Iterator[tuple[attrs.Attribute[object], object]]:
    """The known fields that are there, with their values, in the order of the class."""
    for field in known_fields(type(value)):
        item: object = getattr(value, field.name)
        if item is not ABSENT and (item is not None or field.default is not None):
            yield field, item


def tag_of(cls: type[Wire]) -> tuple[str, str] | None:
    """The key and value by which a class is told from the others of its union, if the class fixes them."""
    for key in ("role", "type"):
        value = getattr(cls, key, None)
        if isinstance(value, str):  # and not the descriptor of a field, as an open class has it
            return key, value
    return None


# --- the types of fields ----------------------------------------------------------------------------------
# The few forms that annotations take here, for those who derive something from the classes.


def is_wire(annotation: Any) -> bool:
    """One data class."""
    return isinstance(annotation, type) and issubclass(annotation, Wire)


def is_wire_union(annotation: Any) -> bool:
    """One of several data classes: `Message`, `Content`, `StreamEvent`, …"""
    return all(map(is_wire, _members(annotation))) and bool(_members(annotation))


def is_array(annotation: Any) -> bool:
    """`tuple[X, ...]`."""
    return get_origin(annotation) is tuple


def is_text_or_array(annotation: Any) -> bool:
    """`str | tuple[X, ...]`."""
    members = _members(annotation)
    return len(members) == 2 and members[0] is str and is_array(members[1])


def is_number(annotation: Any) -> bool:
    """`Number`."""
    return set(_members(annotation)) == {int, float}


def is_json(annotation: Any) -> bool:
    """Any JSON, null included; perhaps `ABSENT`."""
    return {Sequence, Mapping} <= {get_origin(member) for member in _members(annotation)}


def is_text_object(annotation: Any) -> bool:
    """`Mapping[str, str | None]`."""
    return get_origin(annotation) is Mapping


def is_optional(annotation: Any) -> bool:
    """Something that need not be there: `X | None` or `X | Absent`."""
    return bool({NoneType, Absent} & set(_members(annotation))) and not is_json(annotation)


def present_type(annotation: Any) -> Any:
    """What is there of an optional field, when something is."""
    there = [member for member in _members(annotation) if member not in (NoneType, Absent)]
    return reduce(lambda union, member: union | member, there)


def _members(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()
