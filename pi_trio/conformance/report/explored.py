"""What a search has come to, as a person reads it: how far it went, what it reached, and what it found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console

from ..clauses import Clauses
from ..explore.judging import Fault
from ..explore.outcome import Outcome
from ..explore.shares import ENOUGH, SITUATIONS
from ..lockstep import Run
from .prose import clean, count
from .sequence import show_sequence
from .terminal import say

_WIRE_SHOWN: Final = 40
"""Lines of the wire that are shown, if not all are wanted."""


def show_outcome(console: Console, label: str, outcome: Outcome) -> None:
    """Print the figures of a search."""
    shares = outcome.shares
    rate = f", {outcome.steps / outcome.seconds:,.0f} a second" if outcome.seconds else ""
    say(console, f"{label}: {outcome.steps:,} steps in {count(shares.conversations, 'conversation')}{rate}")
    for situation in SITUATIONS:
        share = shares.of(situation)
        mark = "" if share >= ENOUGH or not shares.conversations else f"   less than {ENOUGH:.0%}"
        say(console, f"  {share:6.1%}  {situation}{mark}")
    say(console, f"  {count(len(outcome.reached), 'clause')} that the monitors judge came into play")
    if outcome.compared:
        say(console, f"  {outcome.compared:,} commands in which it did as the runtime")
    if outcome.raced:
        say(
            console,
            f"  {count(outcome.raced, 'conversation')} in which two calls race behind a burst, and the other wins",
        )
    for ruling, number in sorted(outcome.explained.items()):
        say(
            console,
            f"  {count(number, 'conversation')} in which it goes on otherwise once {ruling} is entered",
        )
    for lack, number in outcome.unoffered.most_common():
        say(console, f"  {count(number, 'conversation')} not played: it does not offer {clean(lack)}")
    found = len(outcome.found)
    say(console, f"{count(found, 'fault')} found" if found else "no fault found")


def show_clauses(console: Console, outcome: Outcome, clauses: Clauses) -> None:
    """Print which of the clauses that bind did not come into play, each with a written scenario that reaches it."""
    of_agents = (each for each in clauses.in_force(outcome.profile) if not each.of_transport)
    binding = [each for each in of_agents if each.level in ("MUST", "RULING")]
    others = [each for each in binding if each.id not in outcome.reached]
    came = len(binding) - len(others)
    say(console, f"{came} of {len(binding)} MUST and RULING clauses of {outcome.profile} came into play")
    if others:
        say(
            console, "the others are not for the monitors to judge, or did not; a scenario that reaches each:"
        )
    for each in others:
        say(console, f"  {each.id:9} {each.evidence[0]}")


def show_fault(
    console: Console, fault: Fault, run: Run, source: str, token: str, clauses: Clauses, *, everything: bool
) -> None:
    """Print a counterexample: what is wrong, the sequence, the wire, and the token."""
    title = f" {clauses[fault.clause].title}" if fault.clause in clauses else ""
    say(console, clean(f"{fault.clause}{title}"))
    say(console, clean(f"  {fault.said}"))
    if fault.allowed:
        say(console, clean(f"  allowed was: {', '.join(fault.allowed)}"))
    console.print()
    show_sequence(console, run.scenario, run.lines, source, everything=everything, words=run.words)
    if run.fault is not None and run.fault.stderr:
        say(console, clean(run.fault.stderr.rstrip()))
    console.print()
    _show_wire(console, run.wire, everything=everything)
    say(console, f"pi-trio replay {token}")


def _show_wire(console: Console, wire: Sequence[str], *, everything: bool) -> None:
    say(console, "on the wire:")
    shown = (
        wire
        if everything
        else [line if len(line) <= 200 else f"{line[:200]} …" for line in wire[-_WIRE_SHOWN:]]
    )
    if len(shown) < len(wire):
        say(console, f"  … {len(wire) - len(shown)} lines before; --verbose shows all")
    for line in shown:
        say(console, clean(f"  {line}"))
