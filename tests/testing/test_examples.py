"""The examples in the documentation of `pi_trio.testing` do what they say."""

from __future__ import annotations

import re
from inspect import iscoroutinefunction, ismodule
from typing import Any

import pytest
import trio
from hypothesis.stateful import run_state_machine_as_test

import pi_trio.testing

from .machines import QUICK

BLOCKS = re.findall(r"^```python\n(.*?)^```$", pi_trio.testing.__doc__ or "", re.DOTALL | re.MULTILINE)
NAMES: dict[str, Any] = {}
for block in BLOCKS:
    exec(compile(block, "an example", "exec"), NAMES)  # each block goes on from those before

TESTS = [name for name in NAMES if name.startswith("test_")]


def test_there_are_examples():
    assert len(BLOCKS) == 6
    assert len(TESTS) == 5


@pytest.mark.parametrize("name", TESTS)
def test_an_example(name):
    test = NAMES[name]
    if iscoroutinefunction(test):
        trio.run(test)
    else:
        test()


def test_the_state_machine():
    run_state_machine_as_test(NAMES["Conversation"], settings=QUICK)


def test_every_public_name_is_in_an_example_or_comes_out_of_one():
    public = {
        name for name, value in vars(pi_trio.testing).items() if name[0].isalpha() and not ismodule(value)
    }
    assert public - NAMES.keys() - {"annotations"} == {
        "FrozenTime", "ScriptError", "ScriptedCall", "ScriptedRequest", "Started", "StepperError",
        "assistant", "describe", "thinking",
    }  # fmt: skip
