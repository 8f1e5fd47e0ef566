"""What may come next, from the tables: the strict grammar, without what only the releases do."""

from __future__ import annotations

from typing import Final

from .batch import Batch
from .finding import Allowed
from .order import (
    CALL_END,
    CALL_ENDED,
    CALL_START,
    CALL_UPDATE,
    CALLING,
    DUE,
    GOES_ON,
    SAY_RESULT,
    START_ANSWER,
    START_INJECTED,
    START_RESULT,
    TABLES,
    TURN,
    TURN_END,
    Transition,
)
from .progress import Progress

_LINE: Final = TABLES["line"]
_BATCH: Final = TABLES["batch"]
_FROM: Final[dict[str, list[Transition]]] = {}
_ANYTHING: Final = {
    CALL_START: "TOOL-01", CALL_UPDATE: "TOOL-04", CALL_END: "TOOL-03", START_RESULT: "TOOL-05", TURN_END: "TURN-05",
}  # fmt: skip
"""What may come where the answer was not seen."""

for _each in _LINE.values():
    if _each.breach is None:
        _FROM.setdefault(_each.source, []).append(_each)

_BEHIND_INJECTED: Final = {
    each.symbol: each.clause for each in _FROM[TURN] if each.symbol in (START_INJECTED, START_ANSWER)
}


def allowed_at(progress: Progress) -> Allowed:
    """What may come next, and whether nothing may."""
    events: dict[str, str] = {}
    if progress.place is CALLING and progress.batch is not None:
        events.update(_in_batch(progress.batch))
    else:
        for each in _FROM[progress.place]:
            if progress.docket.admits(each):
                events[each.symbol] = each.clause
    given = _BEHIND_INJECTED if progress.may_be_injected else {}
    return Allowed(events, progress.place not in GOES_ON and not _is_due(progress), given)


def _is_due(progress: Progress) -> bool:
    """Whether the first call of a batch is to be started."""
    batch = progress.batch
    return progress.place is CALLING and batch is not None and batch.place is DUE and not batch.vague


def _in_batch(batch: Batch) -> dict[str, str]:
    if batch.vague:
        return dict(_ANYTHING)
    events: dict[str, str] = {}

    def add(symbol: str, words: str) -> None:
        if batch.may(symbol):
            events[words] = _BATCH[batch.place, symbol].clause

    start, result = batch.next_start, batch.next_result
    if start is not None:
        add(CALL_START, f"{CALL_START} {start.id}")
    for call in batch.open_calls():
        add(CALL_UPDATE, f"{CALL_UPDATE} {call.id}")
        add(batch.end_symbol(call), f"tool_execution_end {call.id}")
    if result is not None and result.life is CALL_ENDED and not batch.open:
        add(SAY_RESULT, f"{START_RESULT} {result.id}")
    closing = batch.close_symbol()
    if closing is not None:
        add(closing, TURN_END)
    return events


def place_in_words(progress: Progress) -> str:
    """Where a log is."""
    if progress.place is CALLING and progress.batch is not None:
        batch = progress.batch
        return f"{len(batch.calls)} calls: {batch.open} open, {batch.answered} answered ({batch.place})"
    return progress.place
