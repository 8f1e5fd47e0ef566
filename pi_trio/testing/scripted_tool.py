"""The `ScriptedTool`: a tool that answers what a test has written down, and keeps how it was called."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterable
from typing import Any, Final, TypeAlias, get_args

import attrs
import trio

from ..abort import AbortSignal
from ..jsonvalue import JSON, freeze
from ..messages import Content, ToolResult
from ..tools.context import Told, ToolContext, whole
from ..tools.tool import OWN_CALL, ExecuteFn, Tool, UpdateFn
from .script import Function, Held, ScriptError, check_answer, each_of, tell_broken

#: What a tool says: what a result is made of, as for `ToolContext.update`; or an exception, which it raises.
ToolSaid: TypeAlias = Told | Exception
#: A step of a tool's script: what it says, a function of the call that gives that, plain or async, or `HELD`.
ToolAnswer: TypeAlias = ToolSaid | Function["ScriptedCall", ToolSaid] | Held


class ScriptedCall(ToolContext[Any]):
    """A call of a `ScriptedTool`: the context of a call, its arguments, and if it is held, how it is answered.

    Attributes:
        args: what the tool was called with.
    """

    def __init__(self, args: Any, **context: Any) -> None:
        super().__init__(**context)
        self.args: Final = args
        self._waiting = False
        self._reports: deque[Told] = deque()
        self._said: ToolSaid | None = None
        self._changed = trio.lowlevel.ParkingLot()

    @property
    def pending(self) -> bool:
        """Whether it waits for the test."""
        return self._waiting and self._said is None

    def update(self, partial: Told) -> None:
        """Report progress. If the call is held, its task does so, at its next step."""
        if self._waiting:
            _check_said(partial)
            self._reports.append(partial)
            self._changed.unpark_all()
        else:
            super().update(partial)

    def answer(self, said: ToolSaid) -> None:
        """Let the tool return this, or raise it if it is an exception, after what was reported.

        Raises:
            ScriptError: the call does not wait for the test, or a tool cannot say this.
        """
        if not self.pending:
            raise ScriptError(f"the call does not wait for the test: {self!r}")
        _check_said(said)
        self._said = said
        self._changed.unpark_all()

    async def _wait(self) -> ToolSaid:
        """Do what the test says, until it has answered."""
        self._waiting = True
        try:
            while True:
                while self._reports:
                    super().update(self._reports.popleft())
                if self._said is not None:
                    return self._said
                await self._changed.park()
        finally:
            self._waiting = False


#: The types of what a tool says.
_SAID: Final = (ToolResult, str, *get_args(Content), list, tuple, Exception)


def _check_said(said: object) -> None:
    try:
        if not isinstance(said, Exception):
            whole(said)  # type: ignore[arg-type]
    except TypeError as error:
        raise ScriptError(f"a tool cannot say {said!r}: {error}") from None


def _script(answers: ToolAnswer | Iterable[ToolAnswer]) -> tuple[ToolAnswer, ...]:
    return each_of(answers)


def _reports(progress: Told | Iterable[Told]) -> tuple[Told, ...]:
    return each_of(progress)


def _check_script(tool: ScriptedTool, _attribute: object, answers: tuple[ToolAnswer, ...]) -> None:
    if not answers:
        raise ScriptError(f"the script of the tool {tool.name} has to have at least one answer")
    for answer in answers:
        check_answer(answer, _SAID, f"the tool {tool.name}")
        if isinstance(answer, (list, tuple)):
            _check_said(answer)


def _can_be_told(_tool: ScriptedTool, _attribute: object, progress: tuple[Told, ...]) -> None:
    for partial in progress:
        if isinstance(partial, Exception):
            raise ScriptError(f"a tool cannot report {partial!r}")
        _check_said(partial)


@attrs.frozen(eq=False)
class ScriptedTool(Tool):
    """A tool that answers from a script.

        add = ScriptedTool("add", "5")
        flaky = ScriptedTool("fetch", [TimeoutError("too slow"), "<html>"], progress=["connected"])
        slow = ScriptedTool("search", HELD)

    Args:
        name: what the model calls it by.
        answers: one for each call; the last of them is also for all calls that follow.
        progress: what each call reports before it answers; each report has been handled when the next is made.

    Everything else is as for `Tool`, and has a default.

    Raises:
        ScriptError: there is no answer, or an answer is none.

    Attributes:
        calls: how it was called, in order.
    """

    name: str
    answers: tuple[ToolAnswer, ...] = attrs.field(default=("ok",), converter=_script, validator=_check_script)
    description: str = attrs.field(default="", kw_only=True)
    parameters: JSON = attrs.field(default={"type": "object"}, converter=freeze, kw_only=True)
    progress: tuple[Told, ...] = attrs.field(
        default=(), converter=_reports, validator=_can_be_told, kw_only=True
    )
    calls: list[ScriptedCall] = attrs.field(init=False, factory=list, repr=False)
    _broken: list[AssertionError] = attrs.field(init=False, factory=list, repr=False)
    execute: ExecuteFn = attrs.field(init=False, repr=False, default=OWN_CALL)

    def check(self) -> None:
        """See that the script has not failed. A `ScriptedModel` that was asked in the same run looks at that, too.

        Raises:
            AssertionError: a function of the script has raised it, or has returned no answer; the run has only heard of
                a failed call.
        """
        if self._broken:
            raise self._broken[0]

    @property
    def pending(self) -> list[ScriptedCall]:
        """The calls that wait for the test, the oldest first."""
        return [call for call in self.calls if call.pending]

    async def call(
        self, call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn, deps: Any = None
    ) -> ToolResult:
        call = ScriptedCall(
            args, call_id=call_id, tool_name=self.name, signal=signal, on_update=on_update, deps=deps
        )
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append(call)
        try:
            for partial in self.progress:
                await call.progress(partial)
            said = await self._say(answer, call)
        finally:
            call._close()
        if isinstance(said, Exception):
            raise said.with_traceback(None)  # it may have been raised before
        return whole(said)

    async def _say(self, answer: ToolAnswer, call: ScriptedCall) -> ToolSaid:
        if isinstance(answer, Held):
            return await call._wait()
        if not callable(answer):
            return answer
        try:
            made = answer(call)
            said: ToolSaid = await made if inspect.isawaitable(made) else made
            _check_said(said)
        except AssertionError as error:  # of which the run makes an error result
            self._broken.append(error)
            tell_broken(call.signal, error)
            raise
        return said
