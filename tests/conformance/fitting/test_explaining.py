"""Which fields of the profile explain what failed."""

from __future__ import annotations

from collections.abc import Container

import pytest

from pi_trio.conformance.fitting import Explanation
from pi_trio.conformance.protocol import Object
from pi_trio.jsonvalue import thaw
from pi_trio.profile import FIELDS, PROFILES, get_profile

from .asking import explained, odd_requests, odd_results


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
