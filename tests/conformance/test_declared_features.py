"""What a subject may declare in its hello, and what is refused as a slip of the pen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.faults import SubjectUnstartable
from pi_trio.conformance.features import unknown_value
from pi_trio.conformance.protocol import check_hello
from pi_trio.profile import PROFILES

HELLO = hello(PROFILES["pi-1.6.0"])

GOOD: tuple[dict[str, Any], ...] = (
    {}, {"listeners": "none", "delivery": "serial", "abort": "both", "update": "blocking", "partials": "built"},
    {"liveState": False, "burst": True, "toolModes": "both"},
    {"toolModes": []}, {"toolModes": ["sequential"]}, {"toolModes": ["parallel", "sequential"]},
    {"keyless": ["execute"]}, {"targets": ["agent"]}, {"targets": ["loop", "agent"]},
    {"targets": ["agent", "session"], "options": ["mine"], "loopHooks": []},
    {"weather": 5, "time": {"virtual": True}},
)  # fmt: skip

BAD: dict[str, tuple[Any, ...]] = {
    "abort": ("bothh", "", None, True, {}, ["both"]),
    "listeners": ("async", 1),
    "delivery": ("Serial",),
    "update": ("queue",),
    "partials": ("build",),
    "liveState": ("true", 1, 0, None),
    "burst": (1, "false"),
    "toolModes": ("sequential", ["sequentail"], [5], {}, None),
    "keyless": (["exec"], "execute", True),
    "targets": ("agent", [5], [], ["loop"], ["agents"]),
    "loopHooks": ("finishTurn",),
    "options": ({}, [None]),
    "settable": ("model",),
}


@pytest.mark.parametrize("features", GOOD, ids=repr)
def test_what_the_protocol_names_can_be_declared_and_what_it_does_not_name_passes(features: Any) -> None:
    assert unknown_value(features) == ""
    check_hello({**HELLO, "features": features})


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_a_value_that_a_feature_cannot_have_is_no_hello(name: str, value: Any) -> None:
    with pytest.raises(SubjectUnstartable, match=rf"^features\.{name} is .*") as caught:
        check_hello({**HELLO, "features": {"listeners": "awaited", name: value}})
    assert "both" in caught.value.message or name != "abort"


def test_the_table_of_the_protocol_is_the_same() -> None:
    """Each feature that it names is known, and each word that it gives in its own column can be said."""
    text = (Path(__file__).parent.parent.parent / "spec" / "driver-protocol.md").read_text()
    section = text[text.index("## 8. Features") : text.index("## 9.")]
    rows = re.findall(r"^\| (\w+)[^|]* \| (.+?) \|", section, re.MULTILINE)
    named = {name: values for name, values in rows if name != "feature"}
    assert named.keys() == BAD.keys()
    for name, values in named.items():
        if name in ("toolModes", "keyless", "targets", "loopHooks", "options", "settable"):
            continue
        words = re.findall(r'"(\w+)"', re.sub(r"\([^)]*\)", "", values)) or [True, False]
        for word in words:
            assert unknown_value({name: word}) == "", (name, word)
