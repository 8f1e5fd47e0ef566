"""Which clauses are in force for a release, frozen: a list under `spec/revisions/`, with a digest of each rule.

What is published does not change unnoticed. A rule that is changed, added or taken away no longer agrees with the list,
and writing the list anew is one command. If the list is published already, that command makes its next revision, so the
author of a port can see that there is one.

    python -m pi_trio.conformance.revisions             compare, and say what differs
    python -m pi_trio.conformance.revisions freeze      write the lists anew where they differ
    python -m pi_trio.conformance.revisions publish     mark them as published with this version of pi_trio
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from pi_trio._version import __version__
from pi_trio.profile import PROFILES

from .clauses import Clause, Clauses, read_clauses
from .vectors import VectorError, spec_folder
from .writing import write_whole

_HEAD: Final = re.compile(r"revision (\d+), (?:unpublished|published with (\S+))")
_LINE: Final = re.compile(r"([A-Z]+-\d+) +([0-9a-f]{12})  .+")


@attrs.frozen(kw_only=True)
class Revision:
    """The list of one release.

    Attributes:
        number: counted from 1.
        published: the version of pi_trio that it was published with, if it was.
        digests: of each clause in force, by id.
    """

    release: str
    number: int
    published: str | None
    digests: Mapping[str, str]


def digest(clause: Clause) -> str:
    """What stands for a clause's meaning: its title, level, rule, and what decides it. Why, trap and evidence may get
    better.
    """
    meant = "\n".join((clause.title, clause.level, clause.ruling or "", clause.rule))
    if clause.field is not None:
        meant += f"\n{clause.field} = {' or '.join(clause.values)}"
    return hashlib.sha256(meant.encode()).hexdigest()[:12]


def revision_path(spec: Path, release: str) -> Path:
    """Where the list of a release lies."""
    return spec / "revisions" / f"{release}.txt"


def read_revision(spec: Path, release: str) -> Revision | None:
    """The list of a release, if there is one.

    Raises:
        VectorError: the file is damaged. The message names file and line.
    """
    path = revision_path(spec, release)
    if not path.exists():
        return None
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise VectorError(f"{path} cannot be read: {error}") from None
    head = _HEAD.fullmatch(lines[1]) if len(lines) > 1 else None
    if head is None:
        raise VectorError(f"{path}, line 2: `revision 1, unpublished` or the like was expected")
    digests: dict[str, str] = {}
    for number, line in enumerate(lines[3:], 4):
        entry = _LINE.fullmatch(line)
        if entry is None or entry[1] in digests:
            raise VectorError(
                f"{path}, line {number}: a clause, its digest and its title were expected, once"
            )
        digests[entry[1]] = entry[2]
    return Revision(release=release, number=int(head[1]), published=head[2], digests=digests)


def due(clauses: Clauses, release: str) -> dict[str, str]:
    """The digests that the list of a release has to have, in the order of the clauses."""
    return {clause.id: digest(clause) for clause in clauses.in_force(f"pi-{release}")}


def differences(frozen: Revision | None, now: Mapping[str, str]) -> list[str]:
    """What differs between a list and the clauses, in a few words each."""
    was: Mapping[str, str] = {} if frozen is None else frozen.digests
    return [
        f"{name} {'is gone' if name not in now else 'is new' if name not in was else 'has changed'}"
        for name in dict.fromkeys((*now, *was))
        if was.get(name) != now.get(name)
    ]


def text_of(revision: Revision, clauses: Clauses) -> str:
    """A list as it is written."""
    state = f"published with {revision.published}" if revision.published else "unpublished"
    lines = [
        f"# The clauses in force for Pi {revision.release}, each with the digest of its rule.",
        f"revision {revision.number}, {state}",
        "",
        *(f"{name:10}  {value}  {clauses[name].title}" for name, value in revision.digests.items()),
    ]
    return "".join(f"{line}\n" for line in lines)


def freeze(spec: Path) -> list[str]:
    """Write the lists anew where they differ from the clauses; what was done, in a line each.

    Raises:
        VectorError: a clause or a list is damaged.
        OSError: a list cannot be written.
    """
    clauses, done = read_clauses(spec), list[str]()
    for release in _releases():
        frozen, now = read_revision(spec, release), due(clauses, release)
        if not (found := differences(frozen, now)):
            continue
        number = 1 if frozen is None else frozen.number + (frozen.published is not None)
        _write(spec, Revision(release=release, number=number, published=None, digests=now), clauses)
        done.append(f"{release}: revision {number}, {len(now)} clauses, {len(found)} of them new or changed")
    return done


def publish(spec: Path) -> list[str]:
    """Mark the lists that are not published yet as published with this version; what was done, in a line each.

    Raises:
        VectorError: a list is missing, damaged, or not what the clauses are; nothing is published then.
        OSError: a list cannot be written.
    """
    clauses, marked = read_clauses(spec), list[Revision]()
    for release in _releases():
        frozen = read_revision(spec, release)
        if frozen is None or differences(frozen, due(clauses, release)):
            raise VectorError(f"the list of {release} is not what the clauses are: freeze it first")
        if frozen.published is None:
            marked.append(attrs.evolve(frozen, published=__version__))
    for revision in marked:
        _write(spec, revision, clauses)
    return [f"{each.release}: revision {each.number}, published with {each.published}" for each in marked]


def _releases() -> tuple[str, ...]:
    return tuple(profile.release for profile in PROFILES.values())


def _write(spec: Path, revision: Revision, clauses: Clauses) -> None:
    path = revision_path(spec, revision.release)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, text_of(revision, clauses).encode())


def main(arguments: Sequence[str], spec: Path) -> int:
    """Do what is asked, say what was done, and return the exit code: 1 if something differs, 2 if it cannot be done."""
    try:
        match arguments:
            case ["freeze"]:
                said, code = freeze(spec), 0
            case ["publish"]:
                said, code = publish(spec), 0
            case []:
                said = _compared(spec)
                code = 1 if said else 0
            case _:
                said, code = ["usage: python -m pi_trio.conformance.revisions [freeze | publish]"], 2
    except VectorError as error:
        said, code = [str(error)], 2
    sys.stdout.write("".join(f"{line}\n" for line in said or ["nothing differs, nothing to do"]))
    return code


def _compared(spec: Path) -> list[str]:
    clauses = read_clauses(spec)
    return [
        f"{release}: {each}"
        for release in _releases()
        for each in differences(read_revision(spec, release), due(clauses, release))
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], spec_folder()))
