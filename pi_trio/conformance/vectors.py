"""Recorded traces of real Pi releases: where they lie, how they are written, how they are read.

A vector is a JSON Lines file: a header with the scenario and the release, then the trace. It is written
compactly and with keys in the order in which they were recorded, so that a new recording of the same
behaviour is the same file; and it is complete, so that a port can use it without this package. The folder
`spec/` lies beside the package in a checkout, and inside it, as `_spec`, in an installed wheel.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs

from pi_trio.errors import CodecError, PiTrioError
from pi_trio.jsontext import parse_json, print_json

from .protocol import Object
from .scenario import Scenario
from .stored import TraceFault, check_trace
from .writing import write_whole


class VectorError(PiTrioError):
    """A file of the spec is missing or not what it must be. The message names the file and what to do."""


def spec_folder() -> Path:
    """The folder `spec` of this installation.

    Raises:
        VectorError: there is none.
    """
    package = Path(str(files("pi_trio.conformance"))).parent
    for folder in (package / "_spec", package.parent / "spec"):
        if folder.is_dir():
            return folder
    raise VectorError(
        f"the folder spec is missing beside {package}: install pi_trio again, or work in a full checkout"
    )


@attrs.frozen(kw_only=True)
class Recording:
    """What a release did in one scenario."""

    scenario: Scenario
    release: str
    lines: tuple[Object, ...]


@attrs.frozen
class Vectors:
    """The recordings under one `spec` folder."""

    spec: Path

    @classmethod
    def shipped(cls) -> Vectors:
        """Those of this installation. Raises: VectorError."""
        return cls(spec_folder())

    def command(self, action: str, release: str, *words: str) -> str:
        """What to call so that `pi-trio vectors` does something with these very recordings, and no others."""
        call = ["pi-trio", "vectors", action, "--release", release, *words]
        try:
            elsewhere = self.spec.resolve() != spec_folder().resolve()
        except VectorError:
            elsewhere = True
        return shlex.join([*call, "--spec", str(self.spec)] if elsewhere else call)

    def path(self, release: str, name: str) -> Path:
        """Where the recording of a scenario lies."""
        return self.spec / "vectors" / f"pi-{release}" / f"{name}.jsonl"

    def names(self, release: str) -> frozenset[str]:
        """The scenarios that are recorded."""
        return frozenset(path.stem for path in self.path(release, "").parent.glob("*.jsonl"))

    def read(self, release: str, name: str) -> Recording | None:
        """The recording of a scenario, if there is one.

        Raises:
            VectorError: the file is damaged.
        """
        path = self.path(release, name)
        if not path.is_file():
            return None
        header, *lines = read_lines(path)
        try:
            scenario = Scenario.from_json(header.get("scenario"))
            check_trace(enumerate(lines, 2))
        except CodecError as error:
            raise VectorError(f"{path}, line 1: {error}") from None
        except TraceFault as fault:
            raise VectorError(f"{path}, line {fault.number}: {fault}") from None
        if header.get("release") != release:
            raise VectorError(f"{path}, line 1: the release is {release} here")
        return Recording(scenario=scenario, release=release, lines=tuple(lines))

    def write(self, recording: Recording) -> Path:
        """Store a recording in its place, and say where that is. Raises: OSError."""
        path = self.path(recording.release, recording.scenario.name)
        write_lines(
            path, [{"scenario": recording.scenario.to_json(), "release": recording.release}, *recording.lines]
        )
        return path


def read_lines(path: Path) -> list[Object]:
    """The JSON objects in a file, one a line, at least one.

    Raises:
        VectorError: the file cannot be read, or a line is no object.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise VectorError(f"{path} cannot be read: {error.strerror}") from None
    return list(_parse(path, raw)) or _empty(path)


def _parse(path: Path, raw: bytes) -> Iterator[Object]:
    for number, line in enumerate(raw.splitlines(), 1):
        try:
            value: Any = parse_json(line)
        except CodecError as error:
            raise VectorError(f"{path}, line {number}: {error}") from None
        if not isinstance(value, dict):
            raise VectorError(f"{path}, line {number}: an object was expected")
        yield value


def _empty(path: Path) -> list[Object]:
    raise VectorError(f"{path} is empty")


def write_lines(path: Path, lines: Iterable[Object]) -> None:
    """Write JSON objects, one a line, compactly. Raises: OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(f"{print_json(line)}\n" for line in lines).encode())
