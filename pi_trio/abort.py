"""An abort that everything in a run can see: `AbortController` raises it, `AbortSignal` shows it.

An abort is a *fact about a run*, not a cancellation: it is raised once, never lowered, and by itself ends no
wait. Whoever holds the signal decides what it means: look at `aborted`, `await wait()` for it, have a
function called with `on_abort`, or put work into a cancel scope that ends with it (`scope()`). Registries are
dicts, so that everything happens in the order of registration.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from types import TracebackType

import trio


class AbortSignal:
    """The reading side of an abort. Made by an `AbortController`."""

    __slots__ = ("_aborted", "_callbacks", "_waiters")

    def __init__(self) -> None:
        self._aborted = False
        self._callbacks: dict[object, Callable[[], object]] = {}
        # A ParkingLot makes its waiters runnable in the order in which they came; an Event does not.
        self._waiters = trio.lowlevel.ParkingLot()

    @property
    def aborted(self) -> bool:
        """Whether the abort has been raised."""
        return self._aborted

    def on_abort(self, function: Callable[[], object]) -> Callable[[], None]:
        """Have `function` called when the abort is raised, synchronously and in the order of registration.

        If it is raised already, the function is never called: look at `aborted` first.

        Returns:
            A function that takes the registration back; calling it again does nothing.
        """
        token = object()
        if not self._aborted:
            self._callbacks[token] = function

        def unregister() -> None:
            self._callbacks.pop(token, None)

        return unregister

    async def wait(self) -> None:
        """Return once the abort is raised. A checkpoint; cancelling the wait leaves the signal as it was."""
        if self._aborted:
            await trio.lowlevel.checkpoint()
        else:
            await self._waiters.park()

    def scope(self) -> AbstractContextManager[trio.CancelScope]:
        """A cancel scope that the abort cancels; cancelled from the start if the abort is raised already."""
        return _AbortScope(self)

    def __repr__(self) -> str:
        return f"<AbortSignal {'aborted' if self._aborted else 'live'}>"


class _AbortScope(AbstractContextManager[trio.CancelScope]):
    """A class and no generator, so that Ctrl-C cannot strike when the scope is entered and the block is not."""

    __slots__ = ("_scope", "_signal", "_unregister")

    def __init__(self, signal: AbortSignal) -> None:
        self._signal = signal
        self._scope = trio.CancelScope()

    @trio.lowlevel.enable_ki_protection
    def __enter__(self) -> trio.CancelScope:
        if self._signal.aborted:
            self._scope.cancel()
        self._unregister = self._signal.on_abort(self._scope.cancel)
        return self._scope.__enter__()

    @trio.lowlevel.enable_ki_protection
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        self._unregister()
        return self._scope.__exit__(kind, error, traceback)


class AbortController:
    """The writing side of an abort: `abort()` raises `signal`."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    @trio.lowlevel.enable_ki_protection
    def abort(self) -> None:
        """Raise the abort: call what was registered, then wake who waits. The second time does nothing.

        Raises:
            BaseException: what one of the functions raised, when all of them have been called and who waits was woken;
                the first, with later ones as notes.
        """
        signal = self.signal
        if signal._aborted:
            return
        signal._aborted = True
        errors: list[BaseException] = []
        # Looked at anew each time: one function may take another's registration back.
        while signal._callbacks:
            callback = signal._callbacks.pop(next(iter(signal._callbacks)))
            try:
                callback()
            except BaseException as error:
                errors.append(error)
        signal._waiters.unpark_all()
        if errors:
            first, *later = errors
            for other in later:
                with suppress(Exception):  # not every error takes notes, or can be shown
                    first.add_note(f"another function failed, too: {other!r}")
            raise first
