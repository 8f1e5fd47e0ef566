"""Follows the events of responses, and says of each which clauses it keeps and breaks.

It remembers the blocks of the open response, and nothing of those that are over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from ..content import Object
from ..docket import Docket, Monitor
from ..finding import Allowed, Finding, Force, Judgement
from .content import Block, judge_call, judge_message, judge_reason, judge_usage
from .order import (
    BEGUN,
    BLOCK,
    BLOCK_END,
    BLOCK_EVENTS,
    BLOCK_START,
    BLOCKS,
    CLOSED,
    DONE,
    ERROR,
    FUTURE,
    NO_BLOCK,
    NO_RESPONSE,
    OPEN,
    OTHER_KIND,
    OVER,
    PIECE,
    RESPONSE,
    START,
    STREAM_EVENTS,
    UNBEGUN,
)

_MESSAGES: Final = {DONE: "message", ERROR: "error"}
"""Where the message is, by the event that ends a response."""


class ResponseMonitor(Monitor):
    """Follows one log of responses.

    Args:
        force: in which releases each clause is in force.
        candidates: the releases that are possible at first; all that `force` names, if it is None.
        bare: the events lack their messages, as in a vector, and nothing is said about that.
        midway: the log may begin in the middle of a response, which is then passed over.
        single: there is one response, and whatever comes behind its end is behind it.
    """

    def __init__(
        self,
        force: Force,
        candidates: Iterable[str] | None = None,
        *,
        bare: bool = False,
        midway: bool = False,
        single: bool = False,
    ) -> None:
        super().__init__(Docket(force, candidates))
        self._bare = bare
        self._midway = midway
        self._single = single
        self._place = UNBEGUN
        self._blocks: dict[int, Block] = {}
        self._places: dict[int, int] = {}
        """Where in the message a block is that was given another number."""
        self._told = 0

    @property
    def place(self) -> str:
        """Where it is."""
        return self._place

    @property
    def open(self) -> bool:
        """Whether a response has begun and is not over."""
        return self._place == BEGUN

    def allowed(self) -> Allowed:
        """What may come next."""
        events: dict[str, str] = {}
        for (place, symbol), step in RESPONSE.items():
            if place == self._place:
                events |= self._of_blocks() if symbol == BLOCK else {symbol: step.clause}
        return Allowed(events, silence=not self.open)

    def _of_blocks(self) -> dict[str, str]:
        """The events of blocks that may come."""
        open_kinds = {block.kind for block in self._blocks.values() if block.place == OPEN}
        allowed: dict[str, str] = {}
        for name, (kind, symbol) in BLOCK_EVENTS.items():
            place = FUTURE if symbol == BLOCK_START else OPEN
            if place == FUTURE or kind in open_kinds:
                allowed[name] = BLOCKS[place, symbol].clause
        return allowed

    def tell(self, event: Object, message: Object | None = None) -> tuple[Finding, ...]:
        """The next event. Its message may come beside it. What no stream says is overlooked."""
        kind = event.get("type")
        if isinstance(kind, str) and kind in STREAM_EVENTS and not self._passes_over(kind):
            self._docket.at = self._told
            if self._single and self._place == OVER:
                self._docket.breaks("MODEL-02", "an event behind the end of the response", kind)
            elif kind in BLOCK_EVENTS:
                self._block(kind, event)
            else:
                self._step(kind)
                if kind == START:
                    self._forget()
                else:
                    self._end(kind, event, message)
        self._told += 1
        return self._docket.collect()

    def end(self, *, closed: bool = False) -> tuple[Finding, ...]:
        """There are no more events; if it is `closed`, nothing may be missing."""
        self._docket.at = max(0, self._told - 1)
        if closed and self._place != OVER:
            self._docket.breaks("MODEL-02", "a response without an end", allowed=self.allowed().in_words())
        return self._docket.collect()

    def _passes_over(self, kind: str) -> bool:
        """Whether an event is of a response that began before the log did."""
        if not self._midway:
            return False
        self._midway = kind in BLOCK_EVENTS
        if kind == START:
            return False
        self._place = UNBEGUN if self._midway else OVER
        return True

    # --- steps ------------------------------------------------------------------------------------------------

    def _step(self, symbol: str) -> bool:
        """Go on in the table of the response; whether that is allowed."""
        step = RESPONSE.get((self._place, symbol))
        if step is not None:
            self._docket.holds(step.clause)
            self._place = step.target
            return True
        refusal = NO_RESPONSE[self._place, symbol]
        self._docket.breaks(refusal.clause, refusal.what, allowed=self.allowed().in_words())
        self._place = refusal.target
        return False

    def _block(self, name: str, event: Object) -> None:
        if not self._step(BLOCK) and self._place == OVER:
            return  # whose block that is, nobody knows
        kind, symbol = BLOCK_EVENTS[name]
        number = event.get("contentIndex")
        if not isinstance(number, int) or isinstance(number, bool):
            self._docket.breaks("MODEL-05", "a block without a number", name)
            return
        block = self._meant(number, kind, symbol)
        place = FUTURE if block is None else block.place
        if block is not None and block.kind != kind:
            symbol = OTHER_KIND
        step = BLOCKS.get((place, symbol))
        if step is None:
            refusal = NO_BLOCK[place, symbol]
            self._docket.breaks(refusal.clause, refusal.what, name, self._next())
        else:
            self._docket.holds(step.clause)
        if block is None:
            block = self._blocks[len(self._blocks)] = Block(kind)
        if symbol == OTHER_KIND:
            return
        if symbol == PIECE:
            self._piece(block, event)
        elif symbol == BLOCK_END:
            block.place = CLOSED
            block.end = event.get("toolCall" if kind == "toolCall" else "content")
            if kind == "toolCall":
                judge_call(self._docket, block.end)
            elif not isinstance(block.end, str):
                self._docket.breaks("MODEL-08", "the end of a block without its words", name)

    def _meant(self, number: int, kind: str, symbol: str) -> Block | None:
        """The block that an event is of; None for one that begins now, whatever number it is given."""
        block = self._blocks.get(self._places.get(number, number))
        if symbol != BLOCK_START and block is not None:
            return block
        if block is not None and block.place == OPEN and block.kind == kind:
            return block  # it is told once more
        following = len(self._blocks)
        if symbol == BLOCK_START and number != following:
            self._docket.breaks(
                "MODEL-05",
                "a block with another number than the next",
                f"{number}, and not {following}",
                self._next(),
            )
        self._places[number] = following
        return None

    def _piece(self, block: Block, event: Object) -> None:
        delta = event.get("delta")
        if isinstance(delta, str):
            block.pieces.append(delta)
        else:
            self._docket.breaks("MODEL-06", "a piece that is no text", repr(delta)[:80])

    def _next(self) -> Sequence[str]:
        return self.allowed().in_words()

    def _end(self, kind: str, event: Object, beside: Object | None) -> None:
        message: Any = beside if beside is not None else event.get(_MESSAGES[kind])
        if not isinstance(message, dict):
            message = None
            if not self._bare:
                self._docket.breaks("MODEL-09", f"{kind} without {_MESSAGES[kind]}")
        judge_reason(self._docket, event, message)
        if message is not None:
            judge_message(self._docket, message, self._blocks)
            judge_usage(self._docket, message)
        self._forget()

    def _forget(self) -> None:
        self._blocks, self._places = {}, {}


def judge_response(
    events: Iterable[Object],
    force: Force,
    candidates: Iterable[str] | None = None,
    message: Object | None = None,
) -> Judgement:
    """Judge one whole response, whose message may stand beside its events."""
    monitor = ResponseMonitor(force, candidates, bare=message is None, single=True)
    findings = [
        finding
        for event in events
        for finding in monitor.tell(event, message if event.get("type") in _MESSAGES else None)
    ]
    findings += monitor.end(closed=True)
    return _judgement(monitor, findings)


def judge_responses(
    events: Iterable[Object], force: Force, candidates: Iterable[str] | None = None
) -> Judgement:
    """Judge a log of responses, which may end anywhere."""
    monitor = ResponseMonitor(force, candidates)
    findings = [finding for event in events for finding in monitor.tell(event)]
    findings += monitor.end()
    return _judgement(monitor, findings)


def _judgement(monitor: ResponseMonitor, findings: Iterable[Finding]) -> Judgement:
    return Judgement(tuple(findings), frozenset(monitor.reached), frozenset(), monitor.candidates)
