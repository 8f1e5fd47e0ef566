"""What the runtime offers: its commands, its targets, its options, and the hooks of each in every profile."""

from __future__ import annotations

from typing import Any, Final

import pytest

from pi_trio.conformance.driver.offers import HOOKS, OPTIONS, offered_hooks, targets
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.needs import offers
from pi_trio.conformance.options import OF_CREATE, OF_SET_OPTION
from pi_trio.conformance.subjects.choice import runtime_process
from pi_trio.profile import PI_0_80_2, PI_0_85_0, PI_1_0_3, PI_1_6_0, get_profile

from .talk import talking

EVERY = pytest.mark.parametrize(
    "profile", [PI_0_80_2, PI_0_85_0, PI_1_0_3, PI_1_6_0], ids=lambda profile: profile.release
)


@EVERY
def test_the_loop_calls_what_an_agent_calls_but_for_the_hook_with_context(profile: Any) -> None:
    of_agent, of_loop = (set(offered_hooks(profile, target)) for target in ("agent", "loop"))
    only_the_loop = {"shouldStopAfterTurn"} if profile is PI_0_80_2 else set[str]()
    assert of_agent - of_loop == of_agent & {"prepareNextTurnWithContext"}
    assert of_loop - of_agent == only_the_loop
    assert ("loopHooks" in targets(profile)) == bool(only_the_loop)


@EVERY
def test_a_tester_reads_the_same_from_the_hello(profile: Any) -> None:
    offered = offers(hello(profile))
    assert {f"hook {name}" for name in offered_hooks(profile)} <= offered
    of_loop = {f"hook {name} of the loop" for name in offered_hooks(profile, "loop")}
    assert {name for name in offered if name.endswith(" of the loop")} == of_loop
    assert {"feature targets: agent", "feature targets: loop"} <= offered


@EVERY
@pytest.mark.parametrize("target", ["agent", "loop"])
async def test_what_is_offered_can_be_installed_and_nothing_else(profile: Any, target: Any) -> None:
    async with talking(profile) as talk:
        offered = offered_hooks(profile, target)
        await talk.create(target=target, hooks=offered)
        for name in HOOKS.keys() - set(offered):
            assert name in (await talk.reply("create", target=target, hooks=[name]))["error"]


@EVERY
async def test_what_is_not_listed_is_no_command(profile: Any) -> None:
    async with talking(profile) as talk:
        await talk.create()
        listed = "peekQueued" in hello(profile)["commands"]
        reply = await talk.reply("peekQueued")
        assert ("error" in reply) == (not listed)


@EVERY
def test_the_options_are_those_that_the_tester_knows_of_the_release(profile: Any) -> None:
    said = hello(profile)
    assert set(said["features"]["options"]) == set(OF_CREATE[profile.name])
    assert set(said["features"]["settable"]) == set(OF_SET_OPTION[profile.name])
    silent = {**said, "features": {}}
    assert {
        name for name in offers(said) ^ offers(silent) if name.startswith(("option", "setOption"))
    } == set()


async def test_a_composed_profile_offers_what_it_is_composed_of() -> None:
    name = "pi-0.85.0,peek_queued_messages=pi-1.0.3,system_messages=pi-1.0.3"
    said = hello(get_profile(name))
    assert said["profile"] == name
    assert "peekQueued" in said["commands"]
    assert "systemPrompt" not in said["features"]["settable"]
    async with open_keeper(runtime_process(name, 30)) as keeper:
        await keeper.start()
        assert keeper.hello == said


@EVERY
async def test_an_option_that_is_not_listed_is_refused(profile: Any) -> None:
    listed = hello(profile)["features"]
    values = {
        "identity": {}, "thinkingBudgets": {}, "maxRetryDelayMs": 5,
        "abortMode": "cancel", "toolExecution": "parallel",
    }  # fmt: skip
    async with talking(profile) as talk:
        for name in OPTIONS:
            reply = await talk.reply("create", options={name: values.get(name, "all")})
            assert ("error" in reply) == (name not in [*listed["options"], "abortMode"])
        for target in ("agent", "loop"):
            await talk.create(target=target)
            reply = await talk.reply("setOption", name="systemPrompt", value="be kind")
            assert ("error" in reply) == ("systemPrompt" not in listed["settable"])


@pytest.mark.parametrize("name", ["steeringMode", "followUpMode"])
async def test_the_loop_has_no_queues_to_set(name: str) -> None:
    async with talking() as talk:
        assert name in (await talk.reply("create", target="loop", options={name: "all"}))["error"]
        await talk.create(target="loop")
        assert name in (await talk.reply("setOption", name=name, value="all"))["error"]


_ODD: Final[tuple[Any, ...]] = (None, "zork", "", 5, True, [], [None], {}, {"a": 1})


@pytest.mark.parametrize("target", ["agent", "loop"])
@pytest.mark.parametrize("value", _ODD, ids=repr)
async def test_a_value_that_an_option_cannot_have_is_refused_and_nothing_breaks(
    target: Any, value: Any
) -> None:
    """A subject that died of it would be said to crash, where the tester is to blame."""
    async with talking(PI_0_80_2) as talk:
        for name in OPTIONS:
            said = await talk.reply("create", target=target, options={name: value})
            assert "ok" in said or said["error"].startswith("driver: "), said
            assert "error" in said or name not in ("steeringMode", "toolExecution", "abortMode")
        for name in ("systemPrompt", "thinkingLevel", "model"):
            said = await talk.reply("create", target=target, initialState={name: value})
            assert "ok" in said or said["error"].startswith("driver: "), said
        await talk.create(target=target)
        for name in OF_SET_OPTION["pi-0.80.2"]:
            said = await talk.reply("setOption", name=name, value=value)
            assert "ok" in said or said["error"].startswith("driver: "), said
            assert "error" in await talk.reply("setOption", name=name), "a value is needed"
        await talk.do("prompt", op="p", input="hi")
        assert talk.brief()[0] in ("streamFn", "getSteeringMessages")
