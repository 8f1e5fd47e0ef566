"""Types that pydantic does not take, as types that it does.

It knows nothing of attrs classes, and before Python 3.12 it refuses the `TypedDict` of `typing`. Each such class gets a
*shadow*: a `TypedDict` of `typing_extensions` with the same name, fields and docstring. For an attrs class, reading the
shadow makes an instance, and writing takes one apart. Shadows refer to shadows, so classes may be recursive.

Shadows are found wherever a hint is spelled out, and in the fields of other shadows. Inside the fields of a dataclass
or of a pydantic model they are not: those are pydantic's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Required,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import attrs
import typing_extensions
from pydantic import PlainSerializer, WrapSerializer, WrapValidator

from .patterns import with_own_patterns
from .unordered import in_order, spelled_out

_OWN_TYPED_DICTS: Final = sys.version_info >= (3, 12)


class Shadows:
    """The shadows of one schema: one for each class, so that a class has one name in it.

    Args:
        answers: whether instances are written with the fields that cannot be given (`init=False`), too: as answers are,
            and defaults are not.
    """

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers
        self._known: dict[Any, Any] = {}

    def cast(self, hint: Any) -> Any:
        """A hint with shadows in place of what pydantic does not take.

        Raises:
            NameError, TypeError: it is no type, or the hints of a class cannot be resolved.
        """
        if isinstance(hint, Mapping):  # which pydantic takes for one of its own schemas
            raise TypeError(f"{dict(hint)} is no type")
        hint = spelled_out(hint)
        if _is_attrs(hint):
            return self._once(hint, _fields_of_attrs)
        if not _OWN_TYPED_DICTS and is_typeddict(hint):
            return self._once(hint, _fields_of_typed_dict)
        origin: Any = get_origin(hint)
        parts = get_args(hint)
        if not parts or origin in (Literal, Callable):
            return in_order(hint, hint)
        if origin is Annotated:
            return Annotated[(self.cast(parts[0]), *with_own_patterns(parts[0], hint.__metadata__))]
        parts = tuple(map(self.cast, parts))
        if origin in (Union, UnionType):
            return Union[parts]  # noqa: UP007  (of what is only known now)
        same = parts == get_args(hint)
        return in_order(hint, hint if same else origin[parts[0] if len(parts) == 1 else parts])

    def _once(self, hint: Any, fields_of: Callable[[Any], Mapping[str, Any]]) -> Any:
        """The shadow of a class; or of a generic one of certain types, which is another."""
        if hint not in self._known:
            cls = get_origin(hint) or hint
            blank = _blank(hint)
            told = attrs.fields(cls) if attrs.has(cls) and self._answers else ()
            whole = blank if all(field.init for field in told) else _blank(hint)
            # Known before its fields are, which may refer to it.
            self._known[hint] = self._instances(cls, blank, whole) if attrs.has(cls) else blank
            self._fill(blank, fields_of(hint))
            if whole is not blank:
                self._fill(whole, _fields_of_attrs(hint, whole=True))
        return self._known[hint]

    def _instances(self, cls: type, shadow: Any, whole: Any) -> Any:
        """The type of the instances of an attrs class, read by way of its shadow, and written by way of its whole one.

        They differ where it has fields that cannot be given.
        """
        fields = [field for field in attrs.fields(cls) if field.init or self._answers]

        def read(value: Any, as_shadow: Callable[[Any], Any]) -> Any:
            return value if isinstance(value, cls) else _made(cls, as_shadow(value))

        def apart(value: Any) -> dict[str, Any]:
            return {one.alias: getattr(value, one.name) for one in fields if hasattr(value, one.name)}

        # A lambda: the annotation of what it returns would be taken for the schema.
        write = (
            WrapSerializer(lambda value, as_shadow: as_shadow(apart(value)))
            if whole is shadow
            else PlainSerializer(apart, return_type=whole)
        )
        return Annotated[shadow, WrapValidator(read), write]

    def _fill(self, shadow: Any, fields: Mapping[str, Any]) -> None:
        """Give a blank shadow its fields."""
        optional = {name for name, hint in fields.items() if get_origin(hint) is NotRequired}
        shadow.__annotations__.update({name: self.cast(hint) for name, hint in fields.items()})
        shadow.__optional_keys__ = frozenset(optional)
        shadow.__required_keys__ = frozenset(fields.keys() - optional)


def _is_attrs(hint: Any) -> bool:
    cls = get_origin(hint) or hint
    return isinstance(cls, type) and attrs.has(cls)


def _blank(hint: Any) -> Any:
    """A `TypedDict` without fields that passes for a class."""
    cls = get_origin(hint) or hint

    class Shadow(typing_extensions.TypedDict):
        pass

    shadow: Any = Shadow
    shadow.__name__ = shadow.__qualname__ = _name(hint)
    shadow.__module__, shadow.__doc__ = cls.__module__, cls.__doc__
    return shadow


def _name(hint: Any) -> str:
    """The name of a class, and of what it was given."""
    name = getattr(hint, "__name__", str(hint))
    given = ", ".join(map(_name, get_args(hint)))
    return f"{name}[{given}]" if given else name


def _made(cls: type, fields: Mapping[str, Any]) -> Any:
    """An instance; or a ValueError, which pydantic takes for a misfit.

    Validators of attrs raise TypeErrors, too, and tell more than a text: the field and the value, behind it.
    """
    try:
        return cls(**fields)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error.args[0] if error.args else error)) from error


def _fields_of_attrs(hint_of_it: Any, *, whole: bool = False) -> Mapping[str, Any]:
    cls = get_origin(hint_of_it) or hint_of_it
    given = dict(zip(getattr(cls, "__parameters__", ()), get_args(hint_of_it), strict=False))
    hints = get_type_hints(cls, include_extras=True)
    fields: dict[str, Any] = {}
    for field in attrs.fields(cls):
        hint = _with_arguments(hints.get(field.name, Any), given)
        if field.init or whole:
            always = field.init and field.default is attrs.NOTHING
            fields[field.alias] = hint if always else NotRequired[hint]
    return fields


def _with_arguments(hint: Any, given: Mapping[Any, Any]) -> Any:
    """A field's hint with the types that its generic class was given."""
    if isinstance(hint, TypeVar):
        return given.get(hint, hint)
    variables: tuple[Any, ...] = getattr(hint, "__parameters__", ()) if get_args(hint) else ()
    if not any(one in given for one in variables):
        return hint
    return hint[tuple(given.get(one, one) for one in variables)]


def _fields_of_typed_dict(cls: Any) -> Mapping[str, Any]:
    fields: dict[str, Any] = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        # In a module of string annotations the sets of keys know nothing of the qualifiers.
        said = name in cls.__required_keys__ or get_origin(hint) in (Required, NotRequired)
        fields[name] = hint if said else NotRequired[hint]
    return fields
