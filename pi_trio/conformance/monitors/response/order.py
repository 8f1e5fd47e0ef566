"""The order of the events of a response: every rule about what may follow what, as two tables.

**The response.** It is `UNBEGUN` until its `start`, `BEGUN` until its end, and `OVER` behind it. Setting out on a
request may fail before there is an answer: then `error` is all there is. In a log the next response begins where one
is over, so `OVER` allows what `UNBEGUN` does; but nothing else, for it would belong to a response that has ended.

**The blocks.** Each block has a life of its own, and several may be open at once: a provider may write two calls in
turns. It is `FUTURE` until its start, which gives it the next free number, `OPEN` while pieces come, and `CLOSED`
behind its end. A response that fails leaves blocks open, and one that is cut off by a provider without a word may do
so too; nothing says that an open block is ended before its response is.

Behind its end no start is of that block: its number is given to another one, which is a fault of the number.

**What the tables leave out.** Which clause is broken by an event that is not allowed follows from the place: the table
has an entry for each of these too (`Refusal`). And where it leads: a monitor goes on as if what was left out had
been said, so one fault is one finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

# --- places ---------------------------------------------------------------------------------------------------

UNBEGUN: Final = "no response"
BEGUN: Final = "response begun"
OVER: Final = "response over"

FUTURE: Final = "block not begun"
OPEN: Final = "block open"
CLOSED: Final = "block ended"

# --- symbols --------------------------------------------------------------------------------------------------

START: Final = "start"
DONE: Final = "done"
ERROR: Final = "error"
BLOCK: Final = "an event of a block"

BLOCK_START: Final = "start of a block"
PIECE: Final = "piece of a block"
BLOCK_END: Final = "end of a block"
OTHER_KIND: Final = "event of another kind of block"

_PHASES: Final = {"start": BLOCK_START, "delta": PIECE, "end": BLOCK_END}
KINDS: Final = {"text": "text", "thinking": "thinking", "toolcall": "toolCall"}
"""What a block is called in the names of events, and what as part of a message."""

BLOCK_EVENTS: Final[Mapping[str, tuple[str, str]]] = {
    f"{name}_{phase}": (kind, symbol) for name, kind in KINDS.items() for phase, symbol in _PHASES.items()
}
"""The events of blocks: of which kind the block is, and what happens to it."""

STREAM_EVENTS: Final = frozenset({START, DONE, ERROR, *BLOCK_EVENTS})

# --- tables ---------------------------------------------------------------------------------------------------


@attrs.frozen
class Step:
    """What may come at a place: where it leads, and the clause that allows it."""

    target: str
    clause: str


@attrs.frozen
class Refusal:
    """What may not come at a place: where it leads all the same, the clause that it breaks, and what that is."""

    target: str
    clause: str
    what: str


RESPONSE: Final[dict[tuple[str, str], Step]] = {
    (UNBEGUN, START): Step(BEGUN, "MODEL-01"),
    (UNBEGUN, ERROR): Step(OVER, "MODEL-24"),
    (BEGUN, BLOCK): Step(BEGUN, "MODEL-06"),
    (BEGUN, DONE): Step(OVER, "MODEL-02"),
    (BEGUN, ERROR): Step(OVER, "MODEL-02"),
    (OVER, START): Step(BEGUN, "MODEL-01"),
    (OVER, ERROR): Step(OVER, "MODEL-24"),
}

NO_RESPONSE: Final[dict[tuple[str, str], Refusal]] = {
    (UNBEGUN, BLOCK): Refusal(BEGUN, "MODEL-01", "a block without a start of the response"),
    (UNBEGUN, DONE): Refusal(OVER, "MODEL-01", "done without a start of the response"),
    (BEGUN, START): Refusal(BEGUN, "MODEL-01", "a second start"),
    (OVER, BLOCK): Refusal(OVER, "MODEL-02", "a block behind the end of the response"),
    (OVER, DONE): Refusal(OVER, "MODEL-02", "done behind the end of the response"),
}

BLOCKS: Final[dict[tuple[str, str], Step]] = {
    (FUTURE, BLOCK_START): Step(OPEN, "MODEL-05"),
    (OPEN, PIECE): Step(OPEN, "MODEL-06"),
    (OPEN, BLOCK_END): Step(CLOSED, "MODEL-07"),
}

NO_BLOCK: Final[dict[tuple[str, str], Refusal]] = {
    (FUTURE, PIECE): Refusal(OPEN, "MODEL-06", "a piece of a block that has not begun"),
    (FUTURE, BLOCK_END): Refusal(CLOSED, "MODEL-06", "the end of a block that has not begun"),
    (FUTURE, OTHER_KIND): Refusal(OPEN, "MODEL-06", "an event of a block that has not begun"),
    (OPEN, BLOCK_START): Refusal(OPEN, "MODEL-05", "a second start of a block"),
    (OPEN, OTHER_KIND): Refusal(OPEN, "MODEL-06", "an event of another kind than the block"),
    (CLOSED, PIECE): Refusal(CLOSED, "MODEL-07", "a piece behind the end of its block"),
    (CLOSED, BLOCK_END): Refusal(CLOSED, "MODEL-07", "a second end of a block"),
    (CLOSED, OTHER_KIND): Refusal(CLOSED, "MODEL-07", "an event of a block that has ended"),
}

JUDGED: Final = frozenset({
    "MODEL-01", "MODEL-02", "MODEL-03", "MODEL-04", "MODEL-05", "MODEL-06", "MODEL-07", "MODEL-08", "MODEL-09",
    "MODEL-10", "MODEL-13", "MODEL-17", "MODEL-18",
})  # fmt: skip
"""The clauses that are named where they are broken; all others show in no event, but in what was asked and answered."""
