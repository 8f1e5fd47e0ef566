"""Which release a subject behaves as, and which fields explain a failure.

Tried on the runtime as all kinds of mixtures, and on subjects that deviate otherwise too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Container, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from pi_trio.conformance.decide import judge
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.expected import Expectation, lacking
from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.fitting import (
    Certainty,
    Explanation,
    Finding,
    Fitted,
    Reference,
    Rulings,
    Trace,
    fields_concerned,
    fit,
)
from pi_trio.conformance.fitting.choices import by_likeness, composed
from pi_trio.conformance.fitting.siding import sides
from pi_trio.conformance.fitting.trace import agreement
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

from .test_subjects_in_python import subject

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


@pytest.mark.parametrize("name", [*NAMES, *MIXTURES])
def test_a_mixture_is_found(name: str) -> None:
    found = fitted(runtime_inside(name, 30))
    truth, result = get_profile(name), get_profile(found.profile)
    assert found.unclear() == ()
    assert {finding.field for finding in found.findings} == {*FIELDS}
    otherwise = {field for field in FIELDS if getattr(truth, field) != getattr(result, field)}
    assert otherwise <= {finding.field for finding in found.findings if finding.told is Certainty.UNSHOWN}
    assert found.profile.count(",") <= name.count(",")


# Subjects that are like no release.


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


def test_who_deviates_otherwise_too_is_told_by_what_it_is_nearest_to() -> None:
    """All that has to do with tools looks different."""

    found = fitted(deviating("pi-1.6.0,durations=pi-1.0.3", odd_results), "text_", "tools_parallel")
    assert found.profile == "pi-1.6.0,durations=pi-1.0.3"
    assert told(found, "durations").told is Certainty.NEAREST
    assert told(found, "identity").told is Certainty.SHOWN


def test_what_is_as_in_no_release_is_unclear_with_a_scenario_to_look_at() -> None:
    """It only ever replies."""

    @asynccontextmanager
    async def mute() -> AsyncGenerator[Subject]:
        yield Mute()

    found = fitted(mute, "text_", "arguments")
    unclear = [finding.field for finding in found.unclear()]
    assert "identity" in unclear
    assert "argument_rules" in unclear
    assert all(finding.scenarios for finding in found.unclear())


class Mute:
    hello = HELLO

    async def request(self, command: Object) -> list[Object]:
        return [{"re": command["id"], "ok": None}]


def test_what_is_not_offered_is_named() -> None:
    commands = [name for name in HELLO["commands"] if name != "reset"]
    hooks = [name for name in HELLO["hooks"] if name != "afterToolCall"]
    found = fitted(deviating("pi-1.6.0", commands=commands, hooks=hooks))
    for field, need in [
        ("reset_refused_while_running", "command reset"),
        ("unnamed_result_fields_survive", "hook afterToolCall"),
    ]:
        finding = told(found, field)
        assert (finding.told, finding.releases) == (Certainty.NOT_OFFERED, tuple(NAMES))
        assert need in finding.missing
    assert (found.profile, found.unclear()) == ("pi-1.6.0", ())


def test_a_hook_that_some_releases_lack_is_told_by_its_absence_only_to_who_is_such_a_release() -> None:
    hooks = [name for name in HELLO["hooks"] if name != "prepareRequest"]
    found = fitted(deviating("pi-1.6.0", hooks=hooks))
    assert found.profile == "pi-1.6.0"
    assert told(found, "prepare_request").told is Certainty.NOT_OFFERED
    own = "pi-1.6.0,prepare_request=pi-0.85.0"
    found = fitted(deviating(own, hooks=hooks))
    assert found.profile == own
    assert told(found, "prepare_request").told is Certainty.SHOWN


def test_who_leaves_out_much_is_no_older_for_that() -> None:
    """Neither hooks nor the loop alone, as ports begin."""
    features = {**HELLO["features"], "targets": ["agent"]}
    commands = [name for name in HELLO["commands"] if name not in ("reset", "setMessages", "peekQueued")]
    found = fitted(deviating("pi-1.6.0", hooks=[], commands=commands, features=features))
    assert (found.base, found.profile, found.unclear()) == ("pi-1.6.0", "pi-1.6.0", ())
    assert told(found, "prepare_request").told is Certainty.NOT_OFFERED
    assert "loop_should_stop_after_turn" not in told(found, "stop_hook").scenarios
    explanation, _ = explained("pi-1.6.0", "pi-1.6.0,identity=pi-1.0.3", said={"hooks": []})
    assert explanation.profile == "pi-1.6.0,identity=pi-1.0.3"


def test_the_profile_starts_from_the_release_that_it_was_driven_as() -> None:
    """Who does as it is told by its command line would do something else as the release that it is most like."""
    found = fitted(deviating("pi-0.85.0", profile="pi-1.6.0"), "text_", "tool_")
    assert (found.nearest, found.base) == ("pi-0.85.0", "pi-1.6.0")
    assert found.profile.startswith("pi-1.6.0,")
    result = get_profile(found.profile)
    shown = [finding for finding in found.findings if finding.told is Certainty.SHOWN]
    assert len(shown) > 5
    for finding in shown:
        values = [getattr(PROFILES[name], finding.field) for name in finding.releases]
        assert getattr(result, finding.field) in values
    explanation, _ = explained("pi-1.6.0", "pi-0.85.0", said={"profile": "pi-1.6.0"})
    assert explanation.profile.startswith("pi-1.6.0,")


def test_who_says_nothing_of_quiescence_is_exact_and_driven_once() -> None:
    silent, exact = (
        fitted(deviating("pi-1.6.0", quiescence=None), "text_"),
        fitted(deviating("pi-1.6.0"), "text_"),
    )
    assert silent == exact


def test_a_crash_drops_no_field_that_other_scenarios_can_tell() -> None:
    """It dies of every tool that throws, and of nothing else."""

    def die(message: Object) -> Object:
        if "went wrong" in str(message) or message.get("event", {}).get("isError"):
            raise RuntimeError("no such thing as an error")
        return message

    found = fitted(deviating("pi-1.6.0,durations=pi-1.0.3", die))
    assert found.profile == "pi-1.6.0,durations=pi-1.0.3"
    assert told(found, "durations").told is Certainty.SHOWN
    assert found.broken
    assert all(fault.end == "crash" for fault in found.broken.values())
    for finding in found.unclear():
        assert {*finding.broken} <= found.broken.keys()


def test_who_dies_again_and_again_is_given_up() -> None:
    found = fitted(deviating("pi-1.6.0", die_of_a_request))
    assert found.driven < 20
    assert told(found, "identity").told is Certainty.UNCLEAR
    assert told(found, "identity").broken


def lived(lives: Sequence[str]) -> Fitted:
    """The runtime, opened again and again: each life is "good", "short" (it dies in its first run), or "none"; the last
    one is repeated.
    """
    left = [*lives]

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Subject]:
        life = left.pop(0) if len(left) > 1 else left[0]
        if life == "none":
            raise SubjectUnstartable("it exited with code 9")
        opener = deviating("pi-1.6.0", die_of_a_request if life == "short" else thaw)
        async with opener() as subject:
            yield subject

    return fitted(opened)


def die_of_a_request(message: Object) -> Object:
    if message.get("fn") == "streamFn":
        raise RuntimeError("no network")
    return message


def test_a_failed_restart_costs_one_scenario() -> None:
    found = lived(["short", "none", "good"])
    assert (found.profile, found.unclear()) == ("pi-1.6.0", ())
    crash, restart = found.broken.values()
    assert (crash.end, restart.end) == ("crash", "crash")
    assert restart.message == "it does not start again: it exited with code 9"


def test_who_does_not_start_again_is_given_up_after_three() -> None:
    found = lived(["short", "none"])
    assert (found.driven, len(found.broken)) == (1, 4)
    assert {finding.told for finding in found.findings} <= {Certainty.UNCLEAR, Certainty.UNSHOWN}


def test_what_was_found_stays_when_the_subject_is_given_up() -> None:
    """It does well for a while, and then dies of everything."""
    left = 30

    def tire(message: Object) -> Object:
        nonlocal left
        left -= message.get("fn") == "streamFn"
        return die_of_a_request(message) if left < 0 else message

    found = fitted(deviating(MIXTURES[0], tire))
    assert found.broken
    assert found.unclear()
    truth = get_profile(MIXTURES[0])
    shown = [finding for finding in found.findings if finding.told is Certainty.SHOWN]
    assert len(shown) > len(FIELDS) / 3
    for finding in shown:
        values = [getattr(PROFILES[name], finding.field) for name in finding.releases]
        assert getattr(truth, finding.field) in values


@pytest.mark.parametrize("arguments", [(), ("--hurried",)])
def test_who_has_no_quiescence_is_fitted_too(arguments: tuple[str, ...]) -> None:
    """Driven by the trace of a wrong value it comes too late, which is an answer, and no break."""
    found = fitted(subject("threaded", *arguments), "text_", "tools_parallel")
    assert (found.profile, found.broken, found.unclear()) == ("pi-1.6.0", {}, ())
    assert [finding.field for finding in found.findings if finding.told is Certainty.SHOWN]


def test_who_fails_much_is_told_by_what_comes_out_right() -> None:
    """As long as one of the two fields is wrong it does as under no value of the other, and scenarios with a system
    message or a level fail for other reasons; those that are about the fields do first of all.
    """

    def incomplete(message: Object) -> Object:
        message = thaw(message)
        args = message.get("args", {})
        args.get("options", {}).pop("reasoning", None)
        if "messages" in args.get("context", {}):
            args["context"]["messages"] = [
                each for each in args["context"]["messages"] if each["role"] != "system"
            ]
        return message

    name = "pi-1.6.0,identity=pi-1.0.3,message_thinking_level=pi-0.85.0"
    found = fitted(
        deviating(name, incomplete, profile="pi-1.6.0"),
        "text_",
        "thinking_",
        "initial_",
        "steer",
        "stream_end",
    )
    for field in ("identity", "message_thinking_level"):
        assert told(found, field).told is Certainty.SHOWN
        assert f"{field}=" in found.profile


# What explains failures.


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


@pytest.mark.parametrize(
    "name", ["pi-1.6.0,truncated_calls=pi-0.80.2", "pi-1.6.0,identity=pi-1.0.3,durations=pi-1.0.3"]
)
def test_the_fields_concerned_are_named(name: str) -> None:
    explanation, failed = explained("pi-1.6.0", name)
    changed = {change.partition("=")[0] for change in name.split(",")[1:]}
    assert {concern.field for concern in explanation.concerns} == changed
    assert explanation.profile == name
    assert len(explanation.vanished) == failed > 0
    for concern in explanation.concerns:
        assert concern.releases == tuple(
            release
            for release, profile in PROFILES.items()
            if getattr(profile, concern.field) == getattr(get_profile(name), concern.field)
        )
        assert {*concern.scenarios} <= {*explanation.vanished}


@pytest.mark.parametrize(("subject", "judged_as"), [("pi-0.85.0", "pi-0.80.2"), ("pi-1.0.3", "pi-1.6.0")])
def test_a_release_judged_as_its_neighbour_names_only_what_differs(subject: str, judged_as: str) -> None:
    explanation, failed = explained(judged_as, subject)
    differ = {
        field for field in FIELDS if getattr(PROFILES[subject], field) != getattr(PROFILES[judged_as], field)
    }
    named = {concern.field for concern in explanation.concerns}
    assert named
    assert named <= differ
    assert len(explanation.vanished) == failed


def test_what_shows_nowhere_is_left_as_the_subject_says() -> None:
    explanation, failed = explained("pi-1.0.3", "pi-0.80.2")
    assert len(explanation.vanished) == failed
    assert "prepared_messages" not in explanation.profile


def test_what_makes_no_failure_vanish_is_no_explanation() -> None:
    """Its identity is that of another release, but each failure has another cause too."""
    explanation, failed = explained("pi-1.6.0", "pi-1.6.0,identity=pi-1.0.3", odd_requests)
    assert failed
    assert explanation == Explanation(profile="pi-1.6.0", concerns=(), vanished=())


def test_a_fault_of_no_release_is_explained_by_no_field() -> None:
    explanation, failed = explained("pi-1.6.0", "pi-1.6.0", odd_results)
    assert failed
    assert explanation == Explanation(profile="pi-1.6.0", concerns=(), vanished=())


def without_an_empty_prompt(message: Object) -> Object:
    """As somebody says it who leaves out of a request a prompt that is empty, and with it a list of tools that is."""
    message = thaw(message)
    context = message.get("args", {}).get("context", {})
    if context.get("systemPrompt") == "":
        del context["systemPrompt"]
        if context.get("tools") == []:
            del context["tools"]
    return message


@pytest.mark.parametrize("names", [(), ("text_only_done", "system_prompt_reaches_the_request")])
def test_what_is_only_left_out_makes_nobody_a_release_that_he_contradicts(names: Container[str]) -> None:
    """Without prompt and tools he does as the newer releases; else he says in other failures, or in what he passes,
    what those would not say.
    """
    explanation, failed = explained("pi-0.80.2", "pi-0.80.2", without_an_empty_prompt, names=names)
    assert failed
    assert explanation == Explanation(profile="pi-0.80.2", concerns=(), vanished=())


def test_who_is_as_another_release_but_for_one_fault_is_so_all_the_same() -> None:
    def ungiven(message: Object) -> Object:
        message = thaw(message)
        for said in message.get("args", {}).get("context", {}).get("messages", ()):
            if said["role"] == "system" and said["content"] == "be brief":
                said["content"] = ""
        return message

    explanation, _ = explained("pi-1.6.0", "pi-1.6.0,system_messages=pi-0.80.2", without_an_empty_prompt)
    assert "system_messages" in {concern.field for concern in explanation.concerns}
    explanation, _ = explained("pi-0.80.2", "pi-1.0.3", ungiven)
    assert "system_messages" in {concern.field for concern in explanation.concerns}


# The parts.


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ({"b": 1}, (True, False)),
        ({"b": 2, "c": 3}, (False, True)),
        ({"b": 1, "c": 3}, (True, True)),
        ({"b": 7}, (False, False)),
        ({}, (False, False)),
    ],
)
def test_who_says_what_only_one_says_sides_with_him(got: Object, expected: tuple[bool, bool]) -> None:
    first, second = (Trace(lines=({"a": 1}, each)) for each in ({"b": 1}, {"b": 2, "c": 3}))
    assert sides(first, second, Trace(lines=({"a": 1}, got))) == expected
    assert sides(first, second, Trace(lines=({"a": 2}, got))) == (False, False)
    assert sides(first, first, Trace(lines=({"a": 1}, got))) == (False, False)


def test_a_run_is_not_repeated_for_a_field_that_nobody_reads(reads: Callable[[str], int]) -> None:
    assert reads("truncated_calls=pi-0.80.2") == 1
    assert reads("identity=pi-1.0.3") == 2


@pytest.fixture
def reads() -> Callable[[str], int]:
    """How many runs it takes to know a plain text answer under two profiles."""
    scenario = next(each for each in all_scenarios() if each.name == "text_plain")

    async def count(change: str) -> int:
        reference = Reference()
        await reference.trace(get_profile("pi-1.6.0"), scenario)
        await reference.trace(get_profile(f"pi-1.6.0,{change}"), scenario)
        return reference.reads("identity")

    def run(change: str) -> int:
        with first_in_first_out():
            return trio.run(count, change)

    return run


def test_of_two_traces_that_part_the_one_is_nearer_that_parts_later_and_then_by_less() -> None:
    got = Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 3}}, {"e": 4}))
    order = [
        Trace(missing=("hook finishTurn",)),
        Trace(lines=({"a": True}, {"b": {"c": 2, "d": 3}}, {"e": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 0, "d": 0}}, {"e": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 0}}, {"f": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 0}}, {"e": 4})),
        Trace(lines=({"a": 1}, {"b": {"c": 2, "d": 3}})),
        got,
    ]
    near = [agreement(trace, got) for trace in order]
    assert near == sorted(near)
    assert len({*near}) == len(near)


def test_a_name_is_the_shortest_and_its_donors_are_the_closest() -> None:
    old, new = (NAMES[0], NAMES[1]), (NAMES[2], NAMES[3])
    assert composed(NAMES[2], {"identity": old, "durations": new}) == f"{NAMES[2]},identity={NAMES[1]}"
    assert composed(NAMES[1], {"identity": new, "durations": (NAMES[0],)}) == (
        f"{NAMES[1]},identity={NAMES[2]},durations={NAMES[0]}"
    )
    fitting = {"identity": (NAMES[3],), "durations": new, "prepare_request": new}
    assert by_likeness(fitting, NAMES[0])[:2] == [NAMES[3], NAMES[2]]
    assert by_likeness({}, NAMES[1])[0] == NAMES[1]
