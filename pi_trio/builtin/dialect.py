"""What changed in the built-in tools between releases of Pi, as data.

Each decision that differs is one field, read at one place; nothing else here asks for a release. A field's comment
names the release that brought each value.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import attrs

from ..errors import PiTrioError


class UnknownToolDialectError(PiTrioError):
    """Tools were asked for by the name of a release that is not in `DIALECTS`."""


@attrs.frozen(kw_only=True, repr=False)
class ToolDialect:
    """The built-in tools of one Pi release, field by field."""

    release: str

    #: Providers are asked to keep to the parameters where they can (1.0.3).
    strict_sampling: bool
    #: `read` gives programs what it gives the model (1.6.0).
    read_structured: bool
    #: Any file that begins with `GIF` is a GIF image; or one that begins as one of the two formats does (1.0.3).
    gif_magic: Literal["prefix", "versions"]
    #: A command that fails is an error with a text; or a result with structured content, marked as an error (1.0.3).
    failed_command: Literal["error", "result"]
    #: A shell that a signal has ended counts as successful; or has 128 and the signal's number as its code (1.0.3).
    signalled: Literal["success", "code"]
    #: Who waits for background processes until the timeout is told how the shell itself has ended (1.6.0).
    timeout_tells_exit: bool
    #: `edit` gives all lines the line ending of the first one; or leaves alone what it does not replace (1.6.0).
    line_endings: Literal["first_line", "kept"]
    #: The diff of an edit is made of the whole file; or of the lines around each replacement (1.6.0).
    diff_scope: Literal["file", "windows"]

    def __repr__(self) -> str:
        return f"ToolDialect({self.release!r})"


TOOLS_0_85_0: Final = ToolDialect(
    release="0.85.0",
    strict_sampling=False,
    read_structured=False,
    gif_magic="prefix",
    failed_command="error",
    signalled="success",
    timeout_tells_exit=False,
    line_endings="first_line",
    diff_scope="file",
)

TOOLS_1_0_3: Final = attrs.evolve(
    TOOLS_0_85_0,
    release="1.0.3",
    strict_sampling=True,
    gif_magic="versions",
    failed_command="result",
    signalled="code",
)

TOOLS_1_6_0: Final = attrs.evolve(
    TOOLS_1_0_3,
    release="1.6.0",
    read_structured=True,
    timeout_tells_exit=True,
    line_endings="kept",
    diff_scope="windows",
)

#: The dialects by their release, oldest first.
DIALECTS: Final[Mapping[str, ToolDialect]] = MappingProxyType(
    {one.release: one for one in (TOOLS_0_85_0, TOOLS_1_0_3, TOOLS_1_6_0)}
)


def tool_dialect_of(name: str | ToolDialect) -> ToolDialect:
    """The tools of a release, or of a profile: `1.6.0` and `pi-1.6.0` are the same. A dialect is its own.

    Raises:
        UnknownToolDialectError: there is no such release; the message lists those that are known.
        TypeError: it is neither a name nor a dialect.
    """
    if isinstance(name, ToolDialect):
        return name
    if not isinstance(name, str):
        raise TypeError(f"a dialect is a ToolDialect or the name of a release, not {name!r}")
    found = DIALECTS.get(name.removeprefix("pi-"))
    if found is None:
        raise UnknownToolDialectError(f"there are no tools of {name!r}; known are: {', '.join(DIALECTS)}")
    return found
