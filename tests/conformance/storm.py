"""Cancellations of one scenario, each at another moment; what must hold after every one of them is in `aftermath.py`.

The scenario is driven as the tester drives it, on the runtime in this process, first in, first out, with a clock that
stands still. What differs is that every operation runs in a cancel scope of its own, and that a moment is chosen at
which one of these scopes is cancelled: before the step number k of the operations' tasks (so at each of their
checkpoints), or while an operation is at rest behind the command number k. Afterwards the tester goes on with the
scenario, so that held callbacks are released within the grace; or it says nothing more, so that only the grace ends
what is held.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

import attrs
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pi_trio.agent import active, lowlevel
from pi_trio.agent.ledger import Ledger
from pi_trio.agent.queues import MessageQueue
from pi_trio.agent.run import AbortMode, Run
from pi_trio.agent.settlement import settle
from pi_trio.agent.state import LiveState
from pi_trio.conformance.driver.agent_conversation import AgentConversation
from pi_trio.conformance.driver.loop_conversation import LoopConversation
from pi_trio.conformance.driver.serve import Driver, hello
from pi_trio.conformance.faults import SubjectFault
from pi_trio.conformance.protocol import Object
from pi_trio.events import AgentEvent
from pi_trio.jsonvalue import thaw
from pi_trio.messages import Message
from pi_trio.profile import Profile

GRACE: Final = 3.0
"""Seconds that a cancelled run may take to settle."""

After: TypeAlias = Literal["goes on", "stops"]
"""What the tester does after the cancellation."""


@attrs.frozen
class Step:
    """Before the step of that number, of all steps that tasks of operations make."""

    number: int


@attrs.frozen
class Rest:
    """At rest behind the command of that number, the operation of that name."""

    command: int
    op: str


Moment: TypeAlias = Step | Rest


class Stopped(SubjectFault):
    """The tester is to say nothing more."""


@attrs.frozen
class Heard:
    """A listener was told an event of a run."""

    key: str
    words: tuple[str, Any]
    ledger: Ledger
    at: float


@attrs.define(eq=False)
class Operation:
    """One operation of a conversation, in the scope in which it may be cancelled."""

    name: str
    conversation: AgentConversation | LoopConversation
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    run: Run | None = None
    #: When it was cancelled, and whether its run was over then.
    cancelled_at: float | None = None
    was_over: bool = False
    ended: trio.Event = attrs.field(factory=trio.Event)
    ended_at: float | None = None
    raised: BaseException | None = None

    def cancel(self) -> None:
        self.cancelled_at = trio.current_time()
        if self.run is not None:
            self.was_over = self.run.over
        elif isinstance(self.conversation, AgentConversation):  # a wait for idle
            self.was_over = self.conversation.agent.signal is None
        self.scope.cancel()

    @property
    def abort_mode(self) -> AbortMode:
        """What an abort of it does."""
        if isinstance(self.conversation, AgentConversation):
            return self.conversation.agent.abort_mode
        return self.conversation._abort_mode

    @property
    def ran_out(self) -> bool:
        """Whether the grace had to end it."""
        return self.ended_at != self.cancelled_at


class Storm(Driver, trio.abc.Instrument):
    """A driver whose operations can be cancelled; and a subject, because it is asked directly."""

    def __init__(self, profile: Profile, nursery: trio.Nursery, moment: Moment | None, after: After) -> None:
        super().__init__(profile, nursery)
        self.hello = hello(profile)
        self.moment = moment
        self.after: After = after
        self.operations: list[Operation] = []
        self.rests: list[Rest] = []
        self.cancelled: Operation | None = None
        self.steps = 0
        #: What each run has said, by its ledger; and what agents' states have taken in.
        self.said: dict[Ledger, list[AgentEvent]] = {}
        self.reduced: list[AgentEvent] = []
        self.heard: list[Heard] = []
        self.queued: list[Any] = []
        self._commands_done = 0
        self._spawning: Operation | None = None
        self._owners: dict[trio.lowlevel.Task, Operation] = {}

    # --- as a subject ------------------------------------------------------------------------------------

    async def request(self, command: Object) -> list[Object]:
        if self.cancelled is not None and self.after == "stops":
            raise Stopped("the storm has come")
        said = [thaw(message) for message in await self.handle(command)]
        self._commands_done += 1
        for operation in self.operations:
            if not operation.ended.is_set():
                rest = Rest(self._commands_done, operation.name)
                self.rests.append(rest)
                if rest == self.moment:
                    self._strike(operation)
                    await wait_all_tasks_blocked()
        return said

    def _say(self, message: Object) -> None:
        if message.get("fn") == "listener" or message.get("tell") == "event":
            event = message.get("args", message)["event"]
            words = (event["type"], event.get("toolCallId"))
            self.heard.append(Heard(message["key"], words, next(reversed(self.said)), trio.current_time()))
        super()._say(message)

    async def _create(self, command: Object) -> None:
        await super()._create(command)
        self.operations.clear()
        conversation = self.conversation
        assert conversation is not None
        exchange = conversation.exchange
        follow = exchange.follow

        def follow_in_scope(op: str, finish: Callable[[], Awaitable[object]]) -> None:
            operation = Operation(op, conversation)
            self.operations.append(operation)

            async def in_scope() -> None:
                with operation.scope:
                    try:
                        await finish()
                    except BaseException as error:
                        operation.raised = error
                        raise
                    finally:
                        operation.ended_at = trio.current_time()
                        operation.ended.set()

            self._spawning = operation
            follow(op, in_scope)
            self._spawning = None

        exchange.follow = follow_in_scope  # type: ignore[method-assign]

    def _strike(self, operation: Operation) -> None:
        self.cancelled = operation
        operation.cancel()

    # --- as an instrument --------------------------------------------------------------------------------

    def task_spawned(self, task: trio.lowlevel.Task) -> None:
        owner = self._spawning
        if owner is None and task.parent_nursery is not None:
            owner = self._owners.get(task.parent_nursery.parent_task)
        if owner is not None:
            self._owners[task] = owner

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        owner = self._owners.get(task)
        if owner is not None:
            self.steps += 1
            if isinstance(self.moment, Step) and self.moment.number == self.steps:
                self._strike(owner)

    def task_exited(self, task: trio.lowlevel.Task) -> None:
        self._owners.pop(task, None)

    def alive(self, operation: Operation) -> list[str]:
        """The tasks of an operation that have not ended."""
        return [task.name for task, owner in self._owners.items() if owner is operation]

    def settling(self, run: Run) -> None:
        """The current task is the one that finishes this run."""
        if (operation := self._owners.get(trio.lowlevel.current_task())) is not None:
            operation.run = run


# --- what is looked at ----------------------------------------------------------------------------------------


@contextmanager
def watched(storm: Storm) -> Generator[None]:
    """Inside, what is reduced is noted, runs are known to their operations, and have a grace."""
    reduce_ledger, reduce_state, append = Ledger.reduce, LiveState.reduce, MessageQueue.append

    def ledger_reduces(self: Ledger, event: AgentEvent, part: Any = None) -> None:
        storm.said.setdefault(self, []).append(event)
        reduce_ledger(self, event, part)

    def state_reduces(self: LiveState, event: AgentEvent) -> None:
        storm.reduced.append(event)
        reduce_state(self, event)

    def queue_appends(self: MessageQueue, message: Message) -> None:
        storm.queued.append(message)
        append(self, message)

    async def settle_within_grace(run: Run, *rest: Any, grace: float) -> None:
        storm.settling(run)
        await settle(run, *rest, grace=GRACE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "reduce", ledger_reduces)
        patch.setattr(LiveState, "reduce", state_reduces)
        patch.setattr(MessageQueue, "append", queue_appends)
        patch.setattr(active, "settle", settle_within_grace)
        patch.setattr(lowlevel, "settle", settle_within_grace)
        yield
