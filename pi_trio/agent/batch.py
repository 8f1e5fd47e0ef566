"""One tool batch: all calls of one answer, in the order that subscribers may rely on.

**Sequential**: each call is whole before the next begins: start, end, result message. **Parallel**: all calls
are started and prepared one after the other, in source order, and a call that preparation refuses ends on the
spot; then all prepared calls are launched together; each ends when it is done, in whatever order; when the
last has ended, the result messages are said in source order. One tool that declares itself sequential makes
its whole batch so.

**Launching** in source order takes care in trio, whose scheduler starts tasks in any order. So the children
of the batch's nursery are all alike, and each takes the next call when it first runs: every call's code up to
its first suspension runs before any call goes on, and in order. The wait for its updates after `execute` keeps that
true for tools that never suspend.

**Updates** converge before a call ends. Their deliveries begin inside `on_update`, so they begin in order; the run's
couriers (`couriers.py`) finish them, so they may overlap; and the call waits for the last of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final

import attrs
import trio

from ..events import MessageEnd, MessageStart, ToolExecutionUpdate
from ..jsonvalue import JSON
from ..messages import AssistantMessage, Message, ToolResult, ToolResultMessage
from ..texts import OPERATION_ABORTED, TRUNCATED
from ..wire import maker
from .call import Caller, Prepared, answer_of, end_of, error_outcome, start_of
from .config import LoopState
from .couriers import Report, Reports
from .ledger import CallRecord, Outcome
from .nursery import open_bare_nursery
from .run import Run
from .under_way import UnderWay

#: What is said most often is made quickest.
_update: Final[Callable[[str, str, JSON, ToolResult], ToolExecutionUpdate]] = maker(ToolExecutionUpdate)
_message_start: Final[Callable[[Message], MessageStart]] = maker(MessageStart)
_message_end: Final[Callable[[Message], MessageEnd]] = maker(MessageEnd)


async def run_batch(
    state: LoopState, answer: AssistantMessage, records: Sequence[CallRecord]
) -> tuple[tuple[ToolResultMessage, ...], bool]:
    """Run the calls of a complete answer.

    Returns:
        The result messages in source order, and whether the batch terminates: whether every result has
        `terminate` exactly true.

    Raises:
        Cut: the run has failed; all calls have come to rest.
    """
    caller = Caller(
        profile=state.run.profile,
        hooks=state.config.hooks,
        signal=state.run.signal,
        answer=answer,
        context=state.context,
        tools=state.tools,
        ask=state.run.ask,
        deps=state.config.deps,
    )
    batch = _Batch(run=state.run, caller=caller, records=records)
    done = await (batch.sequential() if is_sequential(state, records) else batch.parallel())
    outcomes = [record.outcome for record in done]
    terminate = all(outcome is not None and outcome.result.terminate is True for outcome in outcomes)
    return state.run.ledger.results(), bool(outcomes) and terminate


def is_sequential(state: LoopState, records: Sequence[CallRecord]) -> bool:
    """Whether the calls of a batch run one after the other."""
    tools = (state.tool(record.call.name) for record in records)
    return state.config.tool_execution == "sequential" or any(
        tool is not None and tool.execution_mode == "sequential" for tool in tools
    )


async def fail_truncated_calls(
    state: LoopState, records: Sequence[CallRecord]
) -> tuple[ToolResultMessage, ...]:
    """Answer the calls of a message that hit the output limit: none of them runs, and no hook is asked."""
    for record in records:
        await start(state.run, record)
        record.outcome = error_outcome(TRUNCATED.format(record.call.name))
        await end(state.run, record)
        await answer_call(state.run, record)
    return state.run.ledger.results()


@attrs.frozen(kw_only=True)
class _Batch:
    run: Run
    caller: Caller
    records: Sequence[CallRecord]

    async def sequential(self) -> Sequence[CallRecord]:
        for index, record in enumerate(self.records):
            await start(self.run, record)
            prepared = await self.caller.prepare(record.call)
            if isinstance(prepared, Outcome):
                record.outcome = prepared
            else:
                await self._execute(record, prepared)
            await end(self.run, record)
            await answer_call(self.run, record)
            if self._breaks_off():
                return self.records[: index + 1]
        return self.records

    async def parallel(self) -> Sequence[CallRecord]:
        ready: list[tuple[CallRecord, Prepared]] = []
        reached: list[CallRecord] = []
        for record in self.records:
            await start(self.run, record)
            prepared = await self.caller.prepare(record.call)
            if isinstance(prepared, Outcome):
                record.outcome = prepared
                await end(self.run, record)
            else:
                ready.append((record, prepared))
            reached.append(record)
            if self._breaks_off():
                break
        launches = iter(ready)
        async with open_bare_nursery() as nursery:
            for _ in ready:
                nursery.start_soon(self._launch, launches)
        self.run.check()
        for record in reached:
            await answer_call(self.run, record)
        return reached

    def _breaks_off(self) -> bool:
        """Before 1.6.0 the calls behind the one at which an abort is noticed get nothing at all."""
        return self.run.signal.aborted and not self.run.profile.abort_answers_every_call

    @trio.lowlevel.enable_ki_protection
    async def _launch(self, launches: Iterator[tuple[CallRecord, Prepared]]) -> None:
        """A child of the batch: take the next call, run it to its end. Never raises, but for Cancelled."""
        record, prepared = next(launches)
        with self.run.containing:
            self.run.check()
            if self.run.signal.aborted and self.run.profile.abort_noticed_at_launch:
                record.outcome = error_outcome(OPERATION_ABORTED)
            else:
                await self._execute(record, prepared)
            await end(self.run, record)

    async def _execute(self, record: CallRecord, prepared: Prepared) -> None:
        """Execute and finalise a call: afterwards its record has an outcome, and all its updates are delivered."""
        record.executing_since = begun = trio.current_time()
        executed: Outcome | None = None
        updates = _Updates(self.run, record)
        try:
            with self.run.containing:
                executed = await self.caller.execute(prepared, updates.report, begun)
        finally:
            updates.close()
        await updates.delivered()
        self.run.check()
        assert executed is not None  # only a failed run has none, and `check` has raised
        record.outcome = await self.caller.finalise(prepared, executed)


class _Updates:
    """The progress reports of one call on their way to the listeners."""

    __slots__ = ("_begun", "_open", "_record", "_run", "_under_way")

    def __init__(self, run: Run, record: CallRecord) -> None:
        self._run = run
        self._record = record
        self._open = True
        self._begun: Reports = deque()
        self._under_way = UnderWay()

    @trio.lowlevel.enable_ki_protection
    def report(self, partial: ToolResult) -> Report | None:
        """The tool's `on_update`. After the tool has answered, or the run has failed, it does nothing.

        Returns:
            Where one can wait until the report has been delivered; None if it will not be.
        """
        trio.lowlevel.current_task()  # raises in a thread, before anything has happened
        if not self._open or self._run.failure is not None:
            return None
        call = self._record.call
        event = _update(call.id, call.name, call.arguments, partial)
        report = Report(self._run.begin(event, self._record), self._under_way.one_less)
        self._under_way.one_more()
        self._begun.append(report)
        if len(self._begun) == 1:  # or somebody has been sent for already, who will see to it
            self._run.couriers.send(self._begun)
        return report

    def close(self) -> None:
        """The tool has answered: nothing more is accepted."""
        self._open = False

    async def delivered(self) -> None:
        """Return when all reports have arrived, in a later pass of the scheduler at the earliest."""
        await self._under_way.wait()


def start(run: Run, record: CallRecord) -> Awaitable[None]:
    """Say that a call has started."""
    return run.emit(start_of(record), record)


def end(run: Run, record: CallRecord) -> Awaitable[None]:
    """Say that a call has ended, with its outcome."""
    return run.emit(end_of(record), record)


async def answer_call(run: Run, record: CallRecord) -> None:
    """Say a call's result message."""
    message = answer_of(record, run.profile)
    await run.emit(_message_start(message), record)
    await run.emit(_message_end(message), record)
