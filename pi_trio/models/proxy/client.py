"""The client of the proxy protocol: a stream function that asks models through a server, and has no key itself.

Nothing is tried twice, and a redirection is an error: the token goes nowhere but to the address that was named.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from http.client import responses
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ...errors import CodecError
from ...jsontext import parse_json, print_json
from ...messages import Model
from ..exchange import EndOfAnswer, Exchange, Wording, call_hook
from ..http import HttpAnswer, PostRequest, post_stream
from ..request_options import ProviderOptions, provider_options
from ..sse_exchange import json_content
from ..stream import ModelContext, Opened, StreamOptions
from ..transport_errors import StatusError
from .lines import DataLines
from .reader import ProxyReader
from .request import PATH, request_body

if TYPE_CHECKING:
    from ..http import Client

AuthToken: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""The token, or a function that gives it, which is called for each request."""

ABORTED: Final = "Request aborted by user"


def stream_proxy(
    proxy_url: str, auth_token: AuthToken, *, client: Client | None = None
) -> Callable[[Model, ModelContext, StreamOptions | ProviderOptions], Opened]:
    """A stream function that asks a proxy.

        agent = Agent(model=model, stream_fn=stream_proxy("http://127.0.0.1:8017", token))

    Args:
        proxy_url: where the proxy is, without `/api/stream`.
        auth_token: what it wants to be shown.
        client: sends the requests, and stays open. Without one each request has its own.

    The response of a request that fails is an `error` event, like any other. An abort, or leaving the stream, closes
    the connection, by which the proxy knows.
    """
    url = f"{proxy_url.rstrip('/')}{PATH}"

    def stream(model: Model, context: ModelContext, options: StreamOptions | ProviderOptions) -> Exchange:
        given = provider_options(options)
        reader = ProxyReader(model)
        opening = partial(_open, url, auth_token, model, context, given, reader, client)
        # The hooks of a request are of who asks a provider, which is the proxy.
        unheard = attrs.evolve(given, on_provider_stream_event=None)
        return Exchange(opening, reader, model=model, options=unheard, wording=_WORDING)

    return stream


@asynccontextmanager
async def _open(
    url: str,
    auth_token: AuthToken,
    model: Model,
    context: ModelContext,
    options: ProviderOptions,
    reader: ProxyReader,
    client: Client | None,
) -> AsyncGenerator[_ProxyAnswer]:
    token = auth_token if isinstance(auth_token, str) else await call_hook(options.signal, auth_token)
    request = PostRequest(
        url=url,
        headers={"authorization": f"Bearer {token}", "content-type": "application/json", "accept": "*/*"},
        content=json_content(request_body(model, context, options)),
    )
    async with post_stream(
        request, signal=options.signal, timeout_ms=options.timeout_ms, client=client
    ) as answer:
        yield _ProxyAnswer(answer, reader)


@attrs.frozen
class _ProxyAnswer:
    """The lines of an answer. It is over when the response is, even if the proxy does not close it."""

    http: HttpAnswer
    reader: ProxyReader
    lines: DataLines = attrs.field(factory=DataLines)

    async def receive(self) -> list[str]:
        """As `HttpAnswer.receive`. Raises: EndOfAnswer, TransportError."""
        data = b"" if self.reader.ended else await self.http.receive()
        if not data:
            raise EndOfAnswer(list(self.lines.end()))
        return list(self.lines.feed(data))


def _status(failure: StatusError) -> str:
    """What the proxy says itself, if it says so in JSON; otherwise the status."""
    try:
        said = parse_json(failure.body)
    except CodecError:
        said = None
    if isinstance(said, dict) and (error := said.get("error")):
        return f"Proxy error: {error if isinstance(error, str) else print_json(error)}"
    return f"Proxy error: {failure.status} {responses.get(failure.status, '')}".rstrip()


_WORDING: Final = Wording(
    status=_status,
    connection=lambda cause: f"The proxy cannot be reached: {cause}",
    timeout="The proxy does not answer",
    body=lambda cause: f"The proxy's answer was cut off: {cause}",
    aborted=dict.fromkeys(("answer", "body", "nothing"), ABORTED),
)
