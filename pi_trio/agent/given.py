"""What the user may give where messages are expected (a text, a message, or several), and where tools are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..messages import Content, ImageContent, Message, TextContent, UserMessage
from ..timestamps import now
from ..tools.tool import Tool

#: What `prompt` takes: a text, a message, or several.
PromptInput: TypeAlias = str | Message | Iterable[str | Message]


def prompt_of(given: PromptInput, images: Iterable[ImageContent] = ()) -> list[Message]:
    """The messages that a run is asked with.

    Raises:
        TypeError: something in there is no message or no image, or images come with a message, which has them in its
            content.
    """
    images = tuple(images)
    for image in images:
        if not isinstance(image, ImageContent):
            raise TypeError(f"an ImageContent was expected, not {type(image).__name__}")
    if isinstance(given, str):
        return [message_of(given, images)]
    if images:
        raise TypeError("images go with a text; a message has them in its content")
    return messages_of([given] if isinstance(given, Message) else given)


def message_of(given: str | Message, images: tuple[ImageContent, ...] = ()) -> Message:
    """A message, or the user's message of a text.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(given, str):
        content: tuple[Content, ...] = (TextContent(text=given), *images)
        return UserMessage(content=content, timestamp=now())
    if not isinstance(given, Message):
        raise TypeError(f"a message was expected, or a text, not {type(given).__name__}")
    return given


def messages_of(given: Iterable[str | Message]) -> list[Message]:
    """Messages, each of which may be the user's text.

    Raises:
        TypeError: something in there is neither, or it is one text, or the JSON of a message.
    """
    if isinstance(given, Mapping):
        raise TypeError("a message was expected, or a text, not its JSON: UserMessage(content=...), say")
    if isinstance(given, str):
        raise TypeError("several messages were expected, not a text")
    return [message_of(message) for message in given]


def tools_of(given: Iterable[Tool]) -> tuple[Tool, ...]:
    """Tools, and nothing else.

    Raises:
        TypeError: something in there is none.
    """
    tools = tuple(given)
    for tool in tools:
        if not isinstance(tool, Tool):
            raise TypeError(f"a Tool was expected, not {tool!r}: is @tool missing?")
    return tools
