"""What is logged: a failed run, once; what a tool raises; and nothing of a good run."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pi_trio.agent.agent import Agent

from .scripting import MODEL, Script, assistant, call, tool
from .show import Failing


async def test_a_failed_run_is_logged_once_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    error = ValueError("no")
    agent.subscribe(Failing("turn_start", error))
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        await agent.prompt("go")
    (record,) = caplog.records
    assert record.name == "pi_trio"
    assert record.levelno == logging.ERROR
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_a_tools_exception_is_logged_and_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    error = ValueError("no")

    def work(*args: Any) -> Any:
        raise error

    agent = Agent(model=MODEL, tools=[tool("work", work)], stream_fn=Script(assistant(call("t1"))))
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.exc_info is not None
    assert record.exc_info[1] is error


async def test_a_good_run_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    with caplog.at_level(logging.DEBUG, "pi_trio"):
        await agent.prompt("go")
    assert caplog.records == []
