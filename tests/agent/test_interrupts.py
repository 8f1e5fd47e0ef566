"""Ctrl-C, the real one: wherever it finds the run, it comes out of `prompt()` bare, after settlement."""

from __future__ import annotations

import inspect
import signal as signals
import sys
from types import FrameType
from typing import Any, Final

import pytest
import trio
import trio.testing

from pi_trio.abort import AbortController, AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.config import LoopConfig
from pi_trio.agent.event_stream import EventChannel, _Subscribed
from pi_trio.agent.hooks import AgentContext
from pi_trio.agent.ledger import Ledger
from pi_trio.agent.lowlevel import open_agent_loop
from pi_trio.agent.open_run import OpenRun
from pi_trio.agent.state import LiveState
from pi_trio.events import AgentEnd, AgentEvent
from pi_trio.messages import AssistantMessage
from pi_trio.tools.tool import ExecutionMode

from .grammar import check
from .scripting import MODEL, Recorder, Script, assistant, brief, call, result, tool, user

WHERE = (
    "provider",
    "tool",
    "listener",
    "listener of a call",
    "listener of an update",
    "hook",
    "hook of a call",
)

HOOKS = (
    "get_api_key",
    "before_tool_call",
    "after_tool_call",
    "prepare_next_turn_with_context",
    "prepare_request",
    "finish_turn",
)


def interrupted(agent: Agent) -> BaseException:
    """Run a program that prompts, press Ctrl-C when nothing moves any more, and tell what came out of `prompt()`."""
    raised: list[BaseException] = []

    async def press() -> None:
        await trio.testing.wait_all_tasks_blocked()
        signals.raise_signal(signals.SIGINT)

    async def main() -> None:
        trio.lowlevel.spawn_system_task(
            press
        )  # which is protected, so the main task is interrupted where it waits
        try:
            await agent.prompt("go")
        except BaseException as error:
            raised.append(error)
        assert not agent.state.is_streaming

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    return raised[0]


async def forever(*args: Any) -> Any:
    await trio.sleep_forever()


async def reporting(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    on_update(result("half"))
    return result("done")


@pytest.mark.parametrize("mode", ["parallel", "sequential"])
@pytest.mark.parametrize("where", WHERE)
def test_an_interrupt_comes_out_bare_after_settlement(where: str, mode: ExecutionMode) -> None:
    agent = Agent(
        model=MODEL,
        tools=[tool("work", forever if where == "tool" else reporting)],
        stream_fn=Script(assistant(call("t1"), call("t2"))),
        tool_execution=mode,
    )
    if where == "provider":
        agent.stream_fn = Script(pause=forever)
    elif where == "hook":
        agent.transform_context = forever
    elif where == "hook of a call":
        agent.after_tool_call = forever
    heard = Recorder(agent)
    stands_at = {
        "listener": "message_end user",
        "listener of a call": "tool_execution_end t1",
        "listener of an update": "tool_execution_update t1",
    }.get(where)

    async def standing(event: AgentEvent, signal: AbortSignal) -> None:
        if brief(event) == stands_at:
            await trio.sleep_forever()

    agent.subscribe(standing)
    error = interrupted(agent)
    assert type(error) is KeyboardInterrupt
    if stands_at is None:
        check(heard.events, sequential=mode == "sequential")
    else:  # its delivery is waited for, until the grace is over; then nobody is told any more
        assert not any(isinstance(event, AgentEnd) for event in heard.events)
    last = agent.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.error_message == "KeyboardInterrupt"


async def test_what_the_user_gives_is_not_protected(monkeypatch: pytest.MonkeyPatch) -> None:
    """So an endless loop in it can be interrupted. The rest is: between two steps of its own no run is struck."""
    protected: dict[str, set[bool]] = {}

    def note(place: str) -> None:
        protected.setdefault(place, set()).add(trio.lowlevel.currently_ki_protected())

    def noting(place: str, answer: Any = None) -> Any:
        async def function(*args: Any) -> Any:
            note(place)
            await trio.lowlevel.checkpoint()
            note(place)
            return answer(*args) if answer else None

        def called(*args: Any) -> Any:
            note(place)
            return function(*args)

        return called

    def prepare_arguments(args: Any) -> Any:
        note("prepare_arguments")
        return args

    def execute(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        on_update(result("half"))
        return noting("tool", lambda: result("done"))()

    playback = Script(assistant(call("t1"), call("t2")), pause=noting("provider"))
    agent = Agent(
        model=MODEL,
        tools=[tool("work", execute, prepare_arguments=prepare_arguments)],
        stream_fn=noting("stream_fn", playback),
        transform_context=noting("transform_context", lambda messages, signal: messages),
        convert_to_llm=noting("convert_to_llm", lambda messages: messages),
        **{name: noting(name) for name in HOOKS},
    )
    for name in ("first", "second"):
        agent.subscribe(noting(f"{name} listener"))

    def watch(owner: type, name: str) -> None:
        original = getattr(owner, name)

        def watched(*args: Any) -> Any:
            note(f"{owner.__name__}.{name}")
            return original(*args)

        monkeypatch.setattr(owner, name, watched)

    watch(Ledger, "reduce")
    watch(Ledger, "drained")
    watch(LiveState, "reduce")
    agent.steer("and this")
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop", outcome
    own = {"Ledger.reduce", "LiveState.reduce", "Ledger.drained"}
    assert {place for place, kinds in protected.items() if kinds != {False}} == own
    assert all(protected[place] == {True} for place in own)
    assert len(protected) == len(own) + len(HOOKS) + 8


CALLED_BY_THE_USER: Final[list[Any]] = [
    EventChannel.receive,
    EventChannel.close,
    _Subscribed.close,
    OpenRun.close,
    type(AbortSignal.scope(AbortSignal())).__enter__,
    type(AbortSignal.scope(AbortSignal())).__exit__,
    AbortController.abort,
]
"""What would be left half-done if Ctrl-C struck in the middle of it."""


async def test_what_the_user_calls_is_done_whole() -> None:
    names = {inspect.unwrap(function).__code__: function.__qualname__ for function in CALLED_BY_THE_USER}
    assert len(names) == len(CALLED_BY_THE_USER)
    found: dict[str, set[bool]] = {}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code not in names:
            return None
        if event == "line":
            found.setdefault(names[frame.f_code], set()).add(trio.lowlevel.currently_ki_protected())
        return trace

    @trio.lowlevel.disable_ki_protection
    async def use() -> None:
        agent = Agent(model=MODEL, stream_fn=Script())
        async with trio.open_nursery() as nursery, agent.events() as channel:
            nursery.start_soon(agent.prompt, "go")
            await channel.receive()
            await channel.aclose()
        async with agent.open_prompt("go") as run:
            await run.receive()
            await run.aclose()
        config = LoopConfig(stream_fn=Script(), model=MODEL)
        async with open_agent_loop([user("go")], AgentContext(messages=()), config) as stream:
            await stream.aclose()
        controller = AbortController()
        with controller.signal.scope():
            controller.abort()

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        await use()
    finally:
        sys.settrace(before)
    assert {name for name, kinds in found.items() if kinds != {True}} == set()
    assert found.keys() == {*names.values()}
