"""The cache of installations: small folders in the place of packages, real processes that compete for it."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import filelock
import pytest
import trio

from pi_trio.conformance.subjects.install_cache import DamagedInstall, InstallCache

KEY = "thing-1.0"


async def fill(folder: Path) -> None:
    (folder / "content").write_text("whole")


def check(folder: Path) -> None:
    content = folder / "content"
    if not content.exists() or content.read_text() != "whole":
        raise DamagedInstall("no content")


async def never(folder: Path) -> None:
    raise AssertionError(f"nothing to do in {folder}")


def entries(cache: InstallCache) -> set[str]:
    """What is in the cache, its lock left out."""
    return {path.name for path in cache.folder.iterdir()} - {"install.lock"}


@pytest.fixture
def cache(tmp_path) -> InstallCache:
    return InstallCache(tmp_path / "not" / "yet" / "there")


async def test_is_made_once(cache):
    place = await cache.provide(KEY, fill=fill, check=check, report=print)
    assert place == cache.folder / KEY
    assert (place / "content").read_text() == "whole"
    assert await cache.provide(KEY, fill=never, check=check, report=print) == place
    assert entries(cache) == {KEY}


async def test_is_not_in_its_place_before_it_is_whole(cache):
    async def slowly(folder: Path) -> None:
        assert not (cache.folder / KEY).exists()
        await fill(folder)
        assert not (cache.folder / KEY).exists()

    await cache.provide(KEY, fill=slowly, check=check, report=print)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), ValueError("fault"), KeyboardInterrupt()]
)
async def test_a_failure_leaves_nothing_behind_and_comes_out_as_it_is(cache, error):
    async def fail(folder: Path) -> None:
        (folder / "half").mkdir()
        (folder / "half" / "made").touch()
        raise error

    with pytest.raises(type(error)) as caught:
        await cache.provide(KEY, fill=fail, check=check, report=print)
    assert caught.value is error
    assert entries(cache) == set()
    await cache.provide(KEY, fill=fill, check=check, report=print)


async def test_cancellation_leaves_nothing_behind(cache):
    async def wait(folder: Path) -> None:
        await fill(folder)
        scope.cancel()
        await trio.sleep_forever()

    with trio.CancelScope() as scope:
        await cache.provide(KEY, fill=wait, check=check, report=print)
    assert scope.cancelled_caught
    assert entries(cache) == set()


async def test_a_fresh_installation_that_is_damaged_is_refused(cache):
    async def badly(folder: Path) -> None:
        (folder / "content").write_text("half")

    with pytest.raises(DamagedInstall):
        await cache.provide(KEY, fill=badly, check=check, report=print)
    assert entries(cache) == set()


async def test_a_damaged_installation_is_made_anew(cache):
    place = await cache.provide(KEY, fill=fill, check=check, report=print)
    (place / "content").unlink()
    (place / "leftover").touch()
    notes: list[str] = []
    await cache.provide(KEY, fill=fill, check=check, report=notes.append)
    assert notes == [f"{place} is damaged and is made anew"]
    assert {path.name for path in place.iterdir()} == {"content"}
    assert entries(cache) == {KEY}


@pytest.mark.parametrize("make", [Path.touch, lambda place: place.symlink_to("nowhere")])
async def test_a_place_that_is_no_folder_is_made_anew(cache, make):
    cache.folder.mkdir(parents=True)
    make(cache.folder / KEY)
    place = await cache.provide(KEY, fill=fill, check=check, report=print)
    assert (place / "content").read_text() == "whole"
    assert entries(cache) == {KEY}


async def test_the_next_use_removes_what_a_killed_installation_left(cache, autojump_clock):
    await cache.provide(KEY, fill=fill, check=check, report=print)
    leftover = cache.folder / "tmp-killed"
    leftover.mkdir()
    with filelock.FileLock(cache.folder / "install.lock"):  # perhaps it is not dead yet
        await cache.provide(KEY, fill=never, check=check, report=print)
        assert leftover.exists()
    await cache.provide(KEY, fill=never, check=check, report=print)
    assert entries(cache) == {KEY}


async def test_temporary_folders_of_the_dead_are_removed_and_nothing_else(cache):
    for name in ("tmp-dead", "thing-0.9"):
        (cache.folder / name / "deep").mkdir(parents=True)
    await cache.provide(KEY, fill=fill, check=check, report=print)
    assert entries(cache) == {KEY, "thing-0.9"}


async def test_two_at_once_install_once(cache, autojump_clock):
    notes: list[str] = []
    filled = 0

    async def slowly(folder: Path) -> None:
        nonlocal filled
        filled += 1
        await trio.sleep(10)
        await fill(folder)

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(lambda: cache.provide(KEY, fill=slowly, check=check, report=notes.append))
    assert filled == 1
    assert notes == [f"waiting for another installation in {cache.folder}"]
    assert entries(cache) == {KEY}


async def test_waiting_for_another_can_be_cancelled(cache, autojump_clock):
    cache.folder.mkdir(parents=True)
    with filelock.FileLock(cache.folder / "install.lock"), trio.move_on_after(60) as scope:
        await cache.provide(KEY, fill=never, check=check, report=print)
    assert scope.cancelled_caught
    await cache.provide(KEY, fill=fill, check=check, report=print)


# A process that installs, says so, and does not come to an end.
INSTALLER = """
import sys, trio
from pathlib import Path
from pi_trio.conformance.subjects.install_cache import DamagedInstall, InstallCache

async def fill(folder):
    (folder / "content").write_text("half")
    print("installing", flush=True)
    await trio.sleep_forever()

def check(folder):
    raise DamagedInstall("not there")

cache = InstallCache(Path(sys.argv[1]))
try:
    trio.run(lambda: cache.provide("thing-1.0", fill=fill, check=check, report=print))
except KeyboardInterrupt:
    sys.exit(77)
"""


def another_process(cache: InstallCache) -> subprocess.Popen[bytes]:
    """Another process that is in the midst of installing into the cache."""
    process = subprocess.Popen(
        [sys.executable, "-c", INSTALLER, str(cache.folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"installing\n"
    return process


async def test_what_a_killed_process_left_is_removed_and_does_not_block(cache):
    with another_process(cache) as process:
        assert len(entries(cache)) == 1
        process.kill()
    assert len(entries(cache)) == 1
    await cache.provide(KEY, fill=fill, check=check, report=print)
    assert entries(cache) == {KEY}


async def test_another_process_is_waited_for(cache):
    waiting = trio.Event()
    with another_process(cache) as process:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                lambda: cache.provide(KEY, fill=fill, check=check, report=lambda _: waiting.set())
            )
            await waiting.wait()
            assert not (cache.folder / KEY).exists()
            process.kill()
    assert entries(cache) == {KEY}


def test_ctrl_c_in_another_process_leaves_nothing_behind(cache):
    with another_process(cache) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait() == 77
    assert entries(cache) == set()
