"""JSON values that cannot change.

Messages and events are shared between tasks, listeners and the transcript, so the JSON in them (arguments,
details, unknown fields) is frozen when it enters: `FrozenDict` and `FrozenList` are real dicts and lists,
equal to plain ones and encoded like them, whose mutators raise `TypeError`. Freezing walks a value once;
what is frozen already is returned as it is, so handing a message on costs nothing. `ABSENT` stands for a
field that is not there, where JSON's own null would mean something else.

The numbers of JSON are JavaScript's here: a number that JavaScript cannot hold, or would print with other
digits, is refused at the door rather than changed on the way.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeAlias, cast

from .errors import CodecError

JSON: TypeAlias = bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None
"""Any JSON value. As a parameter it takes plain and frozen values alike; tuples count as arrays."""

Number: TypeAlias = int | float
"""A JSON number. `1` and `1.0` are one value, as in JavaScript."""

DEPTH_LIMIT: Final = 500
"""So many arrays and objects may stand within each other. Python's own recursion limit is not far above."""

SAFE_INTEGER: Final = 2**53
"""Up to here, both ways, JavaScript prints every integer with its own digits."""


class Absent(enum.Enum):
    """The type of `ABSENT`, its only member."""

    ABSENT = enum.auto()

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT
"""A field that is not there (JavaScript's undefined). False in a condition, and equal to nothing else."""


class FrozenDict(dict[str, JSON]):
    """A JSON object that cannot change, nor anything in it.

    Args:
        items: a mapping with string keys, or pairs. Everything in it is frozen; plain parts are copied.

    Raises:
        CodecError: something in `items` is not a JSON value.
    """

    __slots__ = ()

    def __init__(self, items: Mapping[str, JSON] | Iterable[tuple[str, JSON]] = ()) -> None:
        super().__init__(_freeze(dict(items), 0))

    if not TYPE_CHECKING:

        def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
            raise TypeError("a FrozenDict does not change; thaw() gives a copy that does")

        __setitem__ = __delitem__ = __ior__ = _refuse
        clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def copy(self) -> FrozenDict:
        return self

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, JSON]]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[JSON]):
    """A JSON array that cannot change, nor anything in it.

    Args:
        items: the elements. Everything in them is frozen; plain parts are copied.

    Raises:
        CodecError: something in `items` is not a JSON value.
    """

    __slots__ = ()

    def __init__(self, items: Iterable[JSON] = ()) -> None:
        super().__init__(_freeze(tuple(items), 0))

    if not TYPE_CHECKING:

        def _refuse(self, *_args: object, **_kwargs: object) -> NoReturn:
            raise TypeError("a FrozenList does not change; thaw() gives a copy that does")

        __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
        append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def copy(self) -> FrozenList:
        return self

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, _memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[JSON]]]:
        return FrozenList, (list(self),)


_ATOMS: Final[frozenset[type]] = frozenset((str, bool, type(None), int, float))
"""Types of values that hold no others."""

_DONE: Final[frozenset[type]] = frozenset((str, bool, type(None), FrozenDict, FrozenList))
"""Types whose values are frozen as they stand."""


def freeze(value: JSON) -> JSON:
    """The same JSON value, deeply immutable.

    Frozen values and atoms are returned as they are, objects become `FrozenDict`, arrays and tuples
    `FrozenList`. Subclasses of str, int and float (enums, say) become plain ones.

    Raises:
        CodecError: with its path, for anything that is not a JSON value: another type, a key that is not a
            string, a number that `check_number` refuses, or nesting beyond `DEPTH_LIMIT`.
    """
    return value if type(value) in _DONE else _freeze(value, 0)


def frozen_array(elements: Iterable[JSON]) -> FrozenList:
    """An array of values that are frozen already. They are not looked at, so this is quick."""
    # Not through the constructor, which would walk everything.
    made = FrozenList.__new__(FrozenList)
    list[JSON].extend(made, elements)
    return made


def frozen_object(items: Mapping[str, JSON] | Iterable[tuple[str, JSON]]) -> FrozenDict:
    """An object of values that are frozen already. They are not looked at, so this is quick."""
    made = FrozenDict.__new__(FrozenDict)
    dict[str, JSON].update(made, items)
    return made


def freeze_object(value: Mapping[str, JSON]) -> FrozenDict:
    """`freeze` for a value that must be an object."""
    return value if type(value) is FrozenDict else FrozenDict(value)


def freeze_if_there(value: JSON | Absent) -> JSON | Absent:
    """`freeze` for a field that may be `ABSENT`."""
    return value if value is ABSENT or type(value) in _DONE else _freeze(value, 0)


def thaw(value: JSON) -> Any:
    """A deep copy in plain dicts and lists, free to change."""
    if type(value) in _ATOMS:
        return value
    if isinstance(value, (dict, Mapping)):
        items: dict[str, Any] = {}
        for key, item in value.items():  # no comprehension: that would be a second frame a level
            items[key] = thaw(item)
        return items
    if isinstance(value, (list, tuple)):
        elements: list[Any] = []
        for item in value:
            elements.append(thaw(item))  # noqa: PERF401
        return elements
    return value


def check_number(value: Number) -> None:
    """Refuse what JavaScript cannot hold, or would print with other digits.

    Floats are JavaScript's own numbers and pass when they are finite. An integer beyond 2**53 passes where
    its digits are those that JavaScript prints: 2**53 + 2 and 10**20 do, 2**60 and 10**21 do not.

    Raises:
        CodecError: without a path.
    """
    if isinstance(value, float):
        if not isfinite(value):
            raise CodecError("", f"expected a finite number, found {value}")
    elif not -SAFE_INTEGER <= value <= SAFE_INTEGER and not (
        abs(value) < 10**21 and Decimal(repr(float(value))) == value
    ):
        raise CodecError("", "expected a number that JavaScript can hold, found too many digits")


def kind_of(value: object) -> str:
    """What JSON calls this value, with an article left out: `string`, `array`, `null`, …

    For error texts. What JSON has no word for is called by its Python type.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (list, tuple)):
        return "array"
    if isinstance(value, (dict, Mapping)):
        return "object"
    if value is ABSENT:
        return "nothing"
    return f"a Python {type(value).__name__}"


def too_deep() -> CodecError:
    """The refusal of arrays and objects nested beyond `DEPTH_LIMIT`."""
    return CodecError("", f"expected no more than {DEPTH_LIMIT} arrays and objects within each other")


_set_member: Final = dict[str, JSON].__setitem__
_add_element: Final = list[JSON].append


def _freeze(value: object, depth: int) -> Any:
    """`freeze` without its shortcut. One Python frame a level, so that `DEPTH_LIMIT` is reached first."""
    if type(value) is int or type(value) is float:
        check_number(value)
        return value
    if isinstance(value, (dict, Mapping)):
        if depth >= DEPTH_LIMIT:
            raise too_deep()
        # Not through the constructor, which would walk everything a second time.
        members = FrozenDict.__new__(FrozenDict)
        for key, item in cast("Mapping[object, Any]", value).items():
            try:
                name = key if type(key) is str else _key(key)
                kind = type(item)
                if kind in _DONE or (kind is int and -SAFE_INTEGER <= item <= SAFE_INTEGER):  # as mostly
                    _set_member(members, name, item)
                else:
                    _set_member(members, name, _freeze(item, depth + 1))
            except CodecError as error:
                raise error.under(str(key)) from None
        return members
    if isinstance(value, (list, tuple)):
        if depth >= DEPTH_LIMIT:
            raise too_deep()
        elements = FrozenList.__new__(FrozenList)
        for index, item in enumerate(cast("Sequence[Any]", value)):
            try:
                _add_element(elements, item if type(item) in _DONE else _freeze(item, depth + 1))
            except CodecError as error:
                raise error.under(index) from None
        return elements
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        check_number(value)
        return int(value)
    if isinstance(value, float):
        check_number(value)
        return float(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise CodecError("", f"expected a JSON value, found {kind_of(value)}")


def _key(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise CodecError("", f"expected a string as key, found {kind_of(key)}")
