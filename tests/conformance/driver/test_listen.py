"""`pi-trio subject --listen`: a real process at a real socket, which lets in one tester at a time and nobody else."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream

from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.nursery import single_errors
from pi_trio.conformance.protocol import LIMITS
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.subjects.choice import websocket
from pi_trio.conformance.vectors import Vectors

COMMAND = [sys.executable, "-m", "pi_trio.cli", "subject", "--listen"]
(SCENARIO,) = (each for each in all_scenarios() if each.name == "tools_parallel_reverse")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """One process for all: whatever a test does to it, the next finds it in order."""
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        assert process.poll() is None
        process.kill()


def port_of(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


async def plays(url: str) -> bool:
    """Whether it can be judged."""
    recording = Vectors.shipped().read("1.6.0", SCENARIO.name)
    assert recording is not None
    async with open_keeper(websocket(url, 10)) as keeper:
        return (await keeper.drive(SCENARIO)).lines == recording.lines


def test_the_url_is_of_this_machine_and_holds_a_secret(url: str) -> None:
    parts = urlsplit(url)
    assert (parts.scheme, parts.hostname) == ("ws", "127.0.0.1")
    assert len(parts.path) > 30


async def test_testers_come_one_after_the_other(url: str) -> None:
    for _ in range(3):
        assert await plays(url)


async def test_one_tester_at_a_time(url: str) -> None:
    async with websocket(url, 10)() as first:
        with pytest.raises(SubjectUnstartable, match="503: another tester is here"):
            async with websocket(url, 10)():
                pass
        assert await first.request({"id": 1, "cmd": "create"}) == [{"re": 1, "ok": None}]
    assert await plays(url)


async def test_a_new_tester_finds_nothing_of_the_old_one(url: str) -> None:
    async with websocket(url, 10)() as first:
        await first.request({"id": 1, "cmd": "create", "listeners": ["L"]})
        await first.request({"id": 2, "cmd": "prompt", "op": "p1", "input": "go"})
    async with websocket(url, 10)() as second:
        (reply,) = await second.request({"id": 1, "cmd": "state"})
        assert reply["error"].startswith("driver: ")


@pytest.mark.parametrize("change", ["", "x", "/", "?a=1"])
async def test_who_does_not_know_the_secret_is_not_let_in(url: str, change: str) -> None:
    wrong = url.rpartition("/")[0] + "/" if not change else url + change
    with pytest.raises(SubjectUnstartable, match="403"):
        async with websocket(wrong, 10)():
            pass


@pytest.mark.parametrize(
    ("origin", "welcome"),
    [
        ("http://127.0.0.1:{port}", True), ("http://localhost:{port}", True), ("http://localhost:1", False),
        ("https://example.com", False), ("null", False), ("http://127.0.0.1.example.com:{port}", False), ("", False),
    ],
)  # fmt: skip
async def test_web_pages_of_other_origins_are_not_let_in(url: str, origin: str, welcome: bool) -> None:
    page = origin.format(port=port_of(url))
    request = (
        f"GET {urlsplit(url).path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nOrigin: {page}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    async with await trio.open_tcp_stream("127.0.0.1", port_of(url)) as stream:
        await stream.send_all(request.encode())
        answer = bytes(await stream.receive_some())
    assert answer.split()[1] == (b"101" if welcome else b"403")


@pytest.mark.parametrize(
    "rubbish", [b"", b"\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n"]
)
async def test_rubbish_ends_that_visit_only(url: str, rubbish: bytes) -> None:
    stream = await trio.open_tcp_stream("127.0.0.1", port_of(url))
    async with stream:
        await stream.send_all(rubbish)
        if rubbish.endswith(b"\r\n\r\n"):
            assert b" 400 " in bytes(await stream.receive_some())
    assert await plays(url)


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[WebSocketConnection]:
    """A visit that has heard the hello."""
    place = urlsplit(url)
    with single_errors():
        async with (
            await trio.open_tcp_stream("127.0.0.1", port_of(url)) as stream,
            trio.open_nursery() as nursery,
        ):
            connection = await wrap_client_stream(nursery, stream, place.netloc, place.path)
            assert "hello" in await connection.get_message()
            yield connection
            await connection.aclose()
            nursery.cancel_scope.cancel()


async def closing_code(url: str, frame: Any) -> int | None:
    async with connected(url) as connection:
        try:
            await connection.send_message(frame)
            with trio.fail_after(10):
                await connection.get_message()
        except ConnectionClosed as closed:
            return None if closed.reason is None else closed.reason.code
    return None


async def test_a_binary_frame_and_one_that_is_too_long_end_the_visit(url: str) -> None:
    assert await closing_code(url, b"{}") == 1003
    assert await closing_code(url, "x" * (LIMITS.line + 1)) in (1009, 1006)
    assert await plays(url)


async def test_a_line_that_is_no_command_is_answered(url: str) -> None:
    async with connected(url) as connection:
        for frame in ("hello", "[1]", '{"id":1,"cmd":"state"}', '{"id":2,"cmd":"create"}'):
            await connection.send_message(frame)
        answers = [json.loads(await connection.get_message()) for _ in range(4)]
    assert ["error" in answer for answer in answers] == [True, True, True, False]


def test_the_port_can_be_chosen_and_is_told_if_it_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        refused = subprocess.run(
            [*COMMAND, str(port)], capture_output=True, text=True, timeout=30, check=False
        )
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert f"cannot listen at port {port}" in refused.stderr
    with subprocess.Popen(
        [*COMMAND, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        assert port_of(process.stdout.readline()) == port
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


@pytest.mark.parametrize("port", ["-1", "70000"])
def test_a_port_that_cannot_be_is_told(port: str) -> None:
    refused = subprocess.run([*COMMAND, port], capture_output=True, text=True, timeout=30, check=False)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
