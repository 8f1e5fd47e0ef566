"""What came of small scopes that were played whole, as a person sees it, and as one JSON document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scopes import Coverage, Play, Scope

from .prose import clean, count, event
from .terminal import say

_NOT_KNOWN: Final = "?"


def show_scopes(console: Console, scopes: Sequence[Scope]) -> None:
    """Print a line for each scope: its name, and how many plays it takes."""
    names = max(len(scope.name) for scope in scopes)
    for scope in scopes:
        number = _NOT_KNOWN if scope.orders is None else f"{scope.orders:,}"
        say(console, f"{scope.name:{names}}  {number:>9}  {scope.title}")


def show_coverages(
    console: Console,
    coverages: Sequence[Coverage],
    left_out: Sequence[Scope] = (),
    *,
    again: Callable[[Scope, tuple[str, ...]], str],
) -> None:
    """Print a row for each scope, what is wrong with the first order that shows it, and one line that says it all.

    Args:
        left_out: scopes that there are, and that were not to be played.
        again: the command that shows one order.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("scope")
    for heading in ("plays", "told apart", "endings", "seconds", "wrong"):
        table.add_column(heading, justify="right")
    for each in coverages:
        wrong = str(len(each.found)) if each.found else ""
        plays = f"{each.plays:,}{'' if each.complete else ' …'}"
        row = (each.scope.name, plays, f"{each.told:,}", str(each.endings), f"{each.seconds:.1f}", wrong)
        table.add_row(*row, style="red" if each.found else "" if each.complete else "yellow")
    console.print(table)
    for each in coverages:
        for found in each.found.values():
            say(console, "")
            console.print(Text(clean(f"{each.scope.name}: {found.fault.cause}"), style="red"), soft_wrap=True)
            say(console, clean(f"  {found.fault.said}"))
            say(console, f"  in {count(found.plays, 'play')}, the first: {again(each.scope, found.order)}")
    console.print()
    if left_out:
        say(console, _not_played(left_out))
    console.print(
        Text(summary(coverages), style=f"bold {'green' if clears(coverages) else 'red'}"), soft_wrap=True
    )


def _not_played(left_out: Sequence[Scope]) -> str:
    """What is not covered, in one line."""
    known = [scope.orders for scope in left_out if scope.orders is not None]
    schedules = len(left_out) - len(known)
    parts = [f"{count(len(known), 'scope')} of gates with {sum(known):,} orders"] if known else []
    parts += [f"{count(schedules, 'scope')} of schedules"] if schedules else []
    return f"not played, for it takes long: {' and '.join(parts)}; --all plays them too"


def show_not_offered(console: Console, lacking: Iterable[tuple[Scope, tuple[str, ...]]]) -> None:
    """Print which scopes a subject cannot be driven through: a line for each thing that it lacks."""
    names: dict[tuple[str, ...], list[str]] = {}
    for scope, lacks in lacking:
        if lacks:
            names.setdefault(lacks, []).append(scope.name)
    for lacks, those in names.items():
        line = f"not offered, for want of {', '.join(lacks)}: {', '.join(those)}"
        console.print(Text(clean(line), style="dim"), soft_wrap=True)


def clears(coverages: Sequence[Coverage]) -> bool:
    """Whether something was played, all of it, and nothing is wrong."""
    return bool(coverages) and all(each.complete and not each.found for each in coverages)


def summary(coverages: Sequence[Coverage]) -> str:
    """All in one line."""
    plays, seconds = sum(each.plays for each in coverages), sum(each.seconds for each in coverages)
    wrong = sum(len(each.found) for each in coverages)
    whole = sum(each.complete for each in coverages)
    covered = "" if whole == len(coverages) else f", {whole} of them whole"
    found = f"{count(wrong, 'thing')} wrong" if wrong else "nothing wrong"
    so_far = "" if whole == len(coverages) else " so far"
    return f"{count(len(coverages), 'scope')}{covered}, {plays:,} plays in {seconds:.0f} s: {found}{so_far}"


def coverages_document(coverages: Sequence[Coverage], left_out: Sequence[Scope] = ()) -> Object:
    """The same as JSON."""
    return {
        "scopes": [
            {
                "name": each.scope.name,
                "plays": each.plays,
                "complete": each.complete,
                "toldApart": each.told,
                "endings": each.endings,
                "seconds": round(each.seconds, 3),
                "wrong": [
                    {"plays": found.plays, "order": [*found.order], **attrs.asdict(found.fault)}
                    for found in each.found.values()
                ],
            }
            for each in coverages
        ],
        "leftOut": [scope.name for scope in left_out],
    }  # fmt: skip


def show_play(console: Console, scope: Scope, play: Play) -> None:
    """Print what a listener heard in one order, and what is wrong with it."""
    console.print(Text(scope.name, style="bold"), Text(" ".join(play.order), style="cyan"), soft_wrap=True)
    console.print()
    for each in play.events:
        say(console, f"  {clean(event(each))}")
    for fault in play.faults:
        console.print(Text(clean(f"{fault.cause}: {fault.said}"), style="red"), soft_wrap=True)
