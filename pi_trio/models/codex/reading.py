"""The messages of the endpoint on their way to the reader: JSON, the caller's hook, Codex's own words, events.

Both transports bring texts. `Messages` makes of them what the Responses API would say, in order and lazily, so that
what came before an error is told before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...events import StreamEvent
from ...jsonvalue import JSON
from ...messages import Model
from ..exchange import EndOfAnswer, call_hook
from ..openai_responses.reader import ResponsesReader
from ..request_options import ProviderOptions
from ..transport_errors import RequestAbortedError
from .events import CodexError, CodexEvents, parsed_message


class Messages:
    """Reads the messages of one try.

    Args:
        transport: named where a message is no JSON.
        model, options: of the request; the hook is in the options.
        on_end: told when the last event has come, before it is read.
    """

    def __init__(
        self,
        transport: str,
        model: Model,
        options: ProviderOptions,
        on_end: Callable[[CodexEvents], None],
    ) -> None:
        self._transport = transport
        self._model = model
        self._signal = options.signal
        self._hook = options.on_provider_stream_event if options.dialect.provider_stream_events else None
        self._on_end = on_end
        self.events = CodexEvents()

    async def read(self, texts: deque[str]) -> Iterable[JSON]:
        """The events that some messages say, all of them, or where a hook is to see them those of the first one.

        Raises:
            ResponseFailedError: the endpoint has failed, or the message cannot be read.
        """
        if self._hook is None:
            return self._events(texts)
        event = self._parsed(texts.popleft())
        try:
            await call_hook(self._signal, self._hook, event, self._model)
        except RequestAbortedError:
            raise
        except Exception as error:
            raise CodexError(str(error) or type(error).__name__) from error
        return self._read(event)

    def _events(self, texts: deque[str]) -> Iterator[JSON]:
        while texts and not self.events.ended:
            yield from self._read(self._parsed(texts.popleft()))

    def _parsed(self, text: str) -> JSON:
        event = parsed_message(text, self._transport)
        if (
            event is None and self._transport == "WebSocket"
        ):  # where that is no JSON, while it is no event elsewhere
            raise CodexError("Invalid Codex WebSocket JSON: null is no event")
        return event

    def _read(self, event: JSON) -> Iterable[JSON]:
        told = self.events.read(event)
        if self.events.ended:
            self._on_end(self.events)
        return told

    def check_ended(self) -> None:
        """See whether more is to come.

        Raises:
            EndOfAnswer: all has been said.
        """
        if self.events.ended:
            raise EndOfAnswer


class CodexReader(ResponsesReader):
    """Reads what `Messages` give.

    Attributes:
        on_failure: told of a failure, before the response ends with it; not of an abort.
        first: events that have come before the response could begin, and are told with its beginning.
    """

    first: Iterable[JSON] = ()
    on_failure: Callable[[str], None] | None = None

    def note_end(self, events: CodexEvents) -> None:
        """The last event has come."""
        if events.end_turn is not None:
            self.builder.update(end_turn=events.end_turn)

    def start(self) -> Iterable[StreamEvent]:
        """The answer has begun."""
        yield from super().start()
        for event in self.first:
            yield from self.feed(event)

    def parse(self, raw: Any) -> Any:
        """The event as it is."""
        return raw

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        """The response has failed, or was aborted."""
        if aborted and self.complete:
            text = self.text_of_abort()
        if self.on_failure is not None and not aborted:
            self.on_failure(text)
        return super().fail(text, aborted)
