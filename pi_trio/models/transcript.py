"""System messages: the prompt and the tools as a part of the transcript (releases 1.0.3 and later).

A transcript *declares* tools: each system message may add and remove some, and replaying all of them gives the tools
that the model may call. The prompt is replayed in the same way: contents are joined, sections are patched by name.

Here is how a transcript is made of a prompt and tools beside it, how it is replayed, and what an API gets that takes
system messages at the beginning only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, cast

import attrs

from ..jsontext import print_json
from ..jsonvalue import ABSENT
from ..messages import Content, Message, SystemMessage, TextContent, ToolDeclaration, ToolRemoval
from .dialect import Dialect
from .stream import ModelContext

ToolSupport: TypeAlias = Literal["none", "additions", "changes"]
"""What an API takes in the middle of a conversation: no tools, more tools, or any change of them."""


def initial_system_message(prompt: str | None, tools: Sequence[ToolDeclaration]) -> SystemMessage | None:
    """The message that a transcript begins with: prompt and tools; None if there is neither."""
    if not prompt and not tools:
        return None
    return SystemMessage(content=prompt or "", tools_added=tuple(tools) or None, timestamp=0)


def normalise_context(context: ModelContext) -> ModelContext:
    """The same context with prompt and tools in a system message, before all others.

    A system message that leads already stays, as the second one.
    """
    leading = initial_system_message(context.system_prompt, context.tools or ())
    if leading is None and context.system_prompt is None and context.tools is None:
        return context
    return ModelContext(messages=context.messages if leading is None else (leading, *context.messages))


def leading_system_message(messages: Sequence[Message]) -> SystemMessage | None:
    """The system message that the transcript begins with, if it does."""
    first = messages[0] if messages else None
    return first if isinstance(first, SystemMessage) else None


def without_leading_system_message(messages: Sequence[Message]) -> Sequence[Message]:
    """The transcript of an API that takes the prompt beside it."""
    return messages[1:] if leading_system_message(messages) else messages


def current_tools(messages: Iterable[Message]) -> dict[str, ToolDeclaration]:
    """The declared tools, by name, after replaying `messages` in order.

    Within a message removals come first. A redefined tool keeps its place; one that was removed and added
    again moves to the end.
    """
    tools: dict[str, ToolDeclaration] = {}
    for message in system_messages(messages):
        for removal in message.tools_removed or ():
            tools.pop(removal.name, None)
        for declaration in message.tools_added or ():
            tools[declaration.name] = declaration
    return tools


def system_messages(messages: Iterable[Message]) -> list[SystemMessage]:
    """The system messages of a transcript, in order."""
    # By role and not by class: a transcript is long, and this is asked in every turn.
    return cast("list[SystemMessage]", [message for message in messages if message.role == "system"])


def current_system_message(messages: Iterable[Message]) -> SystemMessage | None:
    """All system messages replayed into one: contents joined, sections patched by name, tools as they stand now."""
    system = system_messages(messages)
    if not system:
        return None
    texts = [text for message in system if (text := text_lines(message.content))]
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
    return "" if message is None else system_text(message)


def system_text(message: SystemMessage) -> str:
    """A system message as a whole prompt: its content, then its sections, joined by blank lines."""
    parts = (text_lines(message.content), *(message.sections or {}).values())
    return "\n\n".join(part for part in parts if part)


def system_update_text(message: SystemMessage) -> str:
    """A later system message as an API gets it that takes them anywhere: what it changes of the sections is named."""
    parts = [text] if (text := text_lines(message.content)) else []
    for name, value in (message.sections or {}).items():
        if value is None:
            parts.append(f'Removed system prompt section "{name}".')
        else:
            parts.append(f'Updated system prompt section "{name}":\n\n{value}')
    return "\n\n".join(parts)


def collapse_system_messages(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The transcript with all its system messages replayed into a leading one."""
    leading = current_system_message(messages)
    rest = tuple(message for message in messages if message.role != "system")
    return rest if leading is None else (leading, *rest)


@attrs.frozen
class PlacedTools:
    """Where the declarations of a transcript go.

    `request_tools` stand in the request beside the messages: what the first `folded` system messages declare. The
    others declare theirs where they stand.
    """

    request_tools: tuple[ToolDeclaration, ...]
    folded: int


def place_tools(messages: Sequence[Message], support: ToolSupport, dialect: Dialect) -> PlacedTools:
    """Which declarations stand in the request, and which where the transcript makes them.

    An API that takes additions only cannot be told of a removal, or of another definition: of a transcript with
    one, all its tools stand in the request (1.0.3), or those up to the last one (1.6.0). One that takes all
    changes (1.6.0) has none in the request, since it could not replace them there.
    """
    system = system_messages(messages)
    if support == "changes":
        return PlacedTools((), 0)
    folded = len(system)
    if support == "additions":
        leading = 1 if leading_system_message(messages) else 0
        change = _last_change(system)
        if dialect.tools_folded == "up_to_change" or change < 0:
            folded = max(leading, change + 1)
    return PlacedTools(tuple(current_tools(system[:folded]).values()), folded)


def _last_change(system: Sequence[SystemMessage]) -> int:
    """The last system message that does more than adding tools, by its index; -1 for none.

    A name that was ever declared counts as declared, also when it was removed since.
    """
    declared: set[str] = set()
    last = -1
    for index, message in enumerate(system):
        added = [tool.name for tool in message.tools_added or ()]
        if message.tools_removed or len({*added}) < len(added) or not declared.isdisjoint(added):
            last = index
        declared.update(added)
    return last


def tool_changes(
    declared: Iterable[ToolDeclaration], wanted: Iterable[ToolDeclaration]
) -> tuple[tuple[ToolDeclaration, ...], tuple[ToolRemoval, ...]]:
    """What to add and to remove so that the tools of `declared` become those of `wanted`; a changed one is in both."""
    wanted = list(wanted)
    before = {tool.name: tool for tool in declared}
    after = {tool.name: tool for tool in wanted}
    added = tuple(
        tool for tool in wanted if (old := before.get(tool.name)) is None or not _same_interface(old, tool)
    )
    removed = tuple(
        ToolRemoval(name=name)
        for name, old in before.items()
        if (new := after.get(name)) is None or not _same_interface(old, new)
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


def text_lines(content: str | Sequence[Content]) -> str:
    """What a content says in text: its text blocks, each on a line of its own."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, TextContent))
