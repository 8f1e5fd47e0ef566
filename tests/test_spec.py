"""The spec's document of the driver protocol names what the tester knows, all of it, and nothing else."""

from __future__ import annotations

import re

from pi_trio import texts
from pi_trio.conformance import envelope, lockstep, needs, normalise, options, postconditions, protocol
from pi_trio.conformance.protocol import LIMITS
from pi_trio.conformance.subjects import remote
from pi_trio.conformance.verdict import Outcome

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
    assert told == {*envelope._TELL_FIELDS, "hello"}


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
    assert features.keys() == {*needs._DEFAULTS, "keyless", "targets", "loopHooks", "options", "settable"}
    for name, default in needs._DEFAULTS.items():
        assert features[name].startswith("true" if default is True else f'"{default}"')


def test_the_options():
    (create,) = (cells[0] for name, cells in rows("field").items() if name == "options")
    (setting,) = (cells[0] for name, cells in rows("cmd").items() if name == "setOption")
    for told, known in ((create, options.OF_CREATE), (setting, options.OF_SET_OPTION)):
        assert set(re.findall(r"\w+", told)) >= {name for names in known.values() for name in names}


def test_the_fixed_texts():
    fixed = {name.strip("`") for name in rows("fixed text")}
    plain = {text for text in fixed if not re.search(r"\bx\b", text)}
    assert plain == normalise.FIXED_TEXTS
    assert all(normalise._FIXED_PATTERN.fullmatch(text) for text in fixed - plain)
    assert len(fixed - plain) == normalise._FIXED_PATTERN.pattern.count("|") + 1


def test_the_fixed_texts_are_those_of_the_runtime():
    """The tester has its own list, because it shares no code with whom it judges."""
    own = {text for name, text in vars(texts).items() if name.isupper()}
    assert {text for text in own if "{}" not in text} == normalise.FIXED_TEXTS - {
        "Agent is already processing.",
        "Agent listener invoked outside active run",
    }
    assert all(normalise._FIXED_PATTERN.fullmatch(text.format("x")) for text in own if "{}" in text)


def test_the_verdicts():
    assert rows("verdict").keys() == {str(outcome) for outcome in Outcome} - {"KNOWN"}


def test_the_postconditions():
    assert rows("ruling").keys() == postconditions.OF_RULINGS.keys()


def test_the_waits():
    assert f"({remote.PATIENCE:g} seconds" in PROSE
    assert lockstep.QUIET == 0.25
    assert "for a quarter of a second" in PROSE


def test_the_limits():
    limits = LIMITS
    for number in (
        f"{limits.line >> 20} MiB, a message that is nested deeper than {protocol.NESTING}",
        f"more than {limits.messages:,} messages or {limits.reply >> 20} MiB in answer to one command",
        f"more than {limits.total_messages:,} messages or {limits.total >> 20} MiB between two",
        f"more than {limits.values:,} JSON values",
    ):
        assert number in PROSE
