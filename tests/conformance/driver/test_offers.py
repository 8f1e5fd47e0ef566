"""What the runtime offers: its commands, its targets, and the hooks of each in every profile."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.driver.offers import HOOKS, offered_hooks, targets
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.needs import offers
from pi_trio.profile import PI_0_80_2, PI_0_85_0, PI_1_0_3, PI_1_6_0

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
