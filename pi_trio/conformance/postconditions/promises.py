"""What the other rulings promise, each as a predicate on one conversation: it yields what breaks the promise."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Collection, Iterator
from typing import Any, Final

from ..compare import canonical
from ..lines import TOOL_PHASE, is_callback
from ..protocol import Object
from .said import Conversation, Hearing, Sent

_END: Final = "tool_execution_end"

_QUEUE: Final = ("steer", "followUp")

_OTHER_MESSAGES: Final = {"setMessages", "reset"}
_OTHER_CONTEXT: Final = {
    "transformContext", "convertToLlm", "prepareRequest", "prepareNextTurn", "prepareNextTurnWithContext",
}  # fmt: skip
"""Commands and hooks that may take messages out of what is sent."""


def containment(conversation: Conversation) -> Iterator[str]:
    """D-01: nothing of a run is heard after its end, nobody is asked for it, and nothing runs on when it settles."""
    settled = {at for at, _ in conversation.settlements}
    over: set[str] = set()
    for at, line in enumerate(conversation.lines):
        hearing = conversation.heard_at.get(at)
        if at in settled:
            over |= set(conversation.constant)
        elif hearing is not None and hearing.type == "agent_start":
            over.discard(hearing.listener)
        elif hearing is not None and hearing.listener in over:
            yield f"{hearing.listener} hears {hearing.type} after the end of the run"
        elif hearing is not None and hearing.type == "agent_end":
            over.add(hearing.listener)
        elif is_callback(line) and conversation.constant and over >= set(conversation.constant):
            yield f"{line['ask']['fn']} is asked after the end of the run"
    for at, line in conversation.callbacks():
        closed = conversation.closes(canonical(line["ask"]))
        if any(at < end < closed for end in settled):
            yield f"{line['ask']['fn']} runs on when the run settles"
    yield from _withdrawals(conversation)
    yield from _goes_on_when_cut(conversation)
    yield from _said_before_it_settles(conversation)


def _withdrawals(conversation: Conversation) -> Iterator[str]:
    """Only who is asked is told of an abort, and only what is open is withdrawn, and once.

    Both may cross the answer that the same command gives.
    """
    asked = {canonical(line["ask"]): at for at, line in conversation.callbacks()}
    everybody = {each.asked: each.at for each in conversation.hearings if each.asked is not None} | asked
    seen: set[str] = set()
    step = 0
    for at, line in enumerate(conversation.lines):
        step = at if "send" in line else step
        if line.get("tell") not in ("withdrawn", "signal"):
            continue
        ask = canonical(line["ask"])
        if line["tell"] == "signal":
            if everybody.get(ask, at) >= at or conversation.done(ask) < step or ask in seen:
                yield f"{line['ask'].get('fn')} is told of an abort, and not open"
            continue
        if ask in seen:
            yield "an ask is withdrawn twice"
        elif asked.get(ask, at) >= at or conversation.done(ask) < step:
            yield f"{line['ask'].get('fn')} is withdrawn, and not open"
        seen.add(ask)


def _goes_on_when_cut(conversation: Conversation) -> Iterator[str]:
    """A tool that is cut has ended: it reports nothing more, and gives no result."""
    cut: dict[Any, int] = {}
    for at, line in enumerate(conversation.lines):
        if line.get("tell") == "withdrawn" and line["ask"]["fn"] == "execute":
            cut.setdefault(line["ask"]["key"], at)
    starts: dict[Any, int] = {}
    for each in conversation.events if cut else ():
        event = each.event
        if event["type"] == "tool_execution_start":
            starts[event["toolCallId"]] = each.first
        elif event["type"] in TOOL_PHASE and event.get("isError") is not True:
            call = event["toolCallId"]
            if starts.get(call, each.first) < cut.get(call, each.first) < each.first:
                yield f"{event['type']} of {call}, which was cut"


def _said_before_it_settles(conversation: Conversation) -> Iterator[str]:
    """A run settles when its end was heard, by all who did not fail before."""
    for settles, line in () if conversation.of_loop else conversation.settlements:
        last: dict[str, Hearing] = {}
        for hearing in conversation.hearings:
            if hearing.at < settles:
                last[hearing.listener] = hearing
        for key in conversation.constant:
            if key in last and last[key].type != "agent_end" and not conversation.failed(last[key]):
                yield f"{line['op']} settles before {key} has heard agent_end"


def settling(conversation: Conversation) -> Iterator[str]:
    """D-05: every operation settles, as soon as nothing is left of it."""
    end = conversation.lines[-1].get("end")
    if end == "hang" or (end == "settled" and not conversation.is_settled):
        yield "an operation never settles"
    begun = {each.command["op"]: each for each in conversation.sent if "op" in each.command}
    settles = {line["op"]: at for at, line in conversation.settlements}
    held = deque((each.first, each.last) for each in conversation.events)
    open_ = deque((at, conversation.closes(canonical(line["ask"]))) for at, line in conversation.callbacks())
    over = 0
    for at, line in conversation.settlements:
        for spans in (held, open_):
            while spans and spans[0][0] < at:
                over = max(over, spans.popleft()[1])
        start = begun[line["op"]]
        if start.command["cmd"] == "waitForIdle":
            due = max(start.at, settles.get(conversation.running[start.at], 0))
        else:
            due = max(start.at, over)
        if at > conversation.end_of_step(due):
            yield f"{line['op']} settles long after its end"


def pending(conversation: Conversation) -> Iterator[str]:
    """D-07: the state lists the calls that have started and not ended, each id once."""
    shown = [(hearing.at, hearing.state) for hearing in conversation.hearings if hearing.state is not None]
    shown += [
        (each.at, each.reply["reply"])
        for each in conversation.sent
        if each.command["cmd"] == "state" and each.accepted
    ]
    if not conversation.create.get("listeners"):
        return
    coming = deque(conversation.events)
    running = Counter[Any]()
    for at, state in sorted(shown, key=lambda each: each[0]):
        while coming and coming[0].first <= at:
            event = coming.popleft().event
            if event["type"] in ("tool_execution_start", _END):
                running[event["toolCallId"]] += 1 if event["type"] != _END else -1
        if sorted(state.get("pendingToolCalls", ())) != sorted(+running):
            yield "pendingToolCalls is not what runs"


def queues(conversation: Conversation) -> Iterator[str]:
    """D-09: a queued message is said, or still in its queue whenever that is looked at."""
    if not conversation.create.get("listeners"):
        return
    for message in _never_said(conversation):
        for look in conversation.sent:
            if look.at > message.at and look.accepted and not _may_hold(conversation, look, message):
                yield f"a queued message is lost: {_content(message.command['message'])[:80]}"
                return


def _never_said(conversation: Conversation) -> list[Sent]:
    """The messages that were queued, and neither said nor thrown away since."""
    said = [
        (d.first, _content(d.event["message"]))
        for d in conversation.events
        if d.event["type"] == "message_start"
    ]
    unsaid: list[Sent] = []
    for each in conversation.sent:
        if each.command["cmd"] in _QUEUE and each.accepted:
            content = _content(each.command["message"])
            match = next((it for it in said if it[1] == content and it[0] > each.at), None)
            if match is None:
                unsaid.append(each)
            else:
                said.remove(match)
        elif each.command["cmd"] in ("clearQueue", "reset") and each.accepted:
            unsaid.clear()
    return unsaid


def _may_hold(conversation: Conversation, look: Sent, message: Sent) -> bool:
    """Whether the queues, as far as they are shown, may still hold a message; peekQueued shows their head."""
    if look.command["cmd"] == "state":
        return bool(look.reply["reply"].get("hasQueuedMessages"))
    if look.command["cmd"] != "peekQueued":
        return True
    shown = [_content(head) for head in look.reply["reply"]]
    if _content(message.command["message"]) in shown:
        return True
    which = message.command["cmd"]
    ahead = [
        _content(each.command["message"])
        for each in conversation.sent
        if (each.command["cmd"] == which and each.at < message.at) or each.command["cmd"] == "steer" != which
    ]
    return any(head in ahead for head in shown)


def _content(message: Object) -> str:
    return canonical({"role": message["role"], "content": message.get("content")})


def transcript(conversation: Conversation) -> Iterator[str]:
    """D-04: what was said to its end goes with the requests, whoever has failed when it was heard."""
    commands = {each.command["cmd"] for each in conversation.sent}
    if commands & _OTHER_MESSAGES or _OTHER_CONTEXT & set(conversation.create.get("hooks", ())):
        return
    coming = deque(each for each in conversation.events if each.event["type"] == "message_end")
    said = Counter[str]()
    for at, line in conversation.callbacks():
        if line["ask"]["fn"] == "streamFn":
            while coming and coming[0].first < at:
                message = coming.popleft().event["message"]
                said[_content(message)] += message["role"] == "user"
            sent = Counter(map(_content, line["args"]["context"]["messages"]))
            if not said <= sent:
                yield "a message that was said does not go with the next request"
                return


def abort(conversation: Conversation) -> Iterator[str]:
    """D-10: an abort ends every wait for the outside world, starts nothing, and takes nothing from the queues."""
    queued = {
        _content(each.command["message"]) for each in conversation.sent if each.command["cmd"] in _QUEUE
    }
    settled = {line["op"]: at for at, line in conversation.settlements}
    for at, op in conversation.aborts:
        yield from _after_abort(conversation, at, settled.get(op, sys.maxsize), queued)


def _after_abort(
    conversation: Conversation, aborted: int, over: int, queued: Collection[str]
) -> Iterator[str]:
    step = conversation.end_of_step(aborted)
    # While a listener is waited for, what it holds up cannot end yet.
    held = max((each.last for each in conversation.events if each.first < step <= each.last), default=aborted)
    step = conversation.end_of_step(held)
    for at, line in conversation.callbacks():
        if aborted < at < over:
            yield f"{line['ask']['fn']} is asked after an abort"
        if at < aborted < step <= conversation.closes(canonical(line["ask"])):
            yield f"an abort does not end the wait for {line['ask']['fn']}"
    for each in conversation.events:
        said = each.event["type"] == "message_start" and aborted < each.first < over
        if said and _content(each.event["message"]) in queued:
            yield "a queued message is taken after an abort"
