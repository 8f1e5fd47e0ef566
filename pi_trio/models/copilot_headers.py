"""What GitHub Copilot wants to know of a request, whatever API it is made by."""

from __future__ import annotations

from collections.abc import Sequence

from ..messages import ImageContent, Message, ToolResultMessage, UserMessage
from .request_options import Headers


def copilot_headers(messages: Sequence[Message]) -> Headers:
    """Who has begun the request, the user or the agent, and whether there is anything to see."""
    by_agent = bool(messages) and not isinstance(messages[-1], UserMessage)
    headers = {"X-Initiator": "agent" if by_agent else "user", "Openai-Intent": "conversation-edits"}
    return {**headers, "Copilot-Vision-Request": "true"} if any(map(_has_image, messages)) else headers


def _has_image(message: Message) -> bool:
    if not isinstance(message, (UserMessage, ToolResultMessage)):
        return False
    content = message.content
    return isinstance(content, tuple) and any(isinstance(block, ImageContent) for block in content)
