"""The calls of one answer, from its end to its `turn_end`: which are started, ended and answered, and in what order.

The machine is `order`'s batch, with a life for each call.
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from pi_trio.conformance.shown import shown

from .digest import alike
from .docket import Docket
from .order import (
    CALL_ANSWERED,
    CALL_END,
    CALL_ENDED,
    CALL_START,
    CALL_UPDATE,
    CLOSE,
    CLOSE_CUT,
    CLOSE_NONE,
    DUE,
    END_LATEST,
    END_OTHER,
    OPEN,
    RESULTS,
    SAY_RESULT,
    TABLES,
    WAITING,
    Transition,
)

_TABLE: Final = TABLES["batch"]
_MOST: Final = 256
"""How many open calls of an answer that was not seen are kept."""
_LIFE: Final = TABLES["call"]
Object = dict[str, Any]


@attrs.define(eq=False)
class Call:
    """One call: its block in the answer, and how far it is."""

    block: Object
    life: str = WAITING
    end: Object | None = None
    """Its `tool_execution_end`, until it is answered; None if that was not seen."""
    guessed: bool = False
    """It was taken to have ended, because an end named no call."""
    reported: bool = False
    """It was executed for certain: it has told an update."""

    @property
    def id(self) -> Any:
        value = self.block.get("id")
        return value if type(value) is str else shown(value)

    def fits(self, event: Object) -> bool:
        """Whether an event that has its id has its name too, and its arguments, if it tells any."""
        block = self.block
        return event.get("toolName") == block.get("name") and (
            "args" not in event or "arguments" not in block or event["args"] == block["arguments"]
        )

    def named_as(self, other: Call) -> bool:
        """Whether another call has its name."""
        return bool(self.block.get("name") == other.block.get("name"))

    def likeness(self, message: Object) -> int:
        """How like a result's message is to its end: 0 if it cannot be that end's. What not all releases hand on is no
        more than a hint.
        """
        end = self.end or {}
        result = end.get("result")
        if (
            not isinstance(result, dict)
            or message.get("toolName") != end.get("toolName")
            or not alike(message.get("isError"), end.get("isError"))
            or message.get("content") != (result.get("content") or message.get("content"))
            or not alike(message.get("details"), result.get("details"))
        ):
            return 0
        hints = (("usage", result), ("addedToolNames", result), ("durationMs", end))
        return 1 + sum(bool(message.get(field) == holder.get(field)) for field, holder in hints)


class Batch:
    """The calls of one answer. It is `vague` if the answer was not seen: then everything is taken as it comes, a call
    is known from its start on, and nothing is kept of one that has ended.
    """

    def __init__(
        self, docket: Docket, blocks: list[Object], *, truncated: bool = False, vague: bool = False
    ) -> None:
        self.calls: list[Call] = []
        self._by_id: dict[str, list[Call]] = {}
        for block in blocks:
            self.add(block)
        self.truncated = truncated
        self.vague = vague
        self.place = DUE
        self.latest: Call | None = None
        self.started = self.answered = self.open = 0
        self.aborted = 0
        self.closing: Transition | None = None
        """What was done last that is right only if the run fails."""
        self.shown = True
        """Nothing in it was supplied: what comes next has the place that it shows."""
        self._docket = docket
        self._next_start = self._next_result = 0

    def add(self, block: Object) -> Call:
        """One more call."""
        call = Call(block)
        self.calls.append(call)
        self._by_id.setdefault(call.id, []).append(call)
        return call

    def meet(self, block: Object) -> Call:
        """A call of an answer that was not seen. The one that has been open the longest may never end."""
        if len(self.calls) >= _MOST:
            self._forget(self.calls[0])
            self.started -= 1
            self.open -= 1
        return self.add(block)

    def of_id(self, call_id: str) -> list[Call]:
        """The calls of an id, in source order."""
        return self._by_id.get(call_id, [])

    def find(self, call_id: str, life: str) -> Call | None:
        """The first call of an id that is so far."""
        return next((call for call in self.of_id(call_id) if call.life is life), None)

    # --- twins: several calls of one id -----------------------------------------------------------------------

    def open_call(self, call_id: str, event: Object) -> Call | None:
        """The open call that an event is about. Of twins it is one that the event fits, and the latest while others
        are still prepared: it may have been refused.
        """
        twins = self.of_id(call_id)
        open_calls = [call for call in twins if call.life is OPEN]
        if len(twins) < 2 or not open_calls:
            return open_calls[0] if open_calls else None
        fitting = [call for call in open_calls if call.fits(event)]
        if not fitting:
            # Its own end may have been that of its twin, which has the same name.
            taken = next((call for call in twins if call.life is CALL_ENDED and call.fits(event)), None)
            twin = next((call for call in open_calls if taken is not None and taken.named_as(call)), None)
            if taken is None or twin is None:
                return open_calls[0]
            self._exchange(taken, twin)
            return taken
        return self.latest if self.latest in fitting and self.next_start is not None else fitting[0]

    def settle_twins(self, due: Call, message: Object) -> None:
        """A call's result is said: of twins, each may have ended as the other was taken to have."""
        twins = self.of_id(due.id)
        if len(twins) > 1:
            ended = [twin for twin in twins if twin.life is CALL_ENDED and twin.named_as(due)]
            best = max(ended, key=lambda twin: (twin.likeness(message), twin is due))
            due.end, best.end = best.end, due.end

    @staticmethod
    def _exchange(one: Call, other: Call) -> None:
        one.life, other.life = other.life, one.life
        one.end, other.end = other.end, one.end
        one.guessed, other.guessed = other.guessed, one.guessed

    @property
    def next_start(self) -> Call | None:
        """The call that is to be started next, as far as the answer was seen."""
        if self.vague:
            return None
        while self._next_start < len(self.calls) and self.calls[self._next_start].life is not WAITING:
            self._next_start += 1
        return self.calls[self._next_start] if self._next_start < len(self.calls) else None

    @property
    def next_result(self) -> Call | None:
        """The call that is to be answered next; it may not have ended yet."""
        while self._next_result < len(self.calls) and self.calls[self._next_result].life is CALL_ANSWERED:
            self._next_result += 1
        call = self.calls[self._next_result] if self._next_result < len(self.calls) else None
        return None if call is None or call.life is WAITING else call

    @property
    def awaits_results(self) -> bool:
        """Whether a call has ended and was not answered."""
        return self.answered < self.started - self.open

    def open_calls(self) -> list[Call]:
        return [call for call in self.calls if call.life is OPEN]

    def may(self, symbol: str) -> bool:
        """Whether the machine has a transition here."""
        transition = _TABLE.get((self.place, symbol))
        return transition is not None and self._docket.admits(transition)

    def go(self, symbol: str) -> bool:
        """Take a transition of the machine, if there is one."""
        transition = _TABLE.get((self.place, symbol))
        if transition is None or not self._docket.take(transition, shown=self.shown):
            return False
        self.place = transition.target
        if transition.unless_failed is not None:
            self.closing = transition
        return True

    # --- the lives of the calls -------------------------------------------------------------------------------

    def start(self, call: Call) -> None:
        self._live(call, CALL_START)
        self.latest = call
        self.started += 1
        self.open += 1

    def update(self, call: Call) -> None:
        self._live(call, CALL_UPDATE)
        call.reported = len(self.of_id(call.id)) == 1

    def end(self, call: Call) -> None:
        self._live(call, CALL_END)
        self.open -= 1
        if self.vague:
            self._forget(call)

    def _forget(self, call: Call) -> None:
        self.calls.remove(call)
        of_that_id = self._by_id[call.id]
        of_that_id.remove(call)
        if not of_that_id:
            del self._by_id[call.id]

    def answer(self, call: Call) -> None:
        self._live(call, SAY_RESULT)
        self.answered += 1

    def force_answer(self, call: Call) -> None:
        """Answer a call, whatever the machine says."""
        self.shown = False
        if call.life is OPEN:
            self.end(call)
        if not self.go(SAY_RESULT):
            self.place = RESULTS
        self.answer(call)

    def _live(self, call: Call, symbol: str) -> None:
        transition = _LIFE[call.life, symbol]
        if self.shown:
            self._docket.taken.add(transition)
        call.life = transition.target

    # --- symbols ----------------------------------------------------------------------------------------------

    def end_symbol(self, call: Call) -> str:
        return END_LATEST if call is self.latest else END_OTHER

    def close_symbol(self) -> str | None:
        """The symbol of a `turn_end` here, or None: something is open, or not answered."""
        if self.open or self.answered < self.started:
            return None
        if self.place is DUE:
            return CLOSE_NONE
        return CLOSE if self.next_start is None else CLOSE_CUT
