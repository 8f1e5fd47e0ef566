"""A conversation played at random, by a state machine whose rules are steps: its events obey the grammar throughout."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pi_trio import Agent, AgentEvent, AgentStart
from pi_trio.testing import HELD, Recorder, ScriptedModel, ScriptedTool, Started, Stepper, tool_call

from ..agent.grammar import check
from .machines import QUICK

TEXTS = st.sampled_from(["", "a", "b c"])


class Conversation(RuleBasedStateMachine):
    """An agent with a model and a tool that are held: every answer is a rule."""

    def __init__(self) -> None:
        super().__init__()
        self.model = ScriptedModel(HELD)
        self.tool = ScriptedTool("work", HELD)
        self.agent = Agent(stream_fn=self.model, tools=[self.tool])
        self.recorder = Recorder(self.agent)
        self.runs: list[Started] = []
        self.stepper = Stepper()

    def teardown(self) -> None:
        self.stepper.close()
        for events in self.told():
            check(events)
        assert all(run.done for run in self.runs)
        assert not self.agent.state.is_streaming
        assert not self.model.pending
        assert not self.tool.pending

    def told(self) -> list[list[AgentEvent]]:
        """The events, run by run."""
        runs: list[list[AgentEvent]] = []
        for event in self.recorder.events:
            if isinstance(event, AgentStart):
                runs.append([])
            runs[-1].append(event)
        return runs

    @precondition(lambda self: not self.agent.state.is_streaming)
    @rule(text=TEXTS)
    def prompt(self, text):
        self.runs.append(self.stepper.start(self.agent.prompt, text))
        self.stepper.settle()

    @precondition(lambda self: self.agent.state.is_streaming)
    @rule(queue=st.sampled_from(["steer", "follow_up"]), text=TEXTS)
    def queue(self, queue, text):
        getattr(self.agent, queue)(text)

    @precondition(lambda self: self.model.pending)
    @rule(word=TEXTS)
    def say(self, word):
        self.model.pending[0].say(word)
        self.stepper.settle()

    @precondition(lambda self: self.model.pending)
    @rule(calls=st.integers(0, 3), texts=st.lists(TEXTS, max_size=1))
    def answer(self, calls, texts):
        self.model.pending[0].answer(*texts, *(tool_call("work") for _ in range(calls)))
        self.stepper.settle()

    @precondition(lambda self: self.model.pending)
    @rule()
    def fail(self):
        self.model.pending[0].fail("no")
        self.stepper.settle()

    @precondition(lambda self: self.tool.pending)
    @rule(data=st.data(), given=st.one_of(TEXTS, st.just(ValueError("no"))), report=st.booleans())
    def work(self, data, given, report):
        call = data.draw(st.sampled_from(self.tool.pending))
        call.update("report") if report else None
        call.answer(given)
        self.stepper.settle()

    @rule()
    def abort(self):
        self.agent.abort()
        self.stepper.settle()

    @invariant()
    def the_grammar_holds(self):
        for events in self.told():
            check(events, complete=False)

    @invariant()
    def somebody_waits_for_the_test_if_and_only_if_a_run_goes_on(self):
        assert self.agent.state.is_streaming == bool(self.model.pending or self.tool.pending)


def test_a_conversation_played_at_random():
    run_state_machine_as_test(Conversation, settings=QUICK)
