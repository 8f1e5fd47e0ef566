"""Profiles: found by name, frozen, and each field is read somewhere in the package."""

from __future__ import annotations

import ast
from pathlib import Path

import attrs
import pytest

import pi_trio
from pi_trio.agent.agent import Agent
from pi_trio.errors import PiTrioError
from pi_trio.profile import PI_1_6_0, PROFILES, Profile, UnknownProfileError, get_profile, releases_in


def test_profiles_are_found_by_name() -> None:
    assert get_profile("pi-1.6.0") is PI_1_6_0
    assert all(get_profile(name).name == name for name in PROFILES)
    assert all(profile.name == f"pi-{profile.release}" for profile in PROFILES.values())


def test_an_unknown_profile_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        UnknownProfileError, match=r"there is no profile 'pi-9'; known are: .*pi-1\.6\.0"
    ) as raised:
        get_profile("pi-9")
    assert isinstance(raised.value, PiTrioError)
    assert raised.value.__suppress_context__


def test_a_profile_can_be_composed() -> None:
    name = "pi-0.85.0,prepare_next_turn=pi-0.80.2,identity=pi-1.6.0,durations=pi-0.80.2"
    composed = get_profile(name)
    assert composed == attrs.evolve(
        PROFILES["pi-0.85.0"], name=name, prepare_next_turn="after_turn", identity=True
    )
    assert releases_in(name) == ("0.85.0", "0.80.2", "1.6.0")
    assert releases_in("pi-1.0.3") == ("1.0.3",)


@pytest.mark.parametrize("name", ["pi-1.0.3,", "pi-1.0.3,color=pi-1.6.0", "pi-1.0.3,name=pi-1.6.0"])
def test_only_fields_can_be_another_releases(name: str) -> None:
    with pytest.raises(UnknownProfileError, match=r"a profile has no field .*; it has: stop_hook, "):
        get_profile(name)


@pytest.mark.parametrize("name", ["pi-1.0.3,identity", "pi-1.0.3,identity=1.6.0", ",identity=pi-1.6.0"])
def test_fields_are_taken_from_releases(name: str) -> None:
    with pytest.raises(UnknownProfileError, match=r"no profile '0\.85\.0' \(pi-0\.85\.0 is meant"):
        get_profile("0.85.0")
    with pytest.raises(UnknownProfileError, match="there is no profile"):
        get_profile(name)


def test_a_profile_does_not_change() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        PI_1_6_0.name = "other"  # type: ignore[misc]
    changed = attrs.evolve(PI_1_6_0, name="mine", durations=False)
    assert changed != PI_1_6_0
    assert PI_1_6_0.durations


def test_an_agent_takes_a_name_or_a_profile() -> None:
    mine = attrs.evolve(PI_1_6_0, name="mine")
    assert Agent(profile="pi-1.6.0").profile is PI_1_6_0
    assert Agent(profile=mine).profile is mine
    assert Agent().profile is PI_1_6_0
    with pytest.raises(UnknownProfileError):
        Agent(profile="pi-9")


def places_of_fields() -> dict[str, set[str]]:
    """For each field, the modules of the package that read it from something called a profile."""
    labels = {"name", "release"}
    places: dict[str, set[str]] = {
        field.name: set() for field in attrs.fields(Profile) if field.name not in labels
    }
    package = Path(pi_trio.__file__).parent
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Attribute) or node.attr not in places:
                continue
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name == "profile":
                places[node.attr].add(path.name)
    return places


def test_every_field_is_read_somewhere() -> None:
    """A field that nothing reads is a promise that nothing keeps."""
    unread = {name for name, places in places_of_fields().items() if not places}
    assert unread == set()
