"""What the events of the Messages API mean.

Blocks are told one after the other as a rule, but each event names the number of its block, and that is what counts.
What is unknown is overlooked: events, blocks, deltas. What is known and of an impossible type fails the response.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NoReturn, TypeAlias, cast

import attrs

from ...errors import CodecError
from ...events import StreamEvent
from ...jsonvalue import ABSENT, JSON
from ...messages import AssistantMessage, Diagnostic, DiagnosticError, Model, Usage
from ...timestamps import now
from ..builder import ResponseBuilder
from ..dialect import Dialect
from ..exchange import ResponseFailedError
from ..final_arguments import mended_json
from ..sse import ServerSentEvent
from ..whole_value import whole_value
from .naming import own_name
from .usage import Meter

_Reason: TypeAlias = Literal["stop", "length", "toolUse", "error"]

#: Events by these names are read; what kind they are of, their data say.
_NAMES: Final = frozenset(
    {
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
)
_REASONS: Final[Mapping[JSON, _Reason]] = {
    "end_turn": "stop",
    "pause_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "toolUse",
    "refusal": "error",
    "sensitive": "error",
}
_MALFORMED: Final = "The provider's stream is malformed"
_REDACTED: Final = "[Reasoning redacted]"


@attrs.define
class _Block:
    """A block that is open: its place in the message, and what has been said of it."""

    place: int
    kind: Literal["text", "thinking", "tool_use"]
    signature: str = ""
    has_text: bool = False


class AnthropicReader:
    """Reads one answer.

    Args:
        model: what is asked.
        dialect: how it is read.
        tools: the names of the tools that may be called.
        oauth: calls come under the names of Claude Code.
    """

    def __init__(
        self, model: Model, dialect: Dialect, *, tools: Sequence[str] = (), oauth: bool = False
    ) -> None:
        self._model = model
        self._dialect: Final = dialect
        self._tools = tools
        self._oauth = oauth
        self._builder = ResponseBuilder(model, dialect=dialect)
        self._meter = Meter(model, dialect)
        self._usage = Usage.zero()
        self._open: dict[object, list[_Block]] = {}
        self._count = 0
        self._diagnostics: list[Diagnostic] = []
        self._transformations: JSON = None
        self._has_begun = self._has_stopped = False
        self._reason: _Reason | None = None
        self._problem: str | None = None
        self._when_done: Callable[[AssistantMessage], None] | None = None
        self._handlers: Final[dict[Any, Callable[[dict[str, Any]], Iterable[StreamEvent]]]] = {
            "message_start": self._message_start,
            "content_block_start": self._block_start,
            "content_block_delta": self._block_delta,
            "content_block_stop": self._block_stop,
            "message_delta": self._message_delta,
        }

    def asks(self, *, effort: str | None) -> None:
        """The request is made with this effort, as the message will tell."""
        if self._dialect.message_extras:
            self._builder.update(provider_thinking_level=effort)

    def note(self, kind: str, message: str, reason: str) -> None:
        """Something went another way before the answer began, as the message will tell."""
        self._tell(kind, {"reason": reason}, DiagnosticError(message=message))

    def when_done(self, function: Callable[[AssistantMessage], None]) -> None:
        """Have it called with the message of a response that is complete."""
        self._when_done = function

    # --- the frame's questions ----------------------------------------------------------------------------

    def start(self) -> Iterable[StreamEvent]:
        return (self._builder.start(),)

    def parse(self, raw: ServerSentEvent) -> Any:
        if raw.event == "error":
            raise ResponseFailedError(raw.data)
        if raw.event not in _NAMES:
            return None
        try:
            event = json.loads(raw.data, parse_constant=_refuse)
        except (ValueError, RecursionError):
            event = self._mended(raw.data)
        if event is None or event is ABSENT:
            lines = "\\n".join(raw.lines)
            raise ResponseFailedError(
                f"Could not parse Anthropic SSE event {raw.event}: no event; data={raw.data}; raw={lines}"
            )
        kind = event.get("type") if isinstance(event, dict) else None
        if kind == "message_start":
            self._has_begun = True
        elif kind == "message_stop":
            self._has_stopped = True
        return event

    def _mended(self, data: str) -> Any:
        """What data say that are no JSON, but nearly; each release mends in its way."""
        if self._dialect.truncated_arguments == "partial":
            return whole_value(data)
        try:
            return mended_json(data)
        except CodecError:
            return ABSENT

    def feed(self, event: Any) -> Iterable[StreamEvent]:
        kind = event.get("type") if isinstance(event, dict) else None
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        return () if handler is None else handler(event)

    def end(self) -> Iterable[StreamEvent]:
        if self._has_begun and not self._has_stopped:
            raise ResponseFailedError("Anthropic stream ended before message_stop")
        if self._reason is None:
            raise ResponseFailedError("Anthropic stream ended without a stop reason")
        if self._reason == "error":
            raise ResponseFailedError(self._problem or "An unknown error occurred")
        if isinstance(self._transformations, list) and self._transformations:
            told = [_transformation(each) for each in self._transformations]
            self._tell("anthropic_input_transformations", {"transformations": cast("JSON", told)})
        done = self._builder.done(self._reason, unfinished=True)
        if self._when_done is not None:
            self._when_done(done.message)
        return (done,)

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        return (self._builder.error(text, reason="aborted" if aborted else "error"),)

    # --- the message --------------------------------------------------------------------------------------

    def _message_start(self, event: dict[str, Any]) -> Iterable[StreamEvent]:
        message = _object(event, "message")
        served = message.get("model")
        self._builder.update(response_id=_text_or_none(message.get("id"), "an id"))
        if isinstance(message.get("input_transformations"), list):
            self._transformations = message["input_transformations"]
        if self._dialect.anthropic_served_model == "replaces":
            told = _text_or_none(served, "a model")  # also an empty one
            self._builder.update(model=self._model.id if told is None else told)
        elif self._dialect.anthropic_served_model == "beside" and served != self._model.id:
            self._builder.update(response_model=_text_or_none(served, "a model"))
        self._use(self._meter.begin(self._usage, _object(message, "usage"), served))
        return ()

    def _message_delta(self, event: dict[str, Any]) -> Iterable[StreamEvent]:
        delta = _object(event, "delta")
        if isinstance(event.get("input_transformations"), list):
            self._transformations = event["input_transformations"]
        if reason := delta.get("stop_reason"):
            if self._dialect.message_extras:
                self._builder.update(raw_stop_reason=str(reason))
            if not isinstance(reason, str) or reason not in _REASONS:
                raise ResponseFailedError(f"Unhandled stop reason: {reason}")
            self._reason = _REASONS[reason]
            self._builder.stopping(self._reason)
            if problem := _problem_of(reason, delta.get("stop_details")):
                self._problem = problem
                self._builder.update(error_message=problem)
        self._use(self._meter.go_on(self._usage, event.get("usage")))
        return ()

    def _use(self, usage: Usage) -> None:
        self._usage = usage
        self._builder.update(usage=usage)

    # --- blocks -------------------------------------------------------------------------------------------

    def _block_start(self, event: dict[str, Any]) -> Iterable[StreamEvent]:
        block = _object(event, "content_block")
        match block.get("type"):
            case "fallback":
                if self._count:
                    raise ResponseFailedError("Anthropic performed an unsupported mid-output model fallback")
                return ()
            case "text":
                told: StreamEvent = self._builder.text_start(_text(block.get("text"), "a text", ""))
                self._opened(event, "text")
            case "thinking":
                signature = _text(block.get("signature"), "a signature", "")
                thinking = _text(block.get("thinking"), "a thinking", "")
                told = self._builder.thinking_start(thinking, thinking_signature=signature)
                self._opened(event, "thinking", signature)
            case "redacted_thinking":
                data = _text_or_none(block.get("data"), "redacted data")
                told = self._builder.thinking_start(_REDACTED, thinking_signature=data, redacted=True)
                self._opened(event, "thinking", data or "")
            case "tool_use":
                name = own_name(_text(block.get("name"), "a tool's name"), self._tools, self._oauth)
                id_, arguments = _text(block.get("id"), "a call's id"), block.get("input")
                told = self._builder.toolcall_start(
                    id_, name, arguments={} if arguments is None else arguments
                )
                self._opened(event, "tool_use")
            case _:
                return ()
        return (told,)

    def _opened(
        self, event: dict[str, Any], kind: Literal["text", "thinking", "tool_use"], signature: str = ""
    ) -> None:
        blocks = self._open.setdefault(_index(event), [])
        if self._dialect.anthropic_same_index == "last":
            blocks.clear()
        blocks.append(_Block(self._count, kind, signature))
        self._count += 1

    def _block_delta(self, event: dict[str, Any]) -> Iterable[StreamEvent]:
        delta = _object(event, "delta")
        blocks = self._open.get(_index(event))
        if not blocks:
            return ()
        block = blocks[0]
        match delta.get("type"), block.kind:
            case "text_delta", "text":
                return (self._builder.text_delta(_text(delta.get("text"), "a text"), block.place),)
            case "thinking_delta", "thinking":
                thinking = _text(delta.get("thinking"), "a thinking")
                return (self._builder.thinking_delta(thinking, block.place),)
            case "input_json_delta", "tool_use":
                if not block.has_text:  # what the call began with gives way, also to an empty piece
                    self._builder.restart_toolcall("", block.place)
                    block.has_text = True
                piece = _text(delta.get("partial_json"), "a piece of arguments")
                return (self._builder.toolcall_delta(piece, block.place),)
            case "signature_delta", "thinking":
                block.signature += _text(delta.get("signature"), "a signature")
                self._builder.sign_thinking(block.signature, block.place)
            case _:
                pass
        return ()

    def _block_stop(self, event: dict[str, Any]) -> Iterable[StreamEvent]:
        blocks = self._open.get(_index(event))
        if not blocks:
            return ()
        block = blocks.pop(0)
        match block.kind:
            case "text":
                return (self._builder.text_end(block.place),)
            case "thinking":
                return (self._builder.thinking_end(block.place),)
            case "tool_use" if block.has_text:
                return (self._builder.toolcall_end(block.place),)
            case "tool_use":  # what it may have begun with was only to be shown
                return (self._builder.toolcall_end(block.place, arguments={}),)

    # --- notes --------------------------------------------------------------------------------------------

    def _tell(self, kind: str, details: JSON, error: DiagnosticError | None = None) -> None:
        self._diagnostics.append(Diagnostic(type=kind, timestamp=now(), details=details, error=error))
        self._builder.update(diagnostics=self._diagnostics)


def _problem_of(reason: str, details: JSON) -> str | None:
    if reason == "refusal":
        told = details.get("explanation") if isinstance(details, dict) else None
        return _text_or_none(told, "an explanation") or "The model refused to complete the request"
    return "Provider stopped with: sensitive" if reason == "sensitive" else None


def _transformation(told: JSON) -> JSON:
    if told is None:
        raise ResponseFailedError(f"{_MALFORMED}: a transformation is null")
    if not isinstance(told, dict):
        return {}
    return {name: told[name] for name in ("type", "path", "reason") if told.get(name) is not None}


# --- what is there ----------------------------------------------------------------------------------------


def _object(event: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object that an event cannot do without; what is none says nothing."""
    value = event.get(name)
    if value is None:
        raise ResponseFailedError(f"{_MALFORMED}: no {name}")
    return value if isinstance(value, dict) else {}


def _index(event: Mapping[str, Any]) -> object:
    """What an event calls its block: a number, as a rule."""
    index = event.get("index", ABSENT)
    if isinstance(index, (dict, list)):
        return object()  # equal to no other
    return (type(index), index) if isinstance(index, bool) else index


def _text(value: JSON, what: str, default: str | None = None) -> str:
    if isinstance(value, str):
        return value
    if value is None and default is not None:
        return default
    raise ResponseFailedError(f"{_MALFORMED}: {what} is {value!r:.40}")


def _text_or_none(value: JSON, what: str) -> str | None:
    return None if value is None else _text(value, what)


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)
