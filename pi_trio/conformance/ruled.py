"""Golden traces: how the runtime behaves where a ruling makes it differ from a release, reviewed line by
line.

A golden trace holds both sides of one scenario: lines that release and runtime share (`=`), lines that only
the runtime says (`+`) and lines that only the release says (`-`), each of the latter two with the id of the
ruling that makes it so. Read without `+` it must be the release's recording; read without `-` it is what the
runtime is judged by. `enters` is the line with the command that enters the ruling; nothing differs up to
there, so a ruling never excuses what came before.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, Self

import attrs

from .compare import opcodes
from .protocol import Object
from .stored import TraceFault, check_trace
from .vectors import VectorError, Vectors, read_lines, write_lines

Mark = Literal["=", "+", "-"]

_MARKS: Final[tuple[Mark, ...]] = ("=", "+", "-")


@attrs.frozen
class Entry:
    """One line of a golden trace; `ruling` is empty for a shared one."""

    mark: Mark
    line: Object
    ruling: str = ""

    def to_json(self) -> Object:
        return {self.mark: self.line, **({"ruling": self.ruling} if self.ruling else {})}


@attrs.frozen(kw_only=True)
class Golden:
    """The golden trace of one scenario under one release."""

    scenario: str
    release: str
    enters: int
    entries: tuple[Entry, ...]

    def release_side(self) -> tuple[Object, ...]:
        """What the release says."""
        return tuple(entry.line for entry in self.entries if entry.mark != "+")

    def runtime_side(self) -> tuple[Object, ...]:
        """What the runtime has to say."""
        return tuple(entry.line for entry in self.entries if entry.mark != "-")

    def rulings(self) -> tuple[str, ...]:
        """The ids of the rulings in it, sorted."""
        return tuple(sorted({entry.ruling for entry in self.entries if entry.ruling}))

    def unruled(self) -> int:
        """Lines that differ without a ruling: still to be reviewed."""
        return sum(entry.mark != "=" and not entry.ruling for entry in self.entries)

    def faults(self) -> list[str]:
        """What is wrong with it in itself."""
        found: list[str] = []
        if all(entry.mark == "=" for entry in self.entries):
            found.append("no line differs: there is nothing to rule")
        if self.unruled():
            found.append(f"{self.unruled()} differing lines name no ruling")
        before = self.entries[: self.enters + 1]
        if (
            not 0 <= self.enters < len(before)
            or "send" not in before[-1].line
            or any(entry.mark != "=" for entry in before)
        ):
            found.append(f"line {self.enters} is not a shared command with only shared lines before it")
        return found

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises: VectorError: the file is damaged."""
        header, *lines = read_lines(path)
        scenario, release, enters = header.get("scenario"), header.get("release"), header.get("enters")
        if not isinstance(scenario, str) or not isinstance(release, str) or type(enters) is not int:
            raise VectorError(f"{path}, line 1: scenario, release and enters are needed")
        entries = tuple(_entry(path, number, line) for number, line in enumerate(lines, 2))
        for other in ("+", "-"):
            try:
                check_trace((n, entry.line) for n, entry in enumerate(entries, 2) if entry.mark != other)
            except TraceFault as fault:
                raise VectorError(f"{path}, line {fault.number}: {fault}") from None
        return cls(scenario=scenario, release=release, enters=enters, entries=entries)

    def write(self, path: Path) -> None:
        header = {"scenario": self.scenario, "release": self.release, "enters": self.enters}
        write_lines(path, [header, *(entry.to_json() for entry in self.entries)])


def _entry(path: Path, number: int, line: Object) -> Entry:
    for mark in _MARKS:
        if isinstance(line.get(mark), dict) and line.keys() <= {mark, "ruling"}:
            return Entry(mark, line[mark], str(line.get("ruling", "")))
    raise VectorError(f"{path}, line {number}: an object with one of =, + and - was expected")


def golden_path(vectors: Vectors, release: str, name: str) -> Path:
    """Where the golden trace of a scenario lies."""
    return vectors.spec / "vectors" / "ruled" / f"pi-{release}" / f"{name}.jsonl"


def golden_names(vectors: Vectors, release: str) -> frozenset[str]:
    """The scenarios that have one."""
    return frozenset(path.stem for path in golden_path(vectors, release, "").parent.glob("*.jsonl"))


def read_golden(vectors: Vectors, release: str, name: str) -> Golden | None:
    """The golden trace of a scenario, if there is one. Raises: VectorError: it is damaged."""
    path = golden_path(vectors, release, name)
    return Golden.read(path) if path.is_file() else None


def propose(
    name: str,
    release: str,
    said: Sequence[Object],
    runtime: Sequence[Object],
    ruling: str,
    former: Golden | None = None,
) -> Golden | None:
    """A golden trace made from two traces, for a person to review; None if they do not differ.

    Args:
        said: the release's trace.
        runtime: the runtime's trace.
        ruling: the id that differing lines get, save those that `former` already rules: they keep theirs.
    """
    bare: list[Entry] = []
    for tag, first, last, start, stop in opcodes(said, runtime):
        if tag == "equal":
            bare += [Entry("=", line) for line in said[first:last]]
        else:
            bare += [Entry("-", line) for line in said[first:last]]
            bare += [Entry("+", line) for line in runtime[start:stop]]
    differing = [index for index, entry in enumerate(bare) if entry.mark != "="]
    if not differing:
        return None
    kept = _kept_rulings(() if former is None else former.entries, bare)
    entries = tuple(
        entry if entry.mark == "=" else attrs.evolve(entry, ruling=kept.get(index) or ruling)
        for index, entry in enumerate(bare)
    )
    enters = max((index for index in range(differing[0]) if "send" in entries[index].line), default=0)
    return Golden(scenario=name, release=release, enters=enters, entries=entries)


def _kept_rulings(former: Sequence[Entry], entries: Sequence[Entry]) -> dict[int, str]:
    """The rulings that stay, by the index of their entry.

    The entries are aligned in sequence: equal lines may stand in several places under several rulings, so it
    is the place that tells which of them an entry has.
    """
    before, now = ([Entry(entry.mark, entry.line).to_json() for entry in each] for each in (former, entries))
    return {
        start + offset: former[first + offset].ruling
        for tag, first, last, start, _ in opcodes(before, now)
        if tag == "equal"
        for offset in range(last - first)
    }
