"""Who owns the sockets that wait for the next request of their session.

A session's socket is kept open between two requests: that saves the handshake, and its server remembers the last
response, so that the next request need say only what is new. A socket that is kept needs an owner that outlives the
requests:

    async with CodexSessions() as sessions:
        adapter = CodexResponses(sessions)
        ...

Its nursery holds the sockets. While one waits it is read, so that pings are answered and its end is noticed; after
five minutes without a request it is closed, and whatever is left when the block is left. Outside of the block, or
without one, nothing is kept: each request opens a socket of its own, and closes it.

That a session's socket has failed is remembered in any case (of the last 10 000 such sessions): it goes on by
server-sent events.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

import attrs
import trio

from ..dialect import Dialect
from ..nursery import open_bare_nursery
from ..recent import Recent
from .continuation import Continuation
from .socket import Socket, SocketFailedError, open_socket

#: How long a socket waits for the next request, in seconds.
IDLE: Final = 300


@attrs.define(eq=False)
class Lease:
    """A socket for one request; one with a key may serve another one. `continuation` is what its server remembers."""

    socket: Socket
    key: tuple[str, str] | None
    busy: bool = True
    continuation: Continuation | None = None
    watch: trio.CancelScope = attrs.field(factory=trio.CancelScope)


class CodexSessions:
    """Keeps sockets for the next request of their session. Its own async context manager, to be entered once.

    Args:
        idle: how long a socket waits for a request, in seconds.
    """

    def __init__(self, *, idle: float = IDLE) -> None:
        self._idle = idle
        self._manager: open_bare_nursery | None = None
        self._nursery: trio.Nursery | None = None
        self._leases: dict[tuple[str, str], Lease] = {}
        self._without_sockets: Recent[bool] = Recent()

    async def __aenter__(self) -> Self:
        if self._manager is not None:
            raise RuntimeError("a CodexSessions is entered once")
        self._manager = open_bare_nursery()
        self._nursery = await self._manager.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        """Close all sockets."""
        assert self._nursery is not None
        assert self._manager is not None
        self._nursery.cancel_scope.cancel()
        self._nursery = None
        self._leases.clear()
        return await self._manager.__aexit__(kind, error, traceback)

    # --- what has failed ------------------------------------------------------------------------------------

    def uses_sockets(self, session: str | None) -> bool:
        """Whether the session has a socket coming to it: none of its own has failed."""
        return session not in self._without_sockets

    def give_up_sockets(self, session: str | None) -> None:
        """The session's socket has failed: it goes on without."""
        if session:
            self._without_sockets[session] = True

    # --- sockets --------------------------------------------------------------------------------------------

    async def take(
        self,
        nursery: trio.Nursery,
        url: str,
        headers: Mapping[str, str],
        *,
        session: str | None,
        account: str,
        timeout_ms: float | None,
        dialect: Dialect,
    ) -> Lease:
        """The socket of the session and account, or a new one. One that is busy stays with its request.

        Args:
            nursery: holds a socket that is not kept.
            url, headers, timeout_ms: of a new one.
            session, account: whose socket it is.
            dialect: how old it may be.

        Raises:
            SocketFailedError: it could not be opened.
        """
        if not session or self._nursery is None:
            return Lease(await open_socket(nursery, url, headers, timeout_ms), None)
        key = session, account
        kept = self._leases.get(key)
        if kept is not None and kept.busy:
            return Lease(await open_socket(nursery, url, headers, timeout_ms), None)
        if kept is not None:
            kept.watch.cancel()
            if kept.socket.is_open and trio.current_time() - kept.socket.since < dialect.codex_socket_age:
                kept.busy = True
                return kept
            self._forget(kept)
        lease = Lease(await open_socket(self._nursery, url, headers, timeout_ms), key)
        self._leases[key] = lease
        return lease

    def give_back(self, lease: Lease, *, keep: bool) -> None:
        """The request is over. Its socket is kept for the next one, or closed."""
        if not keep or not lease.socket.is_open or lease.key is None or self._nursery is None:
            self._forget(lease)
            return
        lease.busy = False
        lease.watch = trio.CancelScope()
        self._nursery.start_soon(self._watch, lease, lease.watch)

    async def _watch(self, lease: Lease, scope: trio.CancelScope) -> None:
        """Read what nobody waits for, until the socket is taken, or has waited for too long, or is closed."""
        with scope:
            try:
                with trio.move_on_after(self._idle):
                    while True:
                        await lease.socket.receive()
            except SocketFailedError:
                pass
            self._forget(lease)

    def _forget(self, lease: Lease) -> None:
        lease.continuation = None
        lease.socket.let_go()
        if lease.key is not None and self._leases.get(lease.key) is lease:
            del self._leases[lease.key]
