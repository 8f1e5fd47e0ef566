"""The server of the proxy protocol: asks models for clients that have a token, and no key.

It listens on the loopback only, and serves whoever shows the token, at one path. A browser's page that was not named
is refused, whatever it shows. A client that goes takes its request along: the provider is told.

There is room for so many connections. One that has shown no token makes room for the next one, the oldest first: so
whoever has the token is not kept out by those who have none.
"""

from __future__ import annotations

import hmac
import inspect
import ipaddress
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import attrs
import h11
import trio

from ...abort import AbortController
from ...errors import CodecError, PiTrioError
from ...events import StreamDone, StreamError
from ...jsontext import print_json
from ...jsonvalue import JSON
from ...messages import Model
from ...texts import NO_RESULT
from ..stream import AssistantMessageEventStream, ModelContext, Opened, close_events
from .connection import Connection, GoneError, Headers, Limits, RefusedError
from .request import PATH, ProxyRequest, read_request
from .telling import Telling

logger: Final = logging.getLogger("pi_trio")

Ask: TypeAlias = Callable[[Model, ModelContext, Any], Opened | Awaitable[Opened]]
"""A stream function. Its options are `ProviderOptions`, with all that a client can say."""

_EVENTS: Final[Headers] = {"content-type": "text/event-stream", "cache-control": "no-cache"}
_PREFLIGHT: Final[Headers] = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "600",
}
_COMMENT: Final = b":\n\n"
"""What no reader of events takes for one."""
_LINGER: Final = 2.0
"""Seconds for a client to take in why it was refused, before its connection is closed."""


class NotOnLoopbackError(PiTrioError, ValueError):
    """A proxy was to listen where other machines can reach it."""


class BadTokenError(PiTrioError, ValueError):
    """A token that no header can carry, or that is none."""


@attrs.frozen
class Offer:
    """A model that clients may ask, and how it is asked."""

    model: Model
    ask: Ask

    @property
    def name(self) -> str:
        """`provider/id`, as clients name it."""
        return f"{self.model.provider}/{self.model.id}"


@attrs.frozen(kw_only=True)
class Served:
    """What became of a request, for a log: its model if it named one, the status, and how the response stopped."""

    model: str
    status: int
    ending: str


async def serve_proxy(
    offers: Iterable[Offer],
    *,
    token: str,
    host: str = "127.0.0.1",
    port: int = 0,
    origins: Iterable[str] = (),
    limits: Limits | None = None,
    on_served: Callable[[Served], object] = lambda _: None,
    task_status: trio.TaskStatus[list[trio.SocketListener]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve until cancelled, which breaks off what is being told.

    Args:
        offers: the models that can be asked; of any other nothing is known.
        token: what a client has to show.
        host, port: where to listen; port 0 takes any that is free. `task_status` is told the listeners.
        origins: the pages in browsers that may ask, as `https://example.org`.
        limits: what clients may take.
        on_served: is told of each request when it is over.

    Raises:
        NotOnLoopbackError: the host is not of this machine's loopback.
        OSError: nobody can listen there.
        BadTokenError: no client can show this token, or every one.
    """
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise BadTokenError("the token of a proxy is ASCII, not empty, without blanks")
    listeners = await trio.open_tcp_listeners(port, host=host)
    try:
        for listener in listeners:
            address = listener.socket.getsockname()[0]
            if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
                raise NotOnLoopbackError(
                    f"{host} can be reached from other machines; a proxy listens on the loopback only (127.0.0.1, ::1)"
                )
        server = _Server(
            offers={offer.name: offer for offer in offers},
            token=token.encode(),
            origins=frozenset(origins),
            limits=limits or Limits(),
            on_served=on_served,
        )
        await trio.serve_listeners(server.serve, listeners, task_status=task_status)
    finally:
        for listener in listeners:
            listener.socket.close()


def _values(head: h11.Request, name: bytes) -> list[bytes]:
    return [value for field, value in head.headers if field == name]


@attrs.define
class _Server:
    offers: Mapping[str, Offer]
    token: bytes = attrs.field(repr=False)
    origins: frozenset[str]
    limits: Limits
    on_served: Callable[[Served], object]
    open: int = 0
    strangers: dict[_Visit, trio.CancelScope] = attrs.field(factory=dict, repr=False)  # the oldest first
    known: set[_Visit] = attrs.field(factory=set, repr=False)

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection. Whatever comes of it, the server lives."""
        visit = _Visit(self, Connection(stream, self.limits), stream)
        self.open += 1
        try:
            with trio.CancelScope() as scope:
                async with stream:
                    if self.open <= 2 * self.limits.connections:
                        await visit.be_served(self._admits(visit, scope))
        except Exception:
            logger.exception("a request to the proxy has failed")
        finally:
            self.open -= 1
            self.strangers.pop(visit, None)
            self.known.discard(visit)

    def _admits(self, visit: _Visit, scope: trio.CancelScope) -> bool:
        """Whether there is room for one who may show the token."""
        if len(self.strangers) + len(self.known) >= self.limits.connections:
            if not self.strangers:
                return False
            self.strangers.pop(next(iter(self.strangers))).cancel()
        self.strangers[visit] = scope
        return True

    def know(self, visit: _Visit) -> None:
        """It has shown the token."""
        if self.strangers.pop(visit, None) is not None:
            self.known.add(visit)


@attrs.define(eq=False)
class _Visit:
    """One connection, with its one request."""

    server: _Server
    connection: Connection
    stream: trio.SocketStream
    cors: Headers = attrs.field(factory=dict)
    model: str = ""
    ending: str = ""

    async def be_served(self, admitted: bool) -> None:
        """Answer the request, or say why not."""
        try:
            if not admitted:
                raise RefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "too many connections; try again later")
            await self._answer()
        except RefusedError as refused:
            self.ending = str(refused)
            with suppress(GoneError):
                await self.connection.refuse(refused, self.cors)
            await self._linger()
        except GoneError as gone:
            self.ending = str(gone)
        if self.connection.status is not None:
            status = self.connection.status.value
            self.server.on_served(Served(model=self.model, status=status, ending=self.ending))

    async def _answer(self) -> None:
        head = await self.connection.request()
        self._check_origin(head)
        if head.target.partition(b"?")[0] != PATH.encode():
            raise RefusedError(HTTPStatus.NOT_FOUND, f"there is nothing here; requests go to {PATH}")
        if head.method == b"OPTIONS" and self.cors:
            await self.connection.answer(HTTPStatus.NO_CONTENT, {**self.cors, **_PREFLIGHT})
            return
        if head.method != b"POST":
            raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "requests are POSTed", {"allow": "POST"})
        self._check_token(head)
        self.server.know(self)
        self._check_length(head)
        request = await self._read_request()
        await self._tell(request, self._offer(request))

    # --- who may ask what -------------------------------------------------------------------------------------

    def _check_origin(self, head: h11.Request) -> None:
        for value in _values(head, b"origin"):
            origin = value.decode("latin-1")
            if origin not in self.server.origins:
                raise RefusedError(HTTPStatus.FORBIDDEN, "this origin may not ask")
            self.cors = {"access-control-allow-origin": origin, "vary": "origin"}

    def _check_token(self, head: h11.Request) -> None:
        shown = _values(head, b"authorization")
        scheme, _, token = shown[0].partition(b" ") if len(shown) == 1 else (b"", b"", b"")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.server.token):
            raise RefusedError(
                HTTPStatus.UNAUTHORIZED, "the token is not right", {"www-authenticate": "Bearer"}
            )

    def _check_length(self, head: h11.Request) -> None:
        lengths = _values(head, b"content-length")
        if lengths and _values(head, b"transfer-encoding"):
            raise RefusedError(HTTPStatus.BAD_REQUEST, "the body has two lengths")
        if any(int(length) > self.server.limits.body for length in lengths):
            raise self.connection.too_long()

    async def _read_request(self) -> ProxyRequest:
        body = await self.connection.body()
        try:
            return read_request(body)
        except CodecError as error:
            raise RefusedError(HTTPStatus.BAD_REQUEST, f"that is no request: {error}") from None

    def _offer(self, request: ProxyRequest) -> Offer:
        self.model = f"{request.provider}/{request.model_id}"
        offer = self.server.offers.get(self.model)
        if offer is None:
            near = get_close_matches(self.model, self.server.offers) or list(self.server.offers)[:5]
            raise RefusedError(
                HTTPStatus.NOT_FOUND, f"{self.model:.200} is not offered here; there is {', '.join(near)}"
            )
        return offer

    # --- the response -----------------------------------------------------------------------------------------

    async def _tell(self, request: ProxyRequest, offer: Offer) -> None:
        """Ask the model, and tell its response as it comes. If the client goes, the request is aborted."""
        controller = AbortController()
        options = attrs.evolve(request.options, signal=controller.signal)
        await self.connection.begin(HTTPStatus.OK, {**_EVENTS, **self.cors})
        async with trio.open_nursery() as nursery:

            async def leave_with_client() -> None:
                await self.connection.gone(_COMMENT)
                leave()

            def leave() -> None:
                self.ending = self.ending or "the client has gone"
                controller.abort()
                nursery.cancel_scope.cancel()

            nursery.start_soon(leave_with_client)
            ask = partial(offer.ask, offer.model, request.context, options)
            await self._tell_response(ask, _Saying(self.connection, leave))
            nursery.cancel_scope.cancel()

    async def _tell_response(self, ask: Callable[[], Opened | Awaitable[Opened]], saying: _Saying) -> None:
        telling = Telling()
        try:
            opened = ask()
            if inspect.isawaitable(opened):
                opened = await opened
            async with opened as stream:
                await self._tell_events(telling, stream, saying)
        except Exception as error:
            logger.exception("a model's stream has failed")
            if not telling.ended:
                self.ending = f"the model's stream has failed: {_name(error)}"
                await saying.say([telling.fail(self.ending)])
        await saying.end()

    async def _tell_events(
        self, telling: Telling, stream: AssistantMessageEventStream, saying: _Saying
    ) -> None:
        events = aiter(stream)
        try:
            async for event in events:
                await saying.say(telling.tell(event))
                if isinstance(event, (StreamDone, StreamError)):
                    self.ending = event.reason
                    return
        finally:
            # It is closed here and now, and not by the garbage collector.
            if isinstance(events, AsyncGenerator):
                await close_events(events)
        result = await stream.result()
        if result is None:
            self.ending = NO_RESULT
            await saying.say([telling.fail(NO_RESULT)])
            return
        reason = self.ending = result.stop_reason
        failed = reason in ("error", "aborted")
        await saying.say(
            telling.tell(
                StreamError(reason=reason, error=result)
                if failed
                else StreamDone(reason=reason, message=result)
            )
        )

    async def _linger(self) -> None:
        """Let the client read the answer: closing while it still sends would take the answer from it."""
        with trio.move_on_after(_LINGER), suppress(trio.BrokenResourceError):
            await self.stream.send_eof()
            await self.connection.ended()


@attrs.frozen
class _Saying:
    """Sends what there is to say. If nobody is there any more, `leave` is called, which cancels who says it: an error
    would have to find its way through whatever the provider has opened.
    """

    connection: Connection
    leave: Callable[[], None]

    async def say(self, all_said: Iterable[JSON]) -> None:
        for said in all_said:
            await self._sent(partial(self.connection.send, f"data: {print_json(said)}\n\n".encode()))

    async def end(self) -> None:
        await self._sent(self.connection.end)

    async def _sent(self, send: Callable[[], Awaitable[None]]) -> None:
        try:
            await send()
        except GoneError:
            self.leave()
            await trio.lowlevel.checkpoint()


def _name(error: BaseException) -> str:
    """What kind of error it is; of a group of one, the one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return type(error).__name__
