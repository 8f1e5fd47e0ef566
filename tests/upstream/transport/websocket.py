"""The WebSocket half of the server: one connection, whose every message is answered by the case's next answer.

wsproto keeps the protocol, so that a case can say what it likes between two frames: a binary message, a close frame
with a code, an end without one, a reset.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from wsproto import ConnectionType, WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Message,
    Ping,
    Request,
    TextMessage,
)
from wsproto.utilities import RemoteProtocolError

from .cases import data_of

if TYPE_CHECKING:
    from .server import Visitor, _Connection


async def speak(connection: _Connection, visitor: Visitor, received: bytes) -> None:
    """Accept the handshake that was `received`, and answer until one of the two ends the connection."""
    socket = WSConnection(ConnectionType.SERVER)
    socket.receive_data(received)
    said = ""
    stream = connection.stream
    while True:
        for event in socket.events():
            if isinstance(event, Request):
                await stream.send_all(socket.send(AcceptConnection()))
            elif isinstance(event, Ping):
                await stream.send_all(socket.send(event.response()))
            elif isinstance(event, CloseConnection):
                if socket.state is ConnectionState.REMOTE_CLOSING:
                    await stream.send_all(socket.send(event.response()))
                await connection.leave("end", visitor.waits)
                return
            elif isinstance(event, TextMessage):
                said += event.data
                if event.message_finished:
                    visitor.requests.append({"method": "MESSAGE", "body": json.loads(said)})
                    said = ""
                    if not await _answer(connection, socket, visitor):
                        return
        data = await stream.receive_some(65536)
        try:
            socket.receive_data(bytes(data) or None)
        except RemoteProtocolError:
            return
        if not data:
            return


async def _answer(connection: _Connection, socket: WSConnection, visitor: Visitor) -> bool:
    """Play an answer; whether the connection is to be read on."""
    answer: dict[str, Any] = visitor.next_answer()
    for step in answer.get("frames", ()):
        data = data_of(step)
        if data is None:
            await connection.wait(step, visitor.waits)
            continue
        message: Message = TextMessage(data.decode()) if isinstance(step, str) else BytesMessage(data)
        await connection.stream.send_all(socket.send(message))
    end = answer.get("end", "drop")
    if end == "open":
        return True
    if end == "close":
        closing = CloseConnection(code=answer.get("code", 1000), reason=answer.get("reason") or None)
        await connection.stream.send_all(socket.send(closing))
        return True  # the client's close frame, and then its end, come next
    await connection.leave("reset" if end == "reset" else "end", visitor.waits)
    return False
