"""The clauses of the spec, read from the text that people read.

A clause is one heading of a file under `spec/clauses/`: its rule in prose, then a list of what belongs to it. The
form is strict, so that nothing is overlooked: what does not fit is an error that names file and line. Which clauses
are in force under a profile follows from the releases that they list, and, where a profile is composed, from the
release that the deciding field is taken from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from pi_trio.profile import FIELDS, PROFILES, get_profile

from .vectors import VectorError, spec_folder

FAMILIES: Final = ("RUN", "TURN", "MSG", "STREAM", "TOOL", "QUEUE", "HOOK", "ABORT", "FAIL", "STATE", "MODEL")
"""What clauses are about, in the order in which one reads them. Each is a file."""

LEVELS: Final = ("MUST", "RULING")
"""MUST is what the releases do; RULING is what pi_trio promises and they break."""

TRANSPORT: Final = "transport"
"""The group of the clauses that judge what asks a provider, and no agent. Their evidence is not scenarios, but recorded
answers of servers (`conformance.transport`).
"""

GROUPS: Final = ("events", "tools", "queues", "abort", "hooks", "awaiting", "containment", TRANSPORT)
"""Under what a verdict on a clause is counted."""

RELEASES: Final = tuple(profile.release for profile in PROFILES.values())

_HEADING: Final = re.compile(r"## +([A-Z]+-\d+) +(\S.*)")
_ITEM: Final = re.compile(r"- ([a-z]+(?: [a-z]+)?): (.*)")
_LEVEL: Final = re.compile(r"RULING (D-\d\d)|MUST")
_DECIDED: Final = re.compile(r"`(\w+)` = (`[^`]+`(?: or `[^`]+`)*)")
_CODE: Final = re.compile(r"`([^`]+)`")
_ID: Final = re.compile(r"[A-Z]+-\d+")
_REQUIRED: Final = ("level", "releases", "group", "why", "evidence")
_ITEMS: Final = ("level", "releases", "decided by", "group", "why", "trap", "evidence", "see")


@attrs.frozen(kw_only=True)
class Clause:
    """One rule.

    Attributes:
        id: `TURN-05`; stable once published.
        title: the heading.
        rule: what holds, as Markdown; paragraphs are apart by an empty line, and have no other line breaks.
        level: one of LEVELS.
        ruling: the ruling that promises it, if the level is RULING.
        releases: in which it is in force, oldest first.
        field: the field of a profile of which this is one side, if it is one.
        values: the values of that field under which it is in force, as `written` writes them.
        group: one of GROUPS.
        why: what it is good for.
        trap: what implementations get wrong; may be empty.
        evidence: scenarios that show it, or vectors of the transport, the most telling first.
        see: ids of other clauses, surprises and rulings.
        file: where it stands, below the spec folder; and `line`, the line of its heading.
    """

    id: str
    title: str
    rule: str
    level: str
    ruling: str | None = None
    releases: tuple[str, ...]
    field: str | None = None
    values: tuple[str, ...] = ()
    group: str
    why: str
    trap: str = ""
    evidence: tuple[str, ...]
    see: tuple[str, ...] = ()
    file: str = ""
    line: int = 0

    @property
    def family(self) -> str:
        """`TURN`."""
        return self.id.partition("-")[0]

    @property
    def of_transport(self) -> bool:
        """Whether it judges a transport, and no agent."""
        return self.group == TRANSPORT

    @property
    def full_level(self) -> str:
        """`MUST`, or `RULING D-02`."""
        return f"{self.level} {self.ruling}" if self.ruling else self.level


@attrs.frozen(eq=False)
class Clauses(Mapping[str, Clause]):
    """All clauses by their ids: family by family, in each by number."""

    _by_id: dict[str, Clause]

    def __getitem__(self, key: str) -> Clause:
        return self._by_id[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    @classmethod
    def shipped(cls) -> Clauses:
        """Those of this installation. Raises: VectorError."""
        return read_clauses(spec_folder())

    def of_family(self, family: str) -> tuple[Clause, ...]:
        """The clauses of `TURN`."""
        return tuple(clause for clause in self.values() if clause.family == family)

    def in_force(self, profile: str) -> tuple[Clause, ...]:
        """The clauses that hold under a profile: a release's, or a composite.

        Raises:
            UnknownProfileError: there is no such profile.
        """
        base, donors = _sources(profile)
        return tuple(
            clause
            for clause in self.values()
            if (donors.get(clause.field, base) if clause.field else base) in clause.releases
        )


def _sources(profile: str) -> tuple[str, dict[str, str]]:
    """The release that a profile is based on, and those from which it takes single fields."""
    base, *changes = get_profile(profile).name.split(",")
    pairs = (change.partition("=") for change in changes)
    return PROFILES[base].release, {field: PROFILES[donor].release for field, _, donor in pairs}


def written(value: Any) -> str:
    """A field's value as a clause names it: `yes`, `failed`, `content, details`, `nothing`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (", ".join(value) or "nothing") if isinstance(value, tuple) else str(value)


def read_clauses(spec: Path) -> Clauses:
    """The clauses in a spec folder.

    Raises:
        VectorError: one has not the form of a clause, or an id is taken twice. The message names file and line.
    """
    folder = spec / "clauses"
    paths = sorted(
        (path for path in folder.glob("*.md") if path.stem != "README"),
        key=lambda path: (
            FAMILIES.index(path.stem.upper()) if path.stem.upper() in FAMILIES else len(FAMILIES)
        ),
    )
    if not paths:
        raise VectorError(f"{folder} holds no clauses: install pi_trio again, or work in a full checkout")
    found: dict[str, Clause] = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise VectorError(f"{path} cannot be read: {error}") from None
        for clause in _in_file(path, text):
            if clause.id in found:
                raise _fault(path, clause.line, f"{clause.id} is taken, see line {found[clause.id].line}")
            found[clause.id] = clause
    return Clauses(found)


def _fault(path: Path, line: int, message: str) -> VectorError:
    return VectorError(f"{path}, line {line}: {message}")


def _in_file(path: Path, text: str) -> list[Clause]:
    """The clauses of a family's file. What stands before the first of them introduces the family."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    ends = [*starts[1:], len(lines)]
    clauses = [_clause(path, start, lines[start:end]) for start, end in zip(starts, ends, strict=True)]
    return sorted(clauses, key=lambda clause: int(clause.id.partition("-")[2]))


def _clause(path: Path, start: int, lines: list[str]) -> Clause:
    def fault(message: str, line: int = 0) -> VectorError:
        return _fault(path, start + line + 1, message)

    heading = _HEADING.fullmatch(lines[0].rstrip())
    if heading is None or heading[1].partition("-")[0] != path.stem.upper():
        raise fault(f"the heading of a clause is `## {path.stem.upper()}-05 Title`, not {lines[0]!r}")
    first = next((number for number, line in enumerate(lines) if line.startswith("- level: ")), None)
    if first is None:
        raise fault(f"{heading[1]} has no `- level: …`")
    items, at = _items(lines, first, fault)
    if missing := [name for name in _REQUIRED if not items.get(name)]:
        raise fault(f"{heading[1]} lacks: {', '.join(missing)}")
    rule = _prose(lines[1:first])
    if not rule:
        raise fault(f"{heading[1]} has no rule")
    level = _LEVEL.fullmatch(items["level"])
    if level is None:
        raise fault("the level is MUST or `RULING D-02`", at["level"])
    if items["group"] not in GROUPS:
        raise fault(f"the group is one of {', '.join(GROUPS)}, not {items['group']!r}", at["group"])
    releases = tuple(each.strip() for each in items["releases"].split(","))
    if releases != tuple(each for each in RELEASES if each in releases):
        raise fault(f"releases are some of {', '.join(RELEASES)}, in this order", at["releases"])
    field, values = _decided(
        items.get("decided by", ""), releases, lambda message: fault(message, at["decided by"])
    )
    return Clause(
        id=heading[1], title=heading[2].strip(), rule=rule,
        level="RULING" if level[1] else level[0], ruling=level[1],
        releases=releases, field=field, values=values, group=items["group"], why=items["why"],
        trap=items.get("trap", ""),
        evidence=_listed(items["evidence"], _CODE, lambda message: fault(f"evidence: {message}", at["evidence"])),
        see=_listed(items.get("see", ""), _ID, lambda message: fault(f"see: {message}", at["see"])),
        file=f"clauses/{path.name}", line=start + 1,
    )  # fmt: skip


def _items(
    lines: list[str], first: int, fault: Callable[[str, int], VectorError]
) -> tuple[dict[str, str], dict[str, int]]:
    """What is listed below a rule, by name, and in which line; an item may go on in indented lines."""
    items: dict[str, str] = {}
    at: dict[str, int] = {}
    name = ""
    for number, line in enumerate(lines[first:], first):
        if item := _ITEM.fullmatch(line.rstrip()):
            name = item[1]
            if name not in _ITEMS or name in items:
                raise fault(
                    f"{name!r} is " + ("given twice" if name in items else "no part of a clause"), number
                )
            items[name], at[name] = item[2].strip(), number
        elif line.startswith("  ") and line.strip():
            items[name] += f" {line.strip()}"
        elif line.strip():
            raise fault(f"behind its list a clause has ended; what is {line.strip()!r}?", number)
    return items, at


def _prose(lines: Iterable[str]) -> str:
    """Paragraphs without their line breaks."""
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines).strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs).strip()


def _decided(
    text: str, releases: tuple[str, ...], fault: Callable[[str], VectorError]
) -> tuple[str | None, tuple[str, ...]]:
    """The field that decides, and its values; they must be those that the releases have, and no others."""
    if not text:
        return None, ()
    decided = _DECIDED.fullmatch(text)
    if decided is None or decided[1] not in FIELDS:
        raise fault("decided by is `field` = `value` (or `value` …), with a field of a Profile")
    values = tuple(_CODE.findall(decided[2]))
    having = tuple(
        profile.release for profile in PROFILES.values() if written(getattr(profile, decided[1])) in values
    )
    if having != releases:
        raise fault(f"{decided[1]} is {' or '.join(values)} in {', '.join(having) or 'no release'}")
    return decided[1], values


def _listed(text: str, form: re.Pattern[str], fault: Callable[[str], VectorError]) -> tuple[str, ...]:
    """The things in a list apart by commas, each of one form and named once."""
    if not text:
        return ()
    parts = [form.fullmatch(part.strip()) for part in text.rstrip(".").split(",")]
    found = [part[part.re.groups] for part in parts if part is not None]
    if len(found) != len(parts) or len(set(found)) != len(found):
        raise fault(f"{text!r} is no list of different things apart by commas")
    return tuple(found)
