"""What the loop costs an event: an agent that is told a long answer, beside the least that trio can do.

    python benchmarks/loop_overhead.py [--deltas 10000] [--rounds 7]

One response of many text deltas, one listener that does nothing. The yardstick does for each event what no loop
can do without: one checkpoint, and one call of the listener. All ways take turns within each round, so that a
machine that slows down slows down all of them; the figures are medians over the rounds. Times are of the processor,
so what else runs on the machine counts for little. Nothing leaves the process.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence

import trio

from pi_trio import Agent, Model, ModelContext, ResponseStream, StreamOptions
from pi_trio.events import StreamDone, StreamEvent, StreamStart, TextDelta, TextEnd, TextStart
from pi_trio.models.scripted import ScriptedProvider, assistant

ROUND_THE_DELTAS = 10
"""Events that an agent says besides one for each delta; checked against what it did say."""

DELTA = "four"

Way = Callable[[int], Awaitable[tuple[int, float]]]
"""Tells a response of so many deltas; returns the number of events and the processor seconds that it took."""


class Listener:
    """Does nothing, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _event: object, _signal: object) -> None:
        self.calls += 1


async def bare_trio(deltas: int) -> tuple[int, float]:
    """One checkpoint and one call an event, and nothing else."""
    listener = Listener()
    started = time.process_time()
    for event in range(deltas + ROUND_THE_DELTAS):
        await trio.lowlevel.checkpoint()
        listener(event, None)
    return listener.calls, time.process_time() - started


async def agent_with_ready_events(deltas: int) -> tuple[int, float]:
    """The loop alone: the events lie ready, and share one partial."""
    events = response(deltas)

    def stream(_model: Model, _context: ModelContext, _options: StreamOptions) -> ResponseStream:
        ready = ResponseStream()
        for event in events:
            ready.push(event)
        return ready

    return await timed(Agent(stream_fn=stream))


async def agent_with_scripted_provider(deltas: int) -> tuple[int, float]:
    """The whole way: a provider that cuts the text and makes a partial for each delta, as it is read."""
    text = DELTA * deltas
    provider = ScriptedProvider([assistant(text)], token_size=(1, 1))
    return await timed(Agent(model=provider.models[0], stream_fn=provider.stream))


async def timed(agent: Agent) -> tuple[int, float]:
    """One run of an agent with one listener."""
    listener = Listener()
    agent.subscribe(listener)
    started = time.process_time()
    result = await agent.prompt("Go on.")
    elapsed = time.process_time() - started
    result.raise_for_error()
    return listener.calls, elapsed


def response(deltas: int) -> Sequence[StreamEvent]:
    """The events of a response with one block of text."""
    text = DELTA * deltas
    message = assistant(text, timestamp=0)
    return [
        StreamStart(partial=message),
        TextStart(content_index=0, partial=message),
        *(TextDelta(content_index=0, delta=DELTA, partial=message) for _ in range(deltas)),
        TextEnd(content_index=0, content=text, partial=message),
        StreamDone(reason="stop", message=message),
    ]


WAYS: dict[str, Way] = {
    "bare trio": bare_trio,
    "Agent, events ready": agent_with_ready_events,
    "Agent, scripted provider": agent_with_scripted_provider,
}


def measure(deltas: int, rounds: int) -> dict[str, list[float]]:
    """For each way the microseconds an event, of each round."""
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    for round_ in range(rounds + 1):
        for name, way in WAYS.items():
            gc.collect()
            events, seconds = trio.run(way, deltas)
            if events != deltas + ROUND_THE_DELTAS:
                raise SystemExit(f"{name}: {events} events, {deltas + ROUND_THE_DELTAS} were expected")
            if round_:  # the first warms up
                found[name].append(seconds / events * 1e6)
    return found


def report(found: dict[str, list[float]]) -> None:
    """Print the table."""
    base = statistics.median(found["bare trio"])
    print("| | us an event | least and most | events/s | times bare trio |")
    print("|---|---|---|---|---|")
    for name, times in found.items():
        median = statistics.median(times)
        spread = f"{min(times):.2f} to {max(times):.2f}"
        print(f"| {name} | {median:.2f} | {spread} | {1e6 / median:,.0f} | {median / base:.1f} |")


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deltas", type=int, default=10_000, help="in one response (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="that count, after one that does not")
    options = parser.parse_args()
    print(
        f"{platform.python_implementation()} {platform.python_version()}, trio {trio.__version__};", end=" "
    )
    print(f"{options.deltas} deltas, medians of {options.rounds} interleaved rounds\n")
    report(measure(options.deltas, options.rounds))


if __name__ == "__main__":
    main()
