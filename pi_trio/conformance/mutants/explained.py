"""What survives, and why; and which clauses nobody has been seen to break.

Each entry is looked at anew in every run: one that is killed after all has to go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SURVIVORS: Final[Mapping[str, str]] = {
    "stop_hook of 0.80.2 as 0.85.0": "An Agent of 0.80.2 has no option for the hook, so no tester can give it one.",
    "peek_queued_messages of 1.6.0 as 0.85.0": "The field says what is offered, and changes nothing of what is done.",
}
"""By the name of a mutant, why it is not killed."""

TABLES: Final[Mapping[str, str]] = {
    "line: answer open – message_update": "There are so many updates that the monitor takes this transition itself.",
    "line: answered – message_start of a failure": "Only the log of one listener has it, which misses an event.",
    "line: failure open – agent_start": "Only the log of a listener that has failed has it.",
    "line: failure said – agent_start": "Only the log of a listener that has failed has it.",
    "line: failure's turn ended – agent_start": "Only the log of a listener that has failed has it.",
}
"""The same of transitions that are left out."""

UNPROVEN: Final[Mapping[str, str]] = {
    "RUN-33": "It says that the other clauses hold of the loop alone too, so what differs there is one of them.",
    "TURN-20": "Who does not call what a good answer asks for breaks TOOL-01 or TURN-07, which say so of every answer.",
    "TURN-21": "Who ends a run because of its turns leaves results without an answer, which is TURN-07.",
    "TURN-22": "It is QUEUE-02 and QUEUE-06, seen from the batch: they say that what is queued is polled.",
    "STREAM-09": "What is told of an unknown event is something that the stream does not have, which is STREAM-03.",
    "STREAM-18": "Who reads another end gives another answer than the provider has, which is STREAM-05.",
    "QUEUE-17": "A message that is said otherwise than it was queued is one that was not polled, which is QUEUE-02.",
    "ABORT-17": "An answer that counts as aborted is another one (STREAM-05), or leaves a queue unpolled (QUEUE-06).",
    "FAIL-29": "A message that is not ended is FAIL-17, and what the state shows of it is STATE-07.",
    "FAIL-38": "It is TURN-06 for the answer that a failure has cut: none of its calls starts.",
    "STATE-08": "What changes too late in the state is named by the clause that it is about, STATE-02 to STATE-07.",
}
"""By the id of a clause, why no mutant of the catalogue has it named."""
