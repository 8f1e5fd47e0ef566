"""An answer of server-sent events over HTTP, as an `Exchange` reads it, with the hooks of a request in their order.

`on_payload` sees the body before it is sent, and may give another one; `on_response` sees status and headers before
the body of the answer is read.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..jsontext import print_json
from ..jsonvalue import JSON
from ..messages import Model
from .exchange import EndOfAnswer, call_hook
from .http import HttpAnswer, PostRequest, post_stream
from .request_options import ProviderOptions
from .sse import ServerSentEvent, SseDecoder
from .tries import DEFAULT_MAX_RETRY_DELAY_MS, Retries

if TYPE_CHECKING:
    from .http import Client


class SseAnswer:
    """The events of an answer; a batch is what one read of the network completes."""

    def __init__(self, answer: HttpAnswer, decoder: SseDecoder) -> None:
        self._http = answer
        self._decoder = decoder

    async def receive(self) -> list[ServerSentEvent]:
        """As `HttpAnswer.receive`.

        Raises:
            EndOfAnswer: the body is over.
            TransportError: the connection has failed, or the signal is raised.
        """
        data = await self._http.receive()
        if not data:
            raise EndOfAnswer(self._decoder.end())
        return self._decoder.feed(data)


@asynccontextmanager
async def open_sse(
    request: PostRequest,
    *,
    model: Model,
    options: ProviderOptions,
    flush_at_end: bool = True,
    never_retry: frozenset[int] = frozenset(),
    client: Client | None = None,
) -> AsyncGenerator[SseAnswer]:
    """Send a request whose body is final; gives its answer when `on_response` has seen it.

    Args:
        request: what is sent.
        model: told to the hook.
        options: signal, timeout, retries and hook.
        flush_at_end: of the `SseDecoder`.
        never_retry: statuses that are not tried again.
        client: as for `post_stream`.

    Raises:
        TransportError: as by `post_stream`.
    """
    retries = Retries(
        count=options.max_retries or 0,
        max_delay_ms=(
            DEFAULT_MAX_RETRY_DELAY_MS if options.max_retry_delay_ms is None else options.max_retry_delay_ms
        ),
        never=never_retry,
    )
    async with post_stream(
        request, signal=options.signal, timeout_ms=options.timeout_ms, retries=retries, client=client
    ) as answer:
        if options.on_response is not None:
            seen = {"status": answer.status, "headers": dict(answer.headers)}
            await call_hook(options.signal, options.on_response, seen, model)
        yield SseAnswer(answer, SseDecoder(flush_at_end=flush_at_end))


async def final_payload(
    body: dict[str, JSON], *, model: Model, options: ProviderOptions, stream: bool | None = None
) -> dict[str, JSON]:
    """The body that is sent: what `on_payload` makes of it, if it gives anything.

    Args:
        body: what the adapter would send.
        model: told to the hook.
        options: signal and hook.
        stream: the field `stream` of a body that the hook gave, where it cannot choose.

    Raises:
        RequestAbortedError: the signal was raised while the hook was waited for.
    """
    if options.on_payload is None:
        return body
    given = await call_hook(options.signal, options.on_payload, body, model)
    if given is None:
        return body
    return {**given, **({} if stream is None else {"stream": stream})}


def json_content(body: JSON) -> bytes:
    """A body as it is sent."""
    return print_json(body).encode()
