"""A run that only a cancellation ends, and the prompt that is cancelled."""

from __future__ import annotations

from typing import Any

import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent

from .scripting import MODEL, Script, assistant, call, result, tool


async def stuck(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    """A tool that nothing but a cancellation ends."""
    await trio.sleep_forever()


def stuck_agent(*, grace: float = 2, execute: Any = stuck, calls: int = 2, **options: Any) -> Agent:
    """An agent whose model makes so many calls; an abort only raises its signal."""
    calling = assistant(*(call(f"t{number}") for number in range(calls)))
    return Agent(
        model=MODEL,
        tools=[tool("work", execute)],
        stream_fn=Script(calling),
        settle_grace=grace,
        abort_mode="signal",
        **options,
    )


async def cancelled_prompt(agent: Agent) -> list[BaseException]:
    """Prompt, cancel when nothing moves, and tell what came out of `prompt`; nothing if it had returned before."""
    errors: list[BaseException] = []

    async def prompt(scope: trio.CancelScope) -> None:
        with scope:
            try:
                await agent.prompt("go")
            except BaseException as error:
                errors.append(error)
                raise

    scope = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt, scope)
        await trio.testing.wait_all_tasks_blocked()
        scope.cancel()
    assert scope.cancelled_caught == bool(errors)
    return errors


async def told_to_stop(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    """A tool that ends when it is told to."""
    await signal.wait()
    return result("stopped")
