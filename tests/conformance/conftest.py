"""Subjects for the tester's tests: real processes that play what a test writes."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from pi_trio.conformance.keeper import Opener, open_keeper
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.protocol import LIMITS, REQUIRED_COMMANDS, Limits
from pi_trio.conformance.subjects.process import open_process_subject
from pi_trio.conformance.vectors import Vectors

from .one_prompt import SCENARIO

PEER = Path(__file__).with_name("peer.py")

HELLO = {
    "tell": "hello",
    "protocol": 1,
    "subject": "peer",
    "version": "1",
    "profile": "pi-1.6.0",
    "hooks": ["beforeToolCall", "afterToolCall"],
    "commands": [*REQUIRED_COMMANDS, "sync", "waitForIdle", "update", "fail", "burst"],
    "quiescence": "exact",
}


@attrs.frozen
class Peer:
    """A program that can be opened as a subject, or named on a command line."""

    command: list[str]

    @property
    def command_line(self) -> str:
        return shlex.join(self.command)

    def opener(self, *, patience: float = 10, hello_within: float = 10, limits: Limits = LIMITS) -> Opener:
        return partial(
            open_process_subject, self.command, profile="pi-1.6.0",
            patience=patience, hello_within=hello_within, limits=limits,
        )  # fmt: skip


@pytest.fixture
def peer(tmp_path: Path) -> Callable[..., Peer]:
    """Make a peer; see peer.py for what a play is. `hello` replaces fields of the usual hello (None removes one)."""

    def make(acts: Sequence[Any] = (), *, hello: dict[str, Any] | None = None, **play: Any) -> Peer:
        said = {key: value for key, value in {**HELLO, **(hello or {})}.items() if value is not None}
        file = tmp_path / f"play-{len(list(tmp_path.glob('play-*')))}.json"
        file.write_text(json.dumps({"hello": said, "acts": list(acts), **play}))
        return Peer([sys.executable, "-S", str(PEER), str(file)])

    return make


@pytest.fixture
def run(peer) -> Callable[..., Any]:
    """Let a peer play its acts in the scenario of one prompt."""

    async def drive(acts: list[Any]) -> Run:
        async with open_keeper(peer(acts).opener()) as keeper:
            return await keeper.drive(SCENARIO)

    return drive


@pytest.fixture
def vectors(tmp_path: Path) -> Vectors:
    """An empty place for recordings."""
    return Vectors(tmp_path / "spec")


def reply(value: Any = None) -> dict[str, Any]:
    """The deed of replying."""
    return {"say": {"re": "$id", "ok": value}}


def ask(ask_id: str, fn: str, key: str | None = None, **args: Any) -> dict[str, Any]:
    """The deed of asking."""
    return {"say": {"ask": ask_id, "fn": fn, **({"key": key} if key else {}), "args": args, "aborted": False}}


def tell(what: str, **fields: Any) -> dict[str, Any]:
    """The deed of telling."""
    return {"say": {"tell": what, **fields}}
