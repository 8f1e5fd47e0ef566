"""Validation and coercion against the real releases that use TypeBox: the same verdict, and the same arguments.

The texts are the same as well, but for errors of the host language and for a few reports (see `SAME_TEXTS`). Left out
are calls that end in one of the two with a stack that is full (Python's is smaller), and those that `is_beyond` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from pi_trio.conformance.subjects.pi_releases import PiInstall
from pi_trio.jsontext import print_json
from pi_trio.tools.formats import FORMATS
from pi_trio.tools.validate import InvalidArguments, validate_arguments

from ..tools.calls import CallMaker
from ..tools.formatted import BAD, GOOD
from ..tools.formatted_typebox import OLDER_BAD, OLDER_GOOD, ONLY_0_80
from ..tools.odd_calls import OddCallMaker
from ..tools.recorded import Call
from ..tools.recorded_typebox import RULES, alike, recorded_calls
from .test_validation_against_pi import FULL, bent_texts, formatted, theirs

pytestmark = [pytest.mark.upstream, pytest.mark.parametrize("any_pi", RULES, indirect=True)]

GENERATED = 3000
#: So many of the reports at least are the same to the last byte. Where notes for `unevaluated…` keywords or the ways of
#: references matter, a release may find other faults than its own check did.
SAME_TEXTS = 0.98


def is_beyond(call: Call, release: str) -> bool:
    """What is not imitated.

    Every JavaScript object has a `constructor`, and the releases take it for a member that was given. 1.0.3 loses its
    way where several parts of a schema have an `$id`: what a reference leads to depends on those resolved before it.
    """
    schema = print_json(call["parameters"])
    return '"constructor"' in schema or (release == "1.0.3" and schema.count('"$id":') > 1)


def ours(call: Call, release: str) -> Call:
    try:
        value = validate_arguments(call["name"], call["parameters"], call["arguments"], rules=RULES[release])
    except InvalidArguments as error:
        return {"error": str(error)}
    return {"value": value}


def judged(pi: PiInstall, calls: list[Call]) -> Iterator[tuple[Call, Call, Call]]:
    """Each call with both outcomes, ours first, if both have one."""
    for call, answer in zip(calls, theirs(pi, calls), strict=True):
        mine = ours(call, pi.release)
        if not any(text in print_json(mine) + answer for text in FULL):
            yield call, mine, json.loads(answer)


def generated(maker: CallMaker | OddCallMaker, release: str) -> list[Call]:
    calls: list[Call] = []
    while len(calls) < GENERATED:
        call = maker.call()
        if not is_beyond(call, release):
            calls.append(call)
    return calls


def test_the_recorded_calls_are_what_the_releases_do(any_pi):
    calls = recorded_calls()
    assert [json.loads(answer) for answer in theirs(any_pi, calls)] == [
        call[any_pi.release] for call in calls
    ]


@pytest.mark.parametrize("maker", [CallMaker, OddCallMaker])
def test_generated_calls(any_pi, maker):
    outcomes = list(judged(any_pi, generated(maker(seed=1), any_pi.release)))
    assert len(outcomes) > 0.97 * GENERATED
    values = sum("value" in answer for _, _, answer in outcomes)
    assert GENERATED / 4 < values < 3 * GENERATED / 4
    assert [outcome for outcome in outcomes if not alike(*outcome[1:], texts=False)] == []
    same = sum(alike(mine, answer) for _, mine, answer in outcomes)
    assert same >= SAME_TEXTS * len(outcomes)


def test_the_formats_of_texts(any_pi):
    if any_pi.release == "1.0.3":
        good, bad = GOOD, BAD
    else:
        good, bad = OLDER_GOOD, OLDER_BAD
    tried = [(name, text, True) for name, texts in good.items() for text in texts]
    tried += [(name, text, False) for name, texts in bad.items() for text in texts]
    tried += [(name, text, any_pi.release == "0.80.2") for name, texts in ONLY_0_80.items() for text in texts]
    answers = theirs(any_pi, [formatted(name, text) for name, text, _ in tried])
    for case, answer in zip(tried, answers, strict=True):
        assert answer.startswith('{"value"') is case[2], case


def test_bent_texts(any_pi):
    older = [
        formatted(name, text) for table in (OLDER_GOOD, OLDER_BAD) for name in table for text in table[name]
    ]
    assert {call["parameters"]["properties"]["s"]["format"] for call in older} <= set(FORMATS)
    outcomes = judged(any_pi, [*older, *bent_texts()])
    assert [outcome for outcome in outcomes if not alike(*outcome[1:])] == []
