"""Prompting and continuing: what a prompt may be, when its run begins, what a continue goes on from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.errors import AgentBusyError
from pi_trio.events import AgentEvent
from pi_trio.messages import CustomMessage, ImageContent, TextContent, UserMessage

from .grammar import check
from .scripting import MODEL, Recorder, Script, assistant, roles, text_of, user


async def test_a_prompt_is_a_text_with_images() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    image = ImageContent(data="AAAA", mime_type="image/png")
    await agent.prompt("look", images=iter([image]))
    first = agent.messages[0]
    assert isinstance(first, UserMessage)
    assert first.content == (TextContent(text="look"), image)
    assert first.timestamp > 1_600_000_000_000
    assert isinstance(first.timestamp, int)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (({"role": "user", "content": "hi"},), r"not its JSON: UserMessage\(content=\.\.\.\), say"),
        (([{"role": "user", "content": "hi"}],), "a message was expected, or a text, not dict"),
        ((5,), "not iterable"),
        (([b"hi"],), "a message was expected, or a text, not bytes"),
        (("look", ["image.png"]), "an ImageContent was expected, not str"),
        (("look", "image.png"), "an ImageContent was expected, not str"),
        (([user("hi")], ["image.png"]), "an ImageContent was expected"),
    ],
)
async def test_what_is_no_prompt_is_refused_and_nothing_has_begun(given: tuple[Any, ...], says: str) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    with pytest.raises(TypeError, match=says):
        await agent.prompt(*given)
    assert agent.messages == ()
    assert (await agent.prompt("hi")).text == "nothing more"


@pytest.mark.parametrize("how", [list, iter, tuple, lambda messages: messages[0]])
async def test_a_prompt_is_messages_as_they_are(how: Callable[[list[Any]], Any]) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    message = user("as it is")
    outcome = await agent.prompt(how([message]))
    assert agent.messages[0] is message is outcome.messages[0]
    assert outcome.text == "nothing more"


async def test_an_empty_prompt_asks_the_model_as_things_stand() -> None:
    script = Script()
    agent = Agent(model=MODEL, stream_fn=script, messages=[user("earlier")])
    heard = Recorder(agent)
    await agent.prompt([])
    assert script.requests[0].said == ["user: earlier"]
    assert heard.briefs[:3] == ["agent_start", "turn_start", "message_start assistant"]


async def test_messages_of_other_roles_are_carried_and_not_sent() -> None:
    script = Script()
    agent = Agent(model=MODEL, stream_fn=script)
    await agent.prompt([CustomMessage(role="note", extra={"text": "private"}), user("hello")])
    assert roles(agent) == ["note", "user", "assistant"]
    assert script.requests[0].said == ["user: hello"]


async def test_a_run_begins_when_prompt_is_first_awaited_and_not_later() -> None:
    """The first listener is called in the very step of the task that calls `prompt`."""
    agent = Agent(model=MODEL, stream_fn=Script())
    order: list[str] = []

    async def other() -> None:
        order.append("other")

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_start":
            order.append("agent_start")

    agent.subscribe(listener)
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        await agent.prompt("go")
    assert order == ["agent_start", "other"]
    check(heard.events)


async def test_the_synchronous_half_of_a_prompt() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    heard = Recorder(agent)
    begun = agent.start_prompt("go")
    assert heard.briefs == ["agent_start"]
    assert agent.state.is_streaming
    with pytest.raises(AgentBusyError):
        agent.start_continue()
    outcome = await begun.finish()
    assert outcome.text == "nothing more"
    check(heard.events)
    assert (await agent.start_prompt("again").finish()).stop_reason == "stop"


async def test_cancelled_before_it_has_begun_nothing_has_happened() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=[user("hello")])
    agent.steer(user("kept"))
    heard = Recorder(agent)
    for method in (lambda: agent.prompt("go"), agent.continue_):
        with trio.CancelScope() as scope:
            scope.cancel()
            await method()
        assert scope.cancelled_caught
    assert heard.events == []
    assert roles(agent) == ["user"]
    assert agent.has_queued_messages()


async def test_continue_goes_on_from_a_message_of_the_user() -> None:
    script = Script(assistant("hi"))
    agent = Agent(model=MODEL, stream_fn=script, messages=[user("hello")])
    heard = Recorder(agent)
    outcome = await agent.continue_()
    assert script.requests[0].said == ["user: hello"]
    assert [text_of(message) for message in outcome.messages] == ["hi"]
    assert heard.briefs[:3] == ["agent_start", "turn_start", "message_start assistant"]
    assert check(heard.events) == list(outcome.messages)
