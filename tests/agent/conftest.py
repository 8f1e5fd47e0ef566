"""What tests of the agent look at from the inside, and a guard: no Cancelled may leak out of a test.

A Cancelled that leaves a test function is taken for its own by the test runner, and the test would pass without having
been run to its end. Here such a test fails.
"""

from __future__ import annotations

import inspect
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
import trio

from pi_trio.agent.state import LiveState
from pi_trio.events import AgentEvent

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and item.path.parent == HERE
            and inspect.iscoroutinefunction(item.obj)
        ):
            item.obj = guarded(item.obj)


def guarded(test: Any) -> Any:
    """The test, failing if a Cancelled comes out of it."""

    @wraps(test)
    async def run(**fixtures: Any) -> None:
        try:
            await test(**fixtures)
        except BaseException as error:
            if is_cancelled(error):
                raise AssertionError(f"a Cancelled leaked out of the test: {error!r}") from error
            raise

    return run


def is_cancelled(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(is_cancelled(one) for one in error.exceptions)
    return isinstance(error, trio.Cancelled)


@pytest.fixture
def reduced(monkeypatch: pytest.MonkeyPatch) -> list[AgentEvent]:
    """All events that agents have reduced in this test."""
    events: list[AgentEvent] = []
    original = LiveState.reduce

    def reduce(self: LiveState, event: AgentEvent) -> None:
        events.append(event)
        original(self, event)

    monkeypatch.setattr(LiveState, "reduce", reduce)
    return events
