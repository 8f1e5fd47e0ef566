"""Serves answers of Anthropic's Messages API, as fast as a client takes them; prints its port, and ends with its input.

The path of a request says what comes: `/KIND/DELTAS/SIZE/FRAMING`, with so many deltas of so many characters. KIND is
`text` or `arguments`; FRAMING is `whole`, or how many events are in a chunk.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any


def _event(name: str, **fields: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields}, separators=(',', ':'))}\n\n".encode()


def _events(kind: str, deltas: int, size: int) -> Iterator[bytes]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    yield _event("message_start", message={"id": "msg_1", "model": "model", "usage": usage})
    if kind == "text":
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "x" * size}
        pieces = [_event("content_block_delta", index=0, delta=delta)] * deltas
    else:
        block = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
        texts = ['{"text":"', *["x" * size] * (deltas - 2), '"}']
        pieces = [
            _event("content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": text})
            for text in texts
        ]
    yield _event("content_block_start", index=0, content_block=block)
    yield from pieces
    yield _event("content_block_stop", index=0)
    yield _event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": deltas})
    yield _event("message_stop")


@cache
def _answer(kind: str, deltas: int, size: int, framing: str) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"
    events = list(_events(kind, deltas, size))
    if framing == "whole":
        return head + b"\r\n" + b"".join(events)
    step = int(framing)
    chunks = [b"".join(events[at : at + step]) for at in range(0, len(events), step)]
    body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head + b"transfer-encoding: chunked\r\n\r\n" + body + b"0\r\n\r\n"


def _converse(connection: socket.socket) -> None:
    with connection:
        request = b""
        while b"\r\n\r\n" not in request:
            if not (data := connection.recv(65536)):
                return
            request += data
        _, kind, deltas, size, framing, *_ = request.split(b" ")[1].decode().split("/")
        connection.sendall(_answer(kind, int(deltas), int(size), framing))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_converse, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
