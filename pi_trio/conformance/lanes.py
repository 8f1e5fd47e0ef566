"""What the protocol orders inside a step, and the arrangement of a step's messages that follows from it.

A subject with `order: partial` runs the calls of a batch on threads of their own, so inside a step it may say
one way or the other what the protocol does not order. To be compared line by line all the same, its messages
are *arranged*: put into the reference's order as far as they may change places. Two sequences that differ
only in what is not ordered become one and the same, and every other difference stays one.

There are lanes. The run's own lane holds whatever is serial in Pi: turns, messages, requests, hooks, and the
preparation of calls with their starts. Each call that was launched has a lane: its execution, its updates, its
afterToolCall and its end. Inside a lane everything is ordered, and so is what stands in the run's lane with
what stands in any other: no call is launched before the last was prepared, and no result is said before all
have ended. Only messages of two calls may change places. Three finer points:

- a call that ends without having been executed was refused either in its preparation or at its launch; both
  come before any call is executed, and nothing else is known of their order;
- two updates of one call are delivered independently: each listener gets them in order, and each update goes
  to the listeners in order, but the second may start before the first has reached everybody;
- a signal comes before every other consequence of the abort, and those of two calls come in any order.

The same place looks after callbacks without a call id (`keyless`): what they are about is found by what they
say, in the reference's order.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

import attrs

from .compare import canonical
from .lines import KEYED, asks
from .protocol import Object

_LONGEST: Final = 100
"""Messages of one step that are arranged at most; no scenario has so many that could change places."""


@attrs.frozen
class _Place:
    """Where a message stands.

    Attributes:
        call: the id of the call in whose lane it is; None for the run's lane.
        kind: `execute`, `refusal` (an end without execution), `update`, `signal`, or empty.
        listener: of an update, who hears it.
        turn: of an update, its number among those of its call that this listener hears.
    """

    call: str | None = None
    kind: str = ""
    listener: str = ""
    turn: int = 0


def _ordered(one: _Place, other: _Place) -> bool:
    """Whether the protocol orders two messages of one step."""
    kinds = {one.kind, other.kind}
    if one.call is None or other.call is None:
        return True
    if "signal" in kinds and len(kinds) > 1:
        return True
    if one.call != other.call:
        return kinds == {"execute", "refusal"}
    if kinds == {"update"}:
        return one.listener == other.listener or one.turn == other.turn
    return True


class Arranger:
    """Arranges the steps of one subject by a trace that it may follow.

    Args:
        guide: the lines of that trace. Where a ruling applies, the lines of both sides in their common order.
        normalise: what is left out of a comparison.
        partial: whether messages may change places at all.
        keyless: functions whose callbacks have no call id.
    """

    def __init__(
        self,
        guide: Iterable[Object],
        normalise: Callable[[Object], Object],
        *,
        partial: bool,
        keyless: Collection[str] = (),
    ) -> None:
        self._normalise = normalise
        self._partial = partial
        self._keyless = frozenset(fn for fn in KEYED if fn in keyless)
        self._positions: defaultdict[str, deque[int]] = defaultdict(deque)
        self._keys: defaultdict[str, deque[str]] = defaultdict(deque)
        if self._partial or self._keyless:
            for position, line in enumerate(guide):
                self._expect(position, line)
        self.forget()

    def forget(self) -> None:
        """A new agent: nothing has been asked yet."""
        self._asks: dict[str, tuple[Object, _Place]] = {}
        self._executed: set[str] = set()
        self._updates: Counter[tuple[str, str]] = Counter()

    def arrange(self, messages: Sequence[Object], *, fixed: bool = False) -> list[Object]:
        """The messages of one step, in the guide's order as far as they may change places; as they are if `fixed`."""
        named = [self._named(message) for message in messages]
        if not self._partial or len(named) > _LONGEST:
            return named
        places = [self._place(message) for message in named]
        ranks = [self._rank(message) for message in named]
        if fixed or ranks == sorted(ranks):
            return named
        waiting = list(range(len(named)))
        arranged: list[Object] = []
        while waiting:
            free = (
                index
                for at, index in enumerate(waiting)
                if not any(_ordered(places[before], places[index]) for before in waiting[:at])
            )
            chosen = min(free, key=lambda index: (ranks[index], index))
            waiting.remove(chosen)
            arranged.append(named[chosen])
        return arranged

    # The guide.

    def _expect(self, position: int, line: Object) -> None:
        if "ask" in line or "tell" in line:
            self._positions[unnumbered(line)].append(position)
        if asks(line) in self._keyless and "key" in line["ask"]:
            self._keys[signature(line)].append(line["ask"]["key"])

    def _rank(self, message: Object) -> float:
        """The position of the next line in the guide that says the same; behind all if there is none."""
        positions = self._positions.get(self._content(message))
        return positions.popleft() if positions else float("inf")

    def foreseen(self, message: Object) -> str | None:
        """What a line or message says, without the number of its ask; None if that cannot be told yet."""
        if isinstance(message.get("ask"), dict):
            return unnumbered(message)
        nameless = "tell" not in message and message["fn"] in self._keyless and "key" not in message
        return None if nameless or ("tell" in message and "ask" in message) else self._content(message)

    def _content(self, message: Object) -> str:
        return canonical(self._normalise(self._shown(message)))

    def _shown(self, message: Object) -> Object:
        """A message as a line of the trace, but without the number of its ask."""
        if "ask" not in message:
            return message
        if "tell" in message:
            asked, _ = self._asks.get(message["ask"], ({}, None))
            return {**message, "ask": asked}
        shown: Object = {"ask": address_of(message), "args": message["args"]}
        return {**shown, "aborted": message["aborted"]} if "aborted" in message else shown

    # The lanes.

    def _place(self, message: Object) -> _Place:
        if "tell" not in message:
            place = self._place_of_ask(message)
            self._asks[message["ask"]] = (address_of(message), place)
            return place
        if message["tell"] == "event":
            return self._place_of_event(message["key"], message["event"])
        if "ask" in message:
            _, place = self._asks.get(message["ask"], ({}, _Place()))
            return _Place(place.call, "signal" if message["tell"] == "signal" else "")
        return _Place()

    def _place_of_ask(self, ask: Object) -> _Place:
        if ask["fn"] == "listener":
            return self._place_of_event(ask["key"], ask["args"]["event"])
        if ask["fn"] == "execute" and "key" in ask:
            self._executed.add(ask["key"])
            return _Place(ask["key"], "execute")
        return _Place(ask.get("key") if ask["fn"] == "afterToolCall" else None)

    def _place_of_event(self, listener: str, event: Object) -> _Place:
        call: Any = event.get("toolCallId")
        if not isinstance(call, str):
            return _Place()
        if event["type"] == "tool_execution_end":
            return _Place(call, "" if call in self._executed else "refusal")
        if event["type"] == "tool_execution_update":
            self._updates[listener, call] += 1
            return _Place(call, "update", listener, self._updates[listener, call])
        return _Place()

    # Callbacks without a call id.

    def _named(self, message: Object) -> Object:
        """An ask with the key that it lacks, if its function is keyless and the guide knows the call."""
        if "tell" in message or message.get("fn") not in self._keyless or "key" in message:
            return message
        keys = self._keys.get(signature(self._normalise(self._shown(message))))
        if not keys:
            return message
        key = keys.popleft()
        args: Object = dict(message["args"])
        if message["fn"] == "execute":
            args["toolCallId"] = key
        elif isinstance(args.get("toolCall"), dict):
            args["toolCall"] = {**args["toolCall"], "id": key}
        return {**message, "key": key, "args": args}


def address_of(ask: Object) -> Object:
    """What names an ask, without its number."""
    event = ask["args"]["event"]["type"] if ask["fn"] == "listener" else None
    fields = {"fn": ask["fn"], "key": ask.get("key"), "event": event}
    return {name: value for name, value in fields.items() if value is not None}


def unnumbered(line: Object) -> str:
    """What a line of a trace says, without the number of its ask."""
    if isinstance(line.get("ask"), dict):
        line = {**line, "ask": {key: value for key, value in line["ask"].items() if key != "nth"}}
    return canonical(line)


def signature(line: Object) -> str:
    """What the line of an ask says apart from which call it is about; equal ones cannot be told apart without."""
    return canonical(_nameless(line))


def _nameless(line: Object) -> Object:
    args: Object = {key: value for key, value in line["args"].items() if key != "toolCallId"}
    if isinstance(args.get("toolCall"), dict):
        args["toolCall"] = {key: value for key, value in args["toolCall"].items() if key != "id"}
    return {**line, "ask": line["ask"]["fn"], "args": args}
