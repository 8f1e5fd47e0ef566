"""Settings that are checked when they are assigned, and not when a run comes to use them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class Setting(Generic[T]):
    """An attribute with a check; subclasses say what is wrong."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        return self if instance is None else vars(instance)[self._name]

    def __set__(self, instance: object, value: T) -> None:
        self.check(value, self._name)
        vars(instance)[self._name] = value

    def check(self, value: Any, name: str) -> None:
        """Raises: TypeError, ValueError: `value` cannot be what is called `name`."""
        raise NotImplementedError


class OneOf(Setting[T]):
    """One of a few values."""

    def __init__(self, *known: T) -> None:
        self._known: Sequence[T] = known

    def check(self, value: Any, name: str) -> None:
        if value not in self._known:
            raise ValueError(f"{name} is one of {', '.join(map(str, self._known))}, not {value!r}")


class Seconds(Setting[float]):
    """A duration in seconds; `math.inf` sets no limit."""

    def check(self, value: Any, name: str) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} is a number of seconds (math.inf for no limit), not {value!r}")
        if math.isnan(value) or value < 0:
            raise ValueError(f"{name} is a number of seconds from 0, not {value!r}")


class InstanceOf(Setting[T]):
    """A value of one type."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    def check(self, value: Any, name: str) -> None:
        if not isinstance(value, self._kind):
            raise TypeError(f"{name} is a {self._kind.__name__}, not {value!r}")
