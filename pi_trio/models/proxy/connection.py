"""One request and its answer on a connection that somebody else has opened: HTTP/1.1, spoken by h11.

A connection serves one request, and is closed. Whatever the other side sends, or does not send, costs a bounded amount
of memory and time: its head, its body and its silence each have a limit, and so has the time for which it takes
nothing of what is sent to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final, TypeAlias

import attrs
import h11
import trio

from ...errors import PiTrioError
from ...jsontext import print_json

_HEAD_LIMIT: Final = 16 * 1024
_CHUNK: Final = 64 * 1024
_ASKING: Final = 0.5
"""Seconds after which who sends no more is asked again whether it is there."""

Headers: TypeAlias = Mapping[str, str]


class RefusedError(PiTrioError):
    """A request gets an answer that says why not: an HTTP status, and a text for its sender."""

    def __init__(self, status: HTTPStatus, text: str, headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status: Final = status
        self.headers: Final = headers or {}


class GoneError(PiTrioError):
    """The other side has gone, or does not do what it has to in the time that it has."""


@attrs.frozen(kw_only=True)
class Limits:
    """What one client, and all of them, may take.

    Attributes:
        body: bytes of a request's body.
        connections: that are served at one time.
        head_time: seconds for the whole head of a request.
        patience: seconds for each further piece of its body, and for a piece of the answer to be taken.
        body_time: seconds for the whole body.
    """

    body: int = 32 * 1024 * 1024
    connections: int = 64
    head_time: float = 5
    patience: float = 20
    body_time: float = 300


class Connection:
    """A connection with its one request and its one answer."""

    def __init__(self, stream: trio.abc.Stream, limits: Limits) -> None:
        self._stream = stream
        self._limits = limits
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD_LIMIT)
        self._sending = trio.Lock()
        self.status: HTTPStatus | None = None  # of the answer, when it has begun

    async def request(self) -> h11.Request:
        """The head of the request.

        Raises:
            GoneError: none came.
            RefusedError: it is none.
        """
        with trio.move_on_after(self._limits.head_time):
            event = await self._next()
            if isinstance(event, h11.Request):
                return event
            raise GoneError("no request came")
        raise RefusedError(HTTPStatus.REQUEST_TIMEOUT, "the request did not come in time")

    async def body(self) -> bytes:
        """The whole body.

        Raises:
            GoneError: the other side has gone.
            RefusedError: it is too long, or does not come.
        """
        pieces: list[bytes] = []
        left = self._limits.body
        with trio.move_on_after(self._limits.body_time):
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            while True:
                event = None
                with trio.move_on_after(self._limits.patience):
                    event = await self._next()
                if not isinstance(event, h11.Data):
                    break
                pieces.append(bytes(event.data))
                left -= len(event.data)
                if left < 0:
                    raise self.too_long()
            if isinstance(event, h11.EndOfMessage):
                return b"".join(pieces)
            if event is not None:
                raise GoneError("the request ended in its middle")
        raise RefusedError(HTTPStatus.REQUEST_TIMEOUT, "the request did not come in time")

    def too_long(self) -> RefusedError:
        """What is said to a body that is longer than the limit."""
        return RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {self._limits.body} bytes"
        )

    async def ended(self) -> bool:
        """Return when the other side sends no more: whether it may still be there. What it sends is not looked at."""
        try:
            while await self._stream.receive_some(_CHUNK):
                pass
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        return True

    async def gone(self, nothing: bytes) -> None:
        """Return when the other side has gone.

        Whoever has closed only its own direction waits for the answer, and shows the same end as who has closed both.
        So that end is followed by `nothing`, again and again: data without meaning, which only the first one takes.
        """
        if await self.ended():
            with suppress(GoneError):
                while True:
                    await self._send(h11.Data(data=nothing))
                    await trio.sleep(_ASKING)

    # --- the answer -------------------------------------------------------------------------------------------

    async def begin(self, status: HTTPStatus, headers: Headers) -> None:
        """Send the head of the answer."""
        self.status = status
        fields = [*headers.items(), ("connection", "close")]
        await self._send(h11.Response(status_code=status, reason=status.phrase, headers=fields))

    async def send(self, data: bytes) -> None:
        """Send a piece of the answer's body.

        Raises:
            GoneError: the other side has gone, or takes nothing.
        """
        await self._send(h11.Data(data=data))

    async def end(self) -> None:
        """The answer is complete."""
        await self._send(h11.EndOfMessage())

    async def answer(self, status: HTTPStatus, headers: Headers, body: bytes = b"") -> None:
        """Send a whole answer."""
        length = {} if status == HTTPStatus.NO_CONTENT else {"content-length": str(len(body))}
        await self.begin(status, {**headers, **length})
        if body:
            await self.send(body)
        await self.end()

    async def refuse(self, refused: RefusedError, headers: Headers) -> None:
        """Answer that it is not done, and why: in the form in which a proxy's client expects it."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = print_json({"error": str(refused)}).encode()
            fields = {"content-type": "application/json", **headers, **refused.headers}
            await self.answer(refused.status, fields, body)

    # --- inside -----------------------------------------------------------------------------------------------

    async def _next(self) -> h11.Event | None:
        """The next event of the request; None behind its end."""
        while True:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                status = HTTPStatus(error.error_status_hint)
                raise RefusedError(status, f"that is no request: {error}") from None
            if isinstance(event, h11.Event):
                return event
            if event is h11.PAUSED:
                return None
            try:
                self._http.receive_data(bytes(await self._stream.receive_some(_CHUNK)))
            except trio.BrokenResourceError as error:
                raise GoneError("the connection broke") from error

    async def _send(self, event: h11.Event) -> None:
        async with self._sending:
            if self._http.our_state in (h11.DONE, h11.MUST_CLOSE):
                return
            data = self._http.send(event)
            if not data:
                return
            with trio.move_on_after(self._limits.patience) as scope:
                try:
                    await self._stream.send_all(data)
                except trio.BrokenResourceError as error:
                    raise GoneError("the connection broke") from error
            if scope.cancelled_caught:
                raise GoneError("nothing of the answer is taken")
