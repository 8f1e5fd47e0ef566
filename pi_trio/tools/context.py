"""What a call tells the function behind a decorated tool, and what the function can tell in return.

A parameter annotated `ToolContext` is injected and not part of what the model is told. The context belongs to one
call: it reports progress while the call lasts, and nothing afterwards, whoever still holds it. It may be used in the
task of the call, in tasks that the tool starts, and in threads.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, overload

import trio

from ..abort import AbortSignal
from ..errors import PiTrioError
from ..messages import Content, TextContent, ToolResult
from ..texts import OPERATION_ABORTED
from .tool import Delivered, UpdateFn

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Deps = TypeVar("Deps", covariant=True, default=None)  # noqa: PLC0105
else:
    from typing import TypeVar

    Deps = TypeVar("Deps")  # defaults of type variables are newer than Python 3.11

#: What can be told of a result: the whole of it, its content, or a text.
Told: TypeAlias = ToolResult | str | Content | Sequence[Content]


class ToolAbortedError(PiTrioError):
    """Raised by `ToolContext.check`: the run is aborted. As a tool's exception it is the result of an aborted call."""

    def __init__(self) -> None:
        super().__init__()  # without the text, so that it can be pickled

    def __str__(self) -> str:
        return OPERATION_ABORTED


class ToolContext(Generic[Deps]):
    """One call of a decorated tool. `ToolContext[Database]` says that `deps` is a `Database`.

    Agents make contexts. Make one yourself to call a decorated function directly, in a test, say; all parts have
    defaults that do nothing.

    Args:
        call_id, tool_name, signal, deps: see below.
        on_update: gets the results that are reported, in the thread in which the context was made; what it returns is
            set when the report has been handled.

    Attributes:
        call_id: the id that the model gave the call.
        tool_name: what the model called the tool by.
        signal: the run's signal. `signal.aborted` may be read in any thread; the rest of it is for trio's.
        deps: what the agent was given as `deps`.
    """

    __slots__ = ("_home", "_on_update", "_token", "_worker", "call_id", "deps", "signal", "tool_name")

    @overload
    def __init__(
        self: ToolContext[None],
        *,
        call_id: str = "",
        tool_name: str = "",
        signal: AbortSignal | None = None,
        on_update: UpdateFn | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        *,
        deps: Deps,
        call_id: str = "",
        tool_name: str = "",
        signal: AbortSignal | None = None,
        on_update: UpdateFn | None = None,
    ) -> None: ...

    def __init__(
        self,
        *,
        deps: Any = None,
        call_id: str = "",
        tool_name: str = "",
        signal: AbortSignal | None = None,
        on_update: UpdateFn | None = None,
    ) -> None:
        self.deps: Final[Deps] = deps
        self.call_id: Final = call_id
        self.tool_name: Final = tool_name
        self.signal: Final = AbortSignal() if signal is None else signal
        self._on_update = on_update
        self._home: Final = threading.get_ident()
        self._token: Final = trio.lowlevel.current_trio_token() if trio.lowlevel.in_trio_run() else None
        self._worker: int | None = None

    def update(self, partial: Told) -> None:
        """Report progress, as in Pi: the listeners are called, and not waited for. Not a checkpoint.

        In another thread this waits until the first listener has been called, in trio's thread. After the call has
        ended it does nothing.

        Args:
            partial: what there is so far: a text, content, or a whole result with `details`.

        Raises:
            TypeError: it is none of the things that can be told.
        """
        result = whole(partial)
        if self._on_update is None:
            return
        if threading.get_ident() == self._home:
            self._report(result)
            return
        # The call's own thread speaks in the call's task; any other has to say where trio is.
        token = None if threading.get_ident() == self._worker else self._token
        with suppress(trio.RunFinishedError):
            trio.from_thread.run_sync(self._report, result, trio_token=token)

    async def progress(self, partial: Told) -> None:
        """Report progress, and return when every listener has handled it. So a tool is no faster than who listens.

        Cancelling this does not take the report back. After the call has ended it does nothing. A checkpoint. For
        trio's thread; in another one it is `trio.from_thread.run(context.progress, partial)`.

        Args:
            partial: as for `update`.

        Raises:
            TypeError: it is none of the things that can be told.
        """
        delivered = self._report(whole(partial))
        if delivered is None:
            await trio.lowlevel.checkpoint()
        else:
            await delivered.wait()

    def check(self) -> None:
        """Raise if the call should end. For loops without a checkpoint, above all in threads.

        Raises:
            ToolAbortedError: the run is aborted.
            Cancelled: in the thread of a plain function: its call was cancelled.
        """
        if threading.get_ident() == self._worker:
            trio.from_thread.check_cancelled()
        if self.signal.aborted:
            raise ToolAbortedError

    def _report(self, result: ToolResult) -> Delivered | None:
        return None if self._on_update is None else self._on_update(result)

    @contextmanager
    def _in_worker(self) -> Generator[None]:
        """The present thread is the one in which the tool's function runs."""
        self._worker = threading.get_ident()
        try:
            yield
        finally:
            self._worker = None

    def _close(self) -> None:
        """The call has ended: nothing is reported any more.

        The loop and `run_tool_call` stop listening by themselves, since a tool of another make may keep its
        `on_update`. This is for everybody else who calls a tool, and so that a context that somebody keeps does not
        keep the run alive.
        """
        self._on_update = None

    def __repr__(self) -> str:
        return f"<ToolContext {self.tool_name} {self.call_id}>"


def whole(told: Told) -> ToolResult:
    """A result with what is told of it.

    Raises:
        TypeError: it is none of the things that can be told.
    """
    if isinstance(told, ToolResult):
        return told
    if isinstance(told, str):
        return ToolResult(content=(TextContent(text=str.__str__(told)),))
    blocks = (
        (told,) if isinstance(told, Content) else tuple(told) if isinstance(told, (list, tuple)) else None
    )
    if blocks is None or not all(isinstance(block, Content) for block in blocks):
        raise TypeError(f"a result, a text or content was expected, not {type(told).__name__}")
    return ToolResult(content=blocks)
