"""Announcing: what the transcript declares, and what can really run (releases 1.0.3 and later).

The tools of a transcript are those that its system messages declare (`models/transcript.py`). What can really run is
a list of `Tool` objects beside it. Before messages are said, the two are compared, and the difference is announced on
a system message, so that replay always gives what can run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from ..messages import Message, SystemMessage, ToolDeclaration
from ..models.transcript import current_tools, tool_changes
from ..timestamps import now


def announce_tool_changes(
    said: Iterable[Message], executable: Iterable[ToolDeclaration], pending: Sequence[Message]
) -> list[tuple[Message, Message | None]]:
    """The pending messages with the difference between declared and executable tools written into them.

    Args:
        said: the transcript so far.
        executable: the declarations of the tools that can run.
        pending: the messages about to be said.

    Returns:
        Pairs (message to say, message of `pending` that it stands for). The second is None for a message that
        exists only to announce: it comes before the first pending message that is not a system message, or at
        the end.

    The last pending system message carries the difference, in place of whatever tool fields it had.
    """
    pairs: list[tuple[Message, Message | None]] = [(message, message) for message in pending]
    carrier = next((i for i in reversed(range(len(pending))) if isinstance(pending[i], SystemMessage)), None)
    if carrier is None:
        added, removed = tool_changes(current_tools((*said, *pending)).values(), executable)
        if added or removed:
            announcement = SystemMessage(
                content="", tools_added=added or None, tools_removed=removed or None, timestamp=now()
            )
            place = next(
                (i for i, message in enumerate(pending) if not isinstance(message, SystemMessage)),
                len(pending),
            )
            pairs.insert(place, (announcement, None))
        return pairs
    original = pending[carrier]
    assert isinstance(original, SystemMessage)
    bare = attrs.evolve(original, tools_added=None, tools_removed=None)
    baseline = (*said, *pending[:carrier], bare, *pending[carrier + 1 :])
    added, removed = tool_changes(current_tools(baseline).values(), executable)
    if added or removed or original.tools_added or original.tools_removed:
        pairs[carrier] = (
            attrs.evolve(bare, tools_added=added or None, tools_removed=removed or None),
            original,
        )
    return pairs
