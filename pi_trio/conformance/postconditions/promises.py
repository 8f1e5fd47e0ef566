"""What the other rulings promise, each as a predicate on one conversation: it yields what breaks the promise."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from ..compare import canonical
from ..deliveries import UPDATE, Delivery
from ..lines import is_callback
from ..protocol import Object
from .said import Conversation, Hearing, Sent

_OF_CALLS: Final = ("execute", "afterToolCall")

_END: Final = "tool_execution_end"

_QUEUE: Final = ("steer", "followUp")


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
    withdrawn = [canonical(line["ask"]) for line in conversation.lines if line.get("tell") == "withdrawn"]
    if len(set(withdrawn)) < len(withdrawn):
        yield "an ask is withdrawn twice"
    yield from _said_before_it_settles(conversation)


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
    """D-05: every operation settles."""
    end = conversation.lines[-1].get("end")
    if end == "hang" or (end == "settled" and not conversation.is_settled):
        yield "an operation never settles"


def awaiting(conversation: Conversation) -> Iterator[str]:
    """D-01, D-04: an event has reached all who hear it before the run goes on. Only calls go on side by side."""
    latest: dict[str, Delivery] = {}
    """Of each kind the event so far that is on its way for the longest time."""
    for each in conversation.events:
        waited_for = (latest[kind] for kind in _waits_for(each.event) if kind in latest)
        if (held := next((other for other in waited_for if other.last > each.first), None)) is not None:
            yield f"{each.event['type']} is said before all have heard {held.event['type']}"
        for kind in (_ANY, _kind(each.event)):
            if kind not in latest or latest[kind].last < each.last:
                latest[kind] = each
    yield from _goes_on(conversation)


def _goes_on(conversation: Conversation) -> Iterator[str]:
    """Where a run settles, or somebody is asked, while an event is on its way that is none of a call."""
    coming = deque(each for each in conversation.events if not _is_of_calls(each.event))
    settles = {at for at, _ in conversation.settlements}
    held: Delivery | None = None
    for at, line in enumerate(conversation.lines):
        while coming and coming[0].first < at:
            each = coming.popleft()
            held = each if held is None or held.last < each.last else held
        if held is not None and at < held.last:
            if at in settles or (is_callback(line) and line["ask"]["fn"] not in _OF_CALLS):
                yield f"it goes on before all have heard {held.event['type']}"


_ANY: Final = "any"


def _kind(event: Object) -> str:
    """Events of two kinds may be on their way at once if both are of calls; of one kind, only updates may."""
    return canonical([event["type"], event["toolCallId"]]) if _is_of_calls(event) else "of the run"


def _waits_for(event: Object) -> tuple[str, ...]:
    """The kinds of event that all have to have heard before this one is said."""
    if not _is_of_calls(event):
        return (_ANY,)
    end = _kind({**event, "type": _END})
    return (
        ("of the run", end)
        if event["type"] == UPDATE
        else ("of the run", end, _kind({**event, "type": UPDATE}))
    )


def _is_of_calls(event: Object) -> bool:
    return event["type"] in (UPDATE, _END)


def delivery(conversation: Conversation) -> Iterator[str]:
    """D-04: every listener hears what any other one hears, save one that failed and hears no more of the run.

    The loop alone has one listener, which is the adapter's.
    """
    if conversation.of_loop:
        return
    runs = {
        key: _runs([h for h in conversation.hearings if h.listener == key]) for key in conversation.constant
    }
    for number in range(max((len(each) for each in runs.values()), default=0)):
        heard = {key: each[number] if number < len(each) else [] for key, each in runs.items()}
        for key, mine in heard.items():
            dropped = bool(mine) and conversation.failed(mine[-1])
            until = mine[-1].at if dropped else len(conversation.lines)
            own = _counts(mine)
            if any(_counts(other, until) - own for other in heard.values() if other is not mine):
                yield f"{key} does not hear all that the others hear"


def _counts(hearings: Iterable[Hearing], until: int = sys.maxsize) -> Counter[str]:
    """How often each event was heard before a line."""
    return Counter(canonical(hearing.event) for hearing in hearings if hearing.at < until)


def _runs(hearings: Sequence[Hearing]) -> list[list[Hearing]]:
    runs: list[list[Hearing]] = []
    for hearing in hearings:
        if hearing.type == "agent_start" or not runs:
            runs.append([])
        runs[-1].append(hearing)
    return runs


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


def abort(conversation: Conversation) -> Iterator[str]:
    """D-10: an abort ends every wait for the outside world, starts nothing, and takes nothing from the queues."""
    queued = {
        _content(each.command["message"]) for each in conversation.sent if each.command["cmd"] in _QUEUE
    }
    settled = {line["op"]: at for at, line in conversation.settlements}
    running: list[str] = []
    for each in conversation.sent:
        running = [op for op in running if settled.get(op, sys.maxsize) > each.at]
        if each.command["cmd"] in ("prompt", "continue"):
            running.append(each.command["op"])
        if each.command["cmd"] == "abort" and running:
            yield from _after_abort(conversation, each.at, settled.get(running[0], sys.maxsize), queued)


def _after_abort(
    conversation: Conversation, aborted: int, over: int, queued: Collection[str]
) -> Iterator[str]:
    step = _end_of_step(conversation, aborted)
    # While a listener is waited for, what it holds up cannot end yet.
    held = max((each.last for each in conversation.events if each.first < step <= each.last), default=aborted)
    step = _end_of_step(conversation, held)
    for at, line in conversation.callbacks():
        if aborted < at < over:
            yield f"{line['ask']['fn']} is asked after an abort"
        if at < aborted < step <= conversation.closes(canonical(line["ask"])):
            yield f"an abort does not end the wait for {line['ask']['fn']}"
    for each in conversation.events:
        said = each.event["type"] == "message_start" and aborted < each.first < over
        if said and _content(each.event["message"]) in queued:
            yield "a queued message is taken after an abort"


def _end_of_step(conversation: Conversation, at: int) -> int:
    lines = conversation.lines
    return next((later for later in range(at + 1, len(lines)) if "send" in lines[later]), len(lines))
