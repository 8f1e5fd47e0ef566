"""What is promised to those who listen: each hears all, in their order, before the run goes on, and none but they."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from ..compare import canonical
from ..deliveries import UPDATE, Delivery
from ..lines import TOOL_PHASE, is_callback
from ..protocol import Object
from .said import Conversation, Hearing

_GOES_ON: Final = ("execute", "afterToolCall")
"""What is asked for one call while the events of others are on their way."""

_END: Final = "tool_execution_end"


def listeners(conversation: Conversation) -> Iterator[str]:
    """D-04: only those hear anything who listen, one after the other, and what goes with it of an abort is so."""
    known = set(conversation.create.get("listeners", ()))
    coming = deque(each for each in conversation.sent if each.command["cmd"] == "subscribe")
    for hearing in conversation.hearings:
        while coming and coming[0].at < hearing.at:
            known.add(coming.popleft().command["key"])
        if hearing.listener not in known:
            yield f"{hearing.listener} hears {hearing.type}, and does not listen"
    rank = {key: at for at, key in enumerate(conversation.constant)}
    for heard in conversation.rounds if rank else ():
        for one, other in pairwise(heard):
            if rank[other.listener] < rank[one.listener] or other.at < conversation.let_go(one):
                yield f"{other.listener} hears {other.type} out of turn"
    yield from _signals(conversation)


def _signals(conversation: Conversation) -> Iterator[str]:
    """Whether who is asked is told rightly that the run was aborted."""
    aborts = deque(conversation.aborts)
    raised: dict[str, int] = {}
    """From where on it is certain that a run was aborted."""
    for hearing in conversation.hearings:
        while aborts and aborts[0][0] < hearing.at:
            at, op = aborts.popleft()
            raised.setdefault(op, _certain(conversation, at))
        told = conversation.lines[hearing.at].get("aborted")
        certain = raised.get(conversation.under_way[hearing.at], sys.maxsize)
        if hearing.asked is not None and told is not (hearing.at >= certain):
            yield f"{hearing.listener} is told {'of' if told else 'nothing of'} an abort with {hearing.type}"


def _certain(conversation: Conversation, aborted: int) -> int:
    """From which line on an abort is certain. In a burst what comes of the commands before it may show first."""
    if conversation.command_of(aborted)["cmd"] != "burst":
        return aborted
    end = conversation.end_of_step(aborted)
    step = enumerate(conversation.lines[aborted + 1 : end], aborted + 1)
    shown = (at for at, line in step if line.get("tell") == "signal" or line.get("aborted") is True)
    return next(shown, end)


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
            if at in settles or (is_callback(line) and line["ask"]["fn"] not in _GOES_ON):
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
    return event["type"] in TOOL_PHASE


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
