"""The decisions of the transport: each has one row, and each that the code names is there."""

from __future__ import annotations

import re

from .environments import CHECKOUT

DOCUMENT = CHECKOUT / "spec" / "deviations" / "transport.md"
RELEASES = {"all", "0.85.0", "1.0.3", "1.6.0"}


def rows() -> list[list[str]]:
    text = DOCUMENT.read_text(encoding="utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith(("| T-", "| B-"))
    ]


def test_each_decision_is_a_whole_row():
    found = rows()
    ids = [row[0] for row in found]
    assert len(ids) >= 10
    assert ids == sorted(set(ids), key=lambda each: (each[0] != "T", each))
    for _, releases, *cells in found:
        assert set(releases.split(", ")) <= RELEASES
        assert len(cells) == 3
        assert all(cells)


def test_what_the_code_names_is_decided():
    named: dict[str, str] = {}
    for folder in ("pi_trio", "tests"):
        for path in (CHECKOUT / folder).rglob("*.py"):
            for decision in re.findall(r"\b[TB]-\d\d\b", path.read_text(encoding="utf-8")):
                named[decision] = path.name
    named.pop("T-00", None)  # of tests about decisions
    assert set(named) <= {row[0] for row in rows()}, named
