"""Null subjects: they implement nothing, and say that they offer everything.

One is silent, one says back whatever it is told, and one says what somebody else has said in another scenario. If a
suite grants any of them anything, then that is worth nothing when it is granted to others.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

import attrs

from pi_trio.profile import get_profile

from ..driver.serve import hello
from ..keeper import Opener
from ..protocol import Object
from ..subject import Subject
from ..vectors import Vectors
from ..verdict import Outcome
from .hosts import BEST
from .trial import Court

#: What a null subject says to the nth command since `create`, before its reply.
Say: TypeAlias = Callable[[Object, int], list[Object]]

REPLAYED: Final = "tool_single"
"""The scenario whose reactions are replayed in all others."""

RELEASE: Final = "1.6.0"


@attrs.frozen(kw_only=True)
class Score:
    """What a null subject was granted: scenarios that it passed, of how many, and clauses that it is taken to keep."""

    name: str
    passed: tuple[str, ...]
    scenarios: int
    holding: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        """Whether it was granted nothing."""
        return not self.passed and not self.holding


class _Null:
    def __init__(self, say: Say) -> None:
        self._say = say
        self._commands = 0

    @property
    def hello(self) -> Object:
        return hello(get_profile(f"pi-{RELEASE}"))

    async def request(self, command: Object) -> list[Object]:
        self._commands = 0 if command["cmd"] == "create" else self._commands + 1
        return [*self._say(command, self._commands), {"re": command["id"], "ok": None}]


def _silent(_command: Object, _number: int) -> list[Object]:
    return []


def _echoing(command: Object, _number: int) -> list[Object]:
    event = command.get("event") or {"type": "message_start", "message": command.get("message") or {}}
    return [{"tell": "event", "key": "L", "event": event}]


def _replaying() -> Say:
    recording = Vectors.shipped().read(RELEASE, REPLAYED)
    assert recording is not None
    steps: list[list[Object]] = []
    asks = 0
    for line in recording.lines:
        if "send" in line:
            steps.append([])
        elif "tell" in line:
            steps[-1].append(line)
        elif "ask" in line:
            asks += 1
            steps[-1].append({**{k: v for k, v in line.items() if k != "ask"}, **_asked(line["ask"], asks)})

    def say(_command: Object, number: int) -> list[Object]:
        return steps[number] if number < len(steps) else []

    return say


def _asked(address: Object, number: int) -> Object:
    key = {"key": address["key"]} if "key" in address else {}
    return {"ask": f"n{number}", "fn": address["fn"], **key}


NULLS: Final[Mapping[str, Callable[[], Say]]] = {
    "silent": lambda: _silent,
    "echoing": lambda: _echoing,
    "replaying": _replaying,
}


def score(name: str, court: Court) -> Score:
    """Judge a null subject in all scenarios. Of the replaying one, that which it replays is left out."""
    opener = _opener(NULLS[name]())
    scenarios = [each for each in court.scenarios if each.name != REPLAYED]
    judged = court.judge(opener, f"pi-{RELEASE}", BEST, scenarios)
    verdicts = judged.leg.verdicts
    return Score(
        name=name,
        passed=tuple(each.name for each in verdicts if each.outcome in (Outcome.PASS, Outcome.NON_STRICT)),
        scenarios=len(verdicts),
        holding=judged.holding,
    )


def _opener(say: Say) -> Opener:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        yield _Null(say)

    return opened
