"""What the chunks of the Chat Completions API mean: chunks in, the events of a response out, and no network.

A response has one block of text and one of thinking, however often they alternate, and one for each call; calls grow
side by side. That a block has ended is known when everything has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

import attrs

from ...events import StreamEvent
from ...jsontext import print_json
from ...jsonvalue import ABSENT, JSON
from ...messages import Model
from ..builder import ResponseBuilder
from ..dialect import Dialect
from ..event_fields import is_true, shown
from ..exchange import ResponseFailedError
from ..grammar_input import GrammarInput
from .messages import REASONING_FIELDS, called_field
from .reasoning_details import ReasoningDetails, is_detail
from .usage import usage_of

#: What a response fails with that the signal has ended in its body. The blocks that have begun are ended all the same.
ABORTED: Final = "Request was aborted"

_NO_REASON: Final = "Stream ended without finish_reason"
#: What a response fails with that cannot be read.
MALFORMED: Final = "The provider's stream is malformed: {}"

_Stop: TypeAlias = Literal["stop", "length", "toolUse"]
_Object: TypeAlias = Mapping[str, JSON]

#: Why a response has stopped, by the provider's word; any other word is an error.
STOPS: Final[Mapping[str, _Stop]] = {
    "stop": "stop",
    "end": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
}

#: Where a custom tool that nobody has declared gets its text.
_ANY_INPUT: Final = "input"
_NOTHING: Final[_Object] = {}


@attrs.define
class _Call:
    """A tool call, and what is known of it. `counted` says that the provider has given it a number."""

    place: int
    id: str
    name: str
    counted: bool = False
    input: GrammarInput | None = None


class ChatReader:
    """Reads the chunks of one response.

    Args:
        builder: makes the events.
        model: what was asked.
        dialect: the release.
        supports_finish_reason: whether the endpoint says why a response has ended.

    Attributes:
        grammar_parameters: the tools with a grammar, by name, with the parameter that gets the text.
    """

    def __init__(
        self, builder: ResponseBuilder, model: Model, dialect: Dialect, *, supports_finish_reason: bool = True
    ) -> None:
        self.builder = builder
        self.grammar_parameters: Mapping[str, str] = _NO_GRAMMARS
        self.model = model
        self.dialect = dialect
        self._finish_expected = supports_finish_reason
        self._parts = _PARTS[dialect.chat_first]
        self._blocks: list[_Call | Literal["text", "thinking"]] = []  # as in the content
        self._text: int | None = None
        self._thinking: int | None = None
        self._details = ReasoningDetails()
        self._by_index: dict[JSON, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._stop: _Stop | Literal["error"] | None = None
        self._error = ""
        self._response_id: str | None = None
        self._served = ""

    def start(self) -> Iterable[StreamEvent]:
        """The answer has begun."""
        return (self.builder.start(),)

    def feed(self, event: JSON) -> Iterable[StreamEvent]:
        """The provider has said this chunk.

        Raises:
            ResponseFailedError: it cannot be read.
        """
        if not isinstance(event, (Mapping, list)):
            return ()
        event = _object(event)  # an array is a chunk that says nothing
        self._head(event)
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        told = choice if isinstance(choice, Mapping) else _NOTHING
        usage = event.get("usage")
        if not is_true(usage):
            usage = told.get("usage")  # Moonshot tells it there
        if is_true(usage):
            self.builder.update(usage=usage_of(usage, self.model, self.dialect))
        if is_true(reason := told.get("finish_reason")):
            self._finish(shown(reason))
        delta = told.get("delta")
        return self._grown(delta) if isinstance(delta, Mapping) else ()

    def end(self) -> Iterable[StreamEvent]:
        """The provider has said everything: all blocks end, and the response with them."""
        ends = list(self._ends())
        stop = self._stop
        if stop is None and not self._finish_expected:
            stop = "toolUse" if any(isinstance(block, _Call) for block in self._blocks) else "stop"
        if stop is None:
            return (*ends, self.builder.error(_NO_REASON))
        if stop == "error":
            return (*ends, self.builder.error(self._error))
        return (*ends, self.builder.done(stop))

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        """The response has failed, or was aborted."""
        reason: Literal["error", "aborted"] = "aborted" if aborted else "error"
        ends = list(self._ends()) if text == ABORTED else []
        if self._details and not ends:
            self.builder.sign_thinking(self._details.printed(), self._thinking)
        return (*ends, self.builder.error(text, reason=reason))

    # --- the response ---------------------------------------------------------------------------------------

    def _head(self, chunk: _Object) -> None:
        """What every chunk says of the response as a whole."""
        id_, served = chunk.get("id"), chunk.get("model")
        id_ = id_ if isinstance(id_, str) else None
        if not self._response_id and id_ != self._response_id:
            self._response_id = id_
            self.builder.update(response_id=id_)
        if not self._served and isinstance(served, str) and served and served != self.model.id:
            self._served = served
            self.builder.update(response_model=served)

    def _finish(self, reason: str) -> None:
        """The provider has said why the response stops. More may come, and another reason too."""
        stop: _Stop | Literal["error"] = STOPS.get(reason, "error")
        self._stop = stop
        self.builder.stopping(stop)
        if self.dialect.message_extras:
            self.builder.update(raw_stop_reason=reason)
        if stop == "error":
            self._error = f"Provider finish_reason: {reason}"
            self.builder.update(error_message=self._error)

    def _grown(self, delta: _Object) -> Iterator[StreamEvent]:
        for part in self._parts:
            yield from part(self, delta)

    def _ends(self) -> Iterator[StreamEvent]:
        """The ends of all blocks, in the order of the content."""
        for place, block in enumerate(self._blocks):
            if block == "text":
                yield self.builder.text_end(place)
            elif block == "thinking":
                signature = self._details.printed() if self._details else None
                yield self.builder.thinking_end(place, thinking_signature=signature)
            else:
                assert isinstance(block, _Call)
                yield from self._call_ends(block)

    def _call_ends(self, call: _Call) -> Iterator[StreamEvent]:
        if call.input is None:
            yield self.builder.toolcall_end(call.place)
            return
        if (rest := call.input.close(None)) is not None:
            yield self.builder.toolcall_delta(rest, call.place)
        yield self.builder.toolcall_end(call.place, arguments=call.input.arguments)

    # --- text and thinking ----------------------------------------------------------------------------------

    def _content(self, delta: _Object) -> Iterator[StreamEvent]:
        text = delta.get("content")
        if not isinstance(text, str) or not text:
            return
        if self._text is None:
            self._text = len(self._blocks)
            self._blocks.append("text")
            yield self.builder.text_start()
        yield self.builder.text_delta(text, self._text)

    def _reasoning(self, delta: _Object) -> Iterator[StreamEvent]:
        """Readable reasoning. Some endpoints tell the same in two fields: the first counts."""
        for field in REASONING_FIELDS:
            text = delta.get(field)
            if isinstance(text, str) and text:
                yield from self._thinking_begun(called_field(self.model, field))
                yield self.builder.thinking_delta(text, self._thinking)
                return

    def _reasoning_details(self, delta: _Object) -> Iterator[StreamEvent]:
        details = delta.get("reasoning_details")
        for detail in details if isinstance(details, list) else ():
            if isinstance(detail, Mapping) and is_detail(detail):
                yield from self._thinking_begun("")
                self._details.append(detail)

    def _thinking_begun(self, signature: str | None) -> Iterator[StreamEvent]:
        if self._thinking is None:
            self._thinking = len(self._blocks)
            self._blocks.append("thinking")
            yield self.builder.thinking_start(thinking_signature=signature)

    # --- calls ----------------------------------------------------------------------------------------------

    def _tool_calls(self, delta: _Object) -> Iterator[StreamEvent]:
        calls = delta.get("tool_calls")
        if not is_true(calls):
            return
        if not isinstance(calls, list):
            raise ResponseFailedError(MALFORMED.format("tool_calls is no array"))
        for told in calls:
            if told is None:
                raise ResponseFailedError(MALFORMED.format("a tool call is null"))
            yield from self._tool_call(told if isinstance(told, Mapping) else _NOTHING)

    def _tool_call(self, told: _Object) -> Iterator[StreamEvent]:
        """What a chunk says of one call: its beginning, perhaps, and a piece of its arguments, perhaps empty."""
        call = self._known(told)
        if call is None:
            call = _Call(place=len(self._blocks), id=_text(told.get("id")), name=_name_of(told))
            self._blocks.append(call)
            if _is_custom(told):
                call.input = GrammarInput(self._parameter_of(call), "")
            arguments = ABSENT if call.input is None else call.input.arguments
            yield self.builder.toolcall_start(
                call.id, call.name, arguments=arguments, written=call.input is not None
            )
        self._note(call, told)
        function, custom = _object(told.get("function")), _object(told.get("custom"))
        piece: str | None = None
        if call.input is None:
            piece = _arguments_text(function.get("arguments"))
        elif isinstance(text := custom.get("input"), str):
            piece = call.input.append(text)
        yield self.builder.toolcall_delta(piece or "", call.place)

    def _known(self, told: _Object) -> _Call | None:
        """The call that is meant: by its number, or else by its id."""
        index, id_ = told.get("index"), told.get("id")
        call = self._by_index.get(index) if _is_number(index) else None
        if call is None and isinstance(id_, str) and id_:
            call = self._by_id.get(id_)
        return call

    def _note(self, call: _Call, told: _Object) -> None:
        """What may come late: number, id, name, and that it is a custom call."""
        index, id_, name = told.get("index"), _text(told.get("id")), _name_of(told)
        if _is_number(index) and not call.counted:
            call.counted = True
            self._by_index[index] = call
        if id_:
            self._by_id[id_] = call
        if (id_ and not call.id) or (name and not call.name):
            call.id, call.name = call.id or id_, call.name or name
            self.builder.restate_toolcall(call.place, id=call.id, name=call.name)
        if _is_custom(told) and call.input is None:
            call.input = GrammarInput(self._parameter_of(call), "")
            self.builder.restate_toolcall(call.place, arguments=call.input.arguments)

    def _parameter_of(self, call: _Call) -> str:
        return self.grammar_parameters.get(call.name, _ANY_INPUT)


def _object(value: JSON) -> _Object:
    return value if isinstance(value, Mapping) else _NOTHING


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _is_number(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_custom(told: _Object) -> bool:
    return is_true(told.get("custom")) and not is_true(told.get("function"))


def _name_of(told: _Object) -> str:
    """The name of the tool, as far as this chunk says it."""
    name = _object(told.get("function")).get("name")
    return _text(_object(told.get("custom")).get("name") if name is None else name)


def _arguments_text(told: JSON) -> str | None:
    """A piece of the arguments. Some endpoints give them whole, as an object and not as its text (T-63)."""
    return print_json(told) if isinstance(told, Mapping) else _text(told)


_NO_GRAMMARS: Final[Mapping[str, str]] = {}

_Part: TypeAlias = Callable[[ChatReader, _Object], Iterator[StreamEvent]]

#: In which order the parts of a chunk count.
_PARTS: Final[Mapping[str, tuple[_Part, ...]]] = {
    "content": (
        ChatReader._content,
        ChatReader._reasoning,
        ChatReader._tool_calls,
        ChatReader._reasoning_details,
    ),
    "reasoning": (
        ChatReader._reasoning,
        ChatReader._reasoning_details,
        ChatReader._content,
        ChatReader._tool_calls,
    ),
}
