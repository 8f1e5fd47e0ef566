"""Installing Pi with the real npm, each time into an empty cache, in processes that can be interrupted."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pi_trio.conformance.subjects.pi_recipe import PiRecipe
from pi_trio.conformance.subjects.pi_releases import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.upstream

INSTALL = """
import sys, trio
from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.pi_releases import ensure_pi

try:
    trio.run(lambda: ensure_pi("1.6.0", report=lambda line: print(line, flush=True)))
except SubjectUnavailable as error:
    print(error)
    sys.exit(3)
except KeyboardInterrupt:
    sys.exit(130)
"""

KEY = PiRecipe("1.6.0").key


def installing(
    cache: Path, *, before: Callable[[], None] | None = None, **environment: str
) -> subprocess.Popen[str]:
    """A process that installs Pi into `cache`."""
    paths = {"PI_TRIO_CACHE": str(cache), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", INSTALL],
        env={**os.environ, **paths, **environment},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def lines_until(process: subprocess.Popen[str], start: str) -> Iterator[str]:
    """What the process says, up to the first line with that start."""
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if line.startswith(start):
            return
    raise AssertionError(f"it never said {start!r}")


def entries(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if path.name != "install.lock")


def working_below(folder: Path) -> list[str]:
    """The processes whose working folder is in `folder` (where the system tells)."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.joinpath("cwd").readlink().is_relative_to(folder):
                found.append(process.name)
        except OSError:  # it has ended, or is somebody else's
            continue
    return found


def test_two_processes_install_once(tmp_path):
    with installing(tmp_path) as first:
        said = list(lines_until(first, "installing"))
        with installing(tmp_path) as second:
            waited, _ = second.communicate()
            assert second.returncode == 0
        rest, _ = first.communicate()
        assert first.returncode == 0
    assert said[-1] == f"installing Pi 1.6.0 (88 packages) into {tmp_path}\n"
    assert rest.endswith("Pi 1.6.0 is installed\n")
    assert f"waiting for another installation in {tmp_path}\n" in waited
    assert "installing" not in waited
    assert entries(tmp_path) == [KEY]


def test_ctrl_c_ends_npm_and_leaves_nothing(tmp_path):
    with installing(tmp_path) as process:
        list(lines_until(process, "10 of 88"))
        assert entries(tmp_path) != []
        process.send_signal(signal.SIGINT)
        process.communicate()
        assert process.returncode == 130
    assert entries(tmp_path) == []
    assert working_below(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A disk of 4 megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this user may not mount a disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_told_and_leaves_nothing(small_disk):
    with installing(small_disk) as process:
        said, _ = process.communicate()
        assert process.returncode == 3
    advice = said.splitlines()[-1]
    assert advice == (
        f"pi@1.6.0 could not be installed: no space below {small_disk}; "
        "free some, or set PI_TRIO_CACHE to a folder on another disk"
    )
    assert entries(small_disk) == []


def test_a_limit_on_files_is_told_as_a_full_disk_is(tmp_path):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with installing(tmp_path / "cache", before=limit, npm_config_cache=str(tmp_path / "npm")) as process:
        said, _ = process.communicate()
        assert process.returncode == 3
    assert f"no space below {tmp_path / 'cache'}" in said.splitlines()[-1]
    assert entries(tmp_path / "cache") == []


def test_without_network_the_advice_is_to_go_online(tmp_path):
    out_of_reach = {"npm_config_registry": "http://127.0.0.1:9/", "npm_config_cache": str(tmp_path / "npm")}
    with installing(tmp_path / "cache", **out_of_reach) as process:
        said, _ = process.communicate()
        assert process.returncode == 3
    assert said.splitlines()[-1] == (
        "pi@1.6.0 could not be installed: the npm registry is out of reach (ECONNREFUSED); "
        "go online once, or give a folder that already holds it, pi@PATH"
    )
    assert entries(tmp_path / "cache") == []


def test_once_installed_neither_network_nor_npm_is_needed(pi_install, tmp_path):
    # This Node has no npm beside it.
    path = tmp_path / "node"
    path.symlink_to(pi_install.node.path)
    with installing(cache_folder(), PATH=str(tmp_path), npm_config_registry="http://127.0.0.1:9/") as process:
        said, _ = process.communicate()
        assert (process.returncode, said) == (0, "")
