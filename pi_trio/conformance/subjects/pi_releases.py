"""Real Pi as a subject: a release, installed on first use into a per-user cache, or a folder of the user."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import trio

from . import SubjectUnavailable
from .install_cache import DamagedInstall, InstallCache
from .node import find_node
from .npm import NpmError
from .pi_install import PiInstall, command_of, manifest_of
from .pi_recipe import PiRecipe, known_releases

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CACHE_VARIABLE",
    "PiInstall",
    "cache_folder",
    "command_of",
    "ensure_pi",
    "known_releases",
    "local_pi",
    "obtain_pi",
]

#: The environment variable that names another folder for the cache.
CACHE_VARIABLE = "PI_TRIO_CACHE"

_AGENT = "@earendil-works/pi-agent-core"
_AI = "@earendil-works/pi-ai"

_RELEASE = re.compile(r"v?\d+(\.\d+)*([-+].*)?")
_DISK_FULL = {"ENOSPC", "EDQUOT", "EFBIG"}
_OUT_OF_REACH = re.compile(r"EAI_|ECONN|EHOST|EIDLE|ENET|ENOTCACHED|ENOTFOUND|EPROTO|ERR_SOCKET|ETIMEDOUT")


def cache_folder() -> Path:
    """Where installations are kept: `PI_TRIO_CACHE`, or else the user's cache folder on this platform."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named).expanduser().absolute() if named else platformdirs.user_cache_path("pi_trio")


async def obtain_pi(reference: str, *, report: Callable[[str], None]) -> PiInstall:
    """What `pi@REFERENCE` names: a release by its number, or a folder.

    `report`, errors and cancellation are those of `ensure_pi` and `local_pi`.
    """
    if reference in known_releases():
        return await ensure_pi(reference, report=report)
    # What looks like a release is taken for a folder only if it is one.
    if _RELEASE.fullmatch(reference) and not await trio.Path(reference).is_dir():
        raise _unknown(reference)
    return await local_pi(Path(await trio.Path(reference).expanduser()), report=report)


async def ensure_pi(
    release: str, *, report: Callable[[str], None], cache: Path | None = None, search_path: str | None = None
) -> PiInstall:
    """The Pi release, from the cache, or installed into it on first use (which needs the network).

    Args:
        release: one of `known_releases()`.
        report: called with a short line about what is passed over, waited for and done.
        cache: use this folder instead of `cache_folder()`.
        search_path: look for Node there instead of on PATH.

    Raises:
        SubjectUnavailable: no such release, no Node, no network, no space, or npm failed.

    Cancellation and KeyboardInterrupt end npm and leave the cache as it was.
    """
    if release not in known_releases():
        raise _unknown(release)
    recipe = PiRecipe(release)
    installs = InstallCache(cache_folder() if cache is None else cache)
    node = await find_node(report=report, search_path=search_path)

    async def install(folder: Path) -> None:
        one_with_npm = node
        if node.npm is None:
            one_with_npm = await find_node(report=report, needs_npm=True, search_path=search_path)
        await recipe.install(folder, node=one_with_npm, report=report)

    try:
        folder = await installs.provide(recipe.key, fill=install, check=recipe.check, report=report)
    except (NpmError, DamagedInstall, OSError) as error:
        raise SubjectUnavailable(_advice(release, error, installs.folder)) from error
    return PiInstall(release=release, node=node, folder=folder)


async def local_pi(
    folder: Path, *, report: Callable[[str], None], search_path: str | None = None
) -> PiInstall:
    """The Pi in a folder of the user: one that has it in its `node_modules`, or the agent package itself.

    Args:
        folder: that folder.
        report: called with a short line about what is passed over and what looks wrong.
        search_path: look for Node there instead of on PATH.

    Raises:
        SubjectUnavailable: the folder holds no Pi, or there is no Node.
    """
    place, release = _agent_in(folder)
    ai = _ai_beside(place)
    if ai not in (None, release):
        report(f"mixed releases in {folder}: pi-agent-core {release} with pi-ai {ai}")
    node = await find_node(report=report, search_path=search_path)
    return PiInstall(release=release, node=node, folder=Path(await trio.Path(folder).absolute()))


def _agent_in(folder: Path) -> tuple[Path, str]:
    """Where the agent package of `folder` lies, and its version."""
    for place in (folder / "node_modules" / _AGENT, folder):
        manifest = manifest_of(place)
        if manifest.get("name") == _AGENT and isinstance(version := manifest.get("version"), str):
            return place.resolve(), version
    raise SubjectUnavailable(
        f"pi@{folder}: no {_AGENT} there; name a folder that has it in its node_modules, or that is it"
    )


def _ai_beside(agent: Path) -> str | None:
    """The version of the pi-ai that the agent package would import."""
    for folder in (agent, *agent.parents):
        if manifest := manifest_of(folder / "node_modules" / _AI):
            return manifest.get("version")
    return None


def _unknown(release: str) -> SubjectUnavailable:
    known = ", ".join(known_releases())
    return SubjectUnavailable(
        f"pi@{release}: only {known} can be installed; for another one give a folder that holds it, pi@PATH"
    )


def _advice(release: str, error: NpmError | DamagedInstall | OSError, cache: Path) -> str:
    """One line: what went wrong, and what the user can do."""
    what = f"pi@{release} could not be installed"
    code = error.code if isinstance(error, NpmError) else errno.errorcode.get(getattr(error, "errno", 0), "")
    if code in _DISK_FULL:
        return (
            f"{what}: no space below {cache}; free some, or set {CACHE_VARIABLE} to a folder on another disk"
        )
    if isinstance(error, OSError):
        return f"{what}: {cache}: {error.strerror}; set {CACHE_VARIABLE} to a folder that you may write"
    if _OUT_OF_REACH.match(code):
        way_out = "go online once, or give a folder that already holds it, pi@PATH"
        return f"{what}: the npm registry is out of reach ({code}); {way_out}"
    whose = "npm says " if isinstance(error, NpmError) else ""
    return f"{what}: {whose}{error}; try again, or give a folder that already holds it, pi@PATH"
