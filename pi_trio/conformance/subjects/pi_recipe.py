"""What a Pi release consists of, package by package, and how it is installed.

Pi's packages depend on each other by ranges, and a plain install mixes releases. So each release has a folder
among the adapters, with a lock that pins every package exactly. npm installs what the lock says (no scripts
run), and what came out is compared with the lock before it is used.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from .child import run_child
from .install_cache import DamagedInstall
from .npm import npm_ci
from .pi_install import ADAPTERS, PiInstall, command_of, manifest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .node import Node

_FILES = ("package.json", "package-lock.json")


def known_releases() -> tuple[str, ...]:
    """The releases that this package has a lock for, oldest first."""
    names = (lock.parent.name.removeprefix("pi-") for lock in ADAPTERS.glob("pi-*/package-lock.json"))
    return tuple(sorted(names, key=lambda release: [int(part) for part in release.split(".")]))


@attrs.frozen
class PiRecipe:
    """The recipe of one of `known_releases()`."""

    release: str

    @property
    def key(self) -> str:
        """Names the installation. The lock's hash is part of it, so an upgraded lock is another one."""
        return f"pi-{self.release}-{hashlib.sha256(self._lock).hexdigest()[:12]}"

    async def install(self, folder: Path, *, node: Node, report: Callable[[str], None]) -> None:
        """Installs the release into the empty `folder`, and starts it once to see that it is whole.

        Args:
            folder: gets the recipe's files and `node_modules`.
            node: has an npm, and runs it and the trial.
            report: called with a short line about the progress.

        Raises:
            NpmError: npm failed.
            DamagedInstall: the trial failed.
            OSError: the folder cannot be written.

        Cancellation ends npm, and leaves in the folder what it has written.
        """
        for name in _FILES:
            shutil.copyfile(self._folder / name, folder / name)
        total = len(self._packages)
        report(f"installing Pi {self.release} ({total} packages) into {folder.parent}")

        def fetched(count: int) -> None:
            if count % 10 == 0:
                report(f"{count} of {total} packages fetched")

        await npm_ci(node, folder, fetched=fetched)
        # Versions stand in small files, which survive much. Only the modules can show that they are whole.
        command = command_of(PiInstall(release=self.release, node=node, folder=folder))
        complaint: list[bytes] = []
        if await run_child(command, output="stderr", hear=complaint.append) != 0:
            text = b"".join(complaint).decode(errors="replace").strip()
            raise DamagedInstall(f"it does not start: {text[:200]}")
        report(f"Pi {self.release} is installed")

    def check(self, folder: Path) -> None:
        """Compares an installation with the lock: every package, in exactly its version.

        Raises:
            DamagedInstall: a package is missing or another.
        """
        for place, entry in self._packages.items():
            found = manifest_of(folder / place).get("version")
            # A lock has the packages of all platforms, and no platform has them all.
            if found != entry["version"] and not (found is None and entry.get("optional")):
                raise DamagedInstall(f"{place} should be {entry['version']} and is {found or 'missing'}")

    @property
    def _folder(self) -> Path:
        return ADAPTERS / f"pi-{self.release}"

    @cached_property
    def _lock(self) -> bytes:
        return (self._folder / "package-lock.json").read_bytes()

    @cached_property
    def _packages(self) -> dict[str, dict[str, Any]]:
        """The lock's packages by their folder; the entry without a folder is the recipe itself."""
        return {place: entry for place, entry in json.loads(self._lock)["packages"].items() if place}
