"""Lines of a recorded conversation, damaged in every way: the tester never fails itself, and only what is still the
same JSON value passes.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest
import trio

from pi_trio.conformance.blame import blame
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.faults import SubjectFault
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.lockstep import Run, drive
from pi_trio.conformance.protocol import LIMITS, Framing, decode
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.scripting import (
    T1,
    finish,
    prompt,
    response,
    result,
    scenario,
    tool,
    topic,
    update,
    user,
)
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.verdict import Outcome
from pi_trio.jsontext import print_json

MUTATIONS: Final = int(os.environ.get("PI_TRIO_MUTATIONS", "4000"))
"""How many lines are damaged in this process; a hundred thousand take about three minutes."""

IN_FORCE: Final = frozenset(clause.id for clause in Clauses.shipped().in_force("pi-1.6.0"))

Step = tuple[dict[str, Any], list[bytes]]
"""A command, and the lines that the subject said until its reply."""

(SCENARIO,) = topic(
    "t",
    scenario(
        "x",
        "One call that reports, and whose result ends the run.",
        tools=[tool("a")],
        hooks=["afterToolCall"],
        listeners=["L"],
        responses=[(response(T1)[0], response(T1)[-1])],
        rules=[],
        steps=[
            prompt(user("go")),
            update("t1", "half"),
            finish("t1", result("A", details={"n": 1}, terminate=True)),
        ],
    ),
)


class Recording:
    """Passes everything on, and keeps it."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.hello = inner.hello
        self.steps: list[Step] = []

    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        said = await self.inner.request(command)
        self.steps.append((command, [print_json(message).encode() for message in said]))
        return said


class Playing:
    """Says what was recorded, with one line damaged, as long as it gets the commands that were recorded."""

    def __init__(self, hello: Any, steps: list[Step], at: tuple[int, int], damaged: bytes) -> None:
        self.hello = hello
        self._steps = iter(enumerate(steps))
        self._at, self._damaged = at, damaged

    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        number, (expected, said) = next(self._steps)
        if command != expected:
            return [{"re": command["id"], "error": "driver: this is not in the play"}]
        messages = [KNOWN[line] for line in said]
        if number == self._at[0]:
            framing = Framing(LIMITS.line)
            lines = framing.feed(self._damaged + b"\n")
            messages[self._at[1] : self._at[1] + 1] = [decode(line) for line in lines]
        for index, message in enumerate(messages):
            if "re" in message:
                return messages[: index + 1]
        raise SubjectFault("no reply, and it says nothing more")


KNOWN: dict[bytes, dict[str, Any]] = {}
"""The lines of the recording, decoded once."""


@pytest.fixture(scope="module")
def recorded() -> tuple[Any, list[Step], Run]:
    """The hello, the conversation, and the trace that comes of it."""

    async def record() -> tuple[Any, list[Step], Run]:
        async with runtime_inside("pi-1.6.0", 30)() as inner:
            subject = Recording(inner)
            return subject.hello, subject.steps, await drive(SCENARIO, subject, strict=True)

    with first_in_first_out():
        hello, steps, run = trio.run(record)
    KNOWN.update({line: decode(line) for _, lines in steps for line in lines})
    assert run.lines[-1] == {"end": "settled"}
    return hello, steps, run


# Damage.

Damage = Callable[[random.Random, bytes, bytes], bytes]
"""Makes of a line (and of another one) something else."""


def place(chance: random.Random, line: bytes) -> int:
    return chance.randrange(len(line) + 1)


def piece(chance: random.Random, line: bytes) -> bytes:
    start = place(chance, line)
    return line[start : start + chance.randrange(1, 12)]


def insert(what: bytes, line: bytes, at: int, instead: int = 0) -> bytes:
    return line[:at] + what + line[at + instead :]


def token(chance: random.Random, line: bytes, other: bytes) -> bytes:
    """Another value in the place of a value."""
    values = list(re.finditer(rb'(?<=[:\[,])(?:"[^"]*"|-?\d+|true|false|null)', line))
    if not values:
        return line
    match = chance.choice(values)
    new = chance.choice(
        [
            b"null",
            b"true",
            b"false",
            b"0",
            b"1",
            b"-1",
            b"1.0",
            b"1e3",
            b'""',
            b'"L"',
            b"[]",
            b"{}",
            b"1e999",
            b"NaN",
        ]
    )
    return insert(new, line, match.start(), len(match.group()))


def key(chance: random.Random, line: bytes, other: bytes) -> bytes:
    """Another name for a field."""
    match = chance.choice(list(re.finditer(rb'"\w+":', line)))
    new = chance.choice(
        [b'"x":', b'"re":', b'"ask":', b'"tell":', b'"ok":', b'"error":', b'"":', match.group()]
    )
    return insert(new, line, match.start(), len(match.group()))


def field(chance: random.Random, line: bytes, other: bytes) -> bytes:
    """One more field."""
    holders = [match.end() for match in re.finditer(rb"{(?=\")", line)]
    new = chance.choice(
        [b'"x":1,', b'"ask":"c1",', b'"aborted":true,', b'"re":1,', b'"tell":"settled",', b'"key":"t1",']
    )
    return insert(new, line, chance.choice(holders))


def again(chance: random.Random, line: bytes, other: bytes) -> bytes:
    """The same value, written otherwise."""
    value = json.loads(line)
    match chance.randrange(3):
        case 0:
            return json.dumps(value, sort_keys=True, indent=chance.choice([None, None])).encode()
        case 1:
            return json.dumps(dict(reversed(value.items())), separators=(", ", " : ")).encode()
        case _:
            return line.replace(b"t1", b"\\u0074\\u0031")


DAMAGES: list[Damage] = [
    lambda chance, line, other: insert(bytes([chance.randrange(256)]), line, place(chance, line)),
    lambda chance, line, other: insert(bytes([chance.randrange(256)]), line, place(chance, line), 1),
    lambda chance, line, other: insert(b"", line, place(chance, line), chance.randrange(1, 9)),
    lambda chance, line, other: insert(piece(chance, line), line, place(chance, line)),
    lambda chance, line, other: insert(piece(chance, other), line, place(chance, line), chance.randrange(8)),
    lambda chance, line, other: line[: place(chance, line)] + other[place(chance, other) :],
    lambda chance, line, other: insert(chance.choice([b" ", b"\t", b"\r", b"\n"]), line, place(chance, line)),
    lambda chance, line, other: line[: place(chance, line)],
    lambda chance, line, other: insert(str(chance.randrange(10)).encode(), line, place(chance, line)),
    lambda chance, line, other: other,
    token,
    key,
    field,
    again,
]


def damaged(chance: random.Random, steps: list[Step]) -> tuple[tuple[int, int], bytes, bytes]:
    """Where, what stood there, and what stands there now."""
    step = chance.randrange(len(steps))
    number = chance.randrange(len(steps[step][1]))
    line = steps[step][1][number]
    other = chance.choice(chance.choice(steps)[1])
    return (step, number), line, chance.choice(DAMAGES)(chance, line, other)


def shape(value: Any) -> Any:
    """A JSON value in which only what means something is told apart: 1 and 1.0 are one number, true is none, and
    times and durations are all alike.
    """
    if isinstance(value, dict):
        times = ("timestamp", "durationMs")
        return {
            name: "#"
            if name in times and isinstance(item, (int, float)) and not isinstance(item, bool)
            else shape(item)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [shape(item) for item in value]
    return (isinstance(value, bool), value)


def same(left: bytes, right: bytes, command: dict[str, Any]) -> bool:
    """Whether they are the same JSON value. (What the reply to `sync` says means nothing.)"""
    try:
        one, other = shape(json.loads(left)), shape(json.loads(right))
    except ValueError:
        return False
    if command["cmd"] == "sync" and isinstance(other, dict) and "ok" in one and "ok" in other:
        other["ok"] = one["ok"]
    return bool(one == other)


def test_only_the_same_value_passes(recorded: tuple[Any, list[Step], Run]) -> None:
    hello, steps, run = recorded
    expected = Expectation(lines=run.lines)
    chance = random.Random(20260101)
    outcomes: Counter[tuple[Outcome, bool]] = Counter()

    async def play_all() -> None:
        for _ in range(MUTATIONS):
            at, line, changed = damaged(chance, steps)
            played = await drive(SCENARIO, Playing(hello, steps, at, changed), strict=True)
            verdict = judge(played, expected)
            equal = same(line, changed, steps[at[0]][0])
            assert equal or verdict.outcome is not Outcome.PASS, (line, changed)
            assert verdict.outcome in (Outcome.PASS, Outcome.FAIL, Outcome.HANG), (
                line,
                changed,
                verdict.reason,
            )
            outcomes[verdict.outcome, equal] += 1
            if verdict.outcome is Outcome.FAIL and outcomes[verdict.outcome, equal] % 10 == 0:
                blame(expected.lines, played.lines, IN_FORCE, cancelling=False)

    trio.run(play_all)
    assert outcomes[Outcome.PASS, True] > MUTATIONS / 50
    assert outcomes[Outcome.FAIL, False] > MUTATIONS / 2


def test_what_is_undamaged_passes(recorded: tuple[Any, list[Step], Run]) -> None:
    hello, steps, run = recorded
    played = trio.run(lambda: drive(SCENARIO, Playing(hello, steps, (0, 0), steps[0][1][0]), strict=True))
    assert judge(played, Expectation(lines=run.lines)).outcome is Outcome.PASS


async def test_a_process_that_says_damaged_lines(recorded: tuple[Any, list[Step], Run], peer) -> None:
    """The same through pipes: each scenario is answered by the recording, damaged in another place."""
    hello, steps, run = recorded
    chance = random.Random(20260102)
    plays = [damaged(chance, steps) for _ in range(200)]
    acts: list[Any] = [{} for _ in steps]
    for index, (at, _, changed) in enumerate(plays):
        for number, (_, lines) in enumerate(steps):
            said = [changed if (number, place) == at else line for place, line in enumerate(lines)]
            text = b"".join(line + b"\n" for line in said).decode("latin-1")
            acts[number][f"x{index}"] = [{"raw": text}]
    program = peer(acts, hello={name: hello[name] for name in ("commands", "hooks")}, by="session")
    expected = Expectation(lines=run.lines[1:])
    async with open_keeper(program.opener(patience=0.15), strict=True) as keeper:
        for index, (at, line, changed) in enumerate(plays):
            named = Scenario.from_json({
                **SCENARIO.to_json(), "create": {**SCENARIO.to_json()["create"], "options": {"sessionId": f"x{index}"}},
            })  # fmt: skip
            played = await keeper.drive(named)
            verdict = judge(Run(
                scenario=named, lines=played.lines[1:], fault=played.fault, ignored=played.ignored,
            ), expected)  # fmt: skip
            assert same(line, changed, steps[at[0]][0]) or verdict.outcome is not Outcome.PASS, (
                line,
                changed,
            )
            assert verdict.outcome is not Outcome.HARNESS
