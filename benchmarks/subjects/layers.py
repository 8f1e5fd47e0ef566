"""What the layers of the runtime cost, each on its own: `SHRINK ROUNDS` on the command line, a line of JSON a layer.

Where a layer cannot be had alone, it is the difference between a run with it and one without, in turns.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import trio

from benchmarks.subjects.pi_trio_agent import SCHEMA, text, work
from benchmarks.subjects.telling import tell
from benchmarks.workloads import PIECE, WORKLOADS, Manner, Workload
from pi_trio import MessageEnd, MessageUpdate, Model, ModelContext, ScriptedProvider, StreamOptions
from pi_trio.codec import dumps, loads
from pi_trio.events import AgentEvent, TextDelta
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.scripted import assistant, tool_call
from pi_trio.tools.validate import validate_arguments

MODEL = Model.unknown()

Layer = tuple[str, str, Callable[[], float]]
"""Its name, the unit, and a function that gives the microseconds a unit."""


def timed(function: Callable[[], object], units: int) -> float:
    """Microseconds a unit."""
    gc.collect()
    began = time.process_time()
    function()
    return (time.process_time() - began) / units * 1e6


def layers(shrink: int) -> Iterator[Layer]:
    """All layers, from the bottom up."""
    many = 20_000 // shrink
    yield from codec(many)
    yield (
        "validation: two arguments",
        "call",
        lambda: timed(lambda: [validate_arguments("work", SCHEMA, {"number": 1}) for _ in range(many)], many),
    )
    yield "`ResponseBuilder`: a delta", "delta", lambda: timed(lambda: build(many, read=False), many)
    short = min(many, 2_000)
    yield (
        f"`ResponseBuilder`: a delta, all text read at each of {short:,}",
        "delta",
        lambda: timed(lambda: build(short, read=True), short),
    )
    yield (
        "scripted provider: a delta, with its checkpoint",
        "delta",
        lambda: timed(partial(script, many), many),
    )
    yield from subscribers(WORKLOADS["W1"].of_size(many))
    yield from hooks(WORKLOADS["W2"].of_size(max(1, 100 // shrink)))


def codec(many: int) -> Iterator[Layer]:
    """JSON text of events, there and back."""
    update = list(text(MODEL, 100))[-3]
    assert isinstance(update, TextDelta)
    message = assistant("word " * 100, tool_call("work", {"number": 1}, id="1"), timestamp=0)
    for name, event in (
        ("message_end, 500 characters and a call", MessageEnd(message=message)),
        (
            "message_update, 400 characters so far",
            MessageUpdate(message=update.partial, assistant_message_event=update),
        ),
    ):
        written = dumps(event)
        yield f"codec: write {name}", "event", partial(written_often, event, many // 10)
        yield f"codec: read {name}", "event", partial(read_often, written, many // 10)


def written_often(event: AgentEvent, times: int) -> float:
    """Microseconds to make JSON text of an event."""
    return timed(lambda: [dumps(event) for _ in range(times)], times)


def read_often(written: str, times: int) -> float:
    """Microseconds to make an event of JSON text."""
    return timed(lambda: [loads(written, AgentEvent) for _ in range(times)], times)


def build(deltas: int, *, read: bool) -> None:
    """A response of so many pieces, whose text is looked at each time, or never."""
    builder = ResponseBuilder(MODEL)
    builder.start()
    builder.text_start()
    for _ in range(deltas):
        event = builder.text_delta(PIECE)
        if read:
            _ = event.partial.content


def script(deltas: int) -> None:
    """A response of the scripted provider, read to its end."""

    async def read() -> None:
        provider = ScriptedProvider([assistant(PIECE * deltas)], token_size=(1, 1))
        async with provider.stream(MODEL, ModelContext(messages=()), StreamOptions()) as stream:
            async for _event in stream:
                pass

    trio.run(read)


def subscribers(workload: Workload) -> Iterator[Layer]:
    """What one more subscriber costs an event."""
    more = replace(workload, subscribers=2)
    manners: tuple[tuple[str, Manner], ...] = (("plain", "reads"), ("that yields once", "each"))
    for name, manner in manners:
        yield (
            f"one subscriber more, {name}",
            "event",
            partial(difference, more, workload, manner, workload.events),
        )


def hooks(workload: Workload) -> Iterator[Layer]:
    """What hooks cost that look, and decide nothing."""
    number = workload.turns * workload.calls
    of_calls = {"before_tool_call": look, "after_tool_call": look}
    of_turns = {
        "prepare_request": look,
        "finish_turn": look,
        "prepare_next_turn": look,
        "transform_context": same,
    }
    yield (
        "hooks: before and after a call",
        "call",
        partial(difference, workload, workload, "each", number, **of_calls),
    )
    yield (
        "hooks: four of a turn",
        "turn",
        partial(difference, workload, workload, "each", workload.turns, **of_turns),
    )


async def look(*_args: object) -> None:
    """A hook that decides nothing."""


async def same(messages: Any, _signal: object) -> Any:
    """A `transform_context` that leaves the context as it is."""
    return messages


def difference(more: Workload, workload: Workload, manner: Manner, units: int, **options: Any) -> float:
    """Microseconds a unit that one run takes longer than another."""
    costly = timed(lambda: trio.run(partial(work, more, manner, **options)), units)
    return costly - timed(lambda: trio.run(work, workload, manner), units)


def main() -> None:
    """Measure all layers in turns, and tell the medians."""
    shrink, rounds = map(int, sys.argv[1:])
    found = list(layers(shrink))
    times: list[list[float]] = [[] for _ in found]
    for _ in range(rounds):
        for (_name, _unit, measured), own in zip(found, times, strict=True):
            own.append(measured())
    tell(versions="")
    for (name, unit, _measured), own in zip(found, times, strict=True):
        tell(layer=name, unit=unit, us=statistics.median(own))


if __name__ == "__main__":
    main()
