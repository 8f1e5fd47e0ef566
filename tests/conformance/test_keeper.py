"""A subject is kept through many scenarios, and started anew when one has broken it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pi_trio.conformance.faults import SubjectDied, SubjectUnstartable
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.scenario import Scenario

SCENARIO = Scenario(name="x", title="X.", topic="t")


async def test_a_crash_costs_one_scenario(peer, tmp_path: Path) -> None:
    fragile = peer([None, [{"exit": 3}]], once=str(tmp_path / "once"))
    async with open_keeper(fragile.opener()) as keeper:
        first, second = await keeper.drive(SCENARIO), await keeper.drive(SCENARIO)
    assert isinstance(first.fault, SubjectDied)
    assert second.fault is None


async def test_one_process_serves_all_scenarios_if_nothing_breaks(peer) -> None:
    opened = 0

    @asynccontextmanager
    async def opener():
        nonlocal opened
        opened += 1
        async with peer().opener()() as subject:
            yield subject

    async with open_keeper(opener) as keeper:
        await keeper.start()
        assert keeper.hello["subject"] == "peer"
        for _ in range(3):
            assert (await keeper.drive(SCENARIO)).fault is None
    assert opened == 1


async def test_a_subject_that_rests_is_ended_and_started_again() -> None:
    log: list[str] = []

    class Subject:
        hello: ClassVar[dict[str, Any]] = {"commands": ["create", "sync"], "hooks": []}

        async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
            return [{"re": command["id"], "ok": None}]

    @asynccontextmanager
    async def opener():
        log.append("begin")
        yield Subject()
        log.append("end")

    async with open_keeper(opener) as keeper:
        await keeper.start()
        await keeper.rest()
        assert log == ["begin", "end"]
        assert (await keeper.drive(SCENARIO)).fault is None
        assert log == ["begin", "end", "begin"]


async def test_a_subject_that_does_not_start_says_so_each_time(peer) -> None:
    async with open_keeper(peer(opening=[{"exit": 1}]).opener()) as keeper:
        for _ in range(2):
            with pytest.raises(SubjectUnstartable):
                await keeper.start()


async def test_two_subjects_may_be_used_in_turn(peer, tmp_path: Path) -> None:
    fragile = peer([None, [{"exit": 3}]])
    async with open_keeper(peer().opener()) as one, open_keeper(fragile.opener()) as two:
        for _ in range(2):
            assert (await one.drive(SCENARIO)).fault is None
            assert (await two.drive(SCENARIO)).fault is not None


async def test_a_fault_of_the_tester_is_not_the_subjects() -> None:
    """Only a `SubjectFault` is the subject's; whatever else comes out of driving it is a bug of ours."""

    class Subject:
        hello: ClassVar[dict[str, Any]] = {"commands": ["create", "sync"], "hooks": []}

        async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
            raise KeyError("bug")

    @asynccontextmanager
    async def opener():
        yield Subject()

    async with open_keeper(opener) as keeper:
        with pytest.raises(KeyError, match="bug"):
            await keeper.drive(SCENARIO)


async def test_the_error_of_the_block_comes_out_as_it_is(peer) -> None:
    async def fail() -> None:
        async with open_keeper(peer().opener()) as keeper:
            await keeper.start()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
