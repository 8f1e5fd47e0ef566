"""Faults in the order of a tool batch, and in what becomes of its results."""

from __future__ import annotations

from collections import defaultdict

import trio

from pi_trio.agent import batch, loop
from pi_trio.agent.batch import _Batch, answer_call, end, start
from pi_trio.agent.call import answer_of
from pi_trio.agent.ledger import Outcome
from pi_trio.events import MessageEnd, MessageStart

from ..planting import planted


async def prepare(whole, record, launch):
    """The second half of a preparation: the call is launched, or ends on the spot."""
    prepared = await whole.caller.prepare(record.call)
    if isinstance(prepared, Outcome):
        record.outcome = prepared
        await end(whole.run, record)
    else:
        launch((record, prepared))


async def launch_all(whole, ready):
    """Launch the calls together; gives their records in the order in which they ended."""
    ended = []
    pairs = iter(ready)

    async def launch():
        pair = next(pairs)
        await whole._launch(iter([pair]))
        ended.append(pair[0])

    async with trio.open_nursery() as nursery:
        for _ in ready:
            nursery.start_soon(launch)
    return ended


async def answer_all(whole, records):
    for record in records:
        await answer_call(whole.run, record)
    return records


@planted("TOOL-06", _Batch, "sequential", fault="F03", shows="tools_sequential_mode")
def results_after_all_ends(original):
    """A sequential batch says its result messages when all calls have ended."""

    async def sequential(whole):
        for record in whole.records:
            ready = []
            await start(whole.run, record)
            await prepare(whole, record, ready.append)
            await launch_all(whole, ready)
        return await answer_all(whole, whole.records)

    return sequential


@planted("TOOL-10", _Batch, "_execute", fault="F04", shows="tools_parallel_second_first")
def ends_in_source_order(original):
    """A parallel call's end is held back until the calls before it have ended."""
    done = defaultdict(trio.Event)

    async def execute(whole, record, prepared):
        await original(whole, record, prepared)
        for earlier in whole.records[: whole.records.index(record)]:
            if earlier.executing_since is not None:
                await done[earlier].wait()
        done[record].set()

    return execute


@planted("TOOL-05", _Batch, "parallel", fault="F05", shows="tools_parallel_second_first")
def results_in_the_order_of_completion(original):
    """Result messages come in the order of completion, in `turn_end` and in the next request too."""

    async def parallel(whole):
        ready = []
        for record in whole.records:
            await start(whole.run, record)
            await prepare(whole, record, ready.append)
        ended = [record for record in whole.records if record.ended] + await launch_all(whole, ready)
        whole.run.ledger.calls[:] = ended
        return await answer_all(whole, ended)

    return parallel


@planted("TOOL-07", _Batch, "parallel", fault="F06", shows="preparation_is_serial")
def launched_as_soon_as_prepared(original):
    """A parallel call runs while later calls are still being prepared."""

    async def parallel(whole):
        async with trio.open_nursery() as nursery:
            for record in whole.records:
                await start(whole.run, record)
                await prepare(whole, record, lambda pair: nursery.start_soon(whole._launch, iter([pair])))
        return await answer_all(whole, whole.records)

    return parallel


@planted("TOOL-07", _Batch, "parallel", fault="F07", shows="preparation_is_serial")
def prepared_concurrently(original):
    """Parallel calls are prepared at the same time."""

    async def parallel(whole):
        ready = []

        async def begin(record):
            await start(whole.run, record)
            await prepare(whole, record, ready.append)

        async with trio.open_nursery() as nursery:
            for record in whole.records:
                nursery.start_soon(begin, record)
        await launch_all(whole, sorted(ready, key=lambda pair: whole.records.index(pair[0])))
        return await answer_all(whole, whole.records)

    return parallel


@planted("TOOL-07", _Batch, "parallel", fault="F08", shows="preparation_is_serial")
def started_before_any_is_prepared(original):
    """All parallel calls start before the first of them is prepared."""

    async def parallel(whole):
        ready = []
        for record in whole.records:
            await start(whole.run, record)
        for record in whole.records:
            await prepare(whole, record, ready.append)
        await launch_all(whole, ready)
        return await answer_all(whole, whole.records)

    return parallel


@planted("TOOL-03", batch, "end", fault="F09", shows="tool_throws")
def no_end_after_a_throw(original):
    """A tool that throws gives a result, but its call no end."""

    async def end(run, record):
        if record.executing_since is not None and record.outcome.is_error:
            record.ended = True
        else:
            await original(run, record)

    return end


@planted("TOOL-23", loop, "fail_truncated_calls", fault="F10", shows="length_truncated_calls")
def truncated_calls_run(original):
    """The calls of a message that hit the output limit are executed."""

    async def fail_truncated_calls(state, records):
        results, _ = await loop.run_batch(state, state.run.ledger.answer, records)
        return results

    return fail_truncated_calls


@planted(("TURN-09", "TURN-07"), loop, "run_batch", fault="F11", shows="tool_terminate_some")
def one_terminates_for_all(original):
    """One result that terminates is enough."""

    async def run_batch(state, answer, records):
        results, _ = await original(state, answer, records)
        return results, any(record.outcome.result.terminate is True for record in records)

    return run_batch


@planted("TURN-09", loop, "run_batch", fault="F11", shows="tool_terminate_ends_run")
def nothing_terminates(original):
    """What a result says about terminating is ignored."""

    async def run_batch(state, answer, records):
        results, _ = await original(state, answer, records)
        return results, False

    return run_batch


@planted("TOOL-05", batch, "answer_call", fault="F28", shows="tool_single")
def results_are_not_said(original):
    """A result is in the transcript, but has neither `message_start` nor `message_end`."""

    async def answer_call(run, record):
        message = answer_of(record, run.profile)
        for event in (MessageStart(message=message), MessageEnd(message=message)):
            run.reduce_silently(iter([(event, record)]))

    return answer_call


@planted("TOOL-11", batch, "is_sequential", fault="F31", shows="tools_one_declares_sequential")
def a_sequential_tool_runs_in_parallel(original):
    """A tool that declares itself sequential does not make its batch so."""
    return lambda state, records: state.config.tool_execution == "sequential"
