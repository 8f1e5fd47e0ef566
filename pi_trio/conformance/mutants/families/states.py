"""STATE: what the agent shows of itself, and who listens."""

from __future__ import annotations

import attrs
import trio

from pi_trio.agent.agent import Agent
from pi_trio.agent.delivery import Delivery, Listeners
from pi_trio.agent.run import Run
from pi_trio.agent.state import LiveState
from pi_trio.events import AgentEnd, MessageUpdate

from ..planting import planted
from ..wire import shown, wired


@planted("STATE-01", LiveState, "reduce")
def idle_at_agent_end(original):
    """At `agent_end` the agent shows that it is idle already."""

    def reduce(state, event):
        original(state, event)
        if isinstance(event, AgentEnd):
            state.is_streaming = False

    return reduce


@shown("STATE-02")
def only_answers_are_streaming(state, event):
    """A user's message is never the `streamingMessage`."""
    if state.get("streamingMessage", {}).get("role") == "user":
        del state["streamingMessage"]


@planted("STATE-03", LiveState, "reduce")
def the_streaming_message_does_not_grow(original):
    """`streamingMessage` stays as it was at `message_start`."""
    return lambda state, event: None if isinstance(event, MessageUpdate) else original(state, event)


@shown("STATE-04")
def nothing_is_pending(state, event):
    """`pendingToolCalls` is always empty."""
    state["pendingToolCalls"] = []


@shown("STATE-05")
def the_error_does_not_show(state, event):
    """`errorMessage` is not there at the `turn_end` of an errored answer."""
    if event.get("type") == "turn_end":
        state.pop("errorMessage", None)


@planted("STATE-06", LiveState, "settle")
def the_error_is_gone_with_the_run(original):
    """Behind the end of a run there is no `errorMessage`."""

    def settle(state):
        original(state)
        state.error_message = None

    return settle


@planted("STATE-06", LiveState, "begin")
def the_error_stays_for_ever(original):
    """The next run still shows the `errorMessage` of the one before."""

    def begin(state):
        kept = state.error_message
        original(state)
        state.error_message = kept

    return begin


@shown("STATE-07")
def messages_are_there_too_early(state, event):
    """A message is in the transcript from its start on."""
    if event.get("type") == "message_start":
        state["messages"] = [*state["messages"], event["message"]]


@planted(("STATE-08", "STATE-02", "STATE-07"), Run, "begin")
def the_state_changes_afterwards(original):
    """The first listener of an event sees the state as it was before."""

    def begin(run, event, part=None):
        reduce, run._reduce = run._reduce, lambda _: None
        try:
            return original(run, event, part)
        finally:
            run._reduce = reduce
            reduce(event)

    return begin


@shown("STATE-09")
def there_is_no_signal(state, event):
    """The state never shows a signal."""
    state.pop("signal", None)


@wired("STATE-10", shows="set_model_between_runs")
def a_model_that_is_set_does_not_show():
    """The state shows the model that the agent was made with."""
    first = []

    def change(said, command):
        if command["cmd"] == "create":
            first.append(command.get("initialState", {}).get("model"))
        if command["cmd"] == "state" and isinstance(said[-1].get("ok"), dict) and first[0]:
            said[-1]["ok"]["model"] = first[0]
        return said

    return change


@planted(("STATE-10", "RUN-31"), Agent, "messages")
def messages_cannot_be_set(original):
    """Messages that are set are not taken."""
    return property(original.fget, lambda self, messages: None)


@planted("STATE-11", Agent, "messages")
def messages_cannot_be_set_in_a_run(original):
    """Messages that are set during a run are not taken."""
    return property(
        original.fget, lambda self, messages: None if self._active else original.fset(self, messages)
    )


@shown("STATE-12")
def a_new_agent_has_no_model(state, event):
    """A model that nobody has named has no name."""
    if state["model"]["id"] == "unknown":
        state["model"] = {**state["model"], "id": "", "name": ""}


def _heard_by(choose):
    """Who is to hear an event is settled in another way: `choose` is given who was there, and who is there now."""

    def make(original):
        begun = {}

        def call_next(delivery):
            audience = delivery._audience
            there = begun.setdefault(delivery, audience.listeners.entries)
            chosen = Listeners()
            chosen.entries = tuple(choose(there, audience.listeners.entries))
            delivery._audience = attrs.evolve(audience, listeners=chosen)
            try:
                original(delivery)
            finally:
                delivery._audience = audience

        return call_next

    make.__name__, make.__doc__ = choose.__name__, choose.__doc__
    return make


@planted("STATE-15", Delivery, "_call_next")
@_heard_by
def who_comes_late_hears_nothing(there, now):
    """A listener that is added while an event is delivered does not get it."""
    return [each for each in now if each in there]


@planted("STATE-16", Delivery, "_call_next")
@_heard_by
def who_has_left_hears_on(there, now):
    """A listener that is removed while an event is delivered gets it all the same."""
    return sorted({*there, *now}, key=lambda each: each[1])


@planted("STATE-18", Listeners, "add")
def who_subscribes_again_moves_to_the_end(original):
    """A listener that is subscribed a second time is called behind the others."""

    def add(listeners, listener):
        listeners._remove(listener)
        return original(listeners, listener)

    return add


@planted("STATE-17", Delivery, "hear")
def who_has_left_is_not_awaited(original):
    """A listener that is removed while it handles an event is not waited for."""

    async def hear(delivery):
        run, listeners = delivery._audience.failed.__self__, delivery._audience.listeners
        remove = listeners._remove
        while delivery.must_wait():
            done = trio.Event()

            async def wait(answer, done):
                await answer
                done.set()

            def remove_and_go_on(listener, held=delivery._listener, done=done):
                if listener is held:
                    done.set()
                return remove(listener)

            listeners._remove = remove_and_go_on
            run.nursery.start_soon(wait, delivery._answer, done)
            await done.wait()
            listeners._remove = remove
            delivery._call_next()

    return hear


@planted("STATE-19", Listeners, "add")
def who_comes_back_hears_nothing(original):
    """A listener that was removed and subscribes again is not heard of any more."""
    seen = {}

    def add(listeners, listener):
        before = seen.setdefault(listeners, set())
        remove = original(listeners, listener)
        if listener in before:
            listeners._remove(listener)
        before.add(listener)
        return remove

    return add


@planted("STATE-24", Run, "emit")
def somebody_has_to_listen(original):
    """An agent without listeners waits for one."""

    async def emit(run, event, part=None):
        if not run._audience.listeners.entries:
            await trio.sleep_forever()
        await original(run, event, part)

    return emit
