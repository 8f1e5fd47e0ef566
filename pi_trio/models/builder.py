"""The `ResponseBuilder`: how a provider says a response, event by event.

A provider reads its network, and for each thing that it learns calls one method; the event that comes back is what
it yields. The builder keeps the message so far, so that every event carries its `partial`, and refuses what would be
no response: events before the start, deltas of a block that is not open, a second end.

    builder = ResponseBuilder(model)
    yield builder.start()
    yield builder.text_start()
    async for piece in pieces:
        yield builder.text_delta(piece)
    yield builder.text_end()
    builder.update(usage=usage)
    yield builder.done("stop")

An event costs the same however long the message is (see `partial.py`). Nothing here waits, and nothing needs trio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NoReturn, Self, SupportsIndex, TypeAlias, TypedDict, Unpack, get_args

import attrs

from ..codec import structure, unstructure
from ..errors import PiTrioError
from ..events import (
    StreamDone,
    StreamError,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from ..jsonvalue import ABSENT, JSON, Absent, Number
from ..messages import (
    AssistantMessage,
    Content,
    DeferredHandle,
    Diagnostic,
    Model,
    StopReason,
    TextContent,
    ThinkingContent,
    ThinkingLevel,
    ToolCall,
    Usage,
)
from ..timestamps import now
from ..wire import NO_FIELDS, changer, maker
from .dialect import DIALECT_1_6_0, Dialect
from .final_arguments import final_arguments
from .growing_arguments import GrowingArguments
from .open_values import joined_pairs
from .partial import Growing, GrowingCall, GrowingText, Kind, Outline, PartialMessage, Unfinished, partial_at
from .streamed_arguments import StreamedArguments, streamed_arguments

#: How a response is complete, and how it has failed.
_Complete: TypeAlias = Literal["stop", "length", "toolUse", "deferred"]
_Failed: TypeAlias = Literal["error", "aborted"]

_text_delta: Final[Callable[[int, str, AssistantMessage], TextDelta]] = maker(TextDelta)
_thinking_delta: Final[Callable[[int, str, AssistantMessage], ThinkingDelta]] = maker(ThinkingDelta)
_toolcall_start: Final[Callable[[int, AssistantMessage], ToolCallStart]] = maker(ToolCallStart)
_toolcall_end: Final[Callable[[int, ToolCall, AssistantMessage], ToolCallEnd]] = maker(ToolCallEnd)
_toolcall_delta: Final[Callable[[int, str, AssistantMessage], ToolCallDelta]] = maker(ToolCallDelta)

_completed: Final[
    Callable[[AssistantMessage, tuple[Content, ...], StopReason, str | None], AssistantMessage]
] = changer(AssistantMessage, "content", "stop_reason", "error_message")


class OutOfOrderError(PiTrioError, RuntimeError):
    """A provider has asked its `ResponseBuilder` for an event that cannot come at this place."""


class _MessageFields(TypedDict, total=False):
    """What a message says besides its content, and why it has stopped."""

    api: str
    provider: str
    model: str
    usage: Usage
    error_message: str | None
    timestamp: Number
    response_model: str | None
    response_id: str | None
    raw_stop_reason: str | None
    end_turn: bool | None
    deferred: DeferredHandle | None
    diagnostics: Iterable[Diagnostic] | None
    provider_thinking_level: str | None
    duration_ms: Number | None
    thinking_level: ThinkingLevel | None
    extra: Mapping[str, JSON]


class ResponseBuilder:
    """Makes the events of one response, in the order in which its methods are called.

    Blocks are counted by `content_index`, their place in the message. The methods of a block mean the one that was
    begun last, where they are given none: a provider whose blocks overlap names it, as the start's event told it.

    What a message says besides its content is set with `update`. A partial's stop reason is "pending", unless the
    provider has told it (`stopping`).

    Args:
        model: names the API, the provider and the model.
        timestamp: when the request began, in Unix milliseconds; the present by default.
        dialect: how the arguments of tool calls are read: while they come, and at their end.

    Raises:
        OutOfOrderError: by every method that makes an event: it cannot come at this place.
        TypeError, ValueError: by every method: a value is none that it can have.

    What was refused has not happened: the next call finds everything as it was.
    """

    def __init__(
        self, model: Model, *, timestamp: Number | None = None, dialect: Dialect = DIALECT_1_6_0
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"a Model was expected, not {type(model).__name__}")
        if timestamp is not None and (not isinstance(timestamp, (int, float)) or isinstance(timestamp, bool)):
            raise TypeError(f"Unix milliseconds were expected, not {type(timestamp).__name__}")
        self._outline = Outline(
            AssistantMessage(
                content=(),
                api=model.api,
                provider=model.provider,
                model=model.id,
                usage=Usage.zero(),
                stop_reason="pending",
                timestamp=now() if timestamp is None else timestamp,
            )
        )
        self._strict = dialect.truncated_arguments == "error"
        self._open: dict[int, Growing] = {}
        self._latest = -1
        self._started = False
        self._ended = False

    @classmethod
    def like(cls, message: AssistantMessage) -> Self:
        """A builder whose message has all fields of another one, but for its content and stop reason."""
        builder = cls(Model.unknown(), timestamp=0)
        builder._outline = Outline(attrs.evolve(message, content=(), stop_reason="pending"))
        return builder

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a ResponseBuilder tells one response, so it cannot be copied or pickled")

    @property
    def partial(self) -> AssistantMessage:
        """The message so far."""
        return self._partial()

    def update(self, **fields: Unpack[_MessageFields]) -> None:
        """Set fields of the message: `usage`, `response_id`, `diagnostics`, … The next event's partial shows them.

        Raises:
            OutOfOrderError: the response has ended.
            TypeError: a message has no such field, or it is for other methods to set.
            CodecError: a field cannot have this value.
        """
        if self._ended:
            raise OutOfOrderError("update after the end of the response")
        if own := {"content", "stop_reason"} & fields.keys():
            raise TypeError(f"{', '.join(sorted(own))}: set by the events, not by update")
        head = attrs.evolve(self._outline.head, **fields)
        structure(unstructure(head), AssistantMessage)  # whoever looks at a partial would find out much later
        self._outline = attrs.evolve(self._outline, head=head)

    def stopping(self, reason: StopReason) -> None:
        """The provider has said why the response is going to stop, before everything has come: partials say it, too.

        What counts is what ends the response.

        Raises:
            OutOfOrderError: the response has ended.
        """
        if self._ended:
            raise OutOfOrderError("stopping after the end of the response")
        head = attrs.evolve(self._outline.head, stop_reason=_text(reason))
        self._outline = attrs.evolve(self._outline, head=head)

    # --- the whole ------------------------------------------------------------------------------------------

    def start(self) -> StreamStart:
        """The response begins."""
        if self._started or self._ended:
            raise OutOfOrderError(f"start after {'the end of the response' if self._ended else 'start'}")
        self._started = True
        return StreamStart(partial=self._partial())

    def done(self, reason: _Complete, *, unfinished: bool = False) -> StreamDone:
        """The response is complete: all blocks have ended.

        Args:
            reason: "stop", "length", "toolUse" or "deferred".
            unfinished: blocks that are open may be; they stay as far as they have come.

        Raises:
            ValueError: another reason.
        """
        if reason not in get_args(_Complete):
            raise ValueError(f"a complete response ends with {_either(get_args(_Complete))}, not {reason!r}")
        self._check_told("done")
        if self._open and not unfinished:
            raise OutOfOrderError(f"done while {self._open_blocks()}")
        return StreamDone(reason=reason, message=self._whole(reason, self._outline.head.error_message))

    def error(self, message: str, *, reason: _Failed = "error") -> StreamError:
        """The response has failed, at any time, with blocks open or not even started.

        Args:
            message: what went wrong, for the user to read.
            reason: "error", or "aborted" where the request's signal was raised.

        Raises:
            ValueError: another reason.
        """
        if reason not in get_args(_Failed):
            raise ValueError(f"a failed response ends with {_either(get_args(_Failed))}, not {reason!r}")
        if self._ended:
            raise OutOfOrderError("error after the end of the response")
        return StreamError(reason=reason, error=self._whole(reason, _text(message)))

    # --- text -----------------------------------------------------------------------------------------------

    def text_start(self, text: str = "", *, text_signature: str | None = None) -> TextStart:
        """A text block begins, mostly empty."""
        index = self._begin(
            GrowingText(TextContent(**_given(text=_text(text), text_signature=text_signature)))
        )
        return TextStart(content_index=index, partial=self._partial())

    def text_delta(self, delta: str, content_index: int | None = None) -> TextDelta:
        """A text block grows."""
        index = self._latest if content_index is None else _place(content_index)
        return _text_delta(index, delta, self._grown("text", index, delta))

    def text_end(
        self,
        content_index: int | None = None,
        *,
        text: str | None = None,
        text_signature: str | None = None,
    ) -> TextEnd:
        """A text block is complete. What is given replaces what the block had; its text, say, if the provider tells
        it whole at the end.
        """
        index, growing = self._opened("text", content_index)
        assert isinstance(growing, GrowingText)
        given = _given(text=growing.text if text is None else text, text_signature=text_signature)
        block = attrs.evolve(growing.begun, **given)
        assert isinstance(block, TextContent)
        return TextEnd(content_index=index, content=block.text, partial=self._finished(index, block))

    # --- thinking -------------------------------------------------------------------------------------------

    def thinking_start(
        self, thinking: str = "", *, thinking_signature: str | None = None, redacted: bool | None = None
    ) -> ThinkingStart:
        """A thinking block begins, mostly empty; a redacted one may come whole."""
        given = _given(thinking=_text(thinking), thinking_signature=thinking_signature, redacted=redacted)
        begun = ThinkingContent(**given)
        return ThinkingStart(content_index=self._begin(GrowingText(begun)), partial=self._partial())

    def thinking_delta(self, delta: str, content_index: int | None = None) -> ThinkingDelta:
        """A thinking block grows."""
        index = self._latest if content_index is None else _place(content_index)
        return _thinking_delta(index, delta, self._grown("thinking", index, delta))

    def sign_thinking(self, signature: str, content_index: int | None = None) -> None:
        """A thinking block that is open gets another signature: providers tell it in pieces.

        No event says so: the next partial shows it.
        """
        index, growing = self._opened("thinking", content_index)
        assert isinstance(growing, GrowingText)
        assert isinstance(growing.begun, ThinkingContent)
        begun = attrs.evolve(growing.begun, thinking=growing.text, thinking_signature=_text(signature))
        signed = GrowingText(begun)
        self._open[index] = signed
        self._turn_to(index, signed)

    def thinking_end(
        self,
        content_index: int | None = None,
        *,
        thinking: str | None = None,
        thinking_signature: str | None = None,
        redacted: bool | None = None,
    ) -> ThinkingEnd:
        """A thinking block is complete. What is given replaces what the block had."""
        index, growing = self._opened("thinking", content_index)
        assert isinstance(growing, GrowingText)
        given = _given(
            thinking=growing.text if thinking is None else thinking,
            thinking_signature=thinking_signature,
            redacted=redacted,
        )
        block = attrs.evolve(growing.begun, **given)
        assert isinstance(block, ThinkingContent)
        return ThinkingEnd(content_index=index, content=block.thinking, partial=self._finished(index, block))

    # --- tool calls -----------------------------------------------------------------------------------------

    def toolcall_start(
        self,
        id: str,  # noqa: A002
        name: str,
        *,
        arguments: JSON | Absent = ABSENT,
        text: str = "",
        written: bool = False,
        thought_signature: str | None = None,
        namespace: str | None = None,
    ) -> ToolCallStart:
        """A tool call begins. `arguments` are those that are known already; they give way to what deltas say.

        Where the JSON text of the arguments has begun already, without a delta, it is `text`: the deltas go on from it.
        `written` says that the provider does not tell this text, but who reads it writes it: so all of it is shown, in
        any release.
        """
        begun = ToolCall(
            id=_text(id),
            name=_text(name),
            arguments=NO_FIELDS if isinstance(arguments, Absent) else arguments,
            thought_signature=_text_if_there(thought_signature),
            namespace=_text_if_there(namespace),
        )
        reader = GrowingArguments if written or self._strict else StreamedArguments
        growing = GrowingCall(begun, reader, written=written)
        if _text(text):
            growing.pieces.append(text)
        return _toolcall_start(self._begin(growing), self._partial())

    def toolcall_delta(self, delta: str, content_index: int | None = None) -> ToolCallDelta:
        """The JSON text of a call's arguments grows. Partials show what it says so far."""
        index = self._latest if content_index is None else _place(content_index)
        return _toolcall_delta(index, delta, self._grown("toolcall", index, delta))

    def restart_toolcall(self, text: str, content_index: int | None = None) -> None:
        """Take the JSON text of a call's arguments for another one than the deltas have said.

        No event says so: the next partial shows it.
        """
        index, call = self._opened("toolcall", content_index)
        assert isinstance(call, GrowingCall)
        growing = GrowingCall(call.begun, call.reader, written=call.written)
        growing.pieces.append(_text(text))
        self._open[index] = growing
        self._turn_to(index, growing)

    def restate_toolcall(
        self,
        content_index: int | None = None,
        *,
        id: str | None = None,  # noqa: A002
        name: str | None = None,
        arguments: JSON | Absent = ABSENT,
    ) -> None:
        """Say anew what was said at the start of a call: providers tell its id or name late.

        No event says so: the next partial shows it. Other `arguments` take the place of all that the deltas have said,
        and what follows is `written`.
        """
        index, call = self._opened("toolcall", content_index)
        assert isinstance(call, GrowingCall)
        given: dict[str, Any] = _given(id=id, name=name)
        if arguments is not ABSENT:
            given["arguments"] = arguments
        begun = attrs.evolve(call.begun, **given)
        if arguments is not ABSENT:
            growing = GrowingCall(begun, GrowingArguments, written=True)
        else:
            growing = GrowingCall(begun, call.reader, written=call.written)
            growing.pieces.extend(call.pieces)
        self._open[index] = growing
        self._turn_to(index, growing)

    def toolcall_end(
        self,
        content_index: int | None = None,
        *,
        id: str | None = None,  # noqa: A002
        name: str | None = None,
        arguments: JSON | Absent = ABSENT,
        arguments_error: str | None = None,
        thought_signature: str | None = None,
        namespace: str | None = None,
        call: ToolCall | None = None,
    ) -> ToolCallEnd:
        """A tool call is complete. What is given replaces what the call had; a whole `call` replaces everything.

        Without `arguments` the text of the deltas is read once more. As of 1.6.0 strictly: unless it is one whole JSON
        object, they are `{}`, and `arguments_error` says why. Before, they are whatever can be read of it.
        """
        index, growing = self._opened("toolcall", content_index)
        assert isinstance(growing, GrowingCall)
        if call is not None:
            return _toolcall_end(index, call, self._finished(index, call))
        if arguments is ABSENT and growing.pieces:
            text = joined_pairs("".join(growing.pieces))
            arguments, problem = final_arguments(text) if self._strict else (streamed_arguments(text), None)
            arguments_error = arguments_error or problem
        begun = growing.begun
        block = ToolCall(  # by hand, because `evolve` takes four times as long
            id=begun.id if id is None else _text(id),
            name=begun.name if name is None else _text(name),
            arguments=begun.arguments if isinstance(arguments, Absent) else arguments,
            arguments_error=_text_if_there(arguments_error),
            thought_signature=(
                begun.thought_signature if thought_signature is None else _text(thought_signature)
            ),
            namespace=begun.namespace if namespace is None else _text(namespace),
        )
        return _toolcall_end(index, block, self._finished(index, block))

    # --- afterwards -----------------------------------------------------------------------------------------

    def amend(self, block: Content, content_index: int) -> None:
        """Put another block in the place of one that has ended: providers tell a signature late.

        No event says so: the next partial, and the whole message, show it.

        Raises:
            OutOfOrderError: there is no such block, or it is still open.
        """
        self._check_told("amend")
        if not 0 <= _place(content_index) < len(self._outline.blocks) or content_index in self._open:
            raise OutOfOrderError(
                f"amend of block {content_index}, which has not ended: {self._open_blocks()}"
            )
        blocks = self._outline.blocks
        blocks.put(content_index, block)
        self._outline = attrs.evolve(self._outline, moment=blocks.now)

    # --- inside ---------------------------------------------------------------------------------------------

    def _begin(self, growing: Growing) -> int:
        """A new block, at the end of the content."""
        self._check_told(f"{growing.kind}_start")
        self._latest = len(self._outline.blocks)
        self._open[self._latest] = growing
        self._turn_to(self._latest, growing)
        return self._latest

    def _grown(self, kind: Kind, index: int, delta: str) -> PartialMessage:
        growing = self._open.get(index)
        if growing is None or growing.kind != kind:
            raise self._not_open(kind, index, f"{kind}_delta")
        growing.append(_text(delta))
        if self._outline.growing is not growing:
            self._turn_to(index, growing)
        return partial_at(self._outline, growing.mark)

    def _opened(self, kind: Kind, content_index: int | None) -> tuple[int, Growing]:
        """The place of a block that is open, and the block."""
        index = self._latest if content_index is None else _place(content_index)
        growing = self._open.get(index)
        if growing is None or growing.kind != kind:
            raise self._not_open(kind, index, f"{kind}_end")
        return index, growing

    def _finished(self, index: int, block: Content) -> PartialMessage:
        """Put a block in its place, complete."""
        del self._open[index]
        outline = self._outline
        blocks = outline.blocks
        blocks.put(index, block)
        if index == outline.index:
            self._outline = Outline(outline.head, blocks, blocks.now)
        else:
            self._outline = attrs.evolve(outline, moment=blocks.now)
        return self._partial()

    def _turn_to(self, index: int, growing: Growing) -> None:
        """From now on this block grows; the one that did keeps its place as it is."""
        outline = self._outline
        blocks = outline.blocks
        if outline.growing is not None:
            blocks.put(outline.index, Unfinished(outline.growing, outline.growing.mark))
        if index == len(blocks):
            blocks.put(index, Unfinished(growing, growing.mark))
        self._outline = Outline(outline.head, blocks, blocks.now, index, growing)

    def _partial(self) -> PartialMessage:
        growing = self._outline.growing
        return partial_at(self._outline, 0 if growing is None else growing.mark)

    def _whole(self, reason: StopReason, error_message: str | None) -> AssistantMessage:
        outline = self._outline
        mark = 0 if outline.growing is None else outline.growing.mark
        message = _completed(outline.head, outline.content(mark), reason, error_message)
        self._ended = True
        self._open.clear()
        return message

    # --- refusals -------------------------------------------------------------------------------------------

    def _check_told(self, what: str) -> None:
        if self._ended:
            raise OutOfOrderError(f"{what} after the end of the response")
        if not self._started:
            raise OutOfOrderError(f"{what} before start")

    def _not_open(self, kind: Kind, index: int, what: str) -> OutOfOrderError:
        self._check_told(what)
        return OutOfOrderError(
            f"{what} of block {index}, which is no open {kind} block: {self._open_blocks()}"
        )

    def _open_blocks(self) -> str:
        blocks = [f"block {index} ({growing.kind})" for index, growing in self._open.items()]
        return f"open: {', '.join(blocks)}" if blocks else "none is open"


def _place(index: int) -> int:
    """The index, if it is one: what is only equal to one would stand in the events."""
    if type(index) is not int:
        raise TypeError(f"a content_index is a whole number, not {index!r}")
    return index


def _text(value: str) -> str:
    """The value, if it is a text: anything else would break who looks at a partial, much later."""
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value


def _either(reasons: Sequence[str]) -> str:
    return f"{', '.join(reasons[:-1])} or {reasons[-1]}"


def _text_if_there(value: str | None) -> str | None:
    """The value, if it is a text or nothing."""
    return None if value is None else _text(value)


def _given(*, redacted: bool | None = None, **texts: str | None) -> dict[str, Any]:
    """The fields that are there."""
    given: dict[str, Any] = {name: _text(value) for name, value in texts.items() if value is not None}
    if redacted is not None:
        if not isinstance(redacted, bool):
            raise TypeError(f"redacted is true or false, not {redacted!r}")
        given["redacted"] = redacted
    return given
