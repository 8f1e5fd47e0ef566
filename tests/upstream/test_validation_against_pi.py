"""Validation and coercion against real Pi: the same calls, the same arguments or the same text, to the last byte.

Left out: calls that end in one of the two with a stack that is full (Python's is smaller), or that make Pi throw
something that is no error.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_trio.conformance.subjects.pi_releases import PiInstall
from pi_trio.jsontext import print_json
from pi_trio.tools.formats import FORMATS
from pi_trio.tools.validate import InvalidArguments, validate_arguments

from ..tools.calls import CallMaker
from ..tools.formatted import BAD, GOOD
from ..tools.recorded import Call, recorded_calls

pytestmark = pytest.mark.upstream

SCRIPT = Path(__file__).with_name("validate.mjs")

GENERATED = 6000
BENT_TEXTS = 4000
FULL = ("Maximum call stack size exceeded", "nested too deeply to be checked")
NO_ERROR = "{}"


def ours(call: Call) -> str:
    try:
        value = validate_arguments(
            call["name"], call["parameters"], call["arguments"], call.get("argumentsError")
        )
    except InvalidArguments as error:
        return print_json({"error": str(error)})
    return print_json({"value": value})


def theirs(pi: PiInstall, calls: list[Call]) -> list[str]:
    asked = "".join(f"{json.dumps(call)}\n" for call in calls)
    command = [str(pi.node.path), str(SCRIPT), str(pi.folder)]
    done = subprocess.run(
        command, input=asked, text=True, encoding="utf-8", capture_output=True, timeout=300, check=True
    )
    answers = done.stdout.split("\n")
    assert answers.pop() == ""
    assert len(answers) == len(calls)
    return answers


def differences(pi: PiInstall, calls: list[Call]) -> Iterator[tuple[str, str, str]]:
    for call, answer in zip(calls, theirs(pi, calls), strict=True):
        mine = ours(call)
        if answer not in {mine, NO_ERROR} and not any(text in mine + answer for text in FULL):
            yield json.dumps(call), mine, answer


def formatted(name: str, text: str) -> Call:
    return {
        "name": "t",
        "parameters": {"type": "object", "properties": {"s": {"type": "string", "format": name}}},
        "arguments": {"s": text},
    }


def bent_texts() -> Iterator[Call]:
    """Texts that were of some format, or nearly, with a few characters taken out, put in or changed."""
    chance = random.Random(6)
    texts = [text for table in (GOOD, BAD) for texts in table.values() for text in texts]
    odd = [
        *"aZ09:/?#[]@!$&'()*+,;=-._~% \\\"<>^`{}|TtPYMDHSWz\n\téא٠\u0301·\u200c\u200d・。ſKßＡ😀\xad\u2028\x7f\0",
        "25",
        "::",
    ]
    for _ in range(BENT_TEXTS):
        name = chance.choice(list(FORMATS))
        characters = list(chance.choice(GOOD[name] + BAD[name] if chance.random() < 0.8 else texts))
        for _ in range(chance.randint(0, 3)):
            place = chance.randint(0, len(characters))
            characters[place : place + chance.randint(0, 1)] = chance.choice([[], [chance.choice(odd)]])
        yield formatted(name, "".join(characters))


def test_the_recorded_calls_are_what_pi_does(pi_install):
    recorded = [{key: call[key] for key in ("value", "error") if key in call} for call in recorded_calls()]
    assert theirs(pi_install, recorded_calls()) == [print_json(outcome) for outcome in recorded]


def test_generated_calls(pi_install):
    maker = CallMaker(seed=1)
    calls = [maker.call() for _ in range(GENERATED)]
    answers = theirs(pi_install, calls)
    assert (
        sum(any(text in answer for text in FULL) or answer == NO_ERROR for answer in answers)
        < GENERATED / 100
    )
    assert (
        min(sum(f'{{"{key}":' in answer[:9] for answer in answers) for key in ("value", "error"))
        > GENERATED / 4
    )
    assert list(differences(pi_install, calls)) == []


def test_the_formats_of_texts(pi_install):
    for table, key in ((GOOD, "value"), (BAD, "error")):
        calls = [formatted(name, text) for name, texts in table.items() for text in texts]
        for call, answer in zip(calls, theirs(pi_install, calls), strict=True):
            assert answer.startswith(f'{{"{key}"'), call
    assert list(differences(pi_install, list(bent_texts()))) == []
