"""The transcript as messages of the Messages API.

All results of a turn stand in one message of the user. System messages in the middle, where a model takes them, wait
until the next response: nothing may stand between a call and its result. The last block of the user is where the
conversation is cached up to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from ...jsonvalue import JSON, Absent
from ...messages import (
    AssistantMessage,
    Content,
    ImageContent,
    Message,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
)
from ..dialect import Dialect
from ..transcript import system_update_text
from ..transform import images_replaced, is_blank, without_lone_surrogates
from .naming import sent_name

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
_ERROR_IMAGE_PLACEHOLDER: Final = "(image attached after the tool results)"
_CACHED: Final = frozenset({"text", "image", "tool_result", "tool_addition", "tool_removal"})

#: A message, or a block, of the API.
_Object = dict[str, Any]


@attrs.frozen(kw_only=True)
class Conversation:
    """How a transcript is written.

    Attributes:
        dialect: decides where updates and images stand.
        oauth: tools go by the names of Claude Code.
        empty_signature: thinking without a signature stays thinking.
        declare: declares tools in the middle of the conversation; None where that cannot be.
        referred: the tools that results refer to, by name (0.85.0).
    """

    dialect: Dialect
    oauth: bool = False
    empty_signature: bool = False
    declare: Callable[[Sequence[ToolDeclaration]], Iterable[JSON]] | None = None
    referred: frozenset[str] = frozenset()

    def written(self, messages: Sequence[Message]) -> tuple[list[_Object], dict[int, AssistantMessage]]:
        """The messages, and the responses among them by their places."""
        written: list[_Object] = []
        responses: dict[int, AssistantMessage] = {}
        updates: list[_Object] = []
        results: list[ToolResultMessage] = []
        referred: set[str] = set()

        def tell(waiting: list[_Object]) -> None:
            written.extend(waiting)
            waiting.clear()

        def answer() -> None:
            if results:
                written.append({"role": "user", "content": self._results(results, referred)})
                results.clear()

        for message in messages:
            if isinstance(message, ToolResultMessage):
                results.append(message)
                continue
            answer()
            if isinstance(message, SystemMessage):
                if blocks := self._update(message):
                    updates.append({"role": "system", "content": blocks})
            elif isinstance(message, UserMessage):
                if content := _said(message):
                    written.append({"role": "user", "content": content})
            elif isinstance(message, AssistantMessage):
                blocks = [block for each in message.content if (block := self._block(each)) is not None]
                if blocks or self.dialect.anthropic_updates_before == "response":
                    tell(updates)
                if blocks:
                    responses[len(written)] = message
                    written.append({"role": "assistant", "content": blocks})
        answer()
        tell(updates)
        return written, responses

    def _update(self, message: SystemMessage) -> list[_Object]:
        """What a system message changes."""
        blocks: list[_Object] = []
        if text := system_update_text(message):
            blocks.append({"type": "text", "text": without_lone_surrogates(text)})
        if self.declare is not None:
            added = message.tools_added or ()
            again = {tool.name for tool in added}
            for tool in message.tools_removed or ():
                if tool.name not in again:
                    reference = {"type": "tool_reference", "name": sent_name(tool.name, self.oauth)}
                    blocks.append({"type": "tool_removal", "tool": reference})
            for definition in self.declare(added):
                tool_ = {"type": "tool_definition", "definition": definition}
                blocks.append({"type": "tool_addition", "tool": tool_})
        return blocks

    def _block(self, block: Content) -> _Object | None:
        """A block of a response; None if there is nothing in it."""
        match block:
            case TextContent():
                return None if is_blank(block.text) else _text(block.text)
            case ThinkingContent():
                return self._thinking(block)
            case ToolCall():
                name = sent_name(block.name, self.oauth)
                arguments = {} if block.arguments is None else block.arguments
                return {"type": "tool_use", "id": block.id, "name": name, "input": arguments}
            case _:
                return None

    def _thinking(self, block: ThinkingContent) -> _Object | None:
        signature = block.thinking_signature
        if block.redacted:
            data = {} if signature is None else {"data": signature}
            return {"type": "redacted_thinking", **data}
        if signature is None or is_blank(signature):
            if is_blank(block.thinking):
                return None
            if not self.empty_signature:
                return _text(block.thinking)
            signature = ""
        thinking = without_lone_surrogates(block.thinking)
        return {"type": "thinking", "thinking": thinking, "signature": signature}

    def _results(self, results: Iterable[ToolResultMessage], referred: set[str]) -> list[_Object]:
        """The results of a turn, and behind them what cannot stand in them."""
        written: list[_Object] = []
        behind: list[_Object] = []
        for result in results:
            content = () if isinstance(result.content, Absent) else result.content
            references = self._references(result, referred)
            images = [block for block in content if isinstance(block, ImageContent)]
            told: JSON
            if references:
                said = _contents(content)
                behind += [{"type": "text", "text": said}] if isinstance(said, str) else said
                told = references
            elif images and result.is_error and self.dialect.anthropic_error_images == "behind":
                told = _contents(images_replaced(content, _ERROR_IMAGE_PLACEHOLDER))
                caption = (
                    f"Images from the error result of tool call {result.tool_call_id} ({result.tool_name}):"
                )
                behind += [{"type": "text", "text": caption}, *map(_image, images)]
            else:
                told = _contents(content)
            written.append(
                {
                    "type": "tool_result",
                    "tool_use_id": result.tool_call_id,
                    "content": told,
                    "is_error": result.is_error,
                }
            )
        return [*written, *behind]

    def _references(self, result: ToolResultMessage, referred: set[str]) -> list[_Object]:
        """References to the tools that a result has brought; each tool is referred to once."""
        references: list[_Object] = []
        for name in result.added_tool_names or ():
            sent = sent_name(name, self.oauth)
            if sent in self.referred and sent not in referred:
                referred.add(sent)
                references.append({"type": "tool_reference", "tool_name": sent})
        return references


def cached_up_to_here(messages: list[_Object], cache_control: Mapping[str, JSON]) -> None:
    """Mark the last block, unless the last message is the model's."""
    if not messages or messages[-1]["role"] == "assistant":
        return
    last = messages[-1]
    if isinstance(last["content"], str):
        last["content"] = [{"type": "text", "text": last["content"]}]
    block: _Object = last["content"][-1]
    if block["type"] in _CACHED:
        block["cache_control"] = dict(cache_control)


def with_efforts(
    messages: Sequence[_Object], responses: Mapping[int, AssistantMessage], provider: str, effort: str
) -> list[_Object]:
    """The messages with the effort of each response before it, and that of this request at the end."""
    told: list[_Object] = []
    for index, message in enumerate(messages):
        before = responses.get(index)
        if (
            before is not None
            and before.api == "anthropic-messages"
            and before.provider == provider
            and before.provider_thinking_level in EFFORTS
        ):
            told.append(_effort(before.provider_thinking_level))
        told.append(message)
    return [*told, _effort(effort)]


def _effort(effort: str | None) -> _Object:
    return {"role": "system", "content": [], "output_config": {"effort": effort}}


def _said(message: UserMessage) -> str | list[_Object]:
    """What the user says; nothing if it is blank."""
    if isinstance(message.content, str):
        return "" if is_blank(message.content) else without_lone_surrogates(message.content)
    return [
        block
        for block in map(_block, message.content)
        if block is not None and (block["type"] != "text" or not is_blank(block["text"]))
    ]


def _contents(content: Sequence[Content]) -> str | list[_Object]:
    """The content of a result: one text, if there are no images."""
    if not any(isinstance(block, ImageContent) for block in content):
        texts = [block.text for block in content if isinstance(block, TextContent)]
        return without_lone_surrogates("\n".join(texts))
    blocks = _blocks(content)
    if not any(block["type"] == "text" for block in blocks):
        blocks.insert(0, {"type": "text", "text": "(see attached image)"})
    return blocks


def _blocks(content: Iterable[Content]) -> list[_Object]:
    return [block for block in map(_block, content) if block is not None]


def _block(block: Content) -> _Object | None:
    """A text or an image; nothing else is said by a user, or by a tool."""
    if isinstance(block, TextContent):
        return _text(block.text)
    return _image(block) if isinstance(block, ImageContent) else None


def _text(text: str) -> _Object:
    return {"type": "text", "text": without_lone_surrogates(text)}


def _image(image: ImageContent) -> _Object:
    source = {"type": "base64", "media_type": image.mime_type, "data": image.data}
    return {"type": "image", "source": source}
