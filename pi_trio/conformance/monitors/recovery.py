"""The tables by which `refusal` explains an event that has no transition where it comes, and whose clause is broken.

There are three explanations. Something that should have come before is *missing*: then that is supplied, without what
it would have held, and the event is judged again. Or the event is taken at its word, and *resets* the line. Or it is
one *too many*, and nothing has happened but the finding.
"""

from __future__ import annotations

from typing import Final

from .order import (
    AGENT_END,
    AGENT_START,
    ANSWERED,
    ANSWERING,
    BEGUN,
    BETWEEN,
    CALL_END,
    CALL_START,
    CALL_UPDATE,
    CALLING,
    END_ANSWER,
    END_CALLS,
    END_FAILED,
    END_FAILURE,
    END_INJECTED,
    END_RESULT,
    FAILED,
    FAILING,
    FAILURE_DUE,
    FAILURE_OPEN,
    FAILURE_SAID,
    LAST,
    LINE,
    NO_RUN,
    RESULT,
    SAYING,
    START_ANSWER,
    START_FAILURE,
    START_INJECTED,
    START_RESULT,
    TURN,
    TURN_END,
    TURN_START,
    UPDATE,
)

STARTS: Final = (START_INJECTED, START_ANSWER, START_RESULT, START_FAILURE)
ENDS: Final = (END_INJECTED, END_ANSWER, END_CALLS, END_FAILED, END_RESULT, END_FAILURE)
CALLS: Final = (CALL_START, CALL_UPDATE, CALL_END)
_STARTS_BUT_OF_FAILURES: Final = (START_INJECTED, START_ANSWER, START_RESULT)
_IN_A_RUN: Final = tuple(place for place in LINE if place != NO_RUN)

MISSING: Final[dict[tuple[str, str], tuple[str, str]]] = {}
"""(place, symbol) → (what is missing before it, the clause that is broken)."""

RESETS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    **{(place, AGENT_START): (BEGUN, "RUN-02") for place in _IN_A_RUN if place != BEGUN},
    **{(place, TURN_START): (TURN, "FAIL-08") for place in FAILING},
    (SAYING, UPDATE): (ANSWERING, "MSG-03"),
    (FAILURE_DUE, START_INJECTED): (SAYING, "TURN-06"),
    (FAILURE_DUE, START_ANSWER): (ANSWERING, "TURN-06"),
    (FAILURE_DUE, START_RESULT): (SAYING, "TURN-06"),
    (FAILURE_DUE, TURN_END): (BETWEEN, "TURN-06"),
    (FAILURE_DUE, AGENT_END): (NO_RUN, "RUN-02"),
    (BEGUN, AGENT_END): (NO_RUN, "RUN-02"),
    (TURN, AGENT_END): (NO_RUN, "RUN-02"),
}
"""(place, symbol) → (where it leads, the clause that is broken): the event is taken at its word."""

TOO_MANY: Final[dict[str, str]] = {
    AGENT_START: "RUN-01", AGENT_END: "RUN-03", TURN_START: "TURN-01", TURN_END: "TURN-01", UPDATE: "MSG-03",
    **dict.fromkeys(_STARTS_BUT_OF_FAILURES, "TURN-03"), START_FAILURE: "FAIL-08", **dict.fromkeys(ENDS, "MSG-01"),
    CALL_START: "TOOL-01", CALL_UPDATE: "TOOL-04", CALL_END: "TOOL-03",
}  # fmt: skip
"""The clause that is broken by an event that nothing explains."""

TWICE: Final[dict[str, str]] = {
    "agent_start": "RUN-02", "agent_end": "RUN-03", "turn_start": "TURN-01", "turn_end": "TURN-01",
    "message_start": "MSG-01", "message_end": "MSG-01", "message_update": "MSG-03",
    "tool_execution_start": "TOOL-01", "tool_execution_end": "TOOL-03", "tool_execution_update": "TOOL-04",
}  # fmt: skip
"""The clause that is broken by an event that only repeats the last one."""

MIDWAY: Final[dict[str, str]] = {
    AGENT_START: NO_RUN, AGENT_END: BETWEEN, TURN_START: BETWEEN, TURN_END: CALLING, START_INJECTED: TURN,
    END_INJECTED: SAYING, START_ANSWER: TURN, UPDATE: ANSWERING, END_ANSWER: ANSWERING, END_CALLS: ANSWERING,
    END_FAILED: ANSWERING, START_RESULT: CALLING, END_RESULT: RESULT, START_FAILURE: TURN,
}  # fmt: skip
"""Where a log is that begins with a symbol, before it."""


def _missing(places: tuple[str, ...], symbols: tuple[str, ...], supplied: str, clause: str) -> None:
    for place in places:
        for symbol in symbols:
            MISSING.setdefault((place, symbol), (supplied, clause))


_missing((NO_RUN,), (TURN_START, *_STARTS_BUT_OF_FAILURES), AGENT_START, "RUN-01")
_missing((BEGUN, BETWEEN), (*_STARTS_BUT_OF_FAILURES, *ENDS, UPDATE), TURN_START, "TURN-01")
_missing((BEGUN,), (TURN_END,), TURN_START, "TURN-01")
_missing((LAST,), _STARTS_BUT_OF_FAILURES, TURN_START, "TURN-06")
# A message that was never started.
_missing((TURN,), (UPDATE, END_ANSWER, END_CALLS, END_FAILED), START_ANSWER, "MSG-01")
_missing((TURN,), (END_INJECTED, END_RESULT), START_INJECTED, "MSG-01")
_missing((TURN,), (END_FAILURE,), START_FAILURE, "MSG-01")
_missing((CALLING,), (END_RESULT,), START_RESULT, "MSG-01")
# A message that was never ended.
_missing((SAYING,), (*_STARTS_BUT_OF_FAILURES, *ENDS, TURN_END, AGENT_END), END_INJECTED, "MSG-01")
_missing((ANSWERING,), (*CALLS, START_RESULT, END_RESULT), END_CALLS, "MSG-01")
_missing((ANSWERING,), (START_INJECTED, END_INJECTED, TURN_START, TURN_END, AGENT_END), END_ANSWER, "MSG-01")
_missing(
    (RESULT,),
    (*_STARTS_BUT_OF_FAILURES, *ENDS, *CALLS, TURN_START, TURN_END, AGENT_END),
    END_RESULT,
    "MSG-01",
)
_missing((FAILURE_OPEN,), (TURN_END, AGENT_END), END_FAILURE, "MSG-01")
# A turn that was never ended, or has no answer.
_missing((TURN,), (TURN_END,), START_ANSWER, "TURN-02")
_missing((ANSWERED, CALLING), (TURN_START,), TURN_END, "TURN-01")
_missing((FAILED,), (TURN_START,), TURN_END, "TURN-06")
_missing((ANSWERED, CALLING, FAILED), (AGENT_END,), TURN_END, "RUN-02")
_missing((ANSWERED,), (START_INJECTED,), TURN_END, "TURN-03")
_missing((ANSWERED, CALLING), (START_ANSWER,), TURN_END, "TURN-02")
_missing((FAILED,), (START_INJECTED, START_ANSWER), TURN_END, "TURN-06")
_missing((FAILURE_SAID,), (AGENT_END,), TURN_END, "FAIL-08")
