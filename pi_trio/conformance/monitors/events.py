"""The monitor of events: follows a sequence of agent events, and says of each which clauses it keeps and breaks.

It needs nothing but the events, so it judges a recorded log as well as what a subject says while it is driven. It
remembers a digest of each message of the open run, and the messages of the open turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from ..failed import is_failed
from .calls import Calls
from .content import Object, calls_of, is_failure, message_of
from .docket import Docket, Monitor
from .finding import Allowed, Finding, Force
from .known import Known
from .order import (
    AGENT_END,
    AGENT_START,
    ANSWERING,
    BEGUN,
    BETWEEN,
    CALLING,
    END_ANSWER,
    END_CALLS,
    END_FAILED,
    END_FAILURE,
    END_INJECTED,
    END_RESULT,
    FAILING,
    FAILURE_OPEN,
    FAILURE_SAID,
    NO_RUN,
    RESULT,
    SAYING,
    START_ANSWER,
    START_INJECTED,
    START_RESULT,
    TABLES,
    TURN,
    TURN_END,
    TURN_START,
    UPDATE,
)
from .outlook import allowed_at, place_in_words
from .progress import Progress
from .refusal import Refusal

_ROLES: Final = {ANSWERING: "assistant", FAILURE_OPEN: "assistant", RESULT: "toolResult"}
_END_OF: Final = {ANSWERING: None, FAILURE_OPEN: END_FAILURE, RESULT: END_RESULT}
_UPDATED: Final = TABLES["line"][ANSWERING, UPDATE]


class EventMonitor(Monitor):
    """Follows one log.

    `force` says in which releases each clause is in force; `candidates` are the releases that are possible at first
    (all that `force` names, if it is None). A log that begins `midway` is taken as it comes until its place is known,
    which it is at once if it begins with a run; but a call that it has not seen may be of an earlier run, which has
    failed, for as long as the log goes on. What is `known` besides the events is there only where it is part of a
    trace.
    """

    def __init__(
        self,
        force: Force | Docket,
        candidates: Iterable[str] | None = None,
        *,
        midway: bool = False,
        known: Known | None = None,
    ) -> None:
        super().__init__(force if isinstance(force, Docket) else Docket(force, candidates))
        self._known = known
        self._progress = Progress(self._docket, known)
        self._refusal = Refusal(self._progress, midway=midway)
        self._calls = Calls(self._progress, self._refusal, known)
        self._joined = midway
        """The open run had begun before this log did."""
        self._told = 0
        self._like_failure: Object | None = None
        """The last message that was given to the run and looks like a failure's."""
        self._replayed: Object | None = None
        """The last answer with calls that was taken to have been given, since a result came at once."""

    @property
    def in_run(self) -> bool:
        """Whether a run is open."""
        return self._progress.place is not NO_RUN

    @property
    def place(self) -> str:
        """Where the log is, in words."""
        return place_in_words(self._progress)

    def allowed(self) -> Allowed:
        """What may come next, and whether the log may rest here. Nothing that only the releases do is in it."""
        return allowed_at(self._progress)

    def tell(self, event: Object) -> Sequence[Finding]:
        """Go on by one event.

        Raises:
            RecursionError: it is nested so deeply that Python cannot compare it. Nothing else, whatever it holds.
        """
        docket = self._docket
        docket.at = self._told
        self._told += 1
        self.hear(event)
        return docket.collect() if docket.found else ()

    def hear(self, event: Object) -> None:
        """As `tell`, for one who shares his docket with others: what is found stays there."""
        kind = event.get("type")
        handler = _HANDLERS.get(kind) if type(kind) is str else None
        if handler is None:
            return
        handler(self, event)
        self._refusal.last = event

    def end(self, *, closed: bool = False) -> Sequence[Finding]:
        """The log ends here. It may end anywhere, unless it is `closed`: nothing goes on any more."""
        self._docket.at = self._told
        self.close(closed=closed)
        return self._docket.collect()

    def close(self, *, closed: bool) -> None:
        """As `end`, for one who shares his docket."""
        place, known = self._progress.place, self._known
        # Whether a listener has failed is known of a trace alone; and of one who came late, whether a failure was told.
        failing = known is not None and (place in FAILING or (self._joined and known.failing))
        if closed and place is not NO_RUN and failing:
            self._docket.as_pi("FAIL-31", "D-04", f"the end of all ({place})")
        elif closed and place is not NO_RUN:
            self._docket.breaks(
                "RUN-02", "a run without its agent_end", self.place, self.allowed().in_words()
            )
        self._progress.forget_run()

    def excuse(self) -> None:
        """Whoever hears this log hears no more of this run, and rightly."""
        self._progress.forget_run()

    # --- what the events mean ---------------------------------------------------------------------------------

    def _line(self, symbol: str, event: Object) -> None:
        if not self._progress.step(symbol, event):
            self._refusal.judge(symbol, event)

    def _border(self, symbol: str, event: Object) -> None:
        """A run or a turn begins or ends."""
        if self._progress.step(symbol, event):
            self._refusal.forget()
        else:
            self._refusal.judge(symbol, event)

    def _agent_start(self, event: Object) -> None:
        breaks_off = self._progress.place in FAILING
        self._calls.forget()
        self._refusal.midway = self._joined = False  # a run that is seen from its start is whole
        self._border(AGENT_START, event)
        if breaks_off:
            self._refusal.owe((AGENT_END,))

    def _agent_end(self, event: Object) -> None:
        self._border(AGENT_END, event)

    def _turn_start(self, event: Object) -> None:
        self._progress.take_for_answer()
        self._replayed = None
        self._border(TURN_START, event)

    def _turn_end(self, event: Object) -> None:
        progress = self._progress
        if progress.place is CALLING:
            self._calls.close()
        elif progress.place is TURN and self._like_failure and event.get("message") == self._like_failure:
            # It was not the one that was given, but its equal, and has told that the run fails.
            progress.place, progress.failed = FAILURE_SAID, True
            progress.failure = progress.answer = self._like_failure
        elif progress.place is TURN and self._replayed and event.get("message") == self._replayed:
            # It was the answer of this turn, and its calls were never started.
            self._refusal.breaks("TOOL-05", "a result before the ends of its batch")
            progress.doubt_answer(CALLING)
            progress.all_results = False
        self._border(TURN_END, event)

    def _message_start(self, event: Object) -> None:
        progress = self._progress
        message = message_of(event)
        role = message.get("role")
        if self._refusal.owes(event, message):
            return
        if self._injects(event):
            progress.take_back()
            self._line(START_INJECTED, event)
            self._docket.holds("RUN-08")
        elif role == "assistant":
            if is_failure(message) and not self._begins_answer(message):
                self._start_failure(event)
                return
            progress.take_back()
            self._line(START_ANSWER, event)
        elif "toolCallId" in message and (
            progress.place in (CALLING, RESULT, ANSWERING) or self._refusal.midway
        ):
            if self._refusal.midway:
                self._refusal.settle_in(CALLING)
            elif progress.whole and progress.may_be_injected:
                self._replayed = progress.answer
                progress.take_back()
                self._line(START_INJECTED, event)
                return
            if self._calls.say(event, message):
                self._line(START_RESULT, event)
        else:
            progress.take_back()
            self._line(START_INJECTED, event)

    def _injects(self, event: Object) -> bool:
        return self._known is not None and self._known.injects(event)

    def _begins_answer(self, message: Object) -> bool:
        """Whether the provider has begun his answer with what looks like a failure."""
        known, place = self._known, self._progress.place
        if known is None or not known.answers(message):
            return False
        again = place is ANSWERING and self._progress.starts < known.starts
        return place is TURN or again or self._refusal.midway

    def _start_failure(self, event: Object) -> None:
        progress = self._progress
        if self._refusal.midway:
            self._refusal.settle_in(TURN)
        if progress.place in (BEGUN, BETWEEN):
            self._refusal.owe((TURN_START,))
        if event != self._refusal.last:
            progress.take_for_answer()
        if progress.may_be_injected:
            progress.suspect(progress.failure_symbol(), event)
            return
        progress.mistakable = progress.place is TURN and (self._known is None or self._known.cuts)
        self._line(progress.failure_symbol(), event)

    def _message_update(self, event: Object) -> None:
        progress = self._progress
        if progress.place is FAILURE_OPEN:
            progress.take_for_answer()
        if progress.place is ANSWERING:
            self._docket.taken.add(_UPDATED)
            progress.update(event)
        else:
            self._line(UPDATE, event)

    def _message_end(self, event: Object) -> None:
        progress = self._progress
        message = message_of(event)
        role = message.get("role")
        if self._refusal.owes(event, message):
            return
        place = progress.place
        if (place is SAYING or self._refusal.midway) and self._injects(event):
            self._line(END_INJECTED, event)
            self._like_failure = message if is_failure(message) else None
        elif (place in _ROLES and role != _ROLES[place]) or (place is SAYING and role == "assistant"):
            if role == (progress.message or {}).get("role"):
                self._refusal.breaks("MSG-10", "a result of another role", str(role))
            else:
                self._refusal.breaks(
                    "MSG-02", "message_end with another role than its message_start", str(role)
                )
            if place is SAYING:
                progress.place = ANSWERING
            progress.step(_END_OF[progress.place] or self._end_of_answer(message), None)
        elif role == "assistant":
            if self._refusal.midway and is_failure(message):
                self._settle_in_failure()
            elif place is FAILURE_OPEN and message != progress.message:
                progress.take_for_answer()
            self._line(_END_OF.get(progress.place) or self._end_of_answer(message), event)
        else:
            of_result = role == "toolResult" and (place in (CALLING, RESULT) or self._refusal.midway)
            self._line(END_RESULT if of_result else END_INJECTED, event)

    def _settle_in_failure(self) -> None:
        """A log begins with the end of what looks like a failure."""
        if self._known is None or self._known.failing:
            self._refusal.settle_in(FAILURE_OPEN)
            self._progress.failed = self._progress.mistakable = True

    @staticmethod
    def _end_of_answer(message: Object) -> str:
        if is_failed(message):
            return END_FAILED
        return END_CALLS if calls_of(message) else END_ANSWER

    def _tool_execution_start(self, event: Object) -> None:
        self._calls.start(event)

    def _tool_execution_update(self, event: Object) -> None:
        self._calls.update(event)

    def _tool_execution_end(self, event: Object) -> None:
        self._calls.end(event)


_Handler: TypeAlias = Callable[[EventMonitor, Object], None]
_HANDLERS: Final[dict[str, _Handler]] = {
    "agent_start": EventMonitor._agent_start,
    "agent_end": EventMonitor._agent_end,
    "turn_start": EventMonitor._turn_start,
    "turn_end": EventMonitor._turn_end,
    "message_start": EventMonitor._message_start,
    "message_update": EventMonitor._message_update,
    "message_end": EventMonitor._message_end,
    "tool_execution_start": EventMonitor._tool_execution_start,
    "tool_execution_update": EventMonitor._tool_execution_update,
    "tool_execution_end": EventMonitor._tool_execution_end,
}
