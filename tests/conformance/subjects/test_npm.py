"""Running npm: real processes whose program is Python, and whose script says what npm would say."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
import trio

from pi_trio.conformance.subjects.node import Node
from pi_trio.conformance.subjects.npm import NpmError, npm_ci


def npm(tmp_path: Path, script: str) -> Node:
    path = tmp_path / "npm-cli.py"
    path.write_text(f"import json, os, pathlib, resource, signal, sys, time\n{script}\n")
    return Node(path=Path(sys.executable), version=(22, 19, 0), npm=path)


def says(*lines: str, status: int = 0) -> str:
    return f"sys.stderr.write({chr(10).join((*lines, ''))!r}); sys.exit({status})"


def ignore(count: int) -> None:
    pass


async def test_runs_no_scripts_in_the_folder_that_it_is_given(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    script = "pathlib.Path('ran').write_text(json.dumps(sys.argv[1:]))"
    await npm_ci(npm(tmp_path, script), folder, fetched=ignore)
    arguments = json.loads((folder / "ran").read_text())
    assert arguments[0] == "ci"
    assert "--ignore-scripts" in arguments


async def test_counts_the_packages_that_are_fetched(tmp_path):
    counts: list[int] = []
    script = says(
        "npm http fetch GET 200 https://registry.example/ms 10ms (cache miss)",
        "npm http fetch GET 200 https://registry.example/ms/-/ms-2.1.3.tgz 10ms (cache miss)",
        "npm http fetch GET 404 https://registry.example/x/-/x-1.0.0.tgz 10ms (cache miss)",
        "npm http fetch GET 200 https://registry.example/@a%2fb/-/b-1.0.0.tgz 10ms (cache hit)",
    )
    await npm_ci(npm(tmp_path, script), tmp_path, fetched=counts.append)
    assert counts == [1, 2]


@pytest.mark.parametrize("word", ["error", "ERR!"])
async def test_failure_keeps_the_code_and_the_first_complaint(tmp_path, word):
    script = says(
        "npm warn something",
        f"npm {word} code ENOTFOUND",
        f"npm {word} syscall getaddrinfo",
        f"npm {word} errno ENOTFOUND",
        f"npm {word} network request to nowhere failed",
        f"npm {word} network more words",
        status=1,
    )
    with pytest.raises(NpmError) as caught:
        await npm_ci(npm(tmp_path, script), tmp_path, fetched=ignore)
    assert (caught.value.code, caught.value.text) == ("ENOTFOUND", "network request to nowhere failed")


async def test_failure_without_words(tmp_path):
    with pytest.raises(NpmError, match=r"^it ended with status 7$"):
        await npm_ci(npm(tmp_path, "sys.exit(7)"), tmp_path, fetched=ignore)


async def test_files_that_could_not_be_written_are_a_failure_whatever_npm_makes_of_it(tmp_path):
    warning = "npm warn tar TAR_ENTRY_ERROR ENOSPC: no space left on device, write"
    for end in ("", "time.sleep(600)"):
        script = f"print({warning!r}, file=sys.stderr, flush=True); {end}"
        with pytest.raises(NpmError) as caught:
            await npm_ci(npm(tmp_path, script), tmp_path, fetched=ignore)
        assert caught.value.code == "ENOSPC"


async def test_a_limit_for_the_size_of_files_is_told_from_other_ends(tmp_path):
    script = (
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL); resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "with open('big', 'wb', buffering=0) as file: [file.write(b'x' * 9) for _ in range(3)]"
    )
    with pytest.raises(NpmError) as caught:
        await npm_ci(npm(tmp_path, script), tmp_path, fetched=ignore)
    assert caught.value.code == "EFBIG"


async def test_an_end_by_signal(tmp_path):
    with pytest.raises(NpmError, match="signal 9 ended it"):
        await npm_ci(npm(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)"), tmp_path, fetched=ignore)


async def test_a_node_without_npm(tmp_path):
    with pytest.raises(NpmError, match="has no npm"):
        await npm_ci(Node(path=Path("/x/node"), version=(24, 0, 0), npm=None), tmp_path, fetched=ignore)


STARTED = "npm http fetch GET 200 https://registry.example/ms/-/ms-2.1.3.tgz 10ms (cache miss)"


def long_running(start: str) -> str:
    """Notes its process id, tells of a first package, and stays."""
    note = "pathlib.Path('pid').write_text(str(os.getpid()))"
    return f"{start}\n{note}\nprint({STARTED!r}, file=sys.stderr)\ntime.sleep(600)"


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_cancellation_asks_npm_to_end_and_waits_for_it(tmp_path):
    polite = "signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path('bye').touch(), sys.exit(0)))"
    with trio.CancelScope() as scope:
        await npm_ci(npm(tmp_path, long_running(polite)), tmp_path, fetched=lambda _: scope.cancel())
    assert scope.cancelled_caught
    assert (tmp_path / "bye").exists()
    assert not is_running(int((tmp_path / "pid").read_text()))


async def test_cancellation_kills_an_npm_that_does_not_listen(tmp_path, autojump_clock):
    stubborn = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    with trio.CancelScope() as scope:
        await npm_ci(npm(tmp_path, long_running(stubborn)), tmp_path, fetched=lambda _: scope.cancel())
    assert scope.cancelled_caught
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_keyboard_interrupt_ends_npm_and_comes_out_bare(tmp_path):
    def interrupt(count: int) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        trio.run(lambda: npm_ci(npm(tmp_path, long_running("")), tmp_path, fetched=interrupt))
    assert not is_running(int((tmp_path / "pid").read_text()))
