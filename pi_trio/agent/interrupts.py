"""Where Ctrl-C may strike: in the user's code, never in the middle of this package's.

Trio raises KeyboardInterrupt in whatever code the signal finds, unless that is protected; what finds protected code
comes out of the main task's next wait. A run that is struck between two of its own steps could lose its ending, so
every task of a run is protected from its first line on. And whatever the user has given to it (listeners, hooks,
tools, the provider) is called and awaited through the two functions here, which lift the protection: an endless loop
in a tool can be interrupted, and the interrupt is that tool's error, which fails the run like any other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import wraps
from inspect import isawaitable
from types import CoroutineType, TracebackType
from typing import Any, ParamSpec, TypeGuard, TypeVar, TypeVarTuple

import trio

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@trio.lowlevel.disable_ki_protection
def call_user(function: Callable[[*Ts], T], *args: *Ts) -> T:
    """Call a function of the user's."""
    return function(*args)


def can_be_awaited(answer: object) -> TypeGuard[Awaitable[Any]]:
    """`inspect.isawaitable`, but quick about what functions mostly give."""
    return type(answer) is CoroutineType or (answer is not None and isawaitable(answer))


@trio.lowlevel.disable_ki_protection
async def wait_for(awaitable: Awaitable[T]) -> T:
    """Await something of the user's. If this raises, its caller, which is protected, must `give_up` the awaitable.

    (That this does not do it itself saves a coroutine for every delta.)
    """
    return await awaitable


def give_up(awaitable: object) -> None:
    """Have done with something whose `wait_for` has raised: it may have been struck before it had begun."""
    if isinstance(awaitable, CoroutineType):
        awaitable.close()


def managed(function: Callable[P, AsyncGenerator[T]]) -> Callable[P, AbstractAsyncContextManager[T]]:
    """As `asynccontextmanager`, for the user's `async with`: entered and left in one piece.

    What asynccontextmanager makes can be struck when its generator has been entered and the block has not, and then
    nobody leaves the nursery that is open in there.
    """
    make = asynccontextmanager(function)

    @wraps(function)
    def manage(*args: P.args, **kwargs: P.kwargs) -> AbstractAsyncContextManager[T]:
        return _Managed(make(*args, **kwargs), function.__name__)

    return manage


class _Managed(AbstractAsyncContextManager[T]):
    def __init__(self, inner: AbstractAsyncContextManager[T], name: str) -> None:
        self._inner = inner
        self._name = name
        self._entered = False

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> T:
        if self._entered:
            raise RuntimeError(f"this has been entered before: call {self._name}() for each `async with`")
        self._entered = True
        return await self._inner.__aenter__()

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, traceback)
