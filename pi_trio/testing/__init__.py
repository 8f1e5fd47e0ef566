"""For tests of agents: scripted models and tools, a recorder, and a way to run a trio program step by step.

It needs no test framework. The examples run as they stand: the async ones in `trio.run`, or with pytest-trio, if its
`trio_mode` is on or they are marked with `@pytest.mark.trio`.

## A script

Model and tool get their answers beforehand: texts, content blocks, whole messages, exceptions, or functions of what
they are asked. They keep what they were asked. The block around the model sees to it that script and run fit: leaving
it fails if an answer was lacking, or is left over. (`ScriptedProvider`, which is not for tests alone, minds neither.)

```python
from pi_trio import Agent
from pi_trio.testing import ScriptedModel, ScriptedTool, tool_call, transcript


async def test_the_tool_adds():
    add = ScriptedTool("add", lambda call: str(call.args["a"] + call.args["b"]))
    with ScriptedModel([tool_call("add", {"a": 2, "b": 3}), "It is 5."]) as model:
        agent = Agent(stream_fn=model, tools=[add], system_prompt="Use tools.")
        await agent.prompt("What is 2 + 3?")
    assert transcript(model.requests[0].messages) == ["system: Use tools. +add", "user: What is 2 + 3?"]
    assert transcript(agent)[2:] == [
        'assistant: add({"a":2,"b":3})',
        "toolResult add: 5",
        "assistant: It is 5.",
    ]
```

Several blocks in one answer are a message: `assistant(tool_call("add", …), tool_call("add", …))`. A tool repeats
its last answer. An exception is raised by a tool, and of a model it is a request that has failed.

```python
async def test_the_agent_tries_again():
    fetch = ScriptedTool("fetch", [TimeoutError("too slow"), "Hello!"])
    with ScriptedModel([tool_call("fetch"), tool_call("fetch"), RuntimeError("overloaded")]) as model:
        result = await Agent(stream_fn=model, tools=[fetch]).prompt("Fetch it.")
    assert len(fetch.calls) == 2
    assert transcript(result.messages)[2::2] == ["toolResult fetch (error): too slow", "toolResult fetch: Hello!"]
    assert result.error_message == "overloaded"
```

## In the middle of a run

Where the script says `HELD`, model or tool wait for the test: what they are asked is `pending` until it answers. A
`Recorder` keeps the events.

```python
import trio
import trio.testing
from pi_trio import ToolExecutionUpdate
from pi_trio.testing import HELD, Recorder


async def test_progress_comes_before_the_result():
    search = ScriptedTool("search", HELD)
    agent = Agent(stream_fn=ScriptedModel([tool_call("search"), "Found."]), tools=[search])
    recorder = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "Search!")
        await trio.testing.wait_all_tasks_blocked()
        search.pending[0].update("half of it")
        await recorder.wait_for(ToolExecutionUpdate)
        assert agent.state.pending_tool_calls
        search.pending[0].answer("all of it")
    assert [line for line in recorder.lines if line.startswith("tool_")] == [
        "tool_execution_start search: {}",
        "tool_execution_update search: half of it",
        "tool_execution_end search: all of it",
    ]
```

## Step by step

A `Stepper` runs a trio program from a plain function: nothing happens until the test says so, and when `settle`
returns, everything waits. Its time is virtual.

```python
from pi_trio.testing import Stepper


def test_an_abort_keeps_what_was_said():
    model = ScriptedModel(HELD)
    agent = Agent(stream_fn=model)
    with Stepper() as stepper:
        run = stepper.start(agent.prompt, "Tell me a story.")
        stepper.settle()
        model.pending[0].say("Once ", "upon")
        stepper.settle()
        assert not run.done
        agent.abort()
        stepper.settle()
        assert run.result().stop_reason == "aborted"
    assert transcript(agent)[-1] == "assistant: Once upon (aborted: Request was aborted)"
```

So the rules of a Hypothesis state machine can be steps, too. `teardown` closes the stepper, whatever has happened.

```python
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule


class Conversation(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.model = ScriptedModel(HELD)
        self.agent = Agent(stream_fn=self.model)
        self.stepper = Stepper()

    def teardown(self):
        self.stepper.close()

    @precondition(lambda self: not self.model.pending)
    @rule()
    def prompt(self):
        self.stepper.start(self.agent.prompt, "Hello")
        self.stepper.settle()

    @precondition(lambda self: self.model.pending)
    @rule()
    def answer(self):
        self.model.pending[0].answer("Hello yourself")
        self.stepper.settle()

    @rule()
    def steer(self):
        self.agent.steer("Quick!")

    @invariant()
    def who_is_asked_is_streaming(self):
        assert self.agent.state.is_streaming == bool(self.model.pending)


TestConversation = Conversation.TestCase
```

## Time

Delays, timeouts and deadlines are on trio's clock. `trio.testing.MockClock` (pytest-trio's `autojump_clock`) makes them
cost no time; a stepper has `advance`. The timestamps of messages are not on that clock: `frozen_time` sets them, and
`without_times` takes them out.

```python
from pi_trio.testing import frozen_time, without_times


def test_a_deadline_ends_the_run():
    async def in_time(agent):
        with trio.move_on_after(30):
            await agent.prompt("Hello?")

    agent = Agent(stream_fn=ScriptedModel(HELD))
    with frozen_time(1_700_000_000_000), Stepper() as stepper:
        run = stepper.start(in_time, agent)
        stepper.advance(29)
        assert not run.done
        stepper.advance(1)
        assert run.done
    assert agent.messages[0].timestamp == 1_700_000_000_000
    assert without_times(agent.messages[0]).timestamp == 0
```
"""

from __future__ import annotations

from ..models.scripted import assistant, thinking, tool_call
from .describing import describe, transcript, without_times
from .recorder import Recorder
from .script import HELD, ScriptError
from .scripted_model import ScriptedModel, ScriptedRequest
from .scripted_tool import ScriptedCall, ScriptedTool
from .stepper import Started, Stepper, StepperError
from .times import FrozenTime, frozen_time

__all__ = [
    "HELD",
    "FrozenTime",
    "Recorder",
    "ScriptError",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedRequest",
    "ScriptedTool",
    "Started",
    "Stepper",
    "StepperError",
    "assistant",
    "describe",
    "frozen_time",
    "thinking",
    "tool_call",
    "transcript",
    "without_times",
]
