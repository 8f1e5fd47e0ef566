"""The tester's listeners by name. One name is one function, however often it is subscribed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pi_trio.conformance.shown import shown

from ...abort import AbortSignal
from ...events import AgentEvent
from ..protocol import Object
from .asks import DriverError
from .callbacks import Callbacks
from .fields import string, strings

#: A listener that is made here: what it returns can always be awaited.
AskingListener: TypeAlias = Callable[[AgentEvent, AbortSignal], Awaitable[object]]


class Subscriptions:
    """Listeners that tell or ask, subscribed by name.

    Args:
        create: the command that names them.
        add: subscribes a function, and gives the function that unsubscribes it.
        state: what goes with each event; None if nothing does.
    """

    def __init__(
        self,
        create: Object,
        callbacks: Callbacks,
        add: Callable[[AskingListener], Callable[[], bool]],
        state: Callable[[], Object] | None = None,
    ) -> None:
        self._callbacks = callbacks
        self._add = add
        self._state = state
        self._told = frozenset(strings(create, "tellListeners"))
        self._functions: dict[str, AskingListener] = {}
        self._unsubscribe: dict[str, Callable[[], bool]] = {}
        for key in strings(create, "listeners"):
            self.subscribe({"key": key})

    def subscribe(self, command: Object) -> None:
        key = string(command, "key")
        if key not in self._functions:
            self._functions[key] = self._callbacks.listener(key, notify=key in self._told, state=self._state)
        self._unsubscribe[key] = self._add(self._functions[key])

    def unsubscribe(self, command: Object) -> bool:
        key = string(command, "key")
        if key not in self._unsubscribe:
            raise DriverError(f"no listener {shown(key)} was ever subscribed")
        return self._unsubscribe[key]()
