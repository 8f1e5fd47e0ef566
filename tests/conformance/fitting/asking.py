"""Subjects that are asked what they behave as: the runtime as mixtures, and in clothes that fit no release."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Container, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import trio

from pi_trio.conformance.decide import judge
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import Expectation, lacking
from pi_trio.conformance.fitting import (
    Explanation,
    Finding,
    Fitted,
    Reference,
    Rulings,
    fields_concerned,
    fit,
)
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.keeper import Opener, open_keeper
from pi_trio.conformance.kept import Kept
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subject import Subject
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.subjects.inside import open_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.jsonvalue import thaw
from pi_trio.profile import FIELDS, PROFILES, get_profile

HELLO = hello(PROFILES["pi-1.6.0"])


RULINGS = Rulings(Vectors.shipped())


NAMES = list(PROFILES)


REFERENCE = Reference()
"""Shared: what the runtime did once under some profile need not be done again."""


def mixture(base: str, fields: Sequence[str]) -> str:
    """A release, but in these fields as the nearest one that has another value."""
    changes: list[str] = []
    for field in fields:
        others = [name for name in NAMES if getattr(PROFILES[name], field) != getattr(PROFILES[base], field)]
        nearest = min(others, key=lambda name: abs(NAMES.index(name) - NAMES.index(base)))
        changes.append(f"{field}={nearest}")
    return ",".join([base, *changes])


MIXTURES = [mixture(NAMES[index % len(NAMES)], FIELDS[index::5]) for index in range(5)]
"""Each field once, five together; the releases take turns."""


def fitted(opener: Opener, *beginnings: str) -> Fitted:
    scenarios = [each for each in all_scenarios() if not beginnings or each.name.startswith(beginnings)]

    async def asked() -> Fitted:
        async with open_keeper(opener) as keeper:
            await keeper.start()
            return await fit(keeper, scenarios, RULINGS, reference=REFERENCE)

    with first_in_first_out():
        return trio.run(asked)


def told(found: Fitted, field: str) -> Finding:
    return next(finding for finding in found.findings if finding.field == field)


class Deviating:
    """The runtime, but what it says is changed on the way."""

    def __init__(self, subject: Subject, change: Callable[[Object], Object], hello: Object) -> None:
        self._subject = subject
        self._change = change
        said = {**subject.hello, **hello}
        self.hello = {name: value for name, value in said.items() if value is not None}

    async def request(self, command: Object) -> list[Object]:
        return [self._change(message) for message in await self._subject.request(command)]


def deviating(
    name: str, change: Callable[[Object], Object] = lambda message: message, **hello: Any
) -> Opener:
    """Opens who says something else in its hello too; None: nothing."""

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Deviating]:
        async with runtime_inside(name, 30)() as subject:
            yield Deviating(subject, change, hello)

    return partial(open_inside, opened, 30)


def odd_results(message: Object) -> Object:
    """As somebody says it who makes something of his own of what tools have answered."""
    message = thaw(message)
    for event in (message.get("event"), message.get("args", {}).get("event")):
        if event and event["type"] == "tool_execution_end":
            event["result"] = "odd"
    return message


def odd_requests(message: Object) -> Object:
    """As somebody says it who sends a context of his own kind."""
    message = thaw(message)
    if message.get("fn") == "streamFn":
        message["args"]["context"] = "odd"
    return message


def die_of_a_request(message: Object) -> Object:
    if message.get("fn") == "streamFn":
        raise RuntimeError("no network")
    return message


def explained(
    judged_as: str,
    name: str,
    change: Callable[[Object], Object] | None = None,
    said: Object | None = None,
    names: Container[str] = (),
) -> tuple[Explanation, int]:
    """Judge a mixture as a profile by some scenarios, and ask for the fields that are concerned."""
    scenarios = [each for each in all_scenarios() if each.name not in RULINGS.names]
    scenarios = [each for each in scenarios if each.name in names] if names else scenarios[::8]
    kept = Kept()

    async def asked() -> tuple[Explanation, int]:
        profile, introduction = get_profile(judged_as), hello(get_profile(judged_as))
        traces = {each.name: await REFERENCE.trace(profile, each) for each in scenarios}
        leg = await judge_subject(
            name,
            runtime_inside(name, 30) if change is None else deviating(name, change),
            [each for each in scenarios if not lacking(each, introduction)],
            expect=lambda scenario: Expectation(lines=traces[scenario.name].lines),
            decide=kept.of(judge),
        )
        failed = kept.among(leg.verdicts)
        found = await fields_concerned(
            judged_as,
            failed,
            RULINGS,
            passed=kept.passed(leg.verdicts),
            hello={**hello(get_profile(name)), **(said or {})},
            reference=REFERENCE,
        )
        return found, len(failed)

    with first_in_first_out():
        return trio.run(asked)
