"""The transcript as an adapter gets it: what every provider needs done to it before it is written as a request.

A transcript may hold what this model cannot take: images, thinking that another model has signed, ids of tool calls
that another API has made, calls that nobody has answered, responses that have failed. `transform` makes of it one that
it can take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, TypeVar

import attrs

from ..messages import (
    AssistantMessage,
    Content,
    ImageContent,
    Message,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from ..timestamps import now
from ..tools.js_number import WHITESPACE
from .dialect import Dialect

USER_IMAGE_OMITTED: Final = "(image omitted: model does not support images)"
TOOL_IMAGE_OMITTED: Final = "(tool image omitted: model does not support images)"
NO_RESULT_PROVIDED: Final = "No result provided"

#: Gives the id that an API takes for a call of another model, from the call's id and the message that it stands in.
NormaliseId: TypeAlias = Callable[[str, AssistantMessage], str]

_Message = TypeVar("_Message", UserMessage, ToolResultMessage)

#: In Python a pair of surrogates may stand in a text as two, where two texts were put together between them.
_SURROGATES: Final = re.compile("([\ud800-\udbff][\udc00-\udfff])|[\ud800-\udfff]")


def transform(
    messages: Iterable[Message], model: Model, dialect: Dialect, normalise_id: NormaliseId | None = None
) -> list[Message]:
    """The messages that a request to `model` is written from.

    Args:
        messages: the transcript.
        model: what is asked. A message is its own if provider, API and model are the same.
        dialect: decides what becomes of another model's thinking.
        normalise_id: what the API asks of the ids of tool calls. It is asked for other models' calls only; results
            follow their calls.

    Returns:
        A new list. Synthetic results have the present time; nothing that is sent shows it.
    """
    with_content = map(_with_content, messages)
    seen = with_content if "image" in model.input else map(_without_images, with_content)
    return _answered(_readable(seen, model, dialect, normalise_id))


def is_blank(text: str) -> bool:
    """Whether JavaScript's `trim` leaves nothing of the text."""
    return not text.strip(WHITESPACE)


def without_lone_surrogates(text: str) -> str:
    """The text as it can be sent: no provider takes half of a surrogate pair."""
    return text if text.isascii() else _SURROGATES.sub(_paired, text)


def _paired(found: re.Match[str]) -> str:
    """The character of a pair; nothing for half of one."""
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16") if found[1] else ""


def _with_content(message: Message) -> Message:
    """The message, with some content: a result of 0.80.2 may have none."""
    if isinstance(message, ToolResultMessage) and not isinstance(message.content, tuple):
        return attrs.evolve(message, content=())
    return message


# --- images -----------------------------------------------------------------------------------------------


def _without_images(message: Message) -> Message:
    """The message for a model that sees nothing: a text says where images were."""
    if isinstance(message, UserMessage):
        return _replaced(message, USER_IMAGE_OMITTED)
    if isinstance(message, ToolResultMessage):
        return _replaced(message, TOOL_IMAGE_OMITTED)
    return message


def _replaced(message: _Message, placeholder: str) -> _Message:
    if not isinstance(message.content, tuple):
        return message
    return attrs.evolve(message, content=images_replaced(message.content, placeholder))


def images_replaced(content: Sequence[Content], placeholder: str) -> tuple[Content, ...]:
    """The content with one text in the place of each run of images."""
    replaced: list[Content] = []
    told = False
    for block in content:
        if not isinstance(block, ImageContent):
            replaced.append(block)
            told = isinstance(block, TextContent) and block.text == placeholder
        elif not told:
            replaced.append(TextContent(text=placeholder))
            told = True
    return tuple(replaced)


# --- responses --------------------------------------------------------------------------------------------


def _readable(
    messages: Iterable[Message], model: Model, dialect: Dialect, normalise_id: NormaliseId | None
) -> list[Message]:
    """Responses with what this model can read of them, and results under the ids that their calls have got."""
    ids: dict[str, str] = {}
    readable: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            readable.append(_response(message, model, dialect, normalise_id, ids))
        elif isinstance(message, ToolResultMessage) and (new := ids.get(message.tool_call_id)):
            readable.append(attrs.evolve(message, tool_call_id=new))
        else:
            readable.append(message)
    return readable


def _response(
    message: AssistantMessage,
    model: Model,
    dialect: Dialect,
    normalise_id: NormaliseId | None,
    ids: dict[str, str],
) -> AssistantMessage:
    """One response; the ids that change go into `ids`."""
    own = (message.provider, message.api, message.model) == (model.provider, model.api, model.id)
    content: list[Content] = []
    for block in message.content:
        if isinstance(block, ThinkingContent):
            kept = _own_thinking(block) if own else _foreign_thinking(block, dialect)
            content.extend(() if kept is None else (kept,))
        elif own:
            content.append(block)
        elif isinstance(block, TextContent):
            content.append(TextContent(text=block.text))
        elif isinstance(block, ToolCall):
            new = block.id if normalise_id is None else normalise_id(block.id, message)
            if new != block.id:
                ids[block.id] = new
            content.append(attrs.evolve(block, id=new, thought_signature=None))
        else:
            content.append(block)
    return attrs.evolve(message, content=content)


def _own_thinking(block: ThinkingContent) -> Content | None:
    """Thinking of the same model: worth something if it is signed or says something."""
    return block if block.redacted or block.thinking_signature or not is_blank(block.thinking) else None


def _foreign_thinking(block: ThinkingContent, dialect: Dialect) -> Content | None:
    """Thinking of another model: its signature is worth nothing here."""
    if dialect.foreign_thinking == "dropped" or block.redacted or is_blank(block.thinking):
        return None
    return TextContent(text=block.thinking)


# --- calls and results ------------------------------------------------------------------------------------


def _answered(messages: Iterable[Message]) -> list[Message]:
    """The transcript without failed responses, in which each call has a result before the conversation goes on.

    A system message between a call and its results waits until the calls are answered. (Results of a failed response
    stay as Pi keeps them, although nothing in what is sent calls for them.)
    """
    answered: list[Message] = []
    pending: tuple[ToolCall, ...] = ()
    results: set[str] = set()
    held: list[Message] = []

    def close() -> None:
        answered.extend(_no_result(call) for call in pending if call.id not in results)
        answered.extend(held)
        held.clear()

    for message in messages:
        if isinstance(message, AssistantMessage):
            close()
            pending = ()
            if message.stop_reason in ("error", "aborted"):
                continue
            pending, results = tuple(block for block in message.content if isinstance(block, ToolCall)), set()
        elif isinstance(message, ToolResultMessage):
            results.add(message.tool_call_id)
        elif isinstance(message, UserMessage):
            close()
            pending = ()
        elif isinstance(message, SystemMessage) and pending:
            held.append(message)
            continue
        answered.append(message)
    close()
    return answered


def _no_result(call: ToolCall) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=(TextContent(text=NO_RESULT_PROVIDED),),
        is_error=True,
        timestamp=now(),
    )
