"""Chance, of which random schemas and values are made: everything follows from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

KEYS = ("a", "b", "c", "path", "kind", "1", "10", "2", "a/b", "m~n", "é", "", "x1", "y2", "constructor")
TEXTS = (
    "", " ", "a", "ab", "abc", "xyz", "true", "false", "TRUE", "null", "undefined", "0", "1", "-1", "3.5", " 7 ",
    "1e3", "0x10", "0b11", "12n", "-5n", "1e400", "Infinity", "NaN", "1_0", "42.5", ".5", "5.", "\u00a08", "é", "日本",
    "😀", "a😀", "2024-02-29", "2023-02-29", "12:30:00Z", "2024-01-01T00:00:00Z", "a@b.co", "http://a.b/c?d#e",
    "::1", "1.2.3.4",    "P1D", "/a/b", "[", "9007199254740993", "12345678901234567890", "-0", "\ud800", "line\n",
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 3, 5, 7, 10, 42, 100, 0.5, 1.5, 3.7, -2.25, 0.1, 0.3, 0.0075, 1e-7, 1e21, 1e300, 123456789.125,
    9007199254740992, 9007199254740993 - 1, 12345678901234567000,
)  # fmt: skip


class Chances:
    """Decisions, one after the other. What is wild is rare in what tools have."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._wild = 1.0

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _pick(self, choices: Any) -> Any:
        return self._random.choice(choices)

    def _some(self, choices: Any, probability: float) -> list[Any]:
        return [choice for choice in choices if self._chance(probability)]

    def _maybe(self, node: dict[str, Any], probability: float, **keywords: Callable[[], Any]) -> None:
        for keyword, make in keywords.items():
            if self._chance(probability * self._wild):
                node[keyword] = make()

    def _anything(self, depth: int) -> Any:
        roll = self._random.random()
        if roll < 0.35:
            return self._pick(TEXTS)
        if roll < 0.65:
            return self._pick(NUMBERS)
        if roll < 0.77:
            return self._chance(0.5)
        if roll < 0.85 or depth > 2:
            return None
        if roll < 0.93:
            return [self._anything(depth + 1) for _ in range(self._random.randint(0, 2))]
        return {self._pick(KEYS): self._anything(depth + 1) for _ in range(self._random.randint(0, 2))}
