"""The built-in tools of Pi's releases, installed on first use as Pi itself is."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from pi_trio.conformance.subjects.install_cache import DamagedInstall, InstallCache
from pi_trio.conformance.subjects.node import Node, find_node
from pi_trio.conformance.subjects.npm import npm_ci
from pi_trio.conformance.subjects.pi_install import manifest_of
from pi_trio.conformance.subjects.pi_releases import cache_folder

HERE = Path(__file__).parent
_FILES = ("package.json", "package-lock.json")


@attrs.frozen
class RealTools:
    """The tools of a release, ready to be called."""

    release: str
    node: Node
    folder: Path

    def answers(self, calls: Iterable[dict[str, Any]]) -> list[Any]:
        """What `drive.mjs` answers to each line. The calls are made one after another."""
        asked = "".join(f"{json.dumps(call)}\n" for call in calls)
        command = [str(self.node.path), str(HERE / "drive.mjs"), str(self.folder)]
        done = subprocess.run(command, input=asked.encode(), capture_output=True, timeout=280, check=True)
        return [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]


def real_tools(release: str) -> RealTools:
    """The tools of that release, from the cache or installed into it. Some 170 MB each."""
    return trio.run(partial(_installed, release))


async def _installed(release: str) -> RealTools:
    recipe = HERE / f"pi-{release}"
    lock = (recipe / "package-lock.json").read_bytes()
    node = await find_node(report=print, needs_npm=True)

    async def fill(folder: Path) -> None:
        for name in _FILES:
            shutil.copyfile(recipe / name, folder / name)
        await npm_ci(node, folder, fetched=lambda count: None)

    def check(folder: Path) -> None:
        for place, entry in json.loads(lock)["packages"].items():
            found = manifest_of(folder / place).get("version")
            if found != entry["version"] and not (found is None and entry.get("optional")):
                raise DamagedInstall(f"{place} should be {entry['version']} and is {found or 'missing'}")

    key = f"pi-tools-{release}-{hashlib.sha256(lock).hexdigest()[:12]}"
    folder = await InstallCache(cache_folder()).provide(key, fill=fill, check=check, report=print)
    return RealTools(release=release, node=node, folder=folder)
