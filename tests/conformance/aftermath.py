"""What must hold after a cancellation, whenever it came: faults are lines of text, and there should be none.

Cancelled has come out, unless all was over before; nothing is left running; the run has ended in the state, and its
events obey the grammar; every listener has heard all of them, unless the grace ran out; what was queued is said or
queued; another prompt works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import trio
from trio.testing import wait_all_tasks_blocked

from pi_trio.conformance.driver.agent_conversation import AgentConversation
from pi_trio.conformance.driver.loop_conversation import LoopConversation
from pi_trio.conformance.driver.offers import HOOKS
from pi_trio.conformance.mirror import commands
from pi_trio.conformance.scenario import Scenario
from pi_trio.events import AgentEvent
from pi_trio.messages import Message
from pi_trio.models.scripted import ScriptedProvider, assistant

from ..agent.grammar import check
from .storm import GRACE, Operation, Storm

PROMPTER: Final = frozenset({"prompt_message_list", "prepare_next_turn_messages_before_steering"})
"""Scenarios in which the tester says an answer in the model's place: no run that the grammar knows."""


async def faults_after(storm: Storm, scenario: Scenario) -> list[str]:
    """What is wrong with an operation that was cancelled, when the tester has done what it does afterwards."""
    operation = storm.cancelled
    if operation is None:
        return []
    faults = [] if operation.ended.is_set() else list(_waits_for_somebody(operation))
    with trio.move_on_after(10 * GRACE):
        await operation.ended.wait()
    if not operation.ended.is_set():
        return [*faults, "it hangs"]
    await wait_all_tasks_blocked()
    faults += _has_ended(storm, operation)
    faults += _was_heard(storm, operation, scenario)
    faults += _kept_what_was_queued(storm, operation, scenario)
    if all(one.ended.is_set() for one in storm.operations) and operation in storm.operations:
        faults += await _works_again(operation.conversation)
    return faults


def _waits_for_somebody(operation: Operation) -> Iterator[str]:
    """A cancelled run that goes on has a reason: somebody has been asked, and has not answered."""
    run = operation.run
    if run is None:
        yield "no run, and not ended"
        return
    asks = [
        ask
        for ask in operation.conversation.exchange._asks._asks
        if not ask.withdrawn and (not ask.answered or (ask.stream is not None and not ask.stream.closed))
    ]
    if operation.abort_mode == "cancel":  # then nothing but a listener may hold it up
        asks = [ask for ask in asks if ask.fn == "listener"]
    if not asks:
        yield "it waits for nobody"


def _has_ended(storm: Storm, operation: Operation) -> Iterator[str]:
    """Nothing is left of it, and its caller knows."""
    cancelled = isinstance(operation.raised, trio.Cancelled)
    if not cancelled and not operation.was_over:
        yield f"not Cancelled but {operation.raised!r} came out"
    if storm.alive(operation):
        yield f"tasks are left: {storm.alive(operation)}"
    assert operation.cancelled_at is not None
    assert operation.ended_at is not None
    if operation.ended_at - operation.cancelled_at > GRACE:
        yield "it took longer than the grace"
    run = operation.run
    if run is not None and (run.waits or run._shields):
        yield "a wait or a shield is left"
    if any(not one.ended.is_set() for one in storm.operations):
        return
    match operation.conversation:
        case AgentConversation(agent=agent):
            state = agent.state
            left = (state.is_streaming, state.streaming_message, state.pending_tool_calls, agent.signal)
            if left != (False, None, (), None):
                yield f"the state is not at rest: {left}"
        case conversation:
            if conversation._running is not None:
                yield "the loop thinks that it runs"


def _was_heard(storm: Storm, operation: Operation, scenario: Scenario) -> Iterator[str]:
    """What the run has said obeys the grammar, and every listener has heard it."""
    run = operation.run
    if run is None:
        return
    said = storm.said[run.ledger]
    looped = isinstance(operation.conversation, LoopConversation)
    breach = _breach(said, complete=not looped or run.ledger.ended)
    if breach is not None and scenario.name not in PROMPTER:
        yield f"against the grammar: {breach}"
    if not looped and not run.ledger.ended:
        yield "it never ended"
    words = Counter((event.type, getattr(event, "tool_call_id", None)) for event in said)
    for key in _subscribed_throughout(scenario):
        heard = [one for one in storm.heard if one.key == key and one.ledger is run.ledger]
        counted = Counter(one.words for one in heard)
        if counted - words:
            yield f"{key} heard what was not said: {counted - words}"
        if operation.ran_out:
            assert operation.ended_at is not None
            if any(one.at >= operation.ended_at for one in heard):
                yield f"{key} heard something when the grace was over"
        elif words - counted and not (run._audience.dropped or (looped and run.failure is not None)):
            yield f"{key} did not hear {words - counted}"


def _kept_what_was_queued(storm: Storm, operation: Operation, scenario: Scenario) -> Iterator[str]:
    """D-09: whatever was queued is said, or queued still, or about to be said by a run that goes on. (The loop
    alone has no queues of its own.)
    """
    if {command["cmd"] for command in commands(scenario)} & {"create", "clearQueue", "reset"}:
        return
    if isinstance(operation.conversation, LoopConversation):
        return
    agent = operation.conversation.agent
    kept = [*agent._steering._messages, *agent._follow_up._messages]
    for ledger in storm.said:
        kept += ledger.said
        if not ledger.ended:
            kept += [message for _, message in ledger.unsaid]
    lost = Counter(map(_words, storm.queued)) - Counter(map(_words, kept))
    if lost:
        yield f"lost: {lost}"


def _words(message: Message) -> str:
    """What a message says, also if the tools that it announces have changed."""
    return f"{message.role}: {getattr(message, 'content', None)!r}"


def _subscribed_throughout(scenario: Scenario) -> list[str]:
    changing = {
        command.get("key")
        for command in commands(scenario)
        if command["cmd"] in ("subscribe", "unsubscribe", "create")
    }
    if None in changing:
        return []
    return [key for key in scenario.create.get("listeners", ()) if key not in changing]


def _breach(said: list[AgentEvent], *, complete: bool = True) -> str | None:
    """What is wrong with the events of a run, whether its batches ran in parallel or one call after the other."""
    breach = None
    for sequential in (False, True):
        try:
            check(said, sequential=sequential, complete=complete)
        except AssertionError as error:
            breach = breach or f"{error}".partition("\n")[0] or "an assertion without words"
        else:
            return None
    return breach


async def _works_again(conversation: AgentConversation | LoopConversation) -> list[str]:
    """Another prompt runs to its good end. (The loop alone begins anew each time.)"""
    if isinstance(conversation, LoopConversation):
        return []
    agent = conversation.agent
    for unsubscribe in conversation.subscriptions._unsubscribe.values():
        unsubscribe()
    agent.clear_all_queues()
    for hook in HOOKS.values():
        setattr(agent, hook, None)
    agent.stream_fn = ScriptedProvider([assistant("all is well")]).stream
    events: list[AgentEvent] = []
    agent.subscribe(lambda event, signal: events.append(event))
    try:
        answer = await agent.prompt("once more")
        check(events)
    except Exception as error:
        return [f"another prompt: {error!r}"]
    if answer.text != "all is well":
        return [f"another prompt: {answer.stop_reason} {answer.error_message}"]
    return []


def faults_at_the_end(storm: Storm) -> Iterator[str]:
    """What is wrong when everything was disposed of, whatever was cancelled."""
    counted = Counter(event.type for event in storm.reduced)
    if counted["agent_start"] != counted["agent_end"]:
        yield f"{counted['agent_start']} starts and {counted['agent_end']} ends"
    if storm._owners:
        yield f"tasks are left at the end: {[task.name for task in storm._owners]}"
