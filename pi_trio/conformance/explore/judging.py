"""What is asked of a conversation while it goes on: the monitors after each step, and what must hold at rest.

The monitors judge by the clauses, line by line. At rest there is more to see of the runtime than a trace shows: whether
the state agrees with what is under way, and whether anything is left of what is over, be it an ask or a task. And the
promises of the rulings are asked of the whole. What is wrong is a `Fault`, under a clause's id or a name of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import attrs

from ..driver.agent_conversation import AgentConversation
from ..driver.loop_conversation import LoopConversation
from ..lines import commands_of
from ..lockstep import Run
from ..monitors import Finding, Force, TraceMonitor
from ..monitors.bursts import Bursts
from ..postconditions import listening, promises
from ..postconditions.said import conversations
from ..protocol import Object
from .rulings import entered
from .scene import Scene

HANG: Final = "HANG"
CRASH: Final = "CRASH"
REST: Final = "REST"
REPLAY: Final = "REPLAY"
PROMISE: Final = "PROMISE"
PROTOCOL: Final = "PROTOCOL"
LOCKSTEP: Final = "LOCKSTEP"
"""What a fault is called that no clause was named for: an operation never settles; the subject broke off; something is
left over at rest; the same scenario goes otherwise when it is played again; a promise of the rulings was not kept; what
the subject says is not in the driver protocol; the subject goes otherwise than the runtime.
"""

NOT_CLAUSES: Final = frozenset({HANG, CRASH, REST, REPLAY, PROMISE, PROTOCOL, LOCKSTEP})


@attrs.frozen(kw_only=True)
class Fault:
    """Something that is wrong.

    Attributes:
        clause: the id of the clause that was broken, or one of the names above.
        cause: a short text that is the same for the same fault wherever it occurs.
        said: what happened, in one line.
        allowed: what would have been allowed instead, where that is known.
    """

    clause: str
    cause: str
    said: str
    allowed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The same for the same fault."""
        return f"{self.clause}: {self.cause}" if self.cause else self.clause


class FaultFound(Exception):  # noqa: N818 - it is what the search is for
    """A conversation shows a fault; `run` is the conversation up to there."""

    def __init__(self, fault: Fault, run: Run) -> None:
        super().__init__(f"{fault.clause}: {fault.said}")
        self.fault = fault
        self.run = run
        self.made: Any = None
        """How the conversation was made, where that is known: see `shrinking`."""


def found(fault: Fault, run: Run) -> FaultFound:
    """The exception for a fault. Each has a class of its own, by which Hypothesis tells one from another: while it
    shrinks a counterexample of one, it must not slip to another.
    """
    return _class_of(fault.name)(fault, run)


@cache
def _class_of(name: str) -> type[FaultFound]:
    return type(name, (FaultFound,), {})


class Watch:
    """The monitors on one conversation. `strict`: what the releases do instead of a ruling is a fault, too."""

    def __init__(self, force: Force, create: Object, *, strict: bool) -> None:
        self._monitor = TraceMonitor(force, cancelling=create.get("options", {}).get("abortMode") == "cancel")
        self._bursts = Bursts[None]()
        self._strict = strict

    @property
    def reached(self) -> set[str]:
        """The clauses that have come into play."""
        return self._monitor.reached

    def follow(self, lines: Iterable[Object]) -> Iterator[Fault]:
        """Go on by some lines."""
        for line in lines:
            for each, _ in self._bursts.add(line, None):
                for finding in self._monitor.tell(each):
                    if self._strict or finding.kind == "broken":
                        yield fault_of(finding)


def fault_of(finding: Finding) -> Fault:
    """What a monitor found."""
    return Fault(clause=finding.clause, cause=finding.cause, said=finding.said, allowed=finding.allowed)


_PROMISES: Final = (listening.awaiting, promises.containment, promises.settling)
"""What holds of a conversation that may end anywhere."""


def unkept(lines: Sequence[Object]) -> Fault | None:
    """The first promise of the rulings that a whole trace does not keep: the runtime keeps them in all that it does.

    They are about listeners that hear everything, and calls that are known by their ids; where listeners come and go,
    or calls share an id, nothing is asked. Nor of the loop, which has no failure path: who stands behind a listener
    that fails does not hear of the event there.
    """
    sent = [command for line in lines for command in commands_of(line)]
    if (
        sent[0].get("target") == "loop"
        or any(each["cmd"] in _COME_AND_GO for each in sent)
        or "D-07" in entered(lines)
    ):
        return None
    for conversation in conversations(lines):
        for predicate in _PROMISES:
            for said in predicate(conversation):
                return Fault(clause=PROMISE, cause=_DETAIL.sub("", said), said=said)
    return None


_COME_AND_GO: Final = ("subscribe", "unsubscribe")

_DETAIL: Final = re.compile(r":.*|\b[a-z]+\d+\b", re.DOTALL)
"""What differs from one occurrence of a fault to the next: ids, and texts that are quoted."""


def at_rest(conversation: AgentConversation | LoopConversation | None, scene: Scene) -> str:
    """What is not as it must be of the runtime when every task waits; empty if all is well."""
    if conversation is None:
        return ""  # what was asked for in `create` is not offered
    runs = scene.runs
    tasks = len(conversation.exchange.nursery.child_tasks)
    if scene.running and not scene.open:
        return "an operation has not settled, and nothing is open"
    if tasks != len(scene.running):
        return f"{tasks} tasks for {len(scene.running)} operations"
    if not runs and scene.open:
        return f"{next(iter(scene.open))[0]} is still waited for, and nothing runs"
    if isinstance(conversation, LoopConversation):
        return ""
    state, signal = conversation.agent.state, conversation.agent.signal
    if state.is_streaming != bool(runs):
        return f"isStreaming is {state.is_streaming} with {len(runs)} runs"
    if (signal is not None) != bool(runs):
        return "there is a signal without a run" if signal else "a run has no signal"
    if signal is not None and signal.aborted != scene.aborted:
        return "the signal is not as aborts have made it"
    if not runs and (state.streaming_message is not None or state.pending_tool_calls):
        return "the state holds on to a run that is over"
    return ""
