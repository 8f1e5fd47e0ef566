"""Frozen JSON: it equals what it was made of, it does not change, and only JSON gets in."""

from __future__ import annotations

import copy
import enum
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.errors import CodecError
from pi_trio.jsonvalue import (
    ABSENT,
    DEPTH_LIMIT,
    Absent,
    FrozenDict,
    FrozenList,
    check_number,
    freeze,
    freeze_if_there,
    freeze_object,
    thaw,
)

from .strategies import json_values


def parts(value: Any) -> list[Any]:
    """The value and everything in it."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(part for item in inner for part in parts(item))]


@given(json_values)
def test_frozen_equals_plain(value: Any) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    assert repr(frozen) == repr(value)


@given(json_values)
def test_everything_in_it_is_frozen_and_freezing_again_is_free(value: Any) -> None:
    frozen = freeze(value)
    assert all(type(part) not in (dict, list, tuple) for part in parts(frozen))
    assert all(freeze(part) is part for part in parts(frozen))


@given(json_values)
def test_thawed_is_plain_and_apart(value: Any) -> None:
    thawed = thaw(freeze(value))
    assert thawed == value
    assert all(type(part) not in (FrozenDict, FrozenList) for part in parts(thawed))


def test_it_does_not_follow_what_it_was_made_of() -> None:
    inner = [1]
    frozen = freeze({"a": inner})
    inner.append(2)
    assert frozen == {"a": [1]}


def test_the_constructors_freeze_deeply() -> None:
    frozen = FrozenDict({"a": [{"b": (1, 2)}]})
    assert all(freeze(part) is part for part in parts(frozen))
    assert FrozenDict([("a", 1)]) == {"a": 1}
    assert all(freeze(part) is part for part in parts(FrozenList([[1], {"a": []}])))
    assert freeze_object(frozen) is frozen
    assert FrozenDict() == {}
    assert FrozenList() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({"b": 1}),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.update(b=1),
    ],
)
def test_an_object_has_no_way_to_change(change: Any) -> None:
    frozen: Any = FrozenDict({"a": 1})
    with pytest.raises(TypeError, match="FrozenDict does not change"):
        change(frozen)
    assert frozen == {"a": 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.__setitem__(0, 1),
        lambda a: a.__delitem__(0),
        lambda a: a.__iadd__([1]),
        lambda a: a.__imul__(2),
        lambda a: a.append(1),
        lambda a: a.clear(),
        lambda a: a.extend([1]),
        lambda a: a.insert(0, 1),
        lambda a: a.pop(),
        lambda a: a.remove(2),
        lambda a: a.reverse(),
        lambda a: a.sort(),
    ],
)
def test_an_array_has_no_way_to_change(change: Any) -> None:
    frozen: Any = FrozenList([2, 3])
    with pytest.raises(TypeError, match="FrozenList does not change"):
        change(frozen)
    assert frozen == [2, 3]


def test_no_mutator_was_forgotten() -> None:
    # Whatever a new Python may add to dict and list: all their methods are known to be harmless, or refused.
    harmless = {"copy", "count", "fromkeys", "get", "index", "items", "keys", "values"}
    for frozen, plain in ((FrozenDict, dict), (FrozenList, list)):
        methods = {name for name in vars(plain) if not name.startswith("_")} - harmless
        assert all(vars(frozen)[name].__name__ == "_refuse" for name in methods)


@pytest.mark.parametrize("frozen", [freeze({"a": [1, {}]}), freeze([{"a": 1}])])
def test_copies_are_the_value_itself_and_pickles_stay_frozen(frozen: Any) -> None:
    assert copy.copy(frozen) is frozen
    assert copy.deepcopy(frozen) is frozen
    assert frozen.copy() is frozen
    again = pickle.loads(pickle.dumps(frozen))
    assert again == frozen
    assert all(freeze(part) is part for part in parts(again))


def test_subclasses_of_atoms_become_plain() -> None:
    class Colour(enum.StrEnum):
        RED = "red"

    class Level(enum.IntEnum):
        HIGH = 3

    class Metres(float):
        pass

    frozen: Any = freeze({Colour.RED: [Colour.RED, Level.HIGH, Metres(1.5)]})
    assert frozen == {"red": ["red", 3, 1.5]}
    assert [type(part) for part in parts(frozen)] == [FrozenDict, FrozenList, str, int, float]
    assert type(next(iter(frozen))) is str


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ({"a": [1, {2}]}, "a[1]: expected a JSON value, found a Python set"),
        ({"a": {1: 2}}, 'a["1"]: expected a string as key, found number'),
        ([float("nan")], "[0]: expected a finite number, found nan"),
        ({"x": float("-inf")}, "x: expected a finite number, found -inf"),
        ([[2**60]], "[0][0]: expected a number that JavaScript can hold, found too many digits"),
        ({"a": ABSENT}, "a: expected a JSON value, found nothing"),
        (b"a", "expected a JSON value, found a Python bytes"),
    ],
)
def test_only_json_gets_in(value: Any, complaint: str) -> None:
    with pytest.raises(CodecError) as caught:
        freeze(value)
    assert str(caught.value) == complaint


@pytest.mark.parametrize(
    "number", [2**53, -(2**53), 2**53 + 2, 10**20, 123_456_789_012_345_680_000, 1e300, -0.0, 5e-324]
)
def test_numbers_of_javascript_pass(number: float) -> None:
    check_number(number)
    assert freeze([number]) == [number]


@pytest.mark.parametrize(
    "number", [2**53 + 1, -(2**53) - 1, 2**60, 10**21, 10**400, float("inf"), float("nan")]
)
def test_other_numbers_do_not(number: float) -> None:
    with pytest.raises(CodecError):
        check_number(number)


def nested(depth: int) -> Any:
    value: Any = []
    for level in range(depth - 1):
        value = [value] if level % 2 else {"a": value}
    return value


def test_depth_has_a_limit() -> None:
    assert thaw(freeze(nested(DEPTH_LIMIT))) == nested(DEPTH_LIMIT)
    for depth in (DEPTH_LIMIT + 1, DEPTH_LIMIT * 20):
        with pytest.raises(CodecError, match=r"no more than 500 arrays and objects within each other$"):
            freeze(nested(depth))


def test_absent_is_one_false_thing() -> None:
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"
    assert copy.deepcopy(ABSENT) is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT
    assert isinstance(ABSENT, Absent)
    assert ABSENT not in (None, False, 0, "", 1)
    assert freeze_if_there(ABSENT) is ABSENT
    assert freeze_if_there(None) is None
    assert isinstance(freeze_if_there([]), FrozenList)


@given(st.data())
def test_reading_is_that_of_a_dict_and_a_list(data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(st.text(max_size=3), json_values, max_size=3))
    frozen = freeze_object(value)
    assert list(frozen.items()) == list(value.items())
    assert frozen | {"z": 1} == value | {"z": 1}
    assert isinstance(frozen, dict)
    assert FrozenList(value.values())[:1] == list(value.values())[:1]


@given(json_values)
def test_frozen_values_are_equal_and_hash_alike_whatever_their_order(value):
    def turned(part):
        if isinstance(part, dict):
            return {key: turned(part[key]) for key in reversed(part)}
        return [turned(one) for one in part] if isinstance(part, (list, tuple)) else part

    assert freeze(value) == freeze(turned(value))
    assert hash(freeze(value)) == hash(freeze(turned(value)))
