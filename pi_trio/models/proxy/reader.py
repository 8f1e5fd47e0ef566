"""A response put together again from what a proxy tells of it: its events get their partials back.

As Pi does it, for every response that a provider can give. What makes no response is an error here, where Pi goes on
with a message that nobody could read, or contradicts itself: blocks that begin where there is no place for them or in
the place of another (T-81), deltas of a block that has ended (T-82), fields that are missing or of another type (T-83).
What comes after the last event is not looked at (T-84).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

import attrs

from ...codec import structure, unstructure
from ...errors import CodecError
from ...events import StreamDone, StreamError, StreamEvent, StreamStart
from ...jsontext import parse_json
from ...jsonvalue import kind_of
from ...messages import Model, ToolCall, Usage
from ..builder import OutOfOrderError, ResponseBuilder
from ..exchange import ResponseFailedError

logger: Final = logging.getLogger("pi_trio")

CLOSED: Final = "Connection closed by proxy server before the response completed"

_KINDS: Final = {"text": "text", "thinking": "thinking", "toolcall": "toolCall"}
"""The kind of a block by the first half of its events' types."""

Object: TypeAlias = dict[str, Any]


class ProxyReader:
    """Makes the events of one response, with their partials, of what a proxy says; a `Reader` for an `Exchange`.

    Args:
        model: the one that was asked for, which the message names.

    Attributes:
        ended: whether the last event has been told. What comes after it is dropped.
    """

    def __init__(self, model: Model) -> None:
        self.ended = False
        self._builder = ResponseBuilder(model)
        self._last: list[StreamEvent] = []
        self._started = False
        self._count = 0  # of the blocks that have begun
        self._calls: set[int] = set()  # that are open

    def start(self) -> Iterable[StreamEvent]:
        """The proxy tells itself when the response begins."""
        return ()

    def parse(self, raw: str) -> Object | None:
        """The event that a line of data tells; None if it tells none."""
        if self.ended:
            return None
        try:
            said = parse_json(raw)
        except CodecError as error:
            raise _no_event(error) from None
        if said is None:
            raise _no_event(CodecError("", "expected an object, found null"))
        if not isinstance(said, dict) or said.get("type") not in _READ:
            logger.warning("a proxy has sent an event of a type that is not known: %.200s", raw)
            return None
        return said

    def feed(self, event: Object) -> Iterable[StreamEvent]:
        """The event with its partial; the last one is kept for `end`."""
        try:
            made = self._event(event)
        except CodecError as error:
            raise _no_event(error) from None
        if isinstance(made, (StreamDone, StreamError)):
            self.ended = True
            self._last.append(made)
            return ()
        return () if made is None else (made,)

    def end(self) -> Iterable[StreamEvent]:
        """The last event.

        Raises:
            ResponseFailedError: the proxy has not told it.
        """
        if not self._last:
            raise ResponseFailedError(CLOSED)
        return self._last

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        """The last event of a response that does not come to its own end; of one that has, its own."""
        self.ended = True
        return self._last or (self._builder.error(text, reason="aborted" if aborted else "error"),)

    def _event(self, said: Object) -> StreamEvent | None:
        kind, _, what = str(said["type"]).partition("_")
        if not self._started and kind != "error":
            self._started = True
            begun = self._builder.start()
            if kind == "start":
                return begun
        try:
            return _READ[said["type"]](self, said)
        except OutOfOrderError:
            raise ResponseFailedError(
                f"Received {said['type']} for non-{_KINDS[kind]} content"
                if what in ("delta", "end")
                else f"Received {said['type']} out of order"
            ) from None

    # --- what is read of each type ----------------------------------------------------------------------------

    def _start(self, _said: Object) -> StreamEvent:
        return StreamStart(partial=self._builder.partial)  # another one, which changes nothing

    def _text_start(self, said: Object) -> StreamEvent:
        self._next_place(said)
        return self._builder.text_start()

    def _text_delta(self, said: Object) -> StreamEvent:
        return self._builder.text_delta(_text(said, "delta"), _place(said))

    def _text_end(self, said: Object) -> StreamEvent:
        return self._builder.text_end(_place(said), text_signature=_text_if_there(said, "contentSignature"))

    def _thinking_start(self, said: Object) -> StreamEvent:
        self._next_place(said)
        return self._builder.thinking_start()

    def _thinking_delta(self, said: Object) -> StreamEvent:
        return self._builder.thinking_delta(_text(said, "delta"), _place(said))

    def _thinking_end(self, said: Object) -> StreamEvent:
        signature = _text_if_there(said, "contentSignature")
        return self._builder.thinking_end(_place(said), thinking_signature=signature)

    def _toolcall_start(self, said: Object) -> StreamEvent:
        id_, name = _text(said, "id"), _text(said, "toolName")
        self._calls.add(self._next_place(said))
        return self._builder.toolcall_start(id_, name)

    def _toolcall_delta(self, said: Object) -> StreamEvent:
        return self._builder.toolcall_delta(_text(said, "delta"), _place(said))

    def _toolcall_end(self, said: Object) -> StreamEvent | None:
        place = _place(said)
        if place not in self._calls:
            return None  # no call of which this could be the end
        whole = said.get("toolCall")
        if not isinstance(whole, dict):
            raise CodecError("toolCall", f"expected an object, found {kind_of(whole)}")
        if not whole.keys() >= {"id", "name", "arguments"}:
            whole = {**unstructure(self._builder.partial.content[place]), **whole}
        call = structure(whole, ToolCall, "toolCall")
        self._calls.discard(place)
        return self._builder.toolcall_end(place, call=call)

    def _done(self, said: Object) -> StreamEvent:
        self._conclude(said)
        try:
            return self._builder.done(said.get("reason"), unfinished=True)  # type: ignore[arg-type]
        except ValueError as error:
            raise CodecError("reason", str(error)) from None

    def _error(self, said: Object) -> StreamEvent:
        text = _text_if_there(said, "errorMessage")
        self._conclude(said)
        try:
            event = self._builder.error(text or "", reason=said.get("reason"))  # type: ignore[arg-type]
        except ValueError as error:
            raise CodecError("reason", str(error)) from None
        return (
            event
            if text is not None
            else attrs.evolve(event, error=attrs.evolve(event.error, error_message=None))
        )

    def _conclude(self, said: Object) -> None:
        """What the last event tells of the whole message."""
        if "usage" in said:
            self._builder.update(usage=structure(said["usage"], Usage, "usage"))
        level = _text_if_there(said, "providerThinkingLevel")
        if level is not None:
            self._builder.update(provider_thinking_level=level)

    def _next_place(self, said: Object) -> int:
        """Where a block begins: behind all others."""
        place = _place(said)
        if place != self._count:
            raise ResponseFailedError(
                f"Received {said['type']} for block {place}, where block {self._count} is to begin"
            )
        self._count += 1
        return place


_READ: Final[dict[Any, Callable[[ProxyReader, Object], StreamEvent | None]]] = {
    "start": ProxyReader._start,
    "text_start": ProxyReader._text_start,
    "text_delta": ProxyReader._text_delta,
    "text_end": ProxyReader._text_end,
    "thinking_start": ProxyReader._thinking_start,
    "thinking_delta": ProxyReader._thinking_delta,
    "thinking_end": ProxyReader._thinking_end,
    "toolcall_start": ProxyReader._toolcall_start,
    "toolcall_delta": ProxyReader._toolcall_delta,
    "toolcall_end": ProxyReader._toolcall_end,
    "done": ProxyReader._done,
    "error": ProxyReader._error,
}

"""How each type of event is read; Pi's `ProxyAssistantMessageEvent`."""


def _no_event(error: CodecError) -> ResponseFailedError:
    return ResponseFailedError(f"The proxy has sent what is no event: {error}")


def _place(said: Object) -> int:
    place = said.get("contentIndex")
    if type(place) is not int:
        raise CodecError("contentIndex", f"expected a whole number, found {kind_of(place)}")
    return place


def _text(said: Object, key: str) -> str:
    text = said.get(key)
    if not isinstance(text, str):
        raise CodecError(key, f"expected a string, found {kind_of(text)}")
    return text


def _text_if_there(said: Object, key: str) -> str | None:
    return None if said.get(key) is None else _text(said, key)
