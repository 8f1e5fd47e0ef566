"""How fast the model transport is, from bytes to a subscriber: `python benchmarks/transport.py [--quick] [--rounds 5]`.

A server in another process sends one answer of Anthropic's Messages API over HTTP on the loopback. Three tables:

- **1 MB of server-sent events**: events a second, of the processor, for the adapter's stream alone and for an agent
  with one subscriber, beside bare trio (a checkpoint and a call for each event). Networks bring many events at once;
  the framing decides what HTTP adds: one body, or a chunk for 64 events, for 8, or for each.
- **Memory**: the same text in more and more deltas; the peak beyond the text itself.
- **Arguments of a tool call**: 1 MB and its halves; the time for each byte stays.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))

import attrs
import trio

from pi_trio import Agent, Model, ModelContext, UserMessage
from pi_trio.models.anthropic import AnthropicMessages
from pi_trio.models.request_options import ProviderOptions, provider_options

DELTAS: Final = 8_000
"""With 16 characters each, an answer of 8,000 deltas has 1 MB."""

CONTEXT: Final = ModelContext(messages=(UserMessage(content="Hi", timestamp=1),))
ADAPTER: Final = AnthropicMessages()


@contextmanager
def server() -> Generator[str]:
    """The URL of a server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.subjects.sse_server"]
    folder = Path(__file__).parent.parent
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def model_of(url: str, kind: str, deltas: int, size: int, framing: str) -> Model:
    """A model whose answer is this."""
    return attrs.evolve(
        Model.unknown(),
        id="model",
        api="anthropic-messages",
        provider="anthropic",
        base_url=f"{url}/{kind}/{deltas}/{size}/{framing}",
        max_tokens=1000,
    )


async def bare(events: int) -> int:
    """A checkpoint and a call for each event."""

    def listen(_event: object, _signal: object) -> None:
        pass

    for event in range(events):
        await trio.lowlevel.checkpoint()
        listen(event, None)
    return events


async def stream(model: Model) -> int:
    """The events of the adapter's stream."""
    count = 0
    async with ADAPTER.stream(model, CONTEXT, ProviderOptions(api_key="key")) as events:
        async for _ in events:
            count += 1
        message = await events.result()
    assert message is not None
    assert message.stop_reason == "stop", message.error_message
    return count


async def agent(model: Model) -> int:
    """The events that a subscriber of an agent hears."""
    heard = 0

    def hear(_event: object, _signal: object) -> None:
        nonlocal heard
        heard += 1

    def stream_fn(asked: Model, context: ModelContext, options: object) -> object:
        given = attrs.evolve(provider_options(options), api_key="key")  # type: ignore[arg-type]
        return ADAPTER.stream(asked, context, given)

    one = Agent(stream_fn=stream_fn, model=model)  # type: ignore[arg-type]
    one.subscribe(hear)
    (await one.prompt("Hi")).raise_for_error()
    return heard


def timed(work: Callable[[], Awaitable[int]], rounds: int) -> tuple[int, float]:
    """The events, and the median of the processor's seconds. The first round warms up."""
    events, times = 0, []
    for _ in range(rounds + 1):
        gc.collect()
        began = time.process_time()
        events = trio.run(work)
        times.append(time.process_time() - began)
    return events, statistics.median(times[1:])


def print_row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_speed(url: str, deltas: int, rounds: int) -> None:
    events, least = timed(lambda: bare(deltas), rounds)
    print(f"**{deltas:,} text deltas, {deltas * 131 / 1e6:.2f} MB of server-sent events in one answer**\n")
    print_row("", "framing", "events", "µs an event", "events a second", "rate, of bare trio's")
    print_row(*["---"] * 6)
    bare_rate = events / least
    print_row("bare trio", "", f"{events:,}", f"{1e6 / bare_rate:.2f}", f"{bare_rate:,.0f}", "1.00")
    for name, work in (("stream", stream), ("agent, one subscriber", agent)):
        for framing in ("whole", "64", "8", "1"):
            model = model_of(url, "text", deltas, 16, framing)
            events, seconds = timed(lambda work=work, model=model: work(model), rounds)  # type: ignore[misc]
            rate = events / seconds
            print_row(
                name, framing, f"{events:,}", f"{1e6 / rate:.2f}", f"{rate:,.0f}", f"{rate / bare_rate:.2f}"
            )
    print()


def print_memory(url: str, characters: int) -> None:
    print(f"**Memory: {characters:,} characters of text in one answer**\n")
    print_row("deltas", "peak beyond the text, KiB")
    print_row(*["---"] * 2)
    for size in (1024, 256, 64, 16, 4):
        model = model_of(url, "text", characters // size, size, "64")
        trio.run(stream, model)
        gc.collect()
        tracemalloc.start()
        trio.run(stream, model)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print_row(f"{characters // size:,}", f"{(peak - characters) / 1024:,.0f}")
    print()


def print_arguments(url: str, characters: int, rounds: int) -> None:
    print("**Arguments of one tool call, in deltas of 16 characters**\n")
    print_row("characters", "deltas", "seconds", "µs a delta")
    print_row(*["---"] * 4)
    for part in (4, 2, 1):
        deltas = characters // part // 16
        model = model_of(url, "arguments", deltas, 16, "64")
        _, seconds = timed(lambda model=model: stream(model), rounds)  # type: ignore[misc]
        print_row(f"{deltas * 16:,}", f"{deltas:,}", f"{seconds:.3f}", f"{seconds / deltas * 1e6:.2f}")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="everything 20 times smaller")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    shrink = 20 if chosen.quick else 1
    os.environ.pop("PI_CACHE_RETENTION", None)
    with server() as url:
        print_speed(url, DELTAS // shrink, chosen.rounds)
        print_memory(url, (1 << 20) // shrink)
        print_arguments(url, (1 << 20) // shrink, chosen.rounds)


if __name__ == "__main__":
    main()
