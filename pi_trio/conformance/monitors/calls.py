"""The events of tool calls: which call is meant, whether it may do that now, and what it holds.

An event that names no call that it could mean is put down to the one that it most likely means, so that a wrong id is
one fault, and not one more for each event that follows from it.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from . import content
from .batch import Batch, Call
from .content import Object
from .known import Known
from .order import (
    ANSWERED,
    CALL_ANSWERED,
    CALL_END,
    CALL_ENDED,
    CALL_START,
    CALL_UPDATE,
    CALLING,
    CLOSE,
    CLOSE_CUT,
    CLOSE_NONE,
    FAILED,
    LAUNCHED,
    NO_RUN,
    SAY_RESULT,
    START_RESULT,
    TABLES,
    WAITING,
)
from .progress import Progress
from .recovery import MISSING, TOO_MANY
from .refusal import Refusal

NOT_STARTED: Final = "a call that was not started"
_BATCH = TABLES["batch"]
_REMEMBERED: Final = 256
"""How many calls outside the calls of an answer are remembered."""
_LENGTH: Final = 100
"""So many characters of the id of each."""


class Calls:
    """Judges what is said of calls."""

    def __init__(self, progress: Progress, refusal: Refusal, known: Known | None) -> None:
        self._progress = progress
        self._refusal = refusal
        self._known = known
        self._strangers: deque[str] = deque(maxlen=_REMEMBERED)
        self._met: deque[str] | None = deque(maxlen=_REMEMBERED) if refusal.midway else None
        """The calls whose start or end a log has seen that begins midway: any other may be of a run before it. None if
        the log has no before.
        """

    def forget(self) -> None:
        """A run begins: what was said of unknown calls before is over."""
        self._strangers.clear()

    # --- starts -----------------------------------------------------------------------------------------------

    def start(self, event: Object) -> None:
        """A `tool_execution_start`."""
        self._meet(content.id_of(event))
        batch = self._batch(CALL_START, event)
        if batch is None:
            return
        call_id = content.id_of(event)
        call = batch.next_start
        if batch.vague:
            call = self._vague(batch, event)
            batch.start(call)
        elif call is not None and call.id == call_id and batch.go(CALL_START):
            batch.start(call)
            content.check_start(self._progress.docket, call, event)
        elif not self._refusal.pays((CALL_START, call_id)) and not self._refusal.repeats(event):
            self._start_refused(batch, call, event)

    def _start_refused(self, batch: Batch, due: Call | None, event: Object) -> None:
        call_id = content.id_of(event)
        call = batch.find(call_id, WAITING)
        if call is None:
            known = bool(batch.of_id(call_id))
            what = "a second start of a call" if known else "a start of no call of the answer"
            self._refusal.breaks("TOOL-01", what, str(call_id))
            if not known and due is not None:
                self._force_start(batch, due)
            elif not known:
                self._progress.doubt_answer(CALLING)
                self.start(event)
            return
        if call is due:
            clause = "TOOL-06" if batch.place.startswith("one") else "TOOL-07"
            self._refusal.breaks(clause, f"{CALL_START} ({batch.place})", str(call_id))
        else:
            self._refusal.breaks("TOOL-01", "a start that is not the next in source order", str(call_id))
            while due is not None and due is not call:
                self._refusal.owe((CALL_START, due.id))
                self._force_start(batch, due)
                due = batch.next_start
        self._force_start(batch, call)

    @staticmethod
    def _force_start(batch: Batch, call: Call) -> None:
        batch.shown = False
        if not batch.go(CALL_START):
            batch.place = LAUNCHED
        batch.start(call)

    # --- updates and ends -------------------------------------------------------------------------------------

    def update(self, event: Object) -> None:
        """A `tool_execution_update`."""
        call = self._open_call(event, CALL_UPDATE, "TOOL-04")
        if call is None:
            return
        batch = self._progress.batch
        assert batch is not None
        if not batch.vague:
            if not batch.go(CALL_UPDATE):
                self._refusal.breaks("TOOL-04", f"{CALL_UPDATE} ({batch.place})", str(call.id))
            content.check_update(self._progress.docket, call, event)
        batch.update(call)

    def end(self, event: Object) -> None:
        """A `tool_execution_end`."""
        call = self._open_call(event, CALL_END, "TOOL-03")
        if call is None:
            return
        batch = self._progress.batch
        assert batch is not None
        if not batch.vague:
            if not batch.go(batch.end_symbol(call)):
                self._refusal.breaks("TOOL-03", f"{CALL_END} ({batch.place})", str(call.id))
            content.check_end(self._progress.docket, call, event, truncated=batch.truncated)
            batch.aborted += content.is_aborted(event)
        batch.end(call)

    def _open_call(self, event: Object, symbol: str, clause: str) -> Call | None:
        """The open call that an event is about; None if there is none, and all is said about that."""
        call_id = content.id_of(event)
        batch = self._progress.batch
        if batch is not None:
            call = batch.open_call(call_id, event)
            if call is not None and self._progress.place is CALLING:
                return call
        if self._progress.orphan(call_id, symbol) or self._is_of_before(call_id, symbol):
            return None
        if call_id[:_LENGTH] in self._strangers:
            return None
        batch = self._batch(symbol, event)
        if batch is None or self._refusal.pays((symbol, call_id)) or self._refusal.repeats(event):
            return None
        if batch.vague:
            call = batch.open_call(call_id, event) or self._vague(batch, event)
            if call.life is WAITING:
                batch.start(call)
            return call
        call = batch.find(call_id, WAITING)
        if call is not None:
            self._refusal.breaks("TOOL-01", NOT_STARTED, f"{symbol} of {call_id}")
            self._refusal.owe((CALL_START, call_id))
            self._force_start(batch, call)
            return call
        guessed = next((each for each in batch.of_id(call_id) if each.guessed), None)
        if guessed is not None:
            # The wrong one was taken to have ended before.
            guessed.guessed = False
            if symbol is CALL_END:
                self._put_down(batch, event)
            return None
        if bool(batch.of_id(call_id)):
            self._refusal.breaks(clause, f"{symbol} of a call that has ended", str(call_id))
            return None
        self._refusal.breaks(clause, f"{symbol} of no call", str(call_id))
        if symbol is CALL_END:
            self._put_down(batch, event)
        return None

    def _is_of_before(self, call_id: str, symbol: str) -> bool:
        """Whether a log that begins midway cannot know the call, since a run that failed before may have left it open;
        then it is noted as any that is left open. Where the log is, such a call does not show.
        """
        batch, known = self._progress.batch, self._met
        if known is None or call_id[:_LENGTH] in known:
            return False
        if batch is not None and (batch.vague or batch.of_id(call_id)):
            return False
        if symbol is CALL_END:
            self._meet(call_id)
        if not self._refusal.midway:
            self._progress.inherit(call_id)
            self._progress.orphan(call_id, symbol)
        return True

    def _meet(self, call_id: str) -> None:
        if self._met is not None:
            self._met.append(call_id[:_LENGTH])

    @staticmethod
    def _put_down(batch: Batch, event: Object) -> None:
        """The end of an unknown call: the open one that it is most likely about has ended."""
        batch.shown = False
        open_calls = batch.open_calls()
        alike = [call for call in open_calls if call.block.get("name") == event.get("toolName")]
        for call in (alike or open_calls)[:1]:
            batch.go(batch.end_symbol(call))
            batch.end(call)
            call.guessed = True

    @staticmethod
    def _vague(batch: Batch, event: Object) -> Call:
        return batch.meet({"id": event.get("toolCallId"), "name": event.get("toolName")})

    def _batch(self, symbol: str, event: Object) -> Batch | None:
        """The batch, if calls may be heard of here; else what is wrong is noted."""
        progress = self._progress
        if progress.place is CALLING and progress.batch is not None:
            return progress.batch
        call_id = content.id_of(event)
        if self._refusal.midway:
            self._refusal.settle_in(CALLING)
            return progress.batch
        if self._refusal.pays((symbol, call_id)) or self._refusal.repeats(event):
            return None
        if symbol is CALL_START and progress.place in (ANSWERED, FAILED):
            clause = self._answered_already(progress.place)
            self._refusal.breaks(clause, f"{symbol} ({progress.place})", str(call_id))
            progress.doubt_answer(CALLING)
            return progress.batch
        missing = MISSING.get((progress.place, symbol))
        if missing is not None:
            supplied, clause = missing
            self._refusal.breaks(clause, f"{symbol} without {supplied} ({progress.place})", str(call_id))
            self._refusal.supply(supplied, event)
            if progress.place is CALLING and progress.batch is not None:
                return progress.batch
            return None
        if progress.place is NO_RUN:
            clause = "RUN-04" if progress.runs else "RUN-01"
        else:
            clause = TOO_MANY[symbol]
        if call_id[:_LENGTH] not in self._strangers:
            self._refusal.breaks(clause, f"{symbol} ({progress.place})", call_id)
            self._strangers.append(call_id[:_LENGTH])
        return None

    def _answered_already(self, place: str) -> str:
        """The clause by which nothing is called behind that answer."""
        if place is not FAILED:
            return "TOOL-01"
        return "FAIL-38" if self._known is not None and self._known.failing else "TURN-06"

    # --- results ----------------------------------------------------------------------------------------------

    def say(self, event: Object, message: Object) -> bool:
        """The start of a result's message; whether the line is to go on with it."""
        if not self._refusal.clears_way(START_RESULT, event):
            return False
        progress = self._progress
        batch = progress.batch
        if batch is None or batch.vague:
            progress.saying = None
            return True
        call_id = content.id_of(message)
        call = batch.next_result
        if call is not None and call.id == call_id and not batch.open and batch.go(SAY_RESULT):
            batch.settle_twins(call, message)
            batch.answer(call)
        else:
            if self._refusal.pays(("message_start",), message) or self._refusal.repeats(event):
                return False
            call = self._result_refused(batch, call_id)
            if call is None:
                self._refusal.owe(("message_end",), message)
                return False
            progress.step(START_RESULT, None)
            progress.saying = call
            return False
        progress.saying = call
        return True

    def _result_refused(self, batch: Batch, call_id: Any) -> Call | None:
        """What is wrong with a result that is not due, and whose it is taken for."""
        call = next((each for each in batch.of_id(call_id) if each.life is not CALL_ANSWERED), None)
        if call is None:
            known = bool(batch.of_id(call_id))
            what = "a second result of a call" if known else "a result of no call of the answer"
            self._refusal.breaks("TOOL-05" if known else "MSG-10", what, str(call_id))
            due = batch.next_result
            if known or due is None:
                return None
            batch.force_answer(due)
            due.end = None
            return due
        if call.life is not CALL_ENDED or batch.open:
            if call.life is CALL_ENDED:
                self._refusal.breaks("TOOL-05", "a result before the ends of its batch", str(call_id))
            elif call.life is WAITING:
                self._refusal.breaks("TOOL-01", NOT_STARTED, f"a result of {call_id}")
            else:
                self._refusal.breaks("TOOL-03", "a result of a call that has not ended", str(call_id))
            if call.life is WAITING:
                self._refusal.owe((CALL_START, call_id))
                self._force_start(batch, call)
            self._supply_ends(batch)
        elif call is batch.next_result:
            self._refusal.breaks("TOOL-05", f"a result ({batch.place})", str(call_id))
        else:
            self._refusal.breaks("TOOL-05", "a result that is not the next in source order", str(call_id))
            self._supply_results(batch, call)
            self._progress.in_order = False
        batch.force_answer(call)
        return call

    def _supply_ends(self, batch: Batch) -> None:
        batch.shown = False
        for each in batch.open_calls():
            self._refusal.owe((CALL_END, each.id))
            batch.go(batch.end_symbol(each))
            batch.end(each)

    def _supply_results(self, batch: Batch, before: Call | None) -> None:
        """Take it that results have come which were not seen: those before a call, or all."""
        while (due := batch.next_result) is not None and due is not before:
            self._refusal.owe(("message_start",))
            self._refusal.owe(("message_end",))
            batch.force_answer(due)
            self._progress.end_unseen_result()

    # --- the end of the batch ---------------------------------------------------------------------------------

    def close(self) -> None:
        """`turn_end` comes: whether all calls are closed."""
        batch = self._progress.batch
        if batch is None or batch.vague:
            self._progress.all_results = False
            return
        symbol, known = batch.close_symbol(), self._known
        cut = symbol is CLOSE_CUT and known is not None and not (known.aborted or known.ever_failed)
        if symbol is not None and not cut and batch.go(symbol):
            if symbol is CLOSE and self._has_another_reason(batch):
                self._progress.docket.holds("TURN-20")
            if symbol is CLOSE and batch.aborted > 1 and (known is None or known.aborted):
                self._progress.docket.holds("ABORT-10")
            return
        self._progress.all_results = False
        if batch.open:
            self._refusal.breaks("TOOL-03", "turn_end while calls are open", self._ids(batch.open_calls()))
        elif batch.awaits_results:
            due = batch.next_result
            self._refusal.breaks("TOOL-05", "turn_end before the results of its calls", str(due and due.id))
        else:
            transition = None if symbol is None else _BATCH.get((batch.place, symbol))
            clause = transition.instead if transition is not None and transition.instead else "TURN-05"
            due = batch.next_start
            if cut or (symbol is CLOSE_NONE and (known is None or not known.ever_failed)):
                untouched = symbol is CLOSE_NONE and self._has_another_reason(batch)
                clause = "TURN-20" if untouched else "TOOL-01"
            self._refusal.breaks(clause, "turn_end before all calls were answered", str(due and due.id))
        self._supply_ends(batch)
        self._supply_results(batch, None)

    def _has_another_reason(self, batch: Batch) -> bool:
        """Whether the stop reason of the answer does not say that there are calls."""
        answer = self._progress.answer
        return answer is not None and not batch.truncated and not content.ends_as_usual(answer)

    @staticmethod
    def _ids(calls: list[Call]) -> str:
        return ", ".join(str(call.id) for call in calls)
