"""The tables as diagrams: `python -m pi_trio.conformance.monitors.diagrams` writes `spec/diagrams/` anew.

Each diagram is a page in Mermaid's `stateDiagram-v2`, with the table of its transitions below. What only the releases
do is in a diagram of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import attrs

from .order import BATCH, CALL, DUE, FAILING, LINE, NO_RUN, TABLES, WAITING, Transition


@attrs.frozen
class Diagram:
    """One page."""

    name: str
    title: str
    text: str
    machine: str
    places: tuple[str, ...]
    begins: str
    shows: Callable[[Transition], bool]

    def transitions(self) -> list[Transition]:
        """What is in it, in the order of the tables."""
        return [each for each in TABLES[self.machine].values() if self.shows(each)]


def _tells_failure(transition: Transition) -> bool:
    return (
        transition.target in FAILING or transition.source in FAILING or transition.clause.startswith("FAIL-")
    )


DIAGRAMS: Final = (
    Diagram(
        "run",
        "A run, its turns and its messages",
        "A run that does not fail. The calls of an answer have a machine of their own, see [batch](batch.md).",
        "line",
        LINE,
        NO_RUN,
        lambda each: each.breach is None and not _tells_failure(each),
    ),
    Diagram(
        "batch",
        "The calls of one answer",
        "From the end of the answer to `turn_end`. Nobody says whether a batch is parallel or sequential; it shows.",
        "batch",
        BATCH,
        DUE,
        lambda _: True,
    ),
    Diagram(
        "call",
        "One call",
        "What a failed run leaves open goes on in the releases, and that breaks a ruling.",
        "call",
        CALL,
        WAITING,
        lambda _: True,
    ),
    Diagram(
        "failure",
        "How a failure is told",
        "The failure has a turn of its own, and comes when everything else is closed, as the rulings have it.",
        "line",
        LINE,
        "",
        lambda each: each.breach is None and _tells_failure(each),
    ),
    Diagram(
        "breaches",
        "What the releases do, against the rulings",
        "An implementation may do the same, and is then [non-strict](../driver-protocol.md#12-verdicts).",
        "line",
        LINE,
        "",
        lambda each: each.breach is not None,
    ),
)


def page(diagram: Diagram) -> str:
    """The page of a diagram."""
    transitions = diagram.transitions()
    used = [
        place for place in diagram.places if any(place in (each.source, each.target) for each in transitions)
    ]
    lines = [f"# {diagram.title}", "", diagram.text, "", "```mermaid", "stateDiagram-v2"]
    lines += [f'    state "{place}" as {_identifier(place)}' for place in used]
    if diagram.begins:
        lines.append(f"    [*] --> {_identifier(diagram.begins)}")
    lines += [
        f"    {_identifier(each.source)} --> {_identifier(each.target)}: {each.symbol} ({_reason(each)})"
        for each in transitions
    ]
    lines += ["```", "", "| at | event | then | because |", "|---|---|---|---|"]
    lines += [f"| {each.source} | {each.symbol} | {each.target} | {_linked(each)} |" for each in transitions]
    lines += [
        "",
        "Made from the tables of the monitors, with `python -m pi_trio.conformance.monitors.diagrams`.",
    ]
    return "\n".join(lines) + "\n"


def _identifier(place: str) -> str:
    return "".join(word.capitalize() for word in place.replace("'", "").split())


def _reason(transition: Transition) -> str:
    breach = "" if transition.breach is None else f"against {transition.breach}, "
    otherwise = "" if transition.instead is None else f" or {transition.instead}"
    return breach + transition.clause + otherwise


def _linked(transition: Transition) -> str:
    clause = _link(transition.clause)
    if transition.breach is not None:
        return f"{clause} is not kept ([{transition.breach}](../deviations/rulings.md))"
    if transition.instead is not None:
        return f"{clause}, in some releases; elsewhere {_link(transition.instead)}"
    return clause


def _link(clause: str) -> str:
    return f"[{clause}](../clauses/{clause.partition('-')[0].lower()}.md)"


def pages() -> Iterable[tuple[str, str]]:
    """The names of all pages, and what is in them."""
    for diagram in DIAGRAMS:
        yield f"{diagram.name}.md", page(diagram)


def write(folder: Path) -> None:
    """Write all pages. Raises: OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).parents[3] / "spec" / "diagrams")
