"""Subjects that do otherwise, and say so: the runtime in their clothes passes whatever it can be asked, and fails
where it lies.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from pi_trio.conformance.compare import canonical
from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import UNRECORDED, OfOthers
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subject import Subject
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.vectors import Vectors
from pi_trio.conformance.verdict import Leg, Outcome, Verdict

from .planted import FAULTS, Fault

RUNTIME = runtime_inside("pi-1.6.0", 30)
SCENARIOS = all_scenarios()[::7]
"""Every seventh, which is enough to meet everything; `pi-trio conform` plays all."""

PLAIN = tuple(
    each for each in all_scenarios() if each.name in {"tools_parallel_reverse", "tool_single", "tool_blocked"}
)

Message = dict[str, Any]
Dress = Callable[[list[Message]], list[Message]]


class Dressed:
    """The runtime, with another hello, and with what it says changed on the way. `mode`: what its aborts do."""

    def __init__(self, inner: Subject, hello: Message, dress: Dress, mode: str | None) -> None:
        self._inner = inner
        self._dress = dress
        self._mode = mode
        features = {**inner.hello.get("features", {}), **hello.pop("features", {})}
        self.hello = {**inner.hello, **hello, "features": features}

    async def request(self, command: Message) -> list[Message]:
        if self._mode is not None and command["cmd"] == "create":
            options = command.get("options", {})
            assert "abortMode" not in options
            command = {**command, "options": {**options, "abortMode": self._mode}}
        *reactions, reply = await self._inner.request(command)
        return [*self._dress(reactions), reply]


def opener(hello: Message, dress: Dress, mode: str | None = None) -> Any:
    if hello.get("features", {}).get("abort") == "cancelling":
        mode = mode or "cancel"

    @asynccontextmanager
    async def open_dressed() -> AsyncGenerator[Dressed]:
        async with RUNTIME() as inner:
            yield Dressed(inner, dict(hello), dress, mode)

    return open_dressed


def consulted(scenarios: Sequence[Scenario]) -> OfOthers:
    expectations = OfOthers(RUNTIME, scenarios, Vectors.shipped(), ["1.6.0"])
    with first_in_first_out():
        trio.run(expectations.consult)
    return expectations


@pytest.fixture(scope="module")
def others() -> OfOthers:
    return consulted(SCENARIOS)


@pytest.fixture(scope="module")
def others_in_few() -> OfOthers:
    """The same for the scenarios that a test names."""
    names = {fault.shows for fault in FAULTS} | {each.name for each in (*PLAIN, *ABORTED)}
    return consulted([each for each in all_scenarios() if each.name in names])


@pytest.fixture(scope="module")
def in_one_mode(others: OfOthers) -> dict[str, Verdict]:
    """The verdicts on who runs one call after the other, whatever is asked."""
    hello, dress, _ = DRESSES["one mode"]
    return judged(others, hello, dress)


def as_it_is(messages: list[Message]) -> list[Message]:
    return messages


def judged(
    others: OfOthers,
    hello: Message,
    dress: Dress = as_it_is,
    scenarios: tuple[Scenario, ...] = SCENARIOS,
    mode: str | None = None,
) -> dict[str, Verdict]:
    async def run() -> Leg:
        return await judge_subject(
            "dressed", opener(hello, dress, mode), scenarios, expect=others.of, meet=others.meet, decide=judge
        )

    with first_in_first_out():
        leg = trio.run(run)
    return {verdict.name: verdict for verdict in leg.verdicts}


def shuffled(messages: list[Message]) -> list[Message]:
    """Calls that are launched in one step come in any order."""
    calls = [index for index, message in enumerate(messages) if message.get("fn") == "execute"]
    said = [messages[index] for index in calls]
    random.shuffle(said)
    for index, message in zip(calls, said, strict=True):
        messages[index] = message
    return messages


def nameless(messages: list[Message]) -> list[Message]:
    """Callbacks do not say which call they are about."""
    for message in messages:
        if message.get("fn") in ("execute", "beforeToolCall", "afterToolCall"):
            del message["key"]
            args = message["args"]
            args.pop("toolCallId", None)
            if "toolCall" in args:
                args["toolCall"] = {key: value for key, value in args["toolCall"].items() if key != "id"}
    return messages


def toolless(messages: list[Message]) -> list[Message]:
    """There is no tool, so there is nothing to say of any."""
    for word in ("toolCall", "toolResult", "toolsAdded", "execute"):
        assert f'"{word}"' not in canonical(messages)
    return messages


KEYLESS = {"features": {"keyless": ["execute", "beforeToolCall", "afterToolCall"]}}

CANCELLING = {"features": {"abort": "cancelling"}}

DRESSES: dict[str, tuple[Message, Dress, float]] = {
    "as Pi": ({}, as_it_is, 0.95),
    "partial order": ({"order": "partial"}, shuffled, 0.9),
    "keyless": (KEYLESS, nameless, 0.9),
    "sync listeners": ({"features": {"listeners": "sync"}}, as_it_is, 0.6),
    "no listeners": ({"features": {"listeners": "none"}}, as_it_is, 0.6),
    "serial delivery": ({"features": {"delivery": "serial", "update": "blocking"}}, as_it_is, 0.85),
    "rebuilt partials": ({"features": {"partials": "built"}}, as_it_is, 0.6),
    "one mode": ({"features": {"toolModes": ["sequential"]}}, as_it_is, 0.6),
    "no tools": ({"features": {"toolModes": []}}, toolless, 0.25),
    "aborts cancel": (CANCELLING, as_it_is, 0.95),
    "aborts cancel, sync listeners": (
        {"features": {"abort": "cancelling", "listeners": "sync"}},
        as_it_is,
        0.5,
    ),
    "aborts cancel, partial order": ({**CANCELLING, "order": "partial"}, shuffled, 0.9),
    "little": ({"features": {"burst": False, "liveState": False}}, as_it_is, 0.6),
}
"""What each says of itself, how what it says is changed, and the share of scenarios that it can be asked at least."""


@pytest.mark.parametrize("name", DRESSES)
def test_who_says_what_it_is_passes_all_that_it_can_be_asked(
    name: str, others: OfOthers, in_one_mode: dict[str, Verdict]
) -> None:
    hello, dress, least = DRESSES[name]
    verdicts = in_one_mode if name == "one mode" else judged(others, hello, dress)
    wrong = {each.name: each.outcome for each in verdicts.values()
             if each.outcome not in (Outcome.PASS, Outcome.NOT_OFFERED)}  # fmt: skip
    assert not wrong
    passed = sum(verdict.outcome is Outcome.PASS for verdict in verdicts.values())
    assert passed >= least * len(SCENARIOS)


@pytest.mark.parametrize(
    ("hello", "dress"),
    [
        ({}, lambda said: shuffled(said)[::-1]),
        ({"order": "partial"}, lambda said: said[::-1]),
        ({}, nameless),
    ],
)
def test_who_does_otherwise_and_does_not_say_so_fails(
    hello: Message, dress: Dress, others_in_few: OfOthers
) -> None:
    for verdict in judged(others_in_few, hello, dress, PLAIN).values():
        assert verdict.outcome is Outcome.FAIL


ABORTED = tuple(each for each in all_scenarios() if each.name in {"abort_tools_honored", "abort_in_stream"})


def told(*kinds: str) -> Dress:
    """Leaves out all other tells than these."""
    return lambda said: [each for each in said if each.get("tell", "event") in ("event", "settled", *kinds)]


@pytest.mark.parametrize(
    ("dress", "mode"),
    [
        (as_it_is, "signal"),  # its aborts are advice
        (told("signal"), "cancel"),  # it does not say that it has withdrawn
        (told("withdrawn"), "cancel"),  # nor that the signal came
        (lambda said: said[::-1], "cancel"),
    ],
)
def test_who_says_that_aborts_cancel_has_to_cancel_as_reviewed(
    dress: Dress, mode: str, others_in_few: OfOthers
) -> None:
    outcomes = {
        verdict.outcome for verdict in judged(others_in_few, CANCELLING, dress, ABORTED, mode).values()
    }
    assert outcomes <= {Outcome.FAIL, Outcome.HANG}


def test_who_was_measured_with_cancelling_aborts_leaves_nothing_behind(others_in_few: OfOthers) -> None:
    """The next subject is compared in its own way again."""
    for hello in (CANCELLING, {}, CANCELLING):
        assert {verdict.outcome for verdict in judged(others_in_few, hello, scenarios=ABORTED).values()} == {
            Outcome.PASS
        }


def test_a_ruling_without_a_recording_in_that_way_is_not_offered(in_one_mode: dict[str, Verdict]) -> None:
    """What Pi does there is not known, so to do otherwise than the runtime may be right."""
    unrecorded = [each for each in in_one_mode.values() if UNRECORDED in each.missing]
    assert unrecorded
    assert all(each.rulings or each.outcome is Outcome.NOT_OFFERED for each in unrecorded)


@pytest.mark.parametrize(
    "fault", [pytest.param(each, id=f"{each.id}-{each.make.__name__}") for each in FAULTS]
)
def test_partial_order_finds_every_planted_fault(
    fault: Fault, others_in_few: OfOthers, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scenario,) = (each for each in all_scenarios() if each.name == fault.shows)
    monkeypatch.setattr(fault.owner, fault.name, fault.make(getattr(fault.owner, fault.name)))
    (verdict,) = judged(others_in_few, {"order": "partial"}, scenarios=(scenario,)).values()
    assert verdict.outcome in (Outcome.FAIL, Outcome.HANG)
