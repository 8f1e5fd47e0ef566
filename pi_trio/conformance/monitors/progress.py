"""How far a log is: the place on the line, the open run, the open turn, the open message, and the batch.

`Progress.step` takes the transitions of the line, and does what they entail: it remembers what was said, and has the
content checked against it. An event of None is one that was not seen, and is taken to be right.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import Any, Final

import attrs

from ..failed import is_failed
from . import content
from .batch import Batch, Call
from .content import Object, calls_of, message_of
from .digest import BLANK, alike, digest, same
from .docket import Docket
from .known import Known
from .order import (
    AGENT_END,
    AGENT_START,
    ANSWERED,
    ANSWERING,
    CALL_END,
    CALLING,
    DEAD,
    DUE,
    END_ANSWER,
    END_CALLS,
    END_FAILED,
    END_FAILURE,
    END_INJECTED,
    END_RESULT,
    FAILED,
    FAILURE_OPEN,
    FAILURE_SAID,
    FAILURE_TURN,
    LAST,
    LEFT,
    NO_RUN,
    START_ANSWER,
    START_FAILURE,
    START_FAILURE_IN_CALLS,
    START_FAILURE_IN_RESULTS,
    START_INJECTED,
    START_RESULT,
    TABLES,
    TURN,
    TURN_END,
    TURN_START,
    UPDATE,
    Transition,
)

_LINE: Final = TABLES["line"]
_LIFE: Final = TABLES["call"]
_AGAIN: Final = _LINE[ANSWERING, START_ANSWER]
_REMEMBERED: Final = 256
"""How many calls of failed runs are remembered."""


_ANSWERS: Final = {FAILURE_OPEN: ANSWERING, FAILURE_SAID: FAILED, FAILURE_TURN: LAST}
"""Where the line is if what looked like a failure was an answer."""


@attrs.define(eq=False)
class Orphan:
    """A call that its failed run has left open."""

    id: Any
    life: str = LEFT


class Progress:
    """How far a log is."""

    def __init__(self, docket: Docket, known: Known | None) -> None:
        self.docket = docket
        self._known = known
        """It is part of a trace: what was given to the run is known, and an update lacks its event's partial where that
        is its message.
        """
        self.place = NO_RUN
        self.runs = 0
        self.said = array("q")
        """The digests of the messages that the open run has said."""
        self._turn_at = 0
        """How many of them were said before the open turn."""
        self.complete = True
        """Whether all that the run has said was seen."""
        self.failure: Object | None = None
        """The message that told of the run's failure."""
        self.failed = False
        self.mistakable = False
        """What told of it may have been an answer, or one that was given: it came where that may come."""
        self._doubted: tuple[Transition, int] | None = None
        """The transition of a ruling that such a one takes, and when, if it was a failure after all."""
        self.answer: Object | None = None
        self.results: list[Object | None] = []
        self.all_results = True
        self.in_order = True
        """The results were said in source order; else whatever tells them again has the one order or the other."""
        self.batch: Batch | None = None
        self.message: Object | None = None
        """The open message; None if its start was not seen."""
        self.partial: Object | None = None
        """What was last known of the answer before its end."""
        self.whole = False
        """The answer was said whole, without an update: it may have been injected."""
        self.starts = 0
        """How often the open answer has been started."""
        self.saying: Call | None = None
        """The call whose result is open."""
        self.orphans: deque[Orphan] = deque(maxlen=_REMEMBERED)
        self._closing: Transition | None = None
        """What the run has done that is right only if it fails."""

    def step(self, symbol: str, event: Object | None) -> bool:
        """Take a transition of the line, if there is one here."""
        transition = _LINE.get((self.place, symbol))
        if transition is None or not (
            self._start_again(event) if transition is _AGAIN else self.docket.take(transition)
        ):
            return False
        self.place = transition.target
        _EFFECTS[symbol](self, event)
        return True

    def forget_run(self) -> None:
        """Nothing more of the open run is expected; its open calls may run on."""
        self._leave_calls()
        self._leave_turn()
        self._closing = None
        self._bury()
        self.place = NO_RUN

    def jump(self, place: str, symbol: str, event: Object | None) -> None:
        """Go to a place by a symbol that the line does not have here."""
        self.place = place
        _EFFECTS[symbol](self, event)

    def supply(self, symbol: str) -> None:
        """Take it that an event has come which was not seen."""
        if symbol is START_RESULT and self.batch is not None:
            self.saying = self.batch.next_result
            if self.saying is not None:
                self.batch.force_answer(self.saying)
        if symbol is AGENT_START:
            self.complete = False
        self.jump(_LINE[self.place, symbol].target, symbol, None)

    def take_for_answer(self) -> None:
        """A failure is told, or a turn begins, behind what looked like a failure: then that was a failed answer."""
        place = _ANSWERS.get(self.place)
        if self.mistakable and place is not None:
            self.place = place
            self.whole, self.starts = place in (FAILED, ANSWERING), 1
            self._dismiss()

    def suspect(self, symbol: str, event: Object) -> None:
        """What looks like a failure's message begins where it would break a ruling, unless it was given."""
        transition = _LINE[self.place, symbol]
        self._doubted = transition, self.docket.at
        self.mistakable = True
        self.place = transition.target
        _EFFECTS[symbol](self, event)

    def _dismiss(self) -> None:
        """What looked like a failure was none."""
        self.failed, self.failure, self.mistakable, self._doubted = False, None, False, None

    def _settle_doubt(self, messages: Any) -> None:
        """The run ends. It has failed for certain if it ends as only a failed run does, or if no answer could be as
        what looked like a failure.
        """
        told_alone = isinstance(messages, list) and len(messages) == 1 < len(self.said)
        if told_alone and self._doubted is not None:
            transition, at = self._doubted
            self.docket.take(transition, at=at)
        if self.mistakable and self.failure is not None:
            if told_alone or not self.docket.in_force("MSG-06"):
                content.check_failure(self.docket, self.failure)
        self.mistakable, self._doubted = False, None

    def end_unseen_result(self) -> None:
        """A result has come that was not seen."""
        self.results.append(None)
        self.said.append(BLANK)

    def failure_symbol(self) -> str:
        """What the start of a failure's message means here."""
        batch = self.batch
        if batch is not None and self.place is CALLING:
            if batch.open:
                return START_FAILURE_IN_CALLS
            if batch.awaits_results:
                return START_FAILURE_IN_RESULTS
        return START_FAILURE

    @property
    def may_be_injected(self) -> bool:
        """Whether what looked like the turn's answer, or like a failure's message, may have been injected. In a trace
        it is known what is.
        """
        if self._known is not None:
            return False
        if not self.whole:
            return self.mistakable and self.place is FAILURE_SAID
        return self.place in (ANSWERED, FAILED, CALLING) and (self.batch is None or self.batch.place is DUE)

    def take_back(self) -> None:
        """Another message begins: if what looked like the turn's answer may have been injected, then it was."""
        if (self.whole or self.mistakable) and self.may_be_injected:
            self.place = TURN
            self.answer = self.batch = None
            self._dismiss()

    def orphan(self, call_id: Any, symbol: str) -> bool:
        """Whether a call of a failed run may have said this; then that is noted."""
        found = next((each for each in self.orphans if each.id == call_id), None)
        if found is None:
            return False
        transition = _LIFE[found.life, symbol]
        self.docket.take(transition, str(call_id))
        if symbol is CALL_END:
            self.orphans.remove(found)
        return True

    def inherit(self, call_id: Any) -> None:
        """A call goes on that was left open before the log began: by the open run, if that was too, or by another."""
        of_this_run = self.place is not NO_RUN and not self.complete
        self.orphans.append(Orphan(call_id, LEFT if of_this_run else DEAD))

    def doubt_answer(self, place: str) -> None:
        """There are calls that the turn's answer does not have: everything that they do is taken as it comes."""
        self._doubt_turn()
        self.answer = None
        self.place = place
        self.batch = Batch(self.docket, [], vague=True)

    def update(self, event: Object | None) -> None:
        """The open answer has changed."""
        if event is None:
            return
        message = event.get("message")
        told = event.get("assistantMessageEvent")
        if not isinstance(message, dict) or not isinstance(told, dict) or message.get("role") != "assistant":
            self.docket.breaks("MSG-03", "an update without an answer and its event")
            return
        if content.is_unknown(told.get("type")):
            self.docket.breaks("STREAM-09", "an update of a provider event that is unknown")
        elif "partial" not in told:
            if self._known is not None:
                self.docket.holds("MSG-04")
        elif told["partial"] == message:
            self.docket.holds("MSG-04")
        else:
            self.docket.breaks("MSG-04", "an update whose message is not its event's partial")
        self.message = message
        self.whole = False

    # --- what the symbols do ----------------------------------------------------------------------------------

    def _begin_run(self, event: Object | None) -> None:
        self.runs += 1
        self.said = array("q")
        self._turn_at = 0
        self.complete = event is not None
        self._dismiss()
        self._leave_turn()
        self._closing = None
        self._bury()

    def _end_run(self, event: Object | None) -> None:
        self._leave_turn()
        self._go_on()
        self._bury()
        if event is not None:
            self._settle_doubt(event.get("messages"))
            self._check_agent_end(event.get("messages"))

    def _bury(self) -> None:
        for each in self.orphans:
            each.life = DEAD

    def _leave_turn(self) -> None:
        if self.batch is not None and self.batch.closing is not None:
            self._closing = self.batch.closing
        self.answer, self.batch, self.message, self.saying = None, None, None, None
        self.results, self.all_results, self.in_order = [], True, True
        self.whole, self.starts = False, 0

    def _begin_turn(self, _event: Object | None) -> None:
        self._leave_turn()
        self._turn_at = len(self.said)

    def _end_turn(self, event: Object | None) -> None:
        if event is not None:
            if self.answer is not None and self._known is not None and self._known.doubts(self.answer):
                self.answer = None
                self._doubt_turn()
            results = self.results if self.all_results and self.in_order else None
            if not self.in_order:
                self._doubt_turn()
            if not content.check_turn_end(self.docket, event, self.answer, results):
                self._doubt_turn()
            if self.answer is not None and self._known is not None and self._known.failing:
                if is_failed(self.answer) and calls_of(self.answer):
                    self.docket.holds("FAIL-38")
            if self.answer is not None and self.failure is None:
                content.check_answer(self.docket, self.answer, self.partial)
        self._leave_turn()

    def _doubt_turn(self) -> None:
        """Of two that differ, one is wrong: what the turn has said is compared with nothing more."""
        for at in range(self._turn_at, len(self.said)):
            self.said[at] = BLANK

    def _go_on(self) -> None:
        """The run goes on, or ends well: it was not being closed for a failure."""
        closing, self._closing = self._closing, None
        if closing is not None and closing.unless_failed is not None:
            what = f"{closing.symbol} ({closing.source}) in a run that does not fail"
            self.docket.breaks(closing.unless_failed, what)

    def _fail(self) -> None:
        """The run fails: as far as it was closed for that, it was right."""
        closing, self._closing = self._closing, None
        if closing is not None and closing.unless_failed is not None:
            what = f"{closing.symbol} ({closing.source})"
            self.docket.tells(closing.clause, closing.instead or closing.unless_failed, what)

    def _open(self, event: Object | None) -> None:
        self.message = None if event is None else message_of(event)

    def _open_injected(self, event: Object | None) -> None:
        self._go_on()
        self._open(event)

    def _open_answer(self, event: Object | None) -> None:
        self._go_on()
        self.whole, self.starts = True, self.starts + 1
        self._open(event)

    def _start_again(self, event: Object | None) -> bool:
        """The open answer starts once more: that is the provider's doing, and each answer has it once. What starts then
        has the shape of an answer all the same.
        """
        if event is not None and not isinstance(message_of(event).get("content"), list):
            self.docket.breaks("MSG-01", "a second start of an answer, of which the content is no list")
            return True
        if self._known is not None and self.starts >= self._known.starts:
            self.docket.breaks("STREAM-08", "a second start of an answer, which its stream has not given")
            return True
        return self.starts > 1 or self.docket.take(_AGAIN)

    def _open_failure(self, event: Object | None) -> None:
        self._leave_calls()
        self._leave_turn()
        self._fail()
        self._open(event)
        self.failed = True
        if self.message is not None and not self.mistakable:
            content.check_failure(self.docket, self.message)

    def _leave_calls(self) -> None:
        if self.batch is not None:
            self.orphans.extend(Orphan(call.id) for call in self.batch.open_calls())

    def _close(self, event: Object | None) -> Object | None:
        """A message ends; the message, if it was seen."""
        message = None if event is None else message_of(event)
        self.said.append(BLANK if message is None else digest(message))
        self.message = None
        return message

    def _end_as_begun(self, event: Object | None) -> Object | None:
        begun = self.message
        message = self._close(event)
        if begun is not None and message is not None:
            if alike(begun, message):
                self.docket.holds("MSG-02")
            else:
                self.docket.breaks("MSG-02", "message_end with another message than its message_start")
                self.said[-1] = BLANK
                return None
        return message

    def _end_injected(self, event: Object | None) -> None:
        self._end_as_begun(event)

    def _end_answer(self, event: Object | None) -> None:
        self.partial = None if self.whole else self.message
        self.starts = 0
        self.answer = self._close(event)

    def _end_calls(self, event: Object | None) -> None:
        self._end_answer(event)
        blocks = [] if self.answer is None else calls_of(self.answer)
        truncated = self.answer is not None and self.answer.get("stopReason") == "length"
        self.batch = Batch(self.docket, blocks, truncated=truncated, vague=not blocks)

    def _end_result(self, event: Object | None) -> None:
        message = self._end_as_begun(event)
        self.results.append(message)
        if self.saying is not None and message is not None:
            content.check_result(self.docket, self.saying, message)
        if self.saying is not None:
            self.saying.end = None
        self.saying = None

    def _end_failure(self, event: Object | None) -> None:
        self.failure = self.answer = self._end_as_begun(event)

    def _check_agent_end(self, messages: Any) -> None:
        if not isinstance(messages, list):
            self.docket.breaks("RUN-05", "agent_end without messages")
            return
        clause = "RUN-06" if self.failed else "RUN-05"
        if self._tells_all(messages):
            self.docket.holds(clause)
        elif self.failed and len(messages) == 1 and self._tells_failure(messages[0]):
            self.docket.as_pi("RUN-06", "D-03", "agent_end with the failure's message only")
        else:
            self.docket.breaks(
                clause,
                "agent_end with other messages than were said",
                f"it has {len(messages)}, and {len(self.said)} were said",
            )

    def _tells_failure(self, message: Any) -> bool:
        """Whether it is the failure that was said, as far as that was seen."""
        return self.failure is None or digest(message) == digest(self.failure)

    def _tells_all(self, messages: list[Any]) -> bool:
        said = self.said
        if not self.complete and len(messages) > len(said):
            messages = messages[len(messages) - len(said) :]
        return len(messages) == len(said) and all(
            same(digest(each), known) for each, known in zip(messages, said, strict=True)
        )


_EFFECTS: Final = {
    AGENT_START: Progress._begin_run,
    AGENT_END: Progress._end_run,
    TURN_START: Progress._begin_turn,
    TURN_END: Progress._end_turn,
    START_INJECTED: Progress._open_injected,
    START_ANSWER: Progress._open_answer,
    UPDATE: Progress.update,
    START_RESULT: Progress._open,
    START_FAILURE: Progress._open_failure,
    START_FAILURE_IN_CALLS: Progress._open_failure,
    START_FAILURE_IN_RESULTS: Progress._open_failure,
    END_INJECTED: Progress._end_injected,
    END_ANSWER: Progress._end_answer,
    END_CALLS: Progress._end_calls,
    END_FAILED: Progress._end_answer,
    END_RESULT: Progress._end_result,
    END_FAILURE: Progress._end_failure,
}
