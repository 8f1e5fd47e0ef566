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

UNPROVEN: Final[Mapping[str, str]] = {}
"""By the id of a clause, why no mutant of the catalogue has it named."""
