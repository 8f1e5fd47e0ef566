"""A transcript as the messages of the Chat Completions API."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import attrs

from ...jsontext import print_json
from ...jsonvalue import JSON
from ...messages import (
    AssistantMessage,
    Content,
    ImageContent,
    Message,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
)
from ...tools.js_value import adopt, utf16_length
from ..constrained_sampling import grammar_text
from ..dialect import Dialect
from ..short_hash import short_hash
from ..transcript import system_text, system_update_text, text_lines
from ..transform import is_blank, transform, without_lone_surrogates
from .compat import Compat
from .reasoning_details import encrypted_detail, signed_details
from .tools import tool_items

Item: TypeAlias = dict[str, Any]

#: The fields in which endpoints give readable reasoning, and take it back.
REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text")

_BRIDGE: Final = "I have processed the tool results."
_IMAGES_FOLLOW: Final = "(see attached image)"
_NO_OUTPUT: Final = "(no tool output)"
_IMAGES_OF_RESULTS: Final = "Attached image(s) from tool result:"

_LONGEST_ID: Final = 40
_LONGEST_HASH: Final = 8
_NOT_IN_ID: Final = re.compile("[^a-zA-Z0-9_-]")


def called_field(model: Model, field: str | None) -> str | None:
    """The field of readable reasoning as the model's provider wants it back."""
    return "reasoning_content" if model.provider == "opencode-go" and field == "reasoning" else field


@attrs.frozen(kw_only=True)
class MessageRules:
    """How a transcript is written for a model.

    Attributes:
        grammar_parameters: of the tools with a grammar, by name: the parameter that has the text.
        prompt: what comes first, where the release has no system messages.
        folded: so many system messages have their tools in the request; later ones declare them in their place.
        late_tools: tools that are declared behind the results that name them, by name.
    """

    model: Model
    compat: Compat
    dialect: Dialect
    grammar_parameters: Mapping[str, str]
    prompt: str | None = None
    folded: int
    late_tools: Mapping[str, ToolDeclaration]

    @property
    def instructing(self) -> str:
        """The role of instructions."""
        return "developer" if self.model.reasoning and self.compat.supports_developer_role else "system"


def message_items(messages: Sequence[Message], rules: MessageRules) -> list[Item]:
    """The messages of a request.

    Raises:
        ResponseFailedError: something cannot be said to this endpoint.
    """
    return _Writer(rules).written(messages)


class _Writer:
    def __init__(self, rules: MessageRules) -> None:
        self._rules = rules
        self._items: list[Item] = []
        self._after_result = False  # the last that has spoken is a tool
        self._system_messages = 0

    def written(self, messages: Sequence[Message]) -> list[Item]:
        rules = self._rules
        if rules.prompt:
            self._say(rules.instructing, without_lone_surrogates(rules.prompt))
        sent = transform(messages, rules.model, rules.dialect, self._call_id)
        at = 0
        while at < len(sent):
            message = sent[at]
            if isinstance(message, ToolResultMessage):
                results = [message]
                while at + 1 < len(sent) and isinstance(following := sent[at + 1], ToolResultMessage):
                    results.append(following)
                    at += 1
                self._results(results)
            else:
                self._bridge(message)
                if self._write(message, first=at == 0):
                    self._after_result = False
            at += 1
        return self._items

    def _say(self, role: str, content: JSON) -> None:
        self._items.append({"role": role, "content": content})

    def _bridge(self, message: Message) -> None:
        """Have the assistant speak between a result and the user, where the endpoint wants that."""
        wanted = self._rules.compat.requires_assistant_after_tool_result
        if wanted and self._after_result and isinstance(message, UserMessage):
            self._say("assistant", _BRIDGE)

    def _write(self, message: Message, *, first: bool) -> bool:
        """Write a message that is no result; false if it says nothing."""
        match message:
            case SystemMessage():
                self._system(message, first=first)
            case UserMessage():
                content = self._user_content(message)
                if content == []:
                    return False
                self._say("user", content)
            case AssistantMessage():
                item = self._assistant(message)
                if not item["content"] and "tool_calls" not in item:
                    return False  # an aborted response that has said nothing, for one
                self._items.append(item)
            case _:
                pass
        return True

    def _system(self, message: SystemMessage, *, first: bool) -> None:
        rules = self._rules
        self._system_messages += 1
        if self._system_messages > rules.folded and message.tools_added:
            self._declare(message.tools_added)
        text = system_text(message) if first else system_update_text(message)
        if text:
            self._say(rules.instructing, without_lone_surrogates(text))

    def _declare(self, tools: Iterable[ToolDeclaration]) -> None:
        """Bring tools in the middle of the conversation, in the way of Kimi."""
        rules = self._rules
        self._items.append({"role": "system", "tools": tool_items(tools, rules.compat, rules.dialect)})

    def _user_content(self, message: UserMessage) -> str | list[JSON]:
        if isinstance(message.content, str):
            return without_lone_surrogates(message.content)
        parts: list[JSON] = []
        for block in message.content:
            if isinstance(block, ImageContent):
                parts.append(_image(block))
            elif isinstance(block, TextContent) and (
                block.text or self._rules.dialect.chat_empty_parts == "sent"
            ):
                parts.append({"type": "text", "text": without_lone_surrogates(block.text)})
        return parts

    # --- responses ------------------------------------------------------------------------------------------

    def _assistant(self, message: AssistantMessage) -> Item:
        rules, compat = self._rules, self._rules.compat
        not_null = compat.requires_assistant_after_tool_result or compat.requires_non_null_assistant_content
        item: Item = {"role": "assistant", "content": "" if not_null else None}
        texts = [
            without_lone_surrogates(block.text)
            for block in message.content
            if isinstance(block, TextContent) and not is_blank(block.text)
        ]
        thinking = [block for block in message.content if isinstance(block, ThinkingContent)]
        calls = [block for block in message.content if isinstance(block, ToolCall)]
        readable = [block for block in thinking if not is_blank(block.thinking)]
        details = _details_of(thinking, calls)
        if readable and compat.requires_thinking_as_text:
            thought = "\n\n".join(without_lone_surrogates(block.thinking) for block in readable)
            item["content"] = [{"type": "text", "text": text} for text in (thought, *texts)]
        else:
            # One text: where it is an array, some models answer with arrays.
            item["content"] = "".join(texts) or item["content"]
            if readable and details is None:
                field = called_field(rules.model, readable[0].thinking_signature)
                if field in REASONING_FIELDS:
                    item[field] = "\n".join(block.thinking for block in readable)
        if calls:
            item["tool_calls"] = [self._call(call) for call in calls]
        if details is not None:
            item["reasoning_details"] = details
        if compat.requires_reasoning_content_on_assistant_messages and rules.model.reasoning:
            item.setdefault("reasoning_content", "")
        return item

    def _call(self, call: ToolCall) -> Item:
        parameter = self._rules.grammar_parameters.get(call.name)
        if parameter is not None:
            text = without_lone_surrogates(grammar_text(call.name, call.arguments, parameter))
            return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": text}}
        arguments = print_json(adopt(call.arguments))
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}

    def _call_id(self, call_id: str, _message: AssistantMessage) -> str:
        """The id of another model's call. Those of the Responses API are two, of which the second may be very long."""
        if "|" in call_id:
            call, item = (_NOT_IN_ID.sub(_underscores, part) for part in call_id.split("|", 1))
            both = f"{call}_{item}" if item else call
            if len(both) <= _LONGEST_ID:
                return both
            hashed = short_hash(call_id)[:_LONGEST_HASH]
            return f"{call[: max(1, _LONGEST_ID - len(hashed) - 1)]}_{hashed}"
        return call_id[:_LONGEST_ID] if self._rules.model.provider == "openai" else call_id

    # --- results --------------------------------------------------------------------------------------------

    def _results(self, results: Sequence[ToolResultMessage]) -> None:
        """Results that follow each other. Their images come behind them, as if the user had sent them."""
        rules, compat = self._rules, self._rules.compat
        images: list[JSON] = []
        names: dict[str, None] = {}
        for result in results:
            content = cast("tuple[Content, ...]", result.content)
            seen = [block for block in content if isinstance(block, ImageContent)]
            item: Item = {
                "role": "tool",
                "content": without_lone_surrogates(self._output(text_lines(content), bool(seen))),
                "tool_call_id": result.tool_call_id,
            }
            if compat.requires_tool_result_name and result.tool_name:
                item["name"] = result.tool_name
            self._items.append(item)
            images.extend(map(_image, seen))
            names.update(dict.fromkeys(result.added_tool_names or ()))
        self._after_result = not images
        if images:
            if compat.requires_assistant_after_tool_result:
                self._say("assistant", _BRIDGE)
            self._say("user", [{"type": "text", "text": _IMAGES_OF_RESULTS}, *images])
        late = [rules.late_tools[name] for name in names if name in rules.late_tools]
        if late:
            self._declare(late)

    def _output(self, text: str, has_images: bool) -> str:
        if is_blank(text) if self._rules.dialect.chat_blank_output else not text:
            return _IMAGES_FOLLOW if has_images else _NO_OUTPUT
        return text


def _details_of(thinking: Sequence[ThinkingContent], calls: Sequence[ToolCall]) -> list[JSON] | None:
    """The reasoning details that a response has kept: in its thinking, or (older ones) in its calls."""
    for block in thinking:
        details = signed_details(block.thinking_signature)
        if details is not None:
            return details
    return [detail for call in calls if (detail := encrypted_detail(call.thought_signature))] or None


def _underscores(found: re.Match[str]) -> str:
    """One for each UTF-16 unit: others compute the same ids."""
    return "_" * utf16_length(found[0])


def _image(block: ImageContent) -> JSON:
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}
