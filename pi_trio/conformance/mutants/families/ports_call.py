"""Faults in how one call is prepared, executed and finalised, and in how its progress is reported."""

from __future__ import annotations

import attrs

from pi_trio.agent import batch
from pi_trio.agent.batch import _Updates
from pi_trio.agent.call import Caller, Prepared, error_outcome
from pi_trio.agent.ledger import Outcome
from pi_trio.agent.wait import Cut
from pi_trio.events import ToolExecutionUpdate

from ..planting import planted


@planted("QUEUE-03", Caller, "prepare", fault="F12", shows="steer_during_sequential_batch")
def steering_skips_the_rest(original):
    """Once a message is steered, the calls that are left are skipped."""

    async def prepare(caller, call):
        poll = caller.context.__self__.config.get_steering_messages
        if len(poll.__self__._steering):
            return error_outcome("Skipped due to queued user message.")
        return await original(caller, call)

    return prepare


@planted(("HOOK-19", "FAIL-12"), Caller, "finalise", fault="F21", shows="after_tool_call_throws")
def after_tool_call_fails_the_run(original):
    """What `afterToolCall` throws leaves the loop."""

    async def finalise(caller, prepared, executed):
        thrown = []

        async def ask(*args):
            try:
                return await caller.ask(*args)
            except Exception as error:
                thrown.append(error)
                raise

        outcome = await original(attrs.evolve(caller, ask=ask), prepared, executed)
        for error in thrown:
            raise error
        return outcome

    return finalise


@planted("HOOK-08", Caller, "_before", fault="F22", shows="before_tool_call_throws")
def before_tool_call_fails_open(original):
    """A call whose `beforeToolCall` throws is executed all the same."""

    async def before(caller, call, args):
        try:
            return await original(caller, call, args)
        except Cut:
            raise
        except Exception:
            return None

    return before


@planted("HOOK-10", Caller, "prepare", fault="F23", shows="after_tool_call_only_for_executed")
def after_tool_call_for_every_call(original):
    """`afterToolCall` is asked about calls too that were never executed."""

    async def prepare(caller, call):
        prepared = await original(caller, call)
        if isinstance(prepared, Outcome):
            never = Prepared(call=call, tool=caller.tools[0], args=call.arguments)
            return await caller.finalise(never, prepared)
        return prepared

    return prepare


@planted(("TOOL-20", "TOOL-04"), _Updates, "report", fault="F19", shows="updates_late_ignored")
def late_updates_are_heard(original):
    """A report after the tool has returned is still said, as long as the run goes on."""

    def report(updates, partial):
        run, call = updates._run, updates._record.call
        if updates._open or run.over:
            return original(updates, partial)
        event = ToolExecutionUpdate(
            tool_call_id=call.id, tool_name=call.name, args=call.arguments, partial_result=partial
        )
        return run.nursery.start_soon(run.begin(event).finish)

    return report


@planted("TOOL-22", batch, "_Updates", fault="F20", shows="updates_simple")
def updates_are_kept_back(original):
    """Reports are said when the tool has returned."""

    class Buffered(original):
        def __init__(self, *args):
            super().__init__(*args)
            self._kept = []

        def report(self, partial):
            if self._open:
                self._kept.append(partial)

        def close(self):
            for partial in self._kept:
                super().report(partial)
            super().close()

    return Buffered
