"""The runtime as a subject at a WebSocket of this machine, for one tester at a time, and any number in turn.

Whoever may speak to a subject may make it work, so the door is narrow: it is open to this machine alone, only
to who knows the URL, which holds a secret made for this start, and to no web page of another origin. What
comes in is bounded, and whatever a visitor does ends that visit only.
"""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Callable
from typing import Final

import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, wrap_server_stream

from ...jsontext import print_json
from ...profile import Profile
from ..protocol import LIMITS
from ..scheduling import first_in_first_out
from .serve import answer_line, hello, open_driver

logger = logging.getLogger("pi_trio")

HOST: Final = "127.0.0.1"

_HANDSHAKE_WITHIN: Final = 10.0
"""Seconds that a visitor has to say what it wants."""

_PARTING: Final = 2.0
"""Seconds for the closing handshake."""

_LEAVING: Final = 1.0
"""Seconds that a new tester waits for the former one to be gone."""


def serve_websocket(profile: Profile, port: int, announce: Callable[[str], None]) -> None:
    """Wait for testers until interrupted.

    Args:
        port: 0 is any free one.
        announce: told the URL when testers may come.

    Raises:
        OSError: that port cannot be had.
    """
    with first_in_first_out():
        trio.run(_serve, profile, port, announce)


async def _serve(profile: Profile, port: int, announce: Callable[[str], None]) -> None:
    listeners = await trio.open_tcp_listeners(port, host=HOST)
    taken: int = listeners[0].socket.getsockname()[1]
    door = _Door(profile, taken, secrets.token_urlsafe(24))
    announce(f"ws://{HOST}:{taken}{door.path}")
    await trio.serve_listeners(door.meet, listeners)


class _Door:
    """Lets one tester in at a time."""

    def __init__(self, profile: Profile, port: int, secret: str) -> None:
        self.path = f"/{secret}"
        self._profile = profile
        self._origins = {f"http://{host}:{port}".encode() for host in (HOST, "localhost")}
        self._place = trio.Lock()

    async def meet(self, stream: trio.SocketStream) -> None:
        """One visit, from the first byte to the last. Never raises for what the visitor does."""
        try:
            async with trio.open_nursery() as nursery:
                request = None
                with trio.move_on_after(_HANDSHAKE_WITHIN):
                    request = await wrap_server_stream(nursery, stream, max_message_size=LIMITS.line)
                if request is not None:
                    await self._welcome(request)
                nursery.cancel_scope.cancel()
        except* Exception as errors:
            logger.warning("a visit ended badly: %s", "; ".join(map(repr, errors.exceptions)))
        finally:
            await trio.aclose_forcefully(stream)

    async def _welcome(self, request: WebSocketRequest) -> None:
        origins = {value for name, value in request.headers if name.lower() == b"origin"}
        if not hmac.compare_digest(request.path.encode(), self.path.encode()):
            await request.reject(403, body=b"this is not the URL that was printed\n")
        elif origins - self._origins:
            await request.reject(403, body=b"web pages are not let in\n")
        else:
            # Who has just left may still be on the way out, and the next one be the same tester.
            with trio.move_on_after(_LEAVING) as waiting:
                await self._place.acquire()
            if waiting.cancelled_caught:
                await request.reject(503, body=b"another tester is here\n")
                return
            try:
                await self._converse(await request.accept())
            finally:
                self._place.release()

    async def _converse(self, connection: WebSocketConnection) -> None:
        """Be the subject of one tester, until it goes."""
        code, reason = 1000, ""
        async with open_driver(self._profile) as driver:
            try:
                await connection.send_message(print_json(hello(self._profile)))
                while True:
                    command = await connection.get_message()
                    if not isinstance(command, str):
                        code, reason = 1003, "a command is a text frame"
                        break
                    for message in await answer_line(driver, command.encode("utf-8", "surrogatepass")):
                        await connection.send_message(print_json(message))
            except ConnectionClosed:
                return
        with trio.move_on_after(_PARTING):
            await connection.aclose(code, reason)
