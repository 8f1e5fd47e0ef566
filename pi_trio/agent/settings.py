"""Settings that are checked when they are given, and not when a run comes to use them.

A `Rule` says which values are good. A `Setting` is an attribute under a rule; what is kept elsewhere, or is no
attribute at all, is held to the rule by whoever is given it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Generic, Self, TypeVar, overload

from .run import AbortMode

T = TypeVar("T")


class Rule(ABC, Generic[T]):
    """Which values a setting can have."""

    @abstractmethod
    def check(self, value: Any, name: str) -> None:
        """Raises: TypeError, ValueError: `value` cannot be what is called `name`."""


class Setting(Generic[T]):
    """An attribute that is checked when it is assigned."""

    def __init__(self, rule: Rule[T]) -> None:
        self._rule = rule

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        try:
            value: T = vars(instance)[self._name]
        except KeyError:
            raise AttributeError(
                f"{self._name} has not been set yet", name=self._name, obj=instance
            ) from None
        return value

    def __set__(self, instance: object, value: T) -> None:
        self._rule.check(value, self._name)
        vars(instance)[self._name] = value


class OneOf(Rule[T]):
    """One of a few values."""

    def __init__(self, *known: T) -> None:
        self._known: Sequence[T] = known

    def check(self, value: Any, name: str) -> None:
        if value not in self._known:
            raise ValueError(f"{name} is one of {', '.join(map(str, self._known))}, not {value!r}")


class Seconds(Rule[float]):
    """A duration in seconds; `math.inf` sets no limit."""

    def check(self, value: Any, name: str) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} is a number of seconds (math.inf for no limit), not {value!r}")
        if math.isnan(value) or value < 0:
            raise ValueError(f"{name} is a number of seconds from 0, not {value!r}")


class InstanceOf(Rule[T]):
    """A value of one type."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind

    def check(self, value: Any, name: str) -> None:
        if not isinstance(value, self._kind):
            raise TypeError(f"{name} is a {self._kind.__name__}, not {value!r}")


ABORT_MODES: Final = OneOf[AbortMode]("cancel", "signal")
GRACE_LENGTHS: Final = Seconds()
