"""The grammar that other tests rely on can fail: no event of a good stream can be lost, doubled or moved."""

from __future__ import annotations

import pytest

from pi_trio.events import AgentEvent, MessageUpdate, ToolExecutionUpdate
from pi_trio.tools.tool import ExecutionMode

from .grammar import check
from .scripting import brief
from .show import Show

LOSABLE = MessageUpdate | ToolExecutionUpdate


async def events_of(tool_execution: ExecutionMode) -> list[AgentEvent]:
    show = Show(tool_execution=tool_execution)
    await show.agent.prompt("go")
    return show.first.events


def holds(events: list[AgentEvent], *, sequential: bool) -> bool:
    try:
        check(events, sequential=sequential)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("tool_execution", ["parallel", "sequential"])
async def test_a_good_stream_passes_and_a_damaged_one_does_not(tool_execution: ExecutionMode) -> None:
    events = await events_of(tool_execution)
    sequential = tool_execution == "sequential"
    assert holds(events, sequential=sequential)
    for index, event in enumerate(events):
        without = events[:index] + events[index + 1 :]
        twice = [*events[:index], event, *events[index:]]
        last = [*without, event]
        assert holds(without, sequential=sequential) == isinstance(event, LOSABLE), brief(event)
        assert holds(twice, sequential=sequential) == isinstance(event, LOSABLE), brief(event)
        assert holds(last, sequential=sequential) == (index == len(events) - 1), brief(event)


async def test_the_order_of_a_batch_depends_on_its_mode() -> None:
    assert not holds(await events_of("parallel"), sequential=True)
    assert not holds(await events_of("sequential"), sequential=False)


async def test_every_prefix_passes_as_one() -> None:
    events = await events_of("parallel")
    for index in range(len(events) + 1):
        check(events[:index], complete=False)
        assert holds(events[:index], sequential=False) == (index == len(events))
