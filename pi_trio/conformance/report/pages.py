"""Clauses, surprises and rulings as pages to read, and as lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pi_trio.conformance.clauses import RELEASES, Clause
from pi_trio.conformance.deviations import Deviation
from pi_trio.jsonvalue import JSON

from .terminal import say

WIDTH: Final = 100
"""Columns of a page at most: longer lines are hard to read."""

_NAMED: Final = 6
"""Scenarios of a surprise or ruling that are named, if there are many."""

_CODE: Final = r"`[^`]+`"


@attrs.frozen(kw_only=True)
class Evidence:
    """A scenario that shows a clause: its title, and the releases that it is recorded from (or ruled for)."""

    scenario: str
    title: str
    releases: tuple[str, ...]


def prose(text: str) -> Text:
    """A text in which what is code stands out."""
    shown = Text(text)
    shown.highlight_regex(_CODE, "cyan")
    return shown


def show_clause(
    console: Console, clause: Clause, evidence: Sequence[Evidence], title_of: Callable[[str], str]
) -> None:
    """Print a clause as a page; `title_of` says what the ids that it refers to are about."""
    _show_title(console, clause.id, clause.title)
    for paragraph in clause.rule.split("\n\n"):
        _show(console, prose(paragraph), Text())
    rows: list[tuple[str, RenderableType]] = [
        ("level", Text(clause.full_level)),
        ("group", Text(clause.group)),
        ("in force", Text(_in_force(clause))),
        ("why", prose(clause.why)),
    ]
    if clause.trap:
        rows.append(("trap", prose(clause.trap)))
    rows.append(("evidence", _evidence(clause, evidence)))
    if clause.see:
        rows.append(("see", _lines(f"{name}  {title_of(name)}" for name in clause.see)))
    rows.append(("written", Text(f"spec/{clause.file}, line {clause.line}")))
    _show_rows(console, rows)
    say(console, f"\n{_how(clause)}")


def show_deviation(
    console: Console, deviation: Deviation, clauses: Sequence[Clause], *, port: str = ""
) -> None:
    """Print a surprise or a ruling as a page, with the clauses that refer to it; `port`: what a port may do."""
    _show_title(console, deviation.id, deviation.title)
    for paragraph in deviation.paragraphs:
        _show(console, prose(paragraph), Text())
    rows: list[tuple[str, RenderableType]] = [
        (name, prose(_abridged(value) if name == "scenarios" else value))
        for name, value in deviation.items.items()
    ]
    if port:
        rows.insert(2, ("a port may", prose(port)))
    if clauses:
        rows.append(("clauses", _lines(f"{clause.id}  {clause.title}" for clause in clauses)))
    rows.append(("written", Text(f"spec/{deviation.file}, line {deviation.line}")))
    _show_rows(console, rows)
    scenarios = re.findall(_CODE, deviation.items.get("scenarios", ""))
    if scenarios and "example" not in deviation.items:
        say(console, f"\npi-trio explain-run {scenarios[0].strip('`')} --recorded")


def _abridged(scenarios: str) -> str:
    """The first of many scenarios, and how many more there are."""
    names = scenarios.split(", ")
    more = len(names) - _NAMED
    return scenarios if more < 2 else f"{', '.join(names[:_NAMED])}, and {more} more"


def show_list(console: Console, clauses: Sequence[Clause]) -> None:
    """Print a line or two for each clause."""
    table = Table.grid(padding=(0, 2))
    for clause in clauses:
        about = prose(clause.title)
        table.add_row(Text(clause.id, "bold"), Text(clause.full_level), Text(_span(clause.releases)), about)
    _show(console, table)


def clause_document(clause: Clause, evidence: Sequence[Evidence] | None = None) -> dict[str, JSON]:
    """A clause as JSON; with `evidence`, where it is recorded too."""
    document: dict[str, JSON] = {
        "kind": "clause", "id": clause.id, "title": clause.title, "rule": clause.rule,
        "level": clause.level, "ruling": clause.ruling, "releases": list(clause.releases),
        "decidedBy": {"field": clause.field, "values": list(clause.values)} if clause.field else None,
        "group": clause.group, "why": clause.why, "trap": clause.trap or None,
        "evidence": list(clause.evidence), "see": list(clause.see), "file": clause.file, "line": clause.line,
    }  # fmt: skip
    if evidence is not None:
        document["evidence"] = [
            {"scenario": each.scenario, "title": each.title, "releases": list(each.releases)}
            for each in evidence
        ]
    return document


def deviation_document(deviation: Deviation, clauses: Sequence[Clause], *, port: str = "") -> dict[str, JSON]:
    """A surprise or a ruling as JSON; `port`: what a port may do."""
    items: Mapping[str, JSON] = dict(deviation.items)
    return {
        "kind": "ruling" if deviation.id.startswith("D-") else "surprise",
        "id": deviation.id, "title": deviation.title, "text": "\n\n".join(deviation.paragraphs), **items,
        **({"aPortMay": port} if port else {}),
        "clauses": [clause.id for clause in clauses], "file": deviation.file, "line": deviation.line,
    }  # fmt: skip


def _show(console: Console, *parts: RenderableType) -> None:
    for part in parts:
        console.print(part, width=min(console.width, WIDTH))


def _show_title(console: Console, name: str, title: str) -> None:
    heading = prose(f"{name}  {title}")
    heading.stylize("bold")
    _show(console, heading, Text())


def _show_rows(console: Console, rows: Iterable[tuple[str, RenderableType]]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    for name, value in rows:
        table.add_row(Text(name, "dim"), value)
    _show(console, table)


def _lines(lines: Iterable[str]) -> Text:
    return Text("\n").join(prose(line) for line in lines)


def _in_force(clause: Clause) -> str:
    releases = f"pi {', '.join(clause.releases)}"
    if clause.field is None:
        return releases
    return f"{releases}: where {clause.field} is {' or '.join(clause.values)}"


def _span(releases: Sequence[str]) -> str:
    """Releases in few characters: from the first to the last, as they are neighbours."""
    return "–".join(dict.fromkeys((releases[0], releases[-1])))


def _evidence(clause: Clause, evidence: Sequence[Evidence]) -> RenderableType:
    how = "ruled for" if clause.ruling else "recorded from"
    parts: list[RenderableType] = []
    for each in evidence:
        source = f"{how} pi {', '.join(each.releases)}" if each.releases else "not in this spec"
        about = Group(prose(each.title), Text(source, "dim"))
        parts += [Text(each.scenario, "cyan"), Padding(about, (0, 0, 0, 2))]
    return Group(*parts)


def _how(clause: Clause) -> str:
    """How the evidence of a clause is shown."""
    if clause.of_transport:
        return f"spec/vectors/transport/{clause.evidence[0]}.jsonl"
    shown = f"pi-trio explain-run {clause.evidence[0]}"
    profile = "" if clause.releases[-1] == RELEASES[-1] else f" --profile pi-{clause.releases[-1]}"
    if clause.ruling:
        return f"{shown} --ruled{' --cancelling' if clause.ruling == 'D-10' else ''}{profile}"
    return f"{shown} --recorded{profile}"
