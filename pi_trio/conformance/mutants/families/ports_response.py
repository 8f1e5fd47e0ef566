"""Faults in how a response is said."""

from __future__ import annotations

from pi_trio.agent import loop
from pi_trio.agent.response import _Slot
from pi_trio.events import MessageUpdate, StreamStart, UnknownStreamEvent

from ..planting import planted


@planted(("STREAM-04", "MSG-01"), _Slot, "take", fault="F01", shows="text_no_start_event")
def updates_before_the_message_starts(original):
    """A stream without `start` gives updates before `message_start`."""

    def take(slot, event):
        if slot._partial is None and not isinstance(event, StreamStart | UnknownStreamEvent):
            update = MessageUpdate(message=event.partial, assistant_message_event=event)
            return slot._state.run.begin(update, "response")
        return original(slot, event)

    return take


@planted(("STREAM-04", "MSG-01"), _Slot, "finish", fault="F02", shows="text_only_done")
def no_start_without_a_start(original):
    """A stream without `start` gives no `message_start` at all."""

    async def finish(slot, result):
        if slot._partial is None:
            slot._put(result)
        return await original(slot, result)

    return finish


@planted(("TURN-02", "TURN-06"), loop, "respond", fault="F30", shows="provider_error")
def the_loop_retries(original):
    """A failed response is asked for once more inside the loop, in the same turn."""

    async def respond(state):
        answer = await original(state)
        return answer if answer.stop_reason != "error" else await original(state)

    return respond
