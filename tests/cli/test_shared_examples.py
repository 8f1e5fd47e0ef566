"""Searches that share their examples: two processes, and a real Redis server between them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_trio.cli import main

from ..environments import CHECKOUT

#: A program that searches with a race in the runtime: the end of a call does not wait for its reports.
RACED = """
import sys, trio
from pi_trio.agent.batch import _Updates
from pi_trio.cli import main

async def delivered(_):
    await trio.lowlevel.checkpoint()

_Updates.delivered = delivered
sys.exit(main(["fuzz", "--minutes", "3", "--fail-fast", "--examples", sys.argv[1]]))
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a Redis server that keeps nothing on the disk."""
    if shutil.which("redis-server") is None:
        pytest.skip("there is no redis-server (Debian: apt-get install redis-server)")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [
        "redis-server",
        "--bind",
        "127.0.0.1",
        "--port",
        str(port),
        "--save",
        "",
        "--dir",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "eady to accept connections" in line:
                break
        else:
            pytest.fail("".join(said))
        try:
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()
            process.stdout.read()


def searched(server: str, cache: Path) -> str:
    """What a search with the race in it prints, in a process of its own with nothing kept."""
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PI_TRIO_CACHE": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", RACED, server], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_what_one_process_has_found_another_begins_with(server: str, tmp_path: Path) -> None:
    assert "steps in 0 conversations" not in searched(server, tmp_path / "one")
    assert "steps in 0 conversations" in searched(server, tmp_path / "other")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PI_TRIO_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_a_folder_of_ones_own_is_used(cache: Path) -> None:
    assert main(["fuzz", "--minutes", "0.02", "--seed", "1", "--examples", str(cache / "mine")]) == 0


def test_a_server_that_is_not_there_is_wrong_usage(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"redis://:secret@127.0.0.1:{taken.getsockname()[1]}/0"
        assert main(["fuzz", "--minutes", "0.02", "--examples", address]) == 2
    said = capsys.readouterr().err
    assert "examples cannot be kept at redis://127.0.0.1, which does not answer as a Redis server" in said
    assert "secret" not in said


def test_a_folder_that_cannot_be_one_is_wrong_usage(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--minutes", "0.02", "--examples", "/dev/null/x"]) == 2
    assert "examples cannot be kept in /dev/null/x" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["", "http://127.0.0.1"])
def test_a_place_that_makes_no_sense(where: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fuzz", "--examples", where])
    assert ended.value.code == 2
