"""What becomes of an event that is not allowed where it comes: one finding, and a place from which it goes on, so that
one fault is one finding and the rest is still judged.

`recovery` has the tables. What was supplied is *owed*: if it comes after all, a little late, it is the same fault and
is passed over. What is owed is forgotten with the next turn or run that begins or ends as it should.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from .batch import Batch
from .content import Object, message_of
from .digest import BLANK, digest, same
from .order import (
    AGENT_END,
    ANSWERING,
    BETWEEN,
    CALLING,
    END_FAILURE,
    END_INJECTED,
    END_RESULT,
    FAILURE_TURN,
    LAST,
    NO_RUN,
    RESULT,
    TURN_END,
)
from .outlook import allowed_at
from .progress import Progress
from .recovery import ENDS, MIDWAY, MISSING, RESETS, STARTS, TOO_MANY, TWICE

_MOST: Final = 6
"""How many events one event may lack before it: a whole turn with its answer."""

_WAITED: Final = 256
"""How many events of one kind are waited for, and how many kinds."""


class Refusal:
    """Recovers, and remembers what is owed."""

    def __init__(self, progress: Progress, *, midway: bool) -> None:
        self.progress = progress
        self.midway = midway
        self.last: Object = {}
        self._owed: dict[tuple[Any, ...], deque[int]] = {}
        """By the kind of event the digests of the messages that they are about, `BLANK` where that is not known."""

    def breaks(self, clause: str, what: str, detail: str = "") -> None:
        """A clause is broken here; what would have been allowed is noted with it."""
        docket = self.progress.docket
        if docket.in_force(clause):
            docket.breaks(clause, what, detail, allowed_at(self.progress).in_words())

    def repeats(self, event: Object) -> bool:
        """Whether an event only says the last one again; then that is noted."""
        if event != self.last:
            return False
        self.breaks(TWICE[event["type"]], f"{event['type']} twice")
        return True

    # --- the line ---------------------------------------------------------------------------------------------

    def judge(self, symbol: str, event: Object) -> None:
        """The line has no transition for this symbol."""
        progress = self.progress
        if self.midway:
            self.settle_in(MIDWAY.get(symbol, CALLING))
            if progress.step(symbol, event):
                return
        if self.pays(self._key(symbol), message_of(event)) or self.repeats(event):
            return
        reset = RESETS.get((progress.place, symbol))
        if reset is not None:
            place, clause = reset
            self.breaks(clause, f"{symbol} ({progress.place})")
            self._cut_off()
            # Whom a run that breaks off tells what is anybody's guess.
            progress.jump(place, symbol, None if symbol is AGENT_END else event)
            return
        if self._supplied(symbol, event):
            return
        if event["type"] == "message_start":
            self.owe(("message_end",), message_of(event))

    def _supplied(self, symbol: str, event: Object) -> bool:
        """Supply what is missing before a symbol, and take its transition; else it is one too many."""
        progress = self.progress
        blamed = False
        for _ in range(_MOST):
            missing = MISSING.get((progress.place, symbol))
            if missing is None:
                break
            supplied, clause = missing
            if not blamed:
                self.breaks(clause, f"{symbol} without {supplied} ({progress.place})")
                blamed = True
            self.supply(supplied, event)
            if progress.step(symbol, event):
                return True
        reset = RESETS.get((progress.place, symbol))
        if blamed and reset is not None:
            progress.jump(reset[0], symbol, event)
            return True
        if not blamed:
            clause = TOO_MANY[symbol]
            if progress.place is NO_RUN:
                clause = "RUN-04" if progress.runs else "RUN-01"
            self.breaks(clause, f"{symbol} ({progress.place})")
        return False

    def supply(self, symbol: str, event: Object) -> None:
        """Take it that an event has come which was not seen, and may still come."""
        known = None
        if symbol in (END_INJECTED, END_RESULT, END_FAILURE):
            known = self.progress.message
        elif symbol in STARTS and event["type"] == "message_end":
            known = message_of(event)
        self.owe(self._key(symbol), known)
        self.progress.supply(symbol)

    def clears_way(self, symbol: str, event: Object) -> bool:
        """A result is said while a message is open: that one has ended. Whether the result is still to be judged."""
        progress = self.progress
        while progress.place in (RESULT, ANSWERING):
            if self.pays(("message_start",), message_of(event)) or self.repeats(event):
                return False
            supplied, clause = MISSING[progress.place, symbol]
            self.breaks(clause, f"{symbol} without {supplied} ({progress.place})")
            self.supply(supplied, event)
        return True

    def _cut_off(self) -> None:
        """A run goes no further: what would have closed it may still come."""
        place = self.progress.place
        if place not in (NO_RUN, BETWEEN, LAST, FAILURE_TURN):
            self.owe((TURN_END,), None)
        if place is not NO_RUN:
            self.owe((AGENT_END,), None)

    def settle_in(self, place: str) -> None:
        """A log that begins midway is here."""
        self.midway = False
        progress = self.progress
        progress.place = place
        progress.whole = place is ANSWERING  # no update was seen, and perhaps there was none
        progress.starts = int(progress.whole)
        progress.complete = progress.all_results = False
        progress.runs += place is not NO_RUN
        if place in (CALLING, RESULT):
            progress.batch = Batch(progress.docket, [], vague=True)

    # --- what is owed -----------------------------------------------------------------------------------------

    @staticmethod
    def _key(symbol: str) -> tuple[Any, ...]:
        if symbol in STARTS:
            return ("message_start",)
        return ("message_end",) if symbol in ENDS else (symbol,)

    def owe(self, key: tuple[Any, ...], message: Object | None = None) -> None:
        """Note that an event was taken to have come; its message, if that is known."""
        waiting = self._owed.get(key)
        if waiting is None:
            if len(self._owed) >= _WAITED:
                del self._owed[next(iter(self._owed))]
            waiting = self._owed[key] = deque(maxlen=_WAITED)
        waiting.append(BLANK if message is None else digest(message))

    def forget(self) -> None:
        """Nothing is owed any more."""
        self._owed.clear()

    def owes(self, event: Object, message: Object) -> bool:
        """Whether a message's start or end that might be allowed here is known to be a late one."""
        waiting = self._owed.get((event["type"],)) if self._owed else None
        if not waiting:
            return False
        unseen = event["type"] == "message_start" and self.progress.place is ANSWERING
        known = BLANK in waiting and unseen and message.get("role") == "assistant"
        return (known or digest(message) in waiting) and self.pays((event["type"],), message)

    def pays(self, key: tuple[Any, ...], message: Object | None = None) -> bool:
        """Whether an event is one that is owed; then it is passed over."""
        waiting = self._owed.get(key)
        if not waiting:
            return False
        told = BLANK if message is None else digest(message)
        for at, known in enumerate(waiting):
            if same(told, known):
                del waiting[at]
                if not waiting:
                    del self._owed[key]
                if known == BLANK and message is not None and key == ("message_end",):
                    self._fill(message)
                return True
        return False

    def _fill(self, message: Object) -> None:
        """A message that was not seen when it ended is known now."""
        said = self.progress.said
        for at in range(len(said) - 1, -1, -1):
            if said[at] == BLANK:
                said[at] = digest(message)
                return
