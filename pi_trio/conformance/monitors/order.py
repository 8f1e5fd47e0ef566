"""The order of events: every rule about what may follow what, as tables, in this one place.

Nothing here knows who is judged, in which language it is written, or how it came to do what it did. There is a
sequence of events; at each point of it some events may come next, and each of them may come because of a clause of
the spec, which the table names.

**Two machines.** A run is serial but for its tool calls. So one machine, the *line*, holds what is serial: the run,
its turns, and the messages in a turn. Its places nest like the events do: `NO_RUN` outside any run; `BEGUN` behind
`agent_start`; then, for each turn, `TURN` (messages are injected), `ANSWERING` (the answer is open), and what its end
decides: `ANSWERED` (nothing to call), `FAILED` (stop reason error or aborted), or `CALLING`. `turn_end` leads to
`BETWEEN`, behind a failed answer to `LAST`, and `agent_end` back to `NO_RUN`.

The other machine, the *batch*, lives while the line is at `CALLING`, and follows the calls of one answer. Nobody
says whether a batch is parallel or sequential, so the machine finds out: a second start without a result before it is
parallel (`PREPARING`, and `LAUNCHED` once a call has done more than be refused), a result before the second start is
sequential (`ONE_OPEN`, `ONE_ENDED`, `ONE_ANSWERED`). A batch that was cut short looks like either.

Under the batch each call has its own little life: `WAITING`, `OPEN`, `CALL_ENDED`, `CALL_ANSWERED`.

**Coupling.** An event may mean different things: a `message_start` injects a message, opens the answer, says a result,
or tells a failure; an end may be that of the call that was started last, or of another. What it means, its *symbol*,
is decided by what it holds and by what is open; the tables are in terms of symbols. The batch is entered by
"message_end answer with calls", and left by "turn_end". A result's message goes through the line (`RESULT`), its order
through the batch. One thing shows only later: a message that was injected may look like an answer, if it was said
whole; when another message begins behind it, then it was injected, and the line is back at `TURN`. Likewise a failed
answer may look like a failure's message, which shows when the real one is told.

**Failure.** When something in a run fails, a release says four events, whatever is open: the failure message's start
and end, `turn_end`, `agent_end` (`FAILURE_OPEN` … `FAILURE_TURN`). Where a turn is open and has no answer yet they
nest, and are simply allowed. Everywhere else they break a clause that a ruling has made, and so do the events of tools
that run on, a second `agent_end`, and a second start of one answer. Such transitions *breach* a clause: an
implementation may do as the release does, so they are taken like any other, and are reported as what they are. And
where the runtime closes what is open before it tells the failure, it does what no run does that goes well. Whether
this is such a closing shows only when the failure is told, or something else is (`unless_failed`).

**Releases.** A clause may be in force in some releases only. A transition under such a clause tells those releases from
the others, and is not there at all where none of the releases in question has it; `instead` is the clause that holds
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs


@attrs.frozen(eq=False)
class Transition:
    """What may come next at a place, and why."""

    machine: str
    source: str
    symbol: str
    target: str
    clause: str
    """The clause that allows it; of a breach, the clause that it breaks."""
    breach: str | None = None
    """The ruling that Pi's releases do not keep here."""
    instead: str | None = None
    """The clause that holds where `clause` is not in force."""
    unless_failed: str | None = None
    """Only the closing of a failed run does it: the clause that is broken if no failure is told behind it."""

    @property
    def name(self) -> str:
        return f"{self.machine}: {self.source} – {self.symbol}"


# --- places ---------------------------------------------------------------------------------------------------

NO_RUN: Final = "no run"
BEGUN: Final = "run begun"
TURN: Final = "turn begun"
SAYING: Final = "message open"
ANSWERING: Final = "answer open"
ANSWERED: Final = "answered"
FAILED: Final = "answer failed"
CALLING: Final = "calls"
RESULT: Final = "result open"
BETWEEN: Final = "turn ended"
LAST: Final = "last turn ended"
FAILURE_DUE: Final = "failure's turn begun"
FAILURE_OPEN: Final = "failure open"
FAILURE_SAID: Final = "failure said"
FAILURE_TURN: Final = "failure's turn ended"

FAILING: Final = (FAILURE_OPEN, FAILURE_SAID, FAILURE_TURN)
LINE: Final = (
    NO_RUN, BEGUN, TURN, SAYING, ANSWERING, ANSWERED, FAILED, CALLING, RESULT, BETWEEN, LAST, FAILURE_DUE, *FAILING,
)  # fmt: skip

DUE: Final = "none started"
FIRST: Final = "first started"
FIRST_RUNS: Final = "first runs"
FIRST_ENDED: Final = "first ended"
PREPARING: Final = "preparing"
LAUNCHED: Final = "launched"
RESULTS: Final = "results"
ONE_OPEN: Final = "one started"
ONE_ENDED: Final = "one ended"
ONE_ANSWERED: Final = "one answered"

BATCH: Final = (
    DUE, FIRST, FIRST_RUNS, FIRST_ENDED, PREPARING, LAUNCHED, RESULTS, ONE_OPEN, ONE_ENDED, ONE_ANSWERED,
)  # fmt: skip

WAITING: Final = "waiting"
OPEN: Final = "open"
CALL_ENDED: Final = "ended"
CALL_ANSWERED: Final = "answered"
LEFT: Final = "left open"
"""Its run has failed, and tells of that."""
DEAD: Final = "left behind"
"""Its run is over."""

CALL: Final = (WAITING, OPEN, CALL_ENDED, CALL_ANSWERED, LEFT, DEAD)

#: Where nothing but listeners can be waited for, so that whoever has no listener that waits goes on at once. Everywhere
#: else the provider, a tool or a hook may be what holds the run up.
GOES_ON: Final = frozenset({BEGUN, SAYING, RESULT, LAST, FAILURE_DUE, *FAILING})

# --- symbols --------------------------------------------------------------------------------------------------

AGENT_START: Final = "agent_start"
AGENT_END: Final = "agent_end"
TURN_START: Final = "turn_start"
TURN_END: Final = "turn_end"
START_INJECTED: Final = "message_start"
END_INJECTED: Final = "message_end"
START_ANSWER: Final = "message_start of the answer"
UPDATE: Final = "message_update"
END_ANSWER: Final = "message_end of the answer"
END_CALLS: Final = "message_end of an answer with calls"
END_FAILED: Final = "message_end of a failed answer"
START_RESULT: Final = "message_start of a result"
END_RESULT: Final = "message_end of a result"
START_FAILURE: Final = "message_start of a failure"
START_FAILURE_IN_CALLS: Final = "message_start of a failure, calls open"
START_FAILURE_IN_RESULTS: Final = "message_start of a failure, results due"
END_FAILURE: Final = "message_end of a failure"

CALL_START: Final = "tool_execution_start"
CALL_UPDATE: Final = "tool_execution_update"
CALL_END: Final = "tool_execution_end"
END_LATEST: Final = "tool_execution_end of the call started last"
END_OTHER: Final = "tool_execution_end of another call"
SAY_RESULT: Final = "result"
CLOSE: Final = "turn_end, all calls answered"
CLOSE_CUT: Final = "turn_end, calls not reached"
CLOSE_NONE: Final = "turn_end, no call reached"


def _table(machine: str, rows: Iterable[tuple[object, ...]]) -> Iterator[Transition]:
    for row in rows:
        yield Transition(machine, *row)  # type: ignore[arg-type]


# --- the line: run, turns, messages ---------------------------------------------------------------------------

_LINE: Final = (
    (NO_RUN, AGENT_START, BEGUN, "RUN-01"),
    (BEGUN, TURN_START, TURN, "TURN-01"),
    (TURN, START_INJECTED, SAYING, "TURN-03"),
    (SAYING, END_INJECTED, TURN, "MSG-01"),
    (TURN, START_ANSWER, ANSWERING, "TURN-02"),
    (ANSWERING, UPDATE, ANSWERING, "MSG-03"),
    (ANSWERING, END_ANSWER, ANSWERED, "MSG-01"),
    (ANSWERING, END_CALLS, CALLING, "MSG-01"),
    (ANSWERING, END_FAILED, FAILED, "MSG-01"),
    (ANSWERED, TURN_END, BETWEEN, "TURN-04"),
    (FAILED, TURN_END, LAST, "TURN-06"),
    (CALLING, START_RESULT, RESULT, "TURN-03"),
    (RESULT, END_RESULT, CALLING, "MSG-01"),
    (CALLING, TURN_END, BETWEEN, "TURN-05"),
    (BETWEEN, TURN_START, TURN, "TURN-01"),
    (BETWEEN, AGENT_END, NO_RUN, "RUN-02"),
    (LAST, AGENT_END, NO_RUN, "RUN-02"),
)

_FAILURE: Final = (
    (TURN, START_FAILURE, FAILURE_OPEN, "FAIL-08"),
    (LAST, TURN_START, FAILURE_DUE, "FAIL-25"),
    (FAILURE_DUE, START_FAILURE, FAILURE_OPEN, "FAIL-25"),
    (FAILURE_OPEN, END_FAILURE, FAILURE_SAID, "FAIL-08"),
    (FAILURE_SAID, TURN_END, FAILURE_TURN, "FAIL-08"),
    (FAILURE_TURN, AGENT_END, NO_RUN, "FAIL-08"),
    # What only the releases do.
    (BEGUN, START_FAILURE, FAILURE_OPEN, "FAIL-25", "D-02"),
    (SAYING, START_FAILURE, FAILURE_OPEN, "FAIL-17", "D-02"),
    (ANSWERING, START_FAILURE, FAILURE_OPEN, "FAIL-18", "D-02"),
    (ANSWERED, START_FAILURE, FAILURE_OPEN, "FAIL-24", "D-02"),
    (FAILED, START_FAILURE, FAILURE_OPEN, "FAIL-24", "D-02"),
    (CALLING, START_FAILURE_IN_CALLS, FAILURE_OPEN, "FAIL-19", "D-02"),
    (CALLING, START_FAILURE_IN_RESULTS, FAILURE_OPEN, "FAIL-23", "D-02"),
    (CALLING, START_FAILURE, FAILURE_OPEN, "FAIL-24", "D-02"),
    (RESULT, START_FAILURE, FAILURE_OPEN, "FAIL-17", "D-02"),
    (BETWEEN, START_FAILURE, FAILURE_OPEN, "FAIL-25", "D-02"),
    (LAST, START_FAILURE, FAILURE_OPEN, "FAIL-25", "D-02"),
    (NO_RUN, START_FAILURE, FAILURE_OPEN, "RUN-03", "D-03"),
    (ANSWERING, START_ANSWER, ANSWERING, "STREAM-08", "D-06"),
    (FAILURE_OPEN, AGENT_START, BEGUN, "FAIL-31", "D-04"),
    (FAILURE_SAID, AGENT_START, BEGUN, "FAIL-31", "D-04"),
    (FAILURE_TURN, AGENT_START, BEGUN, "FAIL-31", "D-04"),
)

# --- the batch: the calls of one answer -----------------------------------------------------------------------

_BATCH: Final = (
    (DUE, CALL_START, FIRST, "TOOL-01"),
    (DUE, CLOSE_NONE, DUE, "FAIL-22", None, "FAIL-21", "TOOL-01"),
    (FIRST, CALL_UPDATE, FIRST_RUNS, "TOOL-04"),
    (FIRST, END_LATEST, FIRST_ENDED, "TOOL-03"),
    (FIRST, CALL_START, PREPARING, "TOOL-07"),
    (FIRST_RUNS, CALL_UPDATE, FIRST_RUNS, "TOOL-04"),
    (FIRST_RUNS, END_LATEST, ONE_ENDED, "TOOL-03"),
    (FIRST_ENDED, CALL_START, PREPARING, "TOOL-08"),
    (FIRST_ENDED, SAY_RESULT, ONE_ANSWERED, "TOOL-06"),
    # In parallel: all are prepared, then all run, then all are answered.
    (PREPARING, CALL_START, PREPARING, "TOOL-07"),
    (PREPARING, END_LATEST, PREPARING, "TOOL-08"),
    (PREPARING, CALL_UPDATE, LAUNCHED, "TOOL-04"),
    (PREPARING, END_OTHER, LAUNCHED, "TOOL-10"),
    (PREPARING, SAY_RESULT, RESULTS, "TOOL-05"),
    (LAUNCHED, CALL_UPDATE, LAUNCHED, "TOOL-04"),
    (LAUNCHED, END_LATEST, LAUNCHED, "TOOL-10"),
    (LAUNCHED, END_OTHER, LAUNCHED, "TOOL-10"),
    (LAUNCHED, CALL_START, LAUNCHED, "FAIL-21", None, "TOOL-07", "TOOL-07"),
    (LAUNCHED, SAY_RESULT, RESULTS, "TOOL-05"),
    (RESULTS, SAY_RESULT, RESULTS, "TOOL-05"),
    (RESULTS, CLOSE, RESULTS, "TURN-05"),
    (RESULTS, CLOSE_CUT, RESULTS, "ABORT-11", None, "ABORT-10"),
    # In sequence: one after the other, each closed whole.
    (ONE_OPEN, CALL_UPDATE, ONE_OPEN, "TOOL-04"),
    (ONE_OPEN, END_LATEST, ONE_ENDED, "TOOL-03"),
    (ONE_ENDED, SAY_RESULT, ONE_ANSWERED, "TOOL-06"),
    (ONE_ANSWERED, CALL_START, ONE_OPEN, "TOOL-06"),
    (ONE_ANSWERED, CLOSE, ONE_ANSWERED, "TURN-05"),
    (ONE_ANSWERED, CLOSE_CUT, ONE_ANSWERED, "ABORT-11", None, "ABORT-10"),
)

_CALL: Final = (
    (WAITING, CALL_START, OPEN, "TOOL-01"),
    (OPEN, CALL_UPDATE, OPEN, "TOOL-04"),
    (OPEN, CALL_END, CALL_ENDED, "TOOL-03"),
    (CALL_ENDED, SAY_RESULT, CALL_ANSWERED, "TOOL-05"),
    # What only the releases do: a call of a run that has failed goes on, into the failure and beyond.
    (LEFT, CALL_UPDATE, LEFT, "FAIL-13", "D-01"),
    (LEFT, CALL_END, CALL_ENDED, "FAIL-13", "D-01"),
    (DEAD, CALL_UPDATE, DEAD, "RUN-04", "D-01"),
    (DEAD, CALL_END, CALL_ENDED, "RUN-04", "D-01"),
)

TABLES: Final[dict[str, dict[tuple[str, str], Transition]]] = {
    machine: {(each.source, each.symbol): each for each in _table(machine, rows)}
    for machine, rows in (("line", (*_LINE, *_FAILURE)), ("batch", _BATCH), ("call", _CALL))
}

TRANSITIONS: Final[dict[str, Transition]] = {
    each.name: each for table in TABLES.values() for each in table.values()
}
"""Every transition, by its name."""
