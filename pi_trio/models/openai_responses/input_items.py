"""The transcript as the input of a Responses request: a list of items.

Each block of a response is an item, as the API has told it: reasoning as the whole item that its signature holds, text
as a message with the item's id, a call as a function call or, for tools with a grammar, a custom one. Tools that come
in the middle of the conversation stand where they came, if the model takes that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import attrs

from ...errors import CodecError
from ...jsontext import parse_json, print_json
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
from ..constrained_sampling import grammar_text
from ..dialect import Dialect
from ..exchange import ResponseFailedError
from ..short_hash import short_hash
from ..transcript import place_tools, system_text, system_update_text
from ..transform import is_blank, transform, without_lone_surrogates
from .ids import item_id, message_id, normalised_call_id, parts_of, signed
from .tools import ToolRules, compat_value, tool_items

_SEEN_BELOW: Final = "(see attached image)"
_NO_OUTPUT: Final = "(no tool output)"
_MORE_TOOLS: Final = (
    "This is an incremental tools update. Previously declared tools remain available unless explicitly marked "
    "unavailable. A tool declared again here is available again, and its latest definition replaces the earlier one."
)
_FEWER_TOOLS: Final = "The following tools are no longer available. Do not call them:"


@attrs.frozen(kw_only=True)
class InputRules:
    """What of a transcript goes into the input, and how.

    Attributes:
        tools: how tools are declared.
        grammar_parameters: the tools with a grammar, by name, with the parameter that gets the text.
        prompt: the prompt is an item (it may stand beside the input).
        prompt_beside: the prompt of a release that has no system messages.
        late_tools: the tools that results bring, by name, in such a release.
        effort: the effort that is told in the input, from here on.
    """

    tools: ToolRules
    grammar_parameters: Mapping[str, str] = attrs.field(factory=dict)
    prompt: bool = True
    prompt_beside: str | None = None
    late_tools: Mapping[str, ToolDeclaration] = attrs.field(factory=dict)
    effort: str | None = None


def input_items(messages: Sequence[Message], model: Model, dialect: Dialect, rules: InputRules) -> list[JSON]:
    """The items of a transcript, whose system messages are in it only if the model takes them there.

    Raises:
        ResponseFailedError: something in it cannot be sent.
    """
    return _Input(messages, model, dialect, rules).items


class _Input:
    def __init__(
        self, messages: Sequence[Message], model: Model, dialect: Dialect, rules: InputRules
    ) -> None:
        self.items: list[JSON] = []
        self._model = model
        self._dialect = dialect
        self._rules = rules
        developer = model.reasoning and compat_value(model, "supportsDeveloperRole") is not False
        self._role = "developer" if developer else "system"
        self._folded = place_tools(messages, rules.tools.support, dialect).folded
        self._systems = 0
        self._declared = False
        self._removed: dict[str, None] = {}
        self._loaded: set[str] = set()
        self._index = 0  # of the message, in the ids of texts that have none
        if rules.prompt and rules.prompt_beside:
            self._instruct(rules.prompt_beside)
        ids = partial(normalised_call_id, model=model)
        for place, message in enumerate(transform(messages, model, dialect, ids)):
            leads = place == 0 and isinstance(message, SystemMessage)
            if self._write(message, leads) and not leads:
                self._index += 1
        if rules.effort is not None:
            self._effort(rules.effort)

    def _write(self, message: Message, leads: bool) -> bool:
        """Write a message. Gives whether it counts: one that has nothing to say does not."""
        match message:
            case SystemMessage():
                self._system(message, leads)
            case UserMessage():
                return self._user(message)
            case AssistantMessage():
                return self._response(message)
            case ToolResultMessage():
                self._result(message)
            case _:
                pass
        return True

    # --- instructions and tools -----------------------------------------------------------------------------

    def _instruct(self, text: str) -> None:
        if text:
            self.items.append({"role": self._role, "content": without_lone_surrogates(text)})

    def _effort(self, effort: str) -> None:
        self.items.append({"type": "configuration_update", "reasoning": {"effort": effort}})

    def _system(self, message: SystemMessage, leads: bool) -> None:
        anchored = self._systems >= self._folded
        self._systems += 1
        if anchored:
            self._add_tools(message.tools_added or (), f"system:{self._index}")
        if leads and not self._rules.prompt:
            return
        parts = [system_text(message) if leads else system_update_text(message)]
        if anchored and self._rules.tools.support == "changes":
            added = {tool.name for tool in message.tools_added or ()}
            removed = [tool.name for tool in message.tools_removed or () if tool.name not in added]
            if removed:
                parts.append("\n".join([_FEWER_TOOLS, *(f"- {name}" for name in removed)]))
            self._removed.update(dict.fromkeys(removed))
        self._instruct("\n\n".join(part for part in parts if part))

    def _add_tools(self, tools: Sequence[ToolDeclaration], seed: str) -> None:
        rules, dialect = self._rules.tools, self._dialect
        if not tools:
            return
        if rules.search:
            self._search(tools, seed)
            return
        if rules.support == "changes":
            for tool in tools:
                self._removed.pop(tool.name, None)
            if self._declared:
                gone = f"\nStill unavailable: {', '.join(self._removed)}." if self._removed else ""
                self.items.append({"role": self._role, "content": _MORE_TOOLS + gone})
            self._declared = True
        self.items.append(
            {"type": "additional_tools", "role": "developer", "tools": tool_items(tools, rules, dialect)}
        )

    def _search(self, tools: Sequence[ToolDeclaration], seed: str) -> None:
        """The tools as if the model had searched for them."""
        names = [tool.name for tool in tools]
        search: dict[str, JSON] = {
            "call_id": "pi_tool_load_" + short_hash(f"{seed}:{','.join(names)}"),
            "execution": "client",
            "status": "completed",
        }
        self.items += [
            {
                "type": "tool_search_call",
                **search,
                "arguments": {"query": " ".join(names), "limit": len(names)},
            },
            {
                "type": "tool_search_output",
                **search,
                "tools": tool_items(tools, self._rules.tools, self._dialect, found=True),
            },
        ]

    # --- the conversation -----------------------------------------------------------------------------------

    def _user(self, message: UserMessage) -> bool:
        blocks = (TextContent(text=message.content),) if isinstance(message.content, str) else message.content
        content: list[JSON] = [part for block in blocks if (part := _input_part(block)) is not None]
        if content:
            self.items.append({"role": "user", "content": content})
        return bool(content)

    def _response(self, message: AssistantMessage) -> bool:
        model = self._model
        same_api = (message.provider, message.api) == (model.provider, model.api)
        own = same_api and message.model == model.id
        texts = 0
        items: list[JSON] = []
        for block in message.content:
            if isinstance(block, ThinkingContent):
                if block.thinking_signature:
                    items.append(_reasoning(block.thinking_signature))
            elif isinstance(block, TextContent):
                fallback = f"msg_pi_{self._index}" + (f"_{texts}" if texts else "")
                texts += 1
                items.append(_message(block, fallback))
            elif isinstance(block, ToolCall):
                items.append(self._call(block, own, other_model=same_api and not own))
        if not items:
            return False
        if self._rules.effort is not None and own and message.provider_thinking_level is not None:
            self._effort(message.provider_thinking_level)
        self.items += items
        return True

    def _call(self, call: ToolCall, own: bool, other_model: bool) -> JSON:
        parameter = self._rules.grammar_parameters.get(call.name)
        item: dict[str, JSON] = {"type": "function_call" if parameter is None else "custom_tool_call"}
        id_ = self._item_id(call, parameter is not None, other_model)
        if id_ is not None:
            item["id"] = id_
        item["call_id"] = parts_of(call.id)[0]
        item["name"] = call.name
        if parameter is None:
            item["arguments"] = print_json(call.arguments)
        else:
            item["input"] = without_lone_surrogates(grammar_text(call.name, call.arguments, parameter))
        if call.namespace is not None and (own or call.name in self._rules.late_tools):
            item["namespace"] = call.namespace
        return item

    def _item_id(self, call: ToolCall, custom: bool, other_model: bool) -> str | None:
        """The id of the call's item. Another model of the API pairs it with its own reasoning, so it gets none."""
        if self._dialect.responses_item_ids == "all":
            return None if other_model else item_id(call, "ctc_" if custom else "fc_")
        id_ = parts_of(call.id)[1]
        is_function = id_ is not None and id_.startswith("fc_")
        return None if (other_model and is_function) or not (custom or is_function) else id_

    def _result(self, message: ToolResultMessage) -> None:
        custom = message.tool_name in self._rules.grammar_parameters
        self.items.append(
            {
                "type": "custom_tool_call_output" if custom else "function_call_output",
                "call_id": parts_of(message.tool_call_id)[0],
                "output": self._output(message),
            }
        )
        late = [
            tool
            for name in dict.fromkeys(message.added_tool_names or ())
            if name not in self._loaded and (tool := self._rules.late_tools.get(name)) is not None
        ]
        self._loaded.update(tool.name for tool in late)
        self._add_tools(late, message.tool_call_id)

    def _output(self, message: ToolResultMessage) -> JSON:
        content = message.content if isinstance(message.content, tuple) else ()
        text = "\n".join(block.text for block in content if isinstance(block, TextContent))
        images = [block for block in content if isinstance(block, ImageContent)]
        says = not is_blank(text) if self._dialect.responses_blank_output else bool(text)
        if not images or "image" not in self._model.input:
            return without_lone_surrogates(text) if says else _SEEN_BELOW if images else _NO_OUTPUT
        told: list[JSON] = [{"type": "input_text", "text": without_lone_surrogates(text)}] if says else []
        return [*told, *map(_image, images)]


def _input_part(block: Content) -> JSON:
    if isinstance(block, TextContent):
        return {"type": "input_text", "text": without_lone_surrogates(block.text)}
    return _image(block) if isinstance(block, ImageContent) else None


def _image(block: ImageContent) -> JSON:
    return {
        "type": "input_image",
        "detail": "auto",
        "image_url": f"data:{block.mime_type};base64,{block.data}",
    }


def _message(block: TextContent, fallback: str) -> JSON:
    id_, phase = signed(block.text_signature)
    item: dict[str, JSON] = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": without_lone_surrogates(block.text), "annotations": []}],
        "status": "completed",
        "id": message_id(id_, fallback),
    }
    if phase is not None:
        item["phase"] = phase
    return item


def _reasoning(signature: str) -> JSON:
    """The item that the signature holds."""
    try:
        return parse_json(signature)
    except CodecError as error:
        raise ResponseFailedError(f"The signature of a thinking block is no item: {error}") from None
