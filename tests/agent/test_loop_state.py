"""What the loop's state says of its messages: each is looked at once, and what is said is of those that are there."""

from __future__ import annotations

from pi_trio.agent.config import LoopConfig, LoopState
from pi_trio.agent.delivery import Listeners
from pi_trio.agent.hooks import AgentContext
from pi_trio.agent.run import Run
from pi_trio.messages import AssistantMessage, SystemMessage, UserMessage
from pi_trio.profile import PI_1_6_0

from .scripting import MODEL, Script, assistant, user


def system(text: str) -> SystemMessage:
    return SystemMessage(content=text, timestamp=0)


def test_messages_are_looked_at_as_they_come() -> None:
    first, second, third = map(system, ("one", "two", "three"))
    run = Run(profile=PI_1_6_0, reduce=lambda _event: None, listeners=Listeners(), abort_mode="cancel")
    state = LoopState(
        run=run,
        config=LoopConfig(stream_fn=Script(), model=MODEL),
        messages=[first, user("go")],
        tools=(),
        system_prompt=None,
        model=MODEL,
        thinking_level="off",
    )
    assert [*state.system_messages()] == [first]
    assert state.classes() == {SystemMessage, UserMessage}
    state.messages += [assistant("well"), second]
    assert state.classes() == {SystemMessage, UserMessage, AssistantMessage}
    assert [*state.system_messages()] == [first, second]
    state.update(AgentContext(messages=(user("something else"), third)), None, None)
    assert [*state.system_messages()] == [third]
    assert state.classes() == {SystemMessage, UserMessage}
