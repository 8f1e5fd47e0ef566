"""Asking by WebSocket: one message out, and messages in until the response has ended.

Before anything was said, a failure of the socket sends the request to the other transport; the two codes that put the
blame on the socket are worth another one first. Behind that, the response has failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final

import attrs
import trio

from ...jsontext import print_json
from ...jsonvalue import ABSENT, JSON
from ...messages import AssistantMessage, Diagnostic, DiagnosticError, Model
from ...timestamps import now
from ..exchange import ResponseFailedError
from ..openai_responses.input_items import InputRules, input_items
from ..request_options import ProviderOptions
from ..transport_errors import RequestAbortedError
from .continuation import Continuation
from .events import CONNECTION_LIMIT, PREVIOUS_NOT_FOUND, CodexError
from .reading import CodexReader, Messages
from .request import milliseconds, socket_headers, socket_url
from .sessions import CodexSessions, Lease
from .socket import SocketFailedError

#: How long a socket may take to open where nobody says, in milliseconds.
_CONNECT_MS: Final = 15_000
_CONTINUING: Final = ("auto", "websocket-cached")
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


@attrs.frozen(kw_only=True)
class SocketRequest:
    """What is asked: the body, for whom, and in whose sockets."""

    model: Model
    options: ProviderOptions
    body: dict[str, Any]
    rules: InputRules
    account: str
    session: str | None
    key: str | None
    sessions: CodexSessions
    nursery: trio.Nursery

    @property
    def continues(self) -> bool:
        """Whether the request may go on from the last response of its socket: only if it was asked to."""
        return self.options.transport in _CONTINUING


class SocketAnswer:
    """What comes back, event by event."""

    def __init__(self, request: SocketRequest, reader: CodexReader) -> None:
        self._request = request
        self._reader = reader
        self._lease: Lease | None = None
        self._messages = Messages("WebSocket", request.model, request.options, self._reader.note_end)
        self._asked_again: set[str] = set()
        self._idle_ms = milliseconds(request.options.timeout_ms)
        self._connect_ms = milliseconds(request.options.websocket_connect_timeout_ms)
        self._failure: ResponseFailedError | None = None

    async def begin(self) -> bool:
        """Ask, and wait for the first event. False if the socket has failed before it: nothing was said then.

        Raises:
            CodexError: the endpoint has refused.
            RequestAbortedError: the signal is raised.
        """
        try:
            while not self._reader.first:
                self._reader.first = await self._next((CONNECTION_LIMIT, PREVIOUS_NOT_FOUND))
        except ResponseFailedError as failure:
            self._leave(keep=False)
            if isinstance(failure, CodexError) and failure.code != CONNECTION_LIMIT:
                raise
            self._note(failure, started=False)
            return False
        self._reader.on_failure = self._failed
        return True

    async def receive(self) -> Iterable[JSON]:
        """The next events."""
        self._messages.check_ended()
        try:
            return await self._next((PREVIOUS_NOT_FOUND,))
        except ResponseFailedError as failure:
            self._failure = failure
            raise

    def close(self) -> None:
        """The response is over. Its socket is kept if all went well, and its server knows the response."""
        whole = self._reader.whole and not self._request.options.signal.aborted
        if whole and self._lease is not None and self._lease.key is not None and self._request.continues:
            self._lease.continuation = self._continuation() or self._lease.continuation
        self._leave(keep=whole)

    # --- inside -------------------------------------------------------------------------------------------

    async def _next(self, worth_another: tuple[str, ...]) -> list[JSON]:
        """The events of the next message; those codes are worth another try, once each."""
        while True:
            try:
                if self._lease is None:
                    await self._ask()
                return list(await self._messages.read(deque([await self._message()])))
            except CodexError as error:
                code = error.code
                if code not in worth_another or code in self._asked_again:
                    raise
                self._asked_again.add(code)
                self._leave(keep=False)

    async def _ask(self) -> None:
        request = self._request
        timeout = _CONNECT_MS if self._connect_ms is None else self._connect_ms or None
        with request.options.signal.scope():
            self._lease = await request.sessions.take(
                request.nursery,
                socket_url(request.model),
                socket_headers(request.model, request.options, request.account, request.key),
                session=request.session,
                account=request.account,
                timeout_ms=timeout,
                dialect=request.options.dialect,
            )
            self._messages = Messages("WebSocket", request.model, request.options, self._reader.note_end)
            body = self._shortened(self._lease) or request.body
            await self._lease.socket.send(print_json({"type": "response.create", **body}))
            return
        raise RequestAbortedError("nothing")

    def _shortened(self, lease: Lease) -> dict[str, Any] | None:
        """The body with what is new only, if the socket's server remembers the rest."""
        if lease.continuation is None or not self._request.continues:
            return None
        shortened = lease.continuation.shortened(self._request.body)
        if shortened is None:
            lease.continuation = None
        return shortened

    async def _message(self) -> str:
        assert self._lease is not None
        with self._request.options.signal.scope():
            with trio.move_on_after((self._idle_ms or float("inf")) / 1000):
                while True:
                    if text := await self._lease.socket.receive():
                        return text
            raise SocketFailedError(f"WebSocket idle timeout after {self._idle_ms:.0f}ms")
        raise RequestAbortedError("nothing")

    def _continuation(self) -> Continuation | None:
        """What the socket's server remembers now; None if the response could not be sent back."""
        request, builder = self._request, self._reader.builder
        message: AssistantMessage = attrs.evolve(builder.partial, stop_reason=self._reader.stop_reason)
        if not message.response_id:
            return None
        rules = attrs.evolve(request.rules, prompt_beside=None, late_tools={}, effort=None)
        try:
            items = input_items((message,), request.model, request.options.dialect, rules)
        except ResponseFailedError:
            return None
        own = [item for item in items if isinstance(item, dict) and item.get("type") not in _OUTPUTS]
        return Continuation(request.body, message.response_id, list(own))

    def _leave(self, *, keep: bool) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            self._request.sessions.give_back(lease, keep=keep)

    # --- failures -----------------------------------------------------------------------------------------

    def _failed(self, text: str) -> None:
        """The response has failed behind its beginning. If the endpoint has not said so, the socket is to blame."""
        failure = self._failure or ResponseFailedError(text)
        if not isinstance(failure, CodexError):
            self._note(failure, started=True)

    def _note(self, failure: ResponseFailedError, *, started: bool) -> None:
        """Note the failure in the message, and that the session's sockets fail."""
        name, code = (
            (failure.name, failure.code) if isinstance(failure, SocketFailedError) else ("Error", None)
        )
        details: dict[str, JSON] = {
            "configuredTransport": self._request.options.transport or "auto",
            **({} if started else {"fallbackTransport": "sse"}),
            "eventsEmitted": started,
            "phase": "after_message_stream_start" if started else "before_message_stream_start",
            "requestBytes": len(print_json(self._request.body).encode()),
        }
        error = DiagnosticError(name=name, message=str(failure), code=ABSENT if code is None else code)
        note = Diagnostic(type="provider_transport_failure", timestamp=now(), error=error, details=details)
        builder = self._reader.builder
        builder.update(diagnostics=(*(builder.partial.diagnostics or ()), note))
        self._request.sessions.give_up_sockets(self._request.session)
