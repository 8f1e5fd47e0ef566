"""A server on the loopback that says what it was told to, and programs that talk with it."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from typing import IO, Any, Self

TOKEN = "t0ken"
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
USAGE = {
    **dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 1),
    "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0),
}


def said(**event: Any) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def text(*deltas: str, index: int = 0) -> bytes:
    """The beginning of an answer, whose text has not ended."""
    pieces = [said(type="text_delta", contentIndex=index, delta=delta) for delta in deltas]
    return b"".join([said(type="start"), said(type="text_start", contentIndex=index), *pieces])


def call(name: str, **arguments: Any) -> bytes:
    """An answer that calls a tool."""
    whole = {"type": "toolCall", "id": "1", "name": name, "arguments": arguments}
    return b"".join(
        [
            said(type="start"),
            said(type="toolcall_start", contentIndex=0, id="1", toolName=name),
            said(type="toolcall_end", contentIndex=0, toolCall=whole),
            said(type="done", reason="toolUse", usage=USAGE),
        ]
    )


DONE = said(type="text_end", contentIndex=0) + said(type="done", reason="stop", usage=USAGE)


class Server:
    """Answers one request in a thread. A piece is sent when it is given; `None` ends the answer.

    Attributes:
        gone: set when the client has closed its side.
    """

    def __init__(self, *pieces: bytes | None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._more = threading.Condition()
        self._pieces = list(pieces)
        self.request = b""
        self.gone = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def give(self, *pieces: bytes | None) -> None:
        with self._more:
            self._pieces += pieces
            self._more.notify()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.give(None)
        self._listener.close()

    def _serve(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # nobody has come, and now nobody can
        with connection:
            while not self._is_whole():
                self.request += connection.recv(65536)
            threading.Thread(target=self._watch, args=[connection.dup()], daemon=True).start()
            try:
                while (piece := self._next()) is not None:
                    connection.sendall(piece)
                connection.shutdown(
                    socket.SHUT_WR
                )  # closing alone ends nothing while the other thread has it, too
            except (BrokenPipeError, ConnectionResetError):
                pass

    def _is_whole(self) -> bool:
        head, blank, body = self.request.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)^content-length: (\d+)", head, re.MULTILINE)
        return bool(blank) and len(body) >= int(length[1] if length else 0)

    def _watch(self, connection: socket.socket) -> None:
        with connection:
            try:
                while connection.recv(65536):
                    pass
            except ConnectionResetError:
                pass
            self.gone.set()

    def _next(self) -> bytes | None:
        with self._more:
            while not self._pieces:
                self._more.wait()
            return self._pieces.pop(0)


def start(
    *arguments: str, script: str = "import pi_trio.cli as c; sys.exit(c.main())"
) -> subprocess.Popen[bytes]:
    """A process of its own that runs a command. What it leaves open shows on its standard error."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", f"import sys; {script}", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PI_TRIO_PROXY_TOKEN": TOKEN},
    )


def read_until(stream: IO[bytes] | None, text: bytes) -> bytes:
    """What comes, up to and with this."""
    assert stream is not None
    found = b""
    while not found.endswith(text):
        byte = stream.read(1)
        assert byte, f"it has ended after {found!r}"
        found += byte
    return found
