"""A loop without an agent, for the tests of it: one tool, a model that calls it twice, and what was heard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.config import LoopConfig
from pi_trio.agent.hooks import AgentContext, Hooks
from pi_trio.events import AgentEvent
from pi_trio.tools.tool import UpdateFn

from .scripting import MODEL, Script, assistant, call, result, text_of, tool, user, yielding


async def work(call_id: str, args: Any, signal: AbortSignal, on_update: UpdateFn) -> Any:
    on_update(result("half"))
    await trio.lowlevel.checkpoint()
    return result(f"{call_id} worked")


CONTEXT = AgentContext(messages=(user("earlier"),), tools=(tool("work", work),))


def config(*answers: Any, pause: Any = yielding, hooks: Hooks | None = None, **options: Any) -> LoopConfig:
    """A loop whose model makes two calls and then says something."""
    script = Script(*(answers or (assistant("hm", call("t1"), call("t2")), assistant("done"))), pause=pause)
    return LoopConfig(stream_fn=script, model=MODEL, hooks=hooks or Hooks(), **options)


def into(heard: list[AgentEvent]) -> Callable[[AgentEvent, AbortSignal], None]:
    """A listener that keeps what it hears in a list."""
    return lambda event, signal: heard.append(event)


def texts(messages: Any) -> list[str]:
    """What was said, message by message."""
    return [text_of(message) for message in messages]
