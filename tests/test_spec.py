"""The documents of the spec name what the tester knows, all of it, and nothing else."""

from __future__ import annotations

import asyncio
import re
import selectors

from pi_trio import texts
from pi_trio.conformance import envelope, lockstep, needs, normalise, options, postconditions, protocol
from pi_trio.conformance.protocol import LIMITS
from pi_trio.conformance.report.unoffered import gained
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.subjects import remote
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Outcome

from .environments import CHECKOUT

TEXT = (CHECKOUT / "spec" / "driver-protocol.md").read_text(encoding="utf-8")
PROSE = " ".join(TEXT.split())


def rows(first_column: str, text: str = TEXT) -> dict[str, list[str]]:
    """The table whose first column is called so: its other cells, by the first."""
    table = text.partition(f"\n| {first_column} |")[2].partition("\n\n")[0]
    _, _, *lines = table.splitlines()
    cells = ([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines)
    return {first: others for first, *others in cells}


def test_the_topics():
    text = (CHECKOUT / "spec" / "README.md").read_text(encoding="utf-8")
    assert list(rows("topic", text)) == list(dict.fromkeys(each.topic for each in all_scenarios()))


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


def test_what_an_adapter_gains_most_by():
    """In the order in which it is told: each step lets most scenarios run for each thing offered."""
    vectors, release = Vectors.shipped(), "1.6.0"
    hello = {"hooks": [], "commands": [*protocol.REQUIRED_COMMANDS]}
    recordings = filter(None, (vectors.read(release, each.name) for each in all_scenarios()))
    lacks = [needs.missing(needs.needs(each.scenario, each.lines), hello) for each in recordings]
    assert 0.25 < lacks.count(()) / len(lacks) < 0.4
    told = PROSE.partition("gains most by offering, in this order: ")[2].partition(".")[0]
    steps = told.split("; ")
    gains = gained([frozenset(each) for each in lacks if each])
    for step, (offered, _) in zip(steps, gains, strict=False):
        names = {need.split()[-1] for need in offered}
        assert names <= {"loop", *re.findall(r"\w+", step)}, (step, offered)


def test_the_recipe_for_asyncio():
    (recipe,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    done = []

    async def busy(rounds):
        for _ in range(rounds):
            await asyncio.sleep(0)
        done.append(rounds)

    async def main():
        late = asyncio.create_task(asyncio.sleep(3600))  # which waits for a time, and so is quiet
        for rounds in (1, 5, 500):
            asyncio.get_running_loop().call_soon(lambda n=rounds: tasks.append(asyncio.create_task(busy(n))))
        tasks = [late]
        await names["quiescent"]()
        assert done == [1, 5, 500]
        late.cancel()

    names = {"asyncio": asyncio, "selectors": selectors, "main": main}
    exec(recipe, names)
    assert done == [1, 5, 500]
