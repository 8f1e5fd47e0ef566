"""The recorded vectors of the transport: what a request is, what a server answers, and what the releases made of it.

A vector is a file of JSON lines, `vectors/transport/NAME.jsonl`: a header with the case, then one line for each result
that releases agree on. A port needs no more than these files to be judged: it answers its own requests with the bytes
of the case. (The form of a case, and how to use one, is told in `spec/README.md`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from ..vectors import VectorError, read_lines, write_lines

RELEASES: Final = ("0.85.0", "1.0.3", "1.6.0")
"""Whose transport is recorded, oldest first."""

KEY: Final = "sk-test-0123456789"
"""The key of every request in a vector. It must be seen in nothing that comes back."""


@attrs.frozen
class Recorded:
    """A result, and the releases that gave it.

    The result is `{"calls": [{"events", "message"} or {"thrown"}, …], "requests": [{"path", "body"}, …]}`.
    """

    releases: tuple[str, ...]
    result: dict[str, Any]


@attrs.frozen(kw_only=True)
class TransportVector:
    """A case, and what the releases made of it.

    Attributes:
        name: of the file.
        title: what it is about, in a sentence.
        case: `api`, `model`, `calls` and `answers`.
        recorded: by the releases, oldest first.
    """

    name: str
    title: str
    case: dict[str, Any]
    recorded: tuple[Recorded, ...]

    @property
    def api(self) -> str:
        """Whose words the server speaks."""
        return str(self.case["api"])

    @property
    def releases(self) -> tuple[str, ...]:
        """Those that it was recorded from."""
        return tuple(each for each in RELEASES if any(each in one.releases for one in self.recorded))

    def of(self, release: str) -> dict[str, Any]:
        """What a release made of it. Raises: KeyError: it was not recorded from that one."""
        for each in self.recorded:
            if release in each.releases:
                return each.result
        raise KeyError(release)


def folder(spec: Path) -> Path:
    """Where the vectors lie."""
    return spec / "vectors" / "transport"


def read_transport_vectors(spec: Path) -> Mapping[str, TransportVector]:
    """All vectors below a spec folder, by their names.

    Raises:
        VectorError: there are none, or a file is damaged.
    """
    paths = sorted(folder(spec).glob("*.jsonl"))
    if not paths:
        raise VectorError(
            f"{folder(spec)} holds no vectors: install pi_trio again, or work in a full checkout"
        )
    return {path.stem: _read(path) for path in paths}


def _read(path: Path) -> TransportVector:
    header, *lines = read_lines(path)
    try:
        recorded = tuple(Recorded(tuple(line.pop("releases")), line) for line in map(dict, lines))
        vector = TransportVector(
            name=header["transport"], title=header["title"], case=dict(header["case"]), recorded=recorded
        )
    except (KeyError, TypeError, ValueError):
        vector = None
    if vector is None or vector.name != path.stem or not vector.releases or vector.case.keys() != _CASE:
        raise VectorError(f"{path}: no vector of the transport")
    return vector


_CASE: Final = {"api", "model", "calls", "answers"}


def write_vector(spec: Path, vector: TransportVector) -> None:
    """Write a vector to where it belongs. Raises: OSError."""
    lines = [
        {"transport": vector.name, "title": vector.title, "case": vector.case},
        *({"releases": list(each.releases), **each.result} for each in vector.recorded),
    ]
    write_lines(folder(spec) / f"{vector.name}.jsonl", lines)
