"""A small spec of the tests' own, to try the commands without the shipped vectors, and programs to judge."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from pi_trio.cli import main
from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.protocol import REQUIRED_COMMANDS
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Recording, Vectors
from pi_trio.profile import PROFILES

NAMES = ("text_plain", "tool_single", "tools_parallel_reverse")
"""The scenarios of the small spec: no ruling touches them."""

PEER = Path(__file__).parent.parent / "conformance" / "peer.py"

HELLO = {
    "tell": "hello", "protocol": 1, "subject": "peer", "version": "1", "profile": "pi-1.6.0",
    "hooks": ["beforeToolCall", "afterToolCall"], "commands": [*REQUIRED_COMMANDS, "sync", "waitForIdle"],
    "quiescence": "exact",
}  # fmt: skip

Finished = tuple[int, str, str]
"""Exit code, standard output, standard error."""


@pytest.fixture(scope="session")
def traces_as() -> dict[str, dict[str, Run]]:
    """What the runtime does in the scenarios of the small spec, as each release."""
    chosen = [scenario for scenario in all_scenarios() if scenario.name in NAMES]
    found: dict[str, dict[str, Run]] = {}
    for name, profile in PROFILES.items():
        with first_in_first_out():
            runs = trio.run(consult_runtime, runtime_inside(name, 30), chosen)
        found[profile.release] = {name: run for name, run in runs.items() if isinstance(run, Run)}
    return found


@pytest.fixture(scope="session")
def traces(traces_as: dict[str, dict[str, Run]]) -> dict[str, Run]:
    """The same as the newest release."""
    return traces_as["1.6.0"]


@pytest.fixture
def spec(traces_as: dict[str, dict[str, Run]], tmp_path: Path) -> Vectors:
    """A spec folder in which the runtime's own traces stand as recordings."""
    vectors = Vectors(tmp_path / "spec")
    for release, runs in traces_as.items():
        for run in runs.values():
            vectors.write(Recording(scenario=run.scenario, release=release, lines=run.lines))
    return vectors


@pytest.fixture
def pi_trio(spec: Vectors, capfd: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    """Run a command on the small spec."""

    def run(*arguments: str, scenarios: tuple[str, ...] = ()) -> Finished:
        chosen = [word for name in scenarios for word in ("--scenario", name)]
        code = main([*arguments, "--spec", str(spec.spec), *chosen])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def peer(tmp_path: Path) -> Callable[..., str]:
    """The command line of a subject that plays a part; see tests/conformance/peer.py."""

    def make(acts: Any = (), *, hello: dict[str, Any] | None = None, **play: Any) -> str:
        said = {key: value for key, value in {**HELLO, **(hello or {})}.items() if value is not None}
        file = tmp_path / f"play-{len(list(tmp_path.glob('play-*')))}.json"
        file.write_text(json.dumps({"hello": said, "acts": list(acts), **play}))
        return shlex.join([sys.executable, "-S", str(PEER), str(file)])

    return make


RUNTIME = shlex.join([sys.executable, "-m", "pi_trio.cli", "subject"])
"""The runtime as somebody else's program."""


@pytest.fixture
def check(capfd: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    def run(*arguments: str | Path) -> Finished:
        code = main(["check", *map(str, arguments)])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """Write lines into a log: bytes as they are, everything else as JSON."""

    def write(*lines: Any, name: str = "events.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(
            b"".join(each if isinstance(each, bytes) else f"{json.dumps(each)}\n".encode() for each in lines)
        )
        return path

    return write
