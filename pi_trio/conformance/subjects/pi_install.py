"""A Pi on disk: what is installed there, and the command that starts it as a subject."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

if TYPE_CHECKING:
    from .node import Node

#: The adapter for Node, and beside it a folder for each release that can be installed.
ADAPTERS = Path(__file__).parent.parent / "adapters"


@attrs.frozen(kw_only=True)
class PiInstall:
    """A Pi that is ready to be started.

    Attributes:
        release: the version of the agent package, such as `1.6.0`.
        node: runs it.
        folder: holds the agent package in its `node_modules`, or is that package.
        adapter: the program that puts it behind the driver protocol; one for all releases.
    """

    release: str
    node: Node
    folder: Path
    adapter: Path = ADAPTERS / "pi.mjs"


def command_of(install: PiInstall, profile: str | None = None) -> list[str]:
    """The command that starts the subject under a profile such as `pi-1.6.0`, by default its own release's.

    The profile is part of the command, so it must not be appended again.
    """
    profile = profile or f"pi-{install.release}"
    return [str(install.node.path), str(install.adapter), str(install.folder), "--profile", profile]


def manifest_of(package: Path) -> dict[str, Any]:
    """The `package.json` of a folder; empty where there is none that can be read."""
    try:
        manifest: Any = json.loads((package / "package.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", manifest) if isinstance(manifest, dict) else {}
