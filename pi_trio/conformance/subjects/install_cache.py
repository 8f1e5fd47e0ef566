"""A folder of finished installations, shared by all processes of a user.

An installation is made in a temporary folder beside its place and moved there in one step, so it is either
complete or absent. A lock lets one process at a time install. Whoever holds the lock also knows that every
temporary folder that it finds belongs to nobody, because its maker would hold the lock; so nothing half-made
outlives the next use of the cache at which nobody installs.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import filelock
import trio

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

#: Temporary folders start so, and nothing else does.
_TEMPORARY = "tmp-"

#: How often a lock that another process holds is tried again, in seconds: a wait for it could not be
#: cancelled.
_LOCK_INTERVAL = 0.1


class DamagedInstall(Exception):  # noqa: N818 - a finding, which is usually mended and not raised
    """What is in a folder is not what should be there. The text says what is wrong."""


@attrs.frozen
class InstallCache:
    """The installations below one folder, which need not exist yet."""

    folder: Path

    async def provide(
        self,
        key: str,
        *,
        fill: Callable[[Path], Awaitable[None]],
        check: Callable[[Path], None],
        report: Callable[[str], None],
    ) -> Path:
        """The folder of the installation `key`, made if there is none, made anew if it is damaged.

        Args:
            key: names the installation and its folder; whatever changes the content must change the key.
            fill: installs into the empty folder that it is given.
            check: raises `DamagedInstall` if a folder does not hold what it should; called before each use.
            report: called with a short line about what takes time.

        Raises:
            DamagedInstall: a fresh installation does not pass the check.
            OSError: the cache cannot be written.
            Exception: what `fill` raises.

        Whatever ends this early, cancellation and KeyboardInterrupt included, leaves no half-made
        installation behind (if the process is killed, the next use of the cache removes it).
        """
        place = self.folder / key
        if self._is_sound(place, check):
            await self._tidy()
            return place
        self.folder.mkdir(parents=True, exist_ok=True)
        async with self._alone(report):
            await self._sweep()
            if self._is_sound(place, check):
                return place
            if place.exists() or place.is_symlink():
                report(f"{place} is damaged and is made anew")
                place.rename(self._temporary() / "damaged")  # it may be a file
                await self._sweep()
            await self._make(place, fill, check)
        return place

    def _is_sound(self, place: Path, check: Callable[[Path], None]) -> bool:
        try:
            check(place)
        except DamagedInstall:
            return False
        return True

    async def _make(
        self, place: Path, fill: Callable[[Path], Awaitable[None]], check: Callable[[Path], None]
    ) -> None:
        temporary = self._temporary()
        try:
            await fill(temporary)
            check(temporary)
            temporary.rename(place)
        finally:
            await _remove(temporary)

    def _temporary(self) -> Path:
        return Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=self.folder))

    async def _tidy(self) -> None:
        """Remove what a killed installation has left, unless one is going on or the cache may not be written."""
        if next(self.folder.glob(f"{_TEMPORARY}*"), None) is not None:
            with contextlib.suppress(filelock.Timeout, OSError), self._lock().acquire(timeout=0):
                await self._sweep()

    async def _sweep(self) -> None:
        for leftover in self.folder.glob(f"{_TEMPORARY}*"):
            await _remove(leftover)

    def _lock(self) -> filelock.BaseFileLock:
        return filelock.FileLock(self.folder / "install.lock")

    @contextlib.asynccontextmanager
    async def _alone(self, report: Callable[[str], None]) -> AsyncGenerator[None]:
        """Holds the lock of the cache. Waiting for it can be cancelled, and is reported once."""
        lock = self._lock()
        waiting = False
        while True:
            try:
                lock.acquire(timeout=0)
                break
            except filelock.Timeout:
                if not waiting:
                    report(f"waiting for another installation in {self.folder}")
                    waiting = True
                await trio.sleep(_LOCK_INTERVAL)
        try:
            yield
        finally:
            lock.release()


async def _remove(folder: Path) -> None:
    """Removes a folder and all in it, in a thread and to the end, because it may hold thousands of files."""
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
