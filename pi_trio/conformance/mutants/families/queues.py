"""QUEUE: steering and follow-up messages."""

from __future__ import annotations

import attrs

from pi_trio.agent import active, inbox, loop
from pi_trio.agent.agent import Agent
from pi_trio.agent.ledger import Ledger
from pi_trio.agent.polls import Polls
from pi_trio.agent.queues import MessageQueue
from pi_trio.errors import CannotContinueError
from pi_trio.events import TurnEnd
from pi_trio.messages import UserMessage

from ..planting import planted
from ..wire import DROP, asked


def _polling(make):
    """A run polls steering in another way: `make` is given the run's state, and its own poll."""

    def change(original):
        async def run_loop(state, opening, prompts):
            poll = make(state, state.config.get_steering_messages)
            state.config = attrs.evolve(state.config, get_steering_messages=poll)
            await original(state, opening, prompts)

        return run_loop

    change.__name__, change.__doc__ = make.__name__, make.__doc__
    return change


@planted("QUEUE-01", active, "run_loop")
@_polling
def the_first_turn_is_not_steered(state, poll):
    """Steering is not polled before the first request."""
    return lambda: poll() if state.run.ledger.answer or state.messages[-1].role == "assistant" else ()


@planted("QUEUE-04", active, "run_loop")
@_polling
def steering_is_polled_before_turn_end(state, poll):
    """Behind a turn there is only what was steered before its `turn_end` was told."""
    early, ended = [], []
    emit = state.run.emit

    async def emit_and_poll(event, part=None):
        if isinstance(event, TurnEnd):
            ended.append(event)
            early.extend(poll())
        await emit(event, part)

    def polled():
        if not ended:
            return poll()
        taken = tuple(early)
        early.clear()
        return taken

    state.run.emit = emit_and_poll
    return polled


@planted("QUEUE-05", Agent, "_settled")
def the_end_clears_the_queues(original):
    """When a run is over nothing is queued any more."""

    def settled(self):
        self.clear_all_queues()
        original(self)

    return settled


@planted("QUEUE-06", Polls, "steering")
def follow_ups_do_not_wait(original):
    """Follow-ups are taken whenever nothing is steered, also while there are results to answer."""
    return lambda polls: original(polls) or polls.follow_up()


@planted("QUEUE-07", Polls, "steering")
def follow_ups_go_first(original):
    """Follow-ups are taken before what is steered."""
    return lambda polls: polls.follow_up() or original(polls)


@planted("QUEUE-08", MessageQueue, "peek")
def a_poll_takes_all(original):
    """A poll takes everything, whatever the mode says."""
    return lambda queue: tuple(queue._messages)


@planted("QUEUE-09", MessageQueue, "peek")
def a_poll_takes_one(original):
    """A poll takes one message, whatever the mode says."""
    return lambda queue: tuple(queue._messages[:1])


@planted("QUEUE-10", Agent, "steering_mode")
def modes_are_read_at_the_start(original):
    """A mode that is set during a run counts from the next run on."""

    def assign(self, mode):
        if getattr(self, "_active", None) is None:
            original.fset(self, mode)
        else:
            self._active.on_settled.append(lambda: original.fset(self, mode))

    return property(original.fget, assign)


@planted("QUEUE-14", loop, "_prepare_next_turn", shows="loop_second_steering_poll")
def steering_is_always_polled_twice(original):
    """Behind `prepareNextTurn` steering is polled, though something is waiting to be said."""

    async def prepare_next_turn(state, last):
        prepared = await original(state, last)
        return [*prepared, *await loop._poll(state.run, state.config.get_steering_messages)]

    return prepare_next_turn


@planted("QUEUE-15", Agent, "clear_steering_queue")
def steering_cannot_be_cleared(original):
    """To clear steering is refused."""

    def clear_steering_queue(self):
        raise CannotContinueError("the queue of steering cannot be cleared")

    return clear_steering_queue


@planted(("QUEUE-15", "QUEUE-06"), Agent, "clear_steering_queue")
def clearing_one_clears_both(original):
    """To clear steering clears the follow-ups too."""
    return lambda self: self.clear_all_queues()


@planted("QUEUE-16", Agent, "peek_queued_messages")
def to_peek_is_to_take(original):
    """Who looks at what is queued takes it."""
    return lambda self: self._steering.drain() or self._follow_up.drain()


@planted("QUEUE-16", Agent, "peek_queued_messages")
def all_is_seen(original):
    """Who looks at what is queued sees both queues whole."""
    return lambda self: (*self._steering._messages, *self._follow_up._messages)


@planted("QUEUE-17", inbox, "message_of")
def what_is_queued_is_the_users(original):
    """Every message that is queued becomes one of the user."""

    def message_of(given):
        message = original(given)
        known = message.role in ("user", "system")
        return message if known else UserMessage(content="", timestamp=0)

    return message_of


@planted("QUEUE-18", Agent, "steer")
def an_idle_agent_is_not_steered(original):
    """To steer without a run is refused."""

    def steer(self, message):
        if self._active is None:
            raise CannotContinueError("there is no run to steer")
        original(self, message)

    return steer


@planted("QUEUE-19", active, "closing_events")
def a_failure_clears_the_queues(original):
    """When a run fails nothing is queued any more."""

    def closing_events(state, text, model):
        polls = state.config.get_steering_messages.__self__
        polls._steering.clear()
        polls._follow_up.clear()
        return original(state, text, model)

    return closing_events


@planted("QUEUE-20", Ledger, "return_unsaid")
def what_was_taken_comes_back_empty(original):
    """A message that was taken and not said is put back without its content."""

    def return_unsaid(self):
        self.unsaid = [(queue, attrs.evolve(message, content=())) for queue, message in self.unsaid]
        original(self)

    return return_unsaid


@asked("QUEUE-21", "getSteeringMessages")
def the_loop_alone_is_not_steered(args):
    """The loop alone never asks for steering."""
    return DROP


@asked("QUEUE-21", "getFollowUpMessages")
def the_loop_alone_has_no_follow_ups(args):
    """The loop alone never asks for follow-ups."""
    return DROP
