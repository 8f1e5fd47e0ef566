"""What a subject does not offer: what is no lack of it, because the release that it says it is does not have that
either; what is one; and what of that would gain most, were it offered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.needs import missing
from pi_trio.conformance.verdict import Leg, Verdict
from pi_trio.profile import PROFILES

from .prose import clean, count

_EXAMPLES: Final = 3

_GAINS: Final = 6
"""Things to offer next that are named, at most."""


def show_unoffered(console: Console, verdicts: Iterable[Verdict], legs: Sequence[Leg]) -> None:
    """Print what kept scenarios from being run."""
    profile = next((str(leg.hello["profile"]) for leg in legs if leg.hello is not None), "")
    of_release: defaultdict[str, list[str]] = defaultdict(list)
    lacks: defaultdict[str, list[str]] = defaultdict(list)
    wanted: list[frozenset[str]] = []
    for verdict in verdicts:
        beyond = not_in_release(verdict.missing, profile)
        if verdict.missing and not beyond:
            wanted.append(frozenset(verdict.missing))
        for need in beyond or verdict.missing:
            (of_release if beyond else lacks)[need].append(verdict.name)
    _show(console, "not offered:", lacks)
    gains = list(gained(wanted))
    if len(gains) > 1:
        console.print(Text("what would let most of them run:", style="bold"))
        for number, (needs, more) in enumerate(gains[:_GAINS]):
            words = f"{', '.join(needs)}: {count(more, 'scenario') if not number else f'{more} more'}"
            console.print(Text(f"  {'then ' if number else ''}{words}"), soft_wrap=True)
    _show(console, clean(f"not in {profile}, so nothing that the subject lacks:"), of_release)


def not_in_release(needs: Iterable[str], profile: str) -> tuple[str, ...]:
    """Those needs that nobody can offer who behaves as this profile."""
    known = PROFILES.get(profile.partition(",")[0])
    return missing(needs, hello(known)) if known is not None else ()


def gained(wanted: Sequence[frozenset[str]]) -> Iterator[tuple[list[str], int]]:
    """What to offer one after the other, each time what lets most scenarios run for each thing offered; and how many.

    Args:
        wanted: what each scenario needs that is not offered.
    """
    while wanted:
        kinds = Counter(wanted)

        def runs(needs: frozenset[str], kinds: Counter[frozenset[str]] = kinds) -> int:
            return sum(number for kind, number in kinds.items() if kind <= needs)

        best = max(kinds, key=lambda needs: (runs(needs) / len(needs), -len(needs)))
        yield sorted(best), runs(best)
        wanted = [rest for needs in wanted if (rest := needs - best)]


def _show(console: Console, heading: str, by_need: dict[str, list[str]]) -> None:
    if by_need:
        console.print()
        console.print(Text(heading, style="bold"), soft_wrap=True)
    for need, names in sorted(by_need.items()):
        examples = ", ".join(names[:_EXAMPLES]) + (", …" if len(names) > _EXAMPLES else "")
        console.print(Text(f"  {need}: {count(len(names), 'scenario')} ({examples})"), soft_wrap=True)
