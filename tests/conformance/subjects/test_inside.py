"""A subject in this process is held to account as one outside: its errors are its own."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, ClassVar

import pytest
import trio

from pi_trio.conformance.faults import ProtocolFault, SubjectDied, SubjectSilent, SubjectUnstartable
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.subjects.inside import open_inside

HELLO = {
    "tell": "hello", "protocol": 1, "subject": "x", "version": "1", "profile": "pi-1.6.0", "hooks": [],
    "commands": ["create", "sync"], "quiescence": "exact",
}  # fmt: skip


class Subject:
    hello: ClassVar[dict[str, Any]] = HELLO

    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"re": command["id"], "ok": None}]


class Failing(Subject):
    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        raise ValueError("a bug in it")


class Silent(Subject):
    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        await trio.sleep_forever()
        raise AssertionError


class Babbling(Subject):
    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"re": command["id"]}]


class Wrong(Subject):
    hello: ClassVar[dict[str, Any]] = {**HELLO, "protocol": 2}


def opener_of(kind: type[Subject]):
    @asynccontextmanager
    async def opener():
        yield kind()

    return opener


@pytest.mark.parametrize(
    ("kind", "fault"), [(Failing, SubjectDied), (Silent, SubjectSilent), (Babbling, ProtocolFault)]
)
async def test_what_it_does_wrong_is_a_fault(autojump_clock, kind, fault) -> None:
    async with open_inside(opener_of(kind), 30) as subject:
        with pytest.raises(fault):
            await subject.request({"id": 1, "cmd": "create"})


async def test_an_error_is_told_with_its_traceback() -> None:
    async with open_inside(opener_of(Failing), 30) as subject:
        with pytest.raises(SubjectDied, match="it raised ValueError: a bug in it") as caught:
            await subject.request({"id": 1, "cmd": "create"})
    assert "Traceback" in caught.value.stderr
    assert "in request" in caught.value.stderr


async def test_a_wrong_hello_is_refused() -> None:
    with pytest.raises(SubjectUnstartable):
        async with open_inside(opener_of(Wrong), 30):
            pass


async def test_a_task_of_its_own_that_fails_is_its_death() -> None:
    @asynccontextmanager
    async def opener():
        async with trio.open_nursery() as nursery:
            subject = Silent()

            async def fail() -> None:
                raise ValueError("in the background")

            async def request(command: dict[str, Any]) -> list[dict[str, Any]]:
                nursery.start_soon(fail)
                await trio.sleep_forever()
                raise AssertionError

            subject.request = request
            yield subject

    async with open_keeper(lambda: open_inside(opener, 30)) as keeper:
        run = await keeper.drive(Scenario(name="x", title="X.", topic="t"))
    assert isinstance(run.fault, SubjectDied)
    assert "in the background" in run.fault.stderr


async def test_what_it_logs_is_its_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    class Logging(Failing):
        async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
            logging.getLogger("pi_trio").warning("tool a raised")
            return await super().request(command)

    async with open_inside(opener_of(Logging), 30) as subject:
        with pytest.raises(SubjectDied) as caught:
            await subject.request({"id": 1, "cmd": "create"})
    assert caught.value.stderr.startswith("tool a raised\nTraceback")
    assert capsys.readouterr().err == ""
    assert logging.getLogger("pi_trio").propagate


async def test_subjects_that_overlap_leave_the_logger_as_it_was() -> None:
    logger = logging.getLogger("pi_trio")
    async with AsyncExitStack() as later:
        async with AsyncExitStack() as earlier:
            await earlier.enter_async_context(open_inside(opener_of(Failing), 30))
            await later.enter_async_context(open_inside(opener_of(Failing), 30))
        assert not logger.propagate
    assert logger.propagate


class InNursery(Subject):
    """One that has tasks of its own."""


@asynccontextmanager
async def with_tasks():
    async with trio.open_nursery():
        yield InNursery()


@pytest.mark.parametrize("opener", [opener_of(Subject), with_tasks])
@pytest.mark.parametrize("error", [KeyError("of the tester"), ProtocolFault("it replied twice")])
async def test_an_error_of_the_block_is_no_death_of_its(opener: Any, error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        async with open_inside(opener, 1):
            raise error
    assert caught.value is error
