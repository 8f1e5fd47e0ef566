"""`pi-trio serve proxy`: a process that others ask."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from pi_trio.cli import main

from .serving import TOKEN, start


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--host", "0.0.0.0"], "0.0.0.0 can be reached from other machines"),
        (["--host", "192.0.2.1"], "cannot listen at 192.0.2.1 port 0: "),
        (["--host", "no such host"], "cannot listen at no such host port 0: "),
        (["--port", "70000"], "there is no port 70000"),
        (["--port", "-1"], "there is no port -1"),
        (["--token", ""], "the token of a proxy is ASCII, not empty, without blanks"),
        (["--token", "\u00fc"], "the token of a proxy is ASCII"),
        (["--model", "nobody/nothing"], "there is no model 'nobody/nothing'"),
        (["--base-url", "http://x"], "--base-url needs a model that is asked there"),
        (["--model", "ollama/x", "--base-url", "x:1"], "--base-url 'x:1' is no URL"),
        (["--model", "groq/zzz", "--base-url", "http://x"], "there is no key for groq: set GROQ_API_KEY"),
    ],
)
def test_what_cannot_be_served(arguments, text, capfd, monkeypatch):
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    assert main(["serve", "proxy", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("pi-trio: ")
    assert text in err
    assert err.count("\n") == 1


def test_a_port_that_is_taken(capfd):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "proxy", "--port", str(port)]) == 2
    assert capfd.readouterr().err.startswith(f"pi-trio: cannot listen at 127.0.0.1 port {port}: ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_and_who_asks_it(number, capfd, monkeypatch):
    server = start("serve", "proxy")
    assert server.stdout is not None
    said = b"".join(server.stdout.readline() for _ in range(4)).decode()
    found = re.fullmatch(
        r"proxy: (http://127\.0\.0\.1:\d+)  \(POST /api/stream\)\ntoken: (.*)\nmodels: scripted/scripted-1\n"
        r"ask: PI_TRIO_PROXY_TOKEN=TOKEN pi-trio run --proxy \1 --model scripted/scripted-1 Hello\n",
        said,
    )
    assert found
    url, shown = found.groups()
    assert shown == TOKEN  # from the environment
    monkeypatch.setenv("PI_TRIO_PROXY_TOKEN", TOKEN)
    assert main(["run", "--proxy", url, "How are you?"]) == 0
    assert "“How are you?”" in capfd.readouterr().out
    assert main(["run", "--proxy", url, "--model", "openai/gpt-5", "How are you?"]) == 1
    assert "is not offered here; there is scripted/scripted-1" in capfd.readouterr().err
    monkeypatch.setenv("PI_TRIO_PROXY_TOKEN", "wrong")
    assert main(["run", "--proxy", url, "How are you?"]) == 1
    assert "the token is not right" in capfd.readouterr().err
    server.send_signal(number)
    out, err = server.communicate(timeout=60)
    assert (server.returncode, out) == (130, b"")
    assert err.decode().splitlines() == [
        "200 scripted/scripted-1 stop",
        "404 openai/gpt-5 openai/gpt-5 is not offered here; there is scripted/scripted-1",
        "401 the token is not right",
        "interrupted",
    ]


def test_a_token_of_ones_own_is_not_printed(monkeypatch, capfd):
    monkeypatch.setattr("pi_trio.cli.serve.serve_proxy", started)
    monkeypatch.delenv("PI_TRIO_PROXY_TOKEN", raising=False)
    assert printed(capfd, "--token", "s3cret") == "(as given)"
    first, second = printed(capfd), printed(capfd)
    assert first != second
    assert len(first) >= 32


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_where_nothing_can_be_written_that_is_said():
    with Path("/dev/full").open("w") as full:
        done = served(stdout=full)
    assert (done.returncode, done.stderr) == (
        4,
        "pi-trio: what there is to say cannot be written: No space left on device\n",
    )


def test_a_reader_who_has_had_enough_is_not_told_so():
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as closed:
        done = served(stdout=closed)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_token_that_nobody_would_learn():
    done = served(shell='exec "$0" "$@" >&-')
    assert (done.returncode, done.stderr) == (
        2,
        "pi-trio: nobody would learn the token: standard output is closed; set PI_TRIO_PROXY_TOKEN\n",
    )


def served(*, stdout=subprocess.PIPE, shell='exec "$0" "$@"'):
    """A server that ends by itself."""
    return subprocess.run(
        ["/bin/sh", "-c", shell, sys.executable, "-m", "pi_trio.cli", "serve", "proxy"],
        stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
        env={name: value for name, value in os.environ.items() if name != "PI_TRIO_PROXY_TOKEN"},
    )  # fmt: skip


async def started(offers, *, task_status, **options):
    """A server that ends as soon as it has begun."""
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    task_status.started(listeners)
    for listener in listeners:
        await listener.aclose()


def printed(capfd, *arguments):
    """The token that a server prints."""
    assert main(["serve", "proxy", *arguments]) == 0
    found = re.search(r"^token: (.+)$", capfd.readouterr().out, re.MULTILINE)
    assert found
    return found[1]
