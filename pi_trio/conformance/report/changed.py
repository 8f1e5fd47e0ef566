"""What changed between two releases, as a page to read, and as JSON."""

from __future__ import annotations

from typing import Final

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from pi_trio.conformance.changes import Changes, FieldChange, Replacement
from pi_trio.conformance.clauses import Clause
from pi_trio.jsonvalue import JSON

from .pages import WIDTH, prose

_STYLES: Final = {"-": "red", "+": "green"}


def show_changes(console: Console, changed: Changes) -> None:
    """Print what changed: field by field what a clause said and what stands for it now, and then what is offered."""

    def show(part: RenderableType) -> None:
        console.print(part, width=min(console.width, WIDTH))

    show(Text(f"From {changed.old} to {changed.new}", "bold"))
    for change in changed.fields:
        show(Text())
        show(_heading(change))
        for replacement in change.replacements:
            show(_clauses(replacement))
    if changed.offers:
        show(Text("\nOffered"))
        for offer in changed.offers:
            show(
                Text(
                    f"  {offer.kind}: {', '.join([f'- {n}' for n in offer.gone] + [f'+ {n}' for n in offer.new])}"
                )
            )
    if changed.silent:
        show(Text(f"\nDifferent, and no clause tells how: {', '.join(changed.silent)}"))
    show(Text(f"\n{_summary(changed)}"))


def changes_document(changed: Changes) -> dict[str, JSON]:
    """The same as JSON."""
    fields: list[JSON] = [
        {
            "field": change.field, "old": change.old or None, "new": change.new or None,
            "clauses": [
                {"old": [clause.id for clause in each.old], "new": [clause.id for clause in each.new]}
                for each in change.replacements
            ],
        }
        for change in changed.fields
    ]  # fmt: skip
    offers: list[JSON] = [
        {"kind": offer.kind, "gone": list(offer.gone), "new": list(offer.new)} for offer in changed.offers
    ]
    return {
        "old": changed.old, "new": changed.new, "changes": fields, "offered": offers, "silent": list(changed.silent),
    }  # fmt: skip


def _heading(change: FieldChange) -> Text:
    if change.field is None:
        return Text("Not decided by a field", "bold")
    heading = Text(change.field, "bold")
    return heading.append(f"  {change.old} → {change.new}", "not bold")


def _clauses(replacement: Replacement) -> Table:
    table = Table.grid(padding=(0, 1))
    for sign, clauses in (("-", replacement.old), ("+", replacement.new)):
        for clause in clauses:
            table.add_row(Text(f"  {sign}", _STYLES[sign]), Text(clause.id, _STYLES[sign]), _rule(clause))
    return table


def _rule(clause: Clause) -> Text:
    level = "" if clause.level == "MUST" else f" ({clause.full_level})"
    heading = prose(f"{clause.title}{level}")
    heading.stylize("bold")
    return heading.append("\n").append_text(prose(clause.rule.replace("\n\n", "\n")))


def _summary(changed: Changes) -> str:
    pairs = [each for change in changed.fields for each in change.replacements]
    gone = sum(len(each.old) for each in pairs if not each.new)
    new = sum(len(each.new) for each in pairs if not each.old)
    replaced = sum(len(each.old) for each in pairs if each.new)
    return f"{replaced} replaced, {new} new, {gone} gone"
