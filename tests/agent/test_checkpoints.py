"""Every public coroutine function is a checkpoint, whatever it finds to do."""

from __future__ import annotations

from typing import Any

import trio
import trio.testing

from pi_trio.agent.agent import Agent
from pi_trio.events import StreamDone
from pi_trio.messages import AssistantMessage
from pi_trio.models.stream import ResponseStream

from .scripting import MODEL, assistant, user


class Immediate:
    """A stream that never suspends."""

    def __init__(self, message: AssistantMessage) -> None:
        self._message = message
        self._told = False

    async def __aenter__(self) -> Immediate:
        return self

    async def __aexit__(self, *args: object) -> None:
        pass

    def __aiter__(self) -> Immediate:
        return self

    async def __anext__(self) -> StreamDone:
        if self._told:
            raise StopAsyncIteration
        self._told = True
        return StreamDone(reason="stop", message=self._message)

    async def result(self) -> AssistantMessage:
        return self._message


def immediate(*args: Any) -> Immediate:
    return Immediate(assistant("at once"))


async def test_a_run_in_which_nothing_suspends() -> None:
    agent = Agent(model=MODEL, stream_fn=immediate)
    with trio.testing.assert_checkpoints():
        await agent.prompt("go")
    agent.messages = [user("go")]
    with trio.testing.assert_checkpoints():
        await agent.continue_()


async def test_a_run_in_which_nothing_suspends_can_be_cancelled() -> None:
    agent = Agent(model=MODEL, stream_fn=immediate)
    with trio.CancelScope() as scope:
        agent.subscribe(lambda event, signal: scope.cancel())
        await agent.prompt("go")
    assert scope.cancelled_caught
    assert agent.messages[-1].role == "assistant"
    assert not agent.state.is_streaming


async def test_reading_a_response_stream() -> None:
    stream = ResponseStream()
    stream.push(StreamDone(reason="stop", message=assistant("x")))
    with trio.testing.assert_checkpoints():
        await anext(stream)
    with trio.testing.assert_checkpoints():
        await anext(stream, None)
    with trio.testing.assert_checkpoints():
        await stream.result()
