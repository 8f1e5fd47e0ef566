"""The order in which scenarios are best asked, so that few have to be."""

from __future__ import annotations

from collections.abc import Sequence

from pi_trio.conformance.scenario import Scenario

from .rulings import Rulings


def in_order(scenarios: Sequence[Scenario], rulings: Rulings, field: str = "") -> list[Scenario]:
    """Scenarios without a ruling first, then those that look as if they were about a field, then short ones.

    A scenario whose name has words in common with the field's shows it more often than not, and more plainly than
    others. That saves time, and a look at it is instructive; nothing depends on it.
    """
    words = _words(field)

    def key(scenario: Scenario) -> tuple[bool, int, int]:
        return scenario.name in rulings.names, -len(words & _words(scenario.name)), _length(scenario)

    return sorted(scenarios, key=key)


def _words(name: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in name.split("_") if word)


def _length(scenario: Scenario) -> int:
    """About how many commands a scenario takes."""
    return len(scenario.steps) + sum(len(rule.get("stream", "")) for rule in scenario.answers)
