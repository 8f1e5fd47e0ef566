"""Everything that the table of stimuli has can be drawn, is accepted, and shows up in conversations."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from pi_trio.conformance.explore.conversation import Conversation
from pi_trio.conformance.explore.guest import quiet_house
from pi_trio.conformance.explore.setting import _DIMENSIONS, SIZES, setting
from pi_trio.conformance.explore.stimuli import BY_NAME, NUMBERS, SLOTS, STIMULI, TRAITS, draw, wheel
from pi_trio.conformance.protocol import REQUIRED_COMMANDS
from pi_trio.conformance.scenario import check_command

from .searching import house

MOOD = list(_DIMENSIONS).index("mood")


def drawn(conversations: int, profile: str) -> Counter[str]:
    """How often each stimulus is drawn; each command that comes of it is one of the script."""
    chance, counts, held = random.Random(1), Counter[str](), house(profile)
    with quiet_house():
        for _ in range(conversations):
            numbers = [chance.randrange(size) for size in SIZES]
            numbers[MOOD] = 1  # that in which everything may happen
            begun = setting(numbers, held.hello)
            conversation = Conversation(held, begun.create, begun.answers)
            for _ in range(40):
                if move := draw(begun.wheel, conversation.scene, chance.randrange(NUMBERS)):
                    counts[move.name] += 1
                    command = BY_NAME[move.name].command(conversation.scene, move)
                    check_command(command, "")
                    conversation.step(command)
            conversation.finish()
        held.close()
    return counts


#: Hooks, and an option, that this release does not have.
ABSENT = {
    "pi-1.6.0": {"answer shouldStopAfterTurn", "fail shouldStopAfterTurn", "set prompt"},
    "pi-0.85.0": {"answer finishTurn", "fail finishTurn", "answer prepareRequest", "fail prepareRequest"},
}


@pytest.mark.parametrize("profile", ABSENT)
def test_every_stimulus_is_drawn_that_the_release_knows(profile: str) -> None:
    counts = drawn(160, profile)
    names = {each.name for each in STIMULI} - ABSENT[profile]
    seldom = {
        "fail afterToolCall",
        "fail getApiKey",
        "fail convertToLlm",
        "fail getFollowUpMessages",
        "abort idle",
    }
    assert names - set(counts) <= seldom
    assert not set(counts) & ABSENT[profile]


def test_who_offers_what_is_required_is_sent_nothing_else() -> None:
    chance, held, sent = random.Random(1), house(), Counter[str]()
    held.hello = {**held.hello, "commands": [*REQUIRED_COMMANDS], "hooks": []}
    with quiet_house():
        for _ in range(60):
            begun = setting([chance.randrange(size) for size in SIZES], held.hello)
            conversation = Conversation(held, begun.create, begun.answers)
            for _ in range(40):
                if move := draw(begun.wheel, conversation.scene, chance.randrange(NUMBERS)):
                    command = BY_NAME[move.name].command(conversation.scene, move)
                    sent[command["cmd"]] += 1
                    conversation.step(command)
        held.close()
    assert set(sent) == {*REQUIRED_COMMANDS} - {"create"}


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(STIMULI)


def test_a_wheel_has_what_it_may_have_and_each_of_it() -> None:
    for without in (frozenset[str](), frozenset({"abort"}), TRAITS):
        slots = wheel(without)
        assert len(slots) == SLOTS
        assert {each.name for each in slots} == {each.name for each in STIMULI if each.trait not in without}


def test_the_plainest_setting_is_an_agent_with_three_tools_and_one_listener() -> None:
    plainest = setting([0] * len(SIZES), house().hello)
    assert [tool["name"] for tool in plainest.create["tools"]] == ["a", "b", "c"]
    assert plainest.create["listeners"] == ["L"]
    assert plainest.create["hooks"] == []
    assert plainest.answers == ()
