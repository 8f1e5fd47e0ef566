"""The spec's document of the driver protocol names what the tester knows, all of it, and nothing else."""

from __future__ import annotations

import re

from pi_trio.conformance import envelope, needs, normalise, protocol
from pi_trio.conformance.protocol import LIMITS

from .environments import CHECKOUT

TEXT = (CHECKOUT / "spec" / "driver-protocol.md").read_text(encoding="utf-8")
PROSE = " ".join(TEXT.split())


def rows(first_column: str) -> dict[str, list[str]]:
    """The table whose first column is called so: its other cells, by the first."""
    table = TEXT.partition(f"\n| {first_column} |")[2].partition("\n\n")[0]
    _, _, *lines = table.splitlines()
    cells = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines)
    return {first: others for first, *others in cells}


def test_the_commands():
    named = [name for cell in rows("cmd") for name in re.split(r", | / ", cell)]
    assert sorted(named) == sorted(protocol.COMMANDS)
    (required,) = re.findall(r"\*\*Required\*\* are (.*?)\.", PROSE)
    assert re.split(r", | and ", required) == list(protocol.REQUIRED_COMMANDS)


def test_the_messages():
    told = set(re.findall(r'^\| `\{"tell":"(\w+)"', TEXT, re.MULTILINE))
    assert told | {"ask", "re"} == {*envelope._MESSAGE_FIELDS, "hello"}


def test_the_callbacks():
    shown = {name: cells[0] for cell, cells in rows("fn").items() for name in cell.split(", ")}
    polls = {"getSteeringMessages", "getFollowUpMessages"}
    assert shown.keys() | polls == envelope._ARGUMENTS.keys()
    assert all(f"`{poll}`" in TEXT for poll in polls)
    # The low-level loop shows more to prepareNextTurn, and afterToolCall refers to the row above it.
    for name in shown.keys() - {"prepareNextTurn", "afterToolCall"}:
        fields = re.sub(r" \{.*?\}|\?", "", shown[name])
        assert set(fields.split(", ")) == envelope._ARGUMENTS[name]


def test_the_features():
    features = {name.partition(" ")[0]: cells[0] for name, cells in rows("feature").items()}
    assert features.keys() == {*needs._DEFAULTS, "keyless", "targets", "loopHooks"}
    for name, default in needs._DEFAULTS.items():
        assert features[name].startswith("true" if default is True else f'"{default}"')


def test_the_fixed_texts():
    fixed = re.findall(r"`([A-Z][^`]*)`", PROSE.partition("Exact are texts")[2])
    assert "Operation aborted" in fixed
    for text in fixed:
        if text != "Tool x not found":
            assert any(known.startswith(text) for known in normalise.FIXED_TEXTS), text


def test_the_limits():
    numbers = (f"{LIMITS.line >> 20} MiB", f"deeper than {protocol.NESTING}", f"{LIMITS.messages:,} messages")
    assert all(number in PROSE for number in (*numbers, f"{LIMITS.total >> 20} MiB"))
