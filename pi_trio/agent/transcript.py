"""System messages: the prompt and the tools as a part of the transcript (releases 1.0.3 and later).

A transcript *declares* tools: each system message may add and remove some, and replaying all of them gives
the tools that the model may call. What can really run is a list of `Tool` objects beside it. Before messages
are said, the two are compared, and the difference is announced on a system message, so that replay always
gives what can run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import attrs

from ..jsontext import print_json
from ..jsonvalue import ABSENT
from ..messages import Content, Message, SystemMessage, TextContent, ToolDeclaration, ToolRemoval
from ..timestamps import now


def initial_system_message(prompt: str | None, tools: Sequence[ToolDeclaration]) -> SystemMessage | None:
    """The message that a transcript begins with: prompt and tools; None if there is neither."""
    if not prompt and not tools:
        return None
    return SystemMessage(content=prompt or "", tools_added=tuple(tools) or None, timestamp=0)


def current_tools(messages: Iterable[Message]) -> dict[str, ToolDeclaration]:
    """The declared tools, by name, after replaying `messages` in order.

    Within a message removals come first. A redefined tool keeps its place; one that was removed and added
    again moves to the end.
    """
    tools: dict[str, ToolDeclaration] = {}
    for message in _system_messages(messages):
        for removal in message.tools_removed or ():
            tools.pop(removal.name, None)
        for declaration in message.tools_added or ():
            tools[declaration.name] = declaration
    return tools


def _system_messages(messages: Iterable[Message]) -> list[SystemMessage]:
    # By role and not by class: a transcript is long, and this is asked in every turn.
    return cast("list[SystemMessage]", [message for message in messages if message.role == "system"])


def current_system_message(messages: Iterable[Message]) -> SystemMessage | None:
    """All system messages replayed into one: contents joined, sections patched by name, tools as they stand now."""
    system = _system_messages(messages)
    if not system:
        return None
    texts = [text for message in system if (text := _text(message.content))]
    sections: dict[str, str | None] = {}
    for message in system:
        for name, value in (message.sections or {}).items():
            if value is None:
                sections.pop(name, None)
            else:
                sections[name] = value
    return SystemMessage(
        content="\n\n".join(texts),
        sections=sections or None,
        tools_added=tuple(current_tools(system).values()) or None,
        timestamp=system[0].timestamp,
    )


def current_system_prompt(messages: Iterable[Message]) -> str:
    """The prompt that the transcript gives now: the replayed content, then the sections, joined by blank lines."""
    message = current_system_message(messages)
    if message is None:
        return ""
    sections = (message.sections or {}).values()
    parts = [_text(message.content), *(text for text in sections if isinstance(text, str))]
    return "\n\n".join(part for part in parts if part)


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
        added, removed = _difference(current_tools((*said, *pending)), executable)
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
    added, removed = _difference(current_tools(baseline), executable)
    if added or removed or original.tools_added or original.tools_removed:
        pairs[carrier] = (
            attrs.evolve(bare, tools_added=added or None, tools_removed=removed or None),
            original,
        )
    return pairs


def _difference(
    declared: dict[str, ToolDeclaration], executable: Iterable[ToolDeclaration]
) -> tuple[tuple[ToolDeclaration, ...], tuple[ToolRemoval, ...]]:
    """What to add and to remove so that `declared` becomes `executable`; a changed tool is in both."""
    wanted = list(executable)
    by_name = {tool.name: tool for tool in wanted}
    added = tuple(
        tool for tool in wanted if (old := declared.get(tool.name)) is None or not _same_interface(old, tool)
    )
    removed = tuple(
        ToolRemoval(name=name)
        for name, old in declared.items()
        if (new := by_name.get(name)) is None or not _same_interface(old, new)
    )
    return added, removed


def _same_interface(one: ToolDeclaration, other: ToolDeclaration) -> bool:
    """Whether two declarations say the same. As a rule they are of one tool, and need not be printed for that."""
    return (
        one.parameters is other.parameters
        and one.constrained_sampling is other.constrained_sampling
        and one.name == other.name
        and one.description == other.description
    ) or _interface(one) == _interface(other)


def _interface(tool: ToolDeclaration) -> str:
    """A declaration as text, for comparing: key order in the parameters counts, unknown fields do not."""
    known = [tool.name, tool.description, tool.parameters]
    if tool.constrained_sampling is not ABSENT:
        known.append(tool.constrained_sampling)
    return print_json(known)


def _text(content: str | Sequence[Content]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextContent))
