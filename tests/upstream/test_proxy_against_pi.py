"""Pi's proxy protocol with real Pi on the other side: its client at our server, and beside our client."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio

from pi_trio.codec import structure, unstructure
from pi_trio.conformance.subjects.pi_releases import PiInstall
from pi_trio.events import StreamEvent
from pi_trio.jsontext import parse_json, print_json
from pi_trio.messages import Message, Model
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.proxy.client import ABORTED
from pi_trio.models.proxy.server import Offer, serve_proxy
from pi_trio.models.scripted import DEFAULT_MODEL, ScriptedProvider, assistant, thinking, tool_call
from pi_trio.models.stream import ModelContext, ResponseStream, StreamOptions

from ..models.proxy.bytes_told import line, read
from ..models.proxy.streams import answer
from .conftest import get

pytestmark = pytest.mark.upstream

Case = dict[str, Any]

MODEL = unstructure(DEFAULT_MODEL)
HELLO = {"role": "user", "content": "Hello", "timestamp": 1}
SYSTEM = {
    "role": "system",
    "content": "Be brief.",
    "toolsAdded": [{"name": "add", "description": "Adds.", "parameters": {"type": "object"}}],
    "timestamp": 0,
}
CASES = int(os.environ.get("PI_TRIO_TRANSPORT_CASES", "300"))
"""So many generated answers, for each release."""


@pytest.fixture(scope="module", params=["0.85.0", "1.0.3", "1.6.0"])
def pi(request: pytest.FixtureRequest) -> PiInstall:
    """The releases whose `streamProxy` there is to ask."""
    return get(request.param)


async def asked(pi: PiInstall, cases: list[Case]) -> list[list[Case]]:
    """The events that real Pi tells of each case."""
    command = [str(pi.node.path), str(Path(__file__).with_name("proxy.mjs")), str(pi.folder)]
    lines = "".join(f"{json.dumps(case)}\n" for case in cases)
    done = await trio.run_process(command, stdin=lines.encode(), capture_stdout=True)
    answers: list[Any] = [parse_json(line) for line in done.stdout.splitlines()]
    return answers


def in_json(event: StreamEvent) -> Any:
    return parse_json(print_json(unstructure(event)))


def normal(events: list[Case], *, partials: bool) -> list[Case]:
    """Events without times, and without the text of a host language's own error. Through a proxy the
    usage and the error come last, so they are left out of partials.

    Before 1.6.0 Pi leaves in a call that has not ended the text of its arguments, and reads that in a way of its own.
    So there the arguments of such calls are left out, and partials altogether.
    """
    told = []
    for event in events:
        said = dict(event)
        for late in ("usage", "errorMessage"):
            said.get("partial", {}).pop(late, None)
        if not partials:
            said.pop("partial", None)
        for part in {"partial", "message", "error"} & said.keys():
            said[part] = {k: v for k, v in said[part].items() if k not in ("timestamp", "durationMs")}
            if not partials:
                said[part]["content"] = [
                    _closed(events, *place) for place in enumerate(said[part]["content"])
                ]
        if said["type"] == "error" and "JSON" in said["error"].get("errorMessage", ""):
            said["error"]["errorMessage"] = "(host text)"
        told.append(said)
    return told


def _closed(events: list[Case], index: int, block: Case) -> Case:
    ended = any(event["type"] == "toolcall_end" and event["contentIndex"] == index for event in events)
    if block["type"] != "toolCall" or ended:
        return block
    return {key: value for key, value in block.items() if key not in ("partialJson", "arguments")}


# --- Pi's client beside ours ------------------------------------------------------------------------------


def ours(data: bytes, chance: Random) -> list[Case]:
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 1, 5, 50))))
    return [in_json(event) for event in read(data, *cuts)]


async def read_by_pi(pi: PiInstall, answers: list[bytes]) -> list[list[Case]]:
    """The events that real Pi makes of answers."""
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, partial(give, answers), 0, host="127.0.0.1"))
        port = listeners[0].socket.getsockname()[1]
        common = {"token": "t", "model": MODEL, "context": {"messages": []}}
        cases = [{**common, "url": f"http://127.0.0.1:{port}/{number}"} for number in range(len(answers))]
        theirs = await asked(pi, cases)
        nursery.cancel_scope.cancel()
    return theirs


async def test_generated_answers_are_read_as_by_pi(pi: PiInstall) -> None:
    chance = Random(f"answers for {pi.release}")
    answers = [answer(chance) for _ in range(CASES)]
    partials = pi.release == "1.6.0"
    theirs = await read_by_pi(pi, answers)
    for data, expected in zip(answers, theirs, strict=True):
        assert normal(ours(data, chance), partials=partials) == normal(expected, partials=partials), data


USAGE = unstructure(assistant().usage)
START = line({"type": "start"})
TEXT, TEXT_AT_5 = (line({"type": "text_start", "contentIndex": index}) for index in (0, 5))
DELTA = line({"type": "text_delta", "contentIndex": 0, "delta": "Hi"})
END = line({"type": "text_end", "contentIndex": 0})
DONE = line({"type": "done", "reason": "stop", "usage": USAGE})
CALL = {"type": "toolCall", "id": "1", "name": "add", "arguments": {}}
BEGUN = line({"type": "toolcall_start", "contentIndex": 0, "id": "1", "toolName": "add"})
ENDED = line({"type": "toolcall_end", "contentIndex": 0, "toolCall": CALL})

DECIDED: dict[str, tuple[bytes, str, str]] = {
    "T-81 a hole": (START + TEXT_AT_5 + DONE, "start text_start done", "start error"),
    "T-81 a place that is taken": (
        START + TEXT + DELTA + TEXT + DONE,
        "start text_start text_delta text_start done",
        "start text_start text_delta error",
    ),
    "T-82 a delta behind the end": (
        START + TEXT + END + DELTA + DONE,
        "start text_start text_end text_delta done",
        "start text_start text_end error",
    ),
    "T-82 a second end": (
        START + TEXT + END + END + DONE,
        "start text_start text_end text_end done",
        "start text_start text_end error",
    ),
    "T-82 a call that ends twice": (
        START + BEGUN + ENDED + ENDED + DONE,
        "start toolcall_start toolcall_end toolcall_end done",
        "start toolcall_start toolcall_end done",
    ),
    "T-83 no place": (START + line({"type": "text_start"}) + DONE, "start text_start done", "start error"),
    "T-83 no delta": (
        START + TEXT + line({"type": "text_delta", "contentIndex": 0}) + DONE,
        "start text_start text_delta done",
        "start text_start error",
    ),
    "T-83 no reason": (START + line({"type": "done", "usage": USAGE}), "start done", "start error"),
    "T-83 no usage": (
        START + line({"type": "done", "reason": "stop", "usage": 5}),
        "start done",
        "start error",
    ),
}
"""What is read otherwise on purpose: the answer, the types of Pi's events, and those of ours."""


async def test_what_is_decided_is_so(pi: PiInstall) -> None:
    theirs = await read_by_pi(pi, [data for data, _, _ in DECIDED.values()])
    for (name, (data, by_pi, by_us)), found in zip(DECIDED.items(), theirs, strict=True):
        assert " ".join(event["type"] for event in found) == by_pi, name
        assert " ".join(event["type"] for event in ours(data, Random(0))) == by_us, name


async def give(answers: list[bytes], stream: trio.SocketStream) -> None:
    """Answer a request whose path is the number of an answer; cut at random."""
    async with stream:
        head = b""
        while b"\r\n\r\n" not in head:
            head += await stream.receive_some()
        number = int(head.split(b"/")[1])
        chance = Random(number)
        data = answers[number]
        await stream.send_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while data:
            size = chance.choice((1, 7, 100, 10_000))
            await stream.send_all(data[:size])
            data = data[size:]
        await stream.send_eof()
        while await stream.receive_some():
            pass


# --- Pi's client at our server ----------------------------------------------------------------------------

ANSWERS = {
    "text": assistant("Hello there, how are you? Ünïcode 😀 " * 10, timestamp=1),
    "everything": assistant(
        thinking("Two and three…"), "I add.", tool_call("add", {"a": 2, "deep": [{"é": None}]}), "Done.",
        stop_reason="toolUse", timestamp=1,
    ),
    "nothing": assistant(timestamp=1),
    "cut": assistant("And so", stop_reason="length", timestamp=1),
    "failed": assistant("And", stop_reason="error", error_message="529 overloaded", timestamp=1),
}  # fmt: skip


def provider() -> ScriptedProvider:
    return ScriptedProvider(ANSWERS.values())


async def direct(context: Case) -> list[list[Case]]:
    """The same responses, asked without a proxy."""
    model = provider()
    asked = ModelContext(messages=structure(context["messages"], tuple[Message, ...]))
    found: list[list[Case]] = []
    for _ in ANSWERS:
        async with model.stream(model.models[0], asked, StreamOptions()) as stream:
            found.append([in_json(event) async for event in stream])
    return found


async def test_events_through_our_server_are_those_of_the_model_itself(pi: PiInstall) -> None:
    model = provider()
    context = {"messages": [SYSTEM, HELLO] if pi.release >= "1" else [HELLO]}
    offer = Offer(model.models[0], model.stream)
    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(serve_proxy, [offer], token="t0ken"))
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        case = {"url": url, "token": "t0ken", "model": unstructure(offer.model), "context": context}
        theirs = await asked(pi, [case] * len(ANSWERS))
        strangers = await asked(
            pi,
            [
                {**case, "token": "guessed"},
                {**case, "model": {**case["model"], "id": "scripted-9"}},
                {**case, "abortAt": -1},
                case,  # at the end of the script
            ],
        )
        nursery.cancel_scope.cancel()
    partials = pi.release == "1.6.0"
    for name, expected, found in zip(ANSWERS, await direct(context), theirs, strict=True):
        assert normal(found, partials=partials) == normal(expected, partials=partials), name
    texts = [events[-1]["error"]["errorMessage"] for events in strangers]
    assert texts == [
        "Proxy error: the token is not right",
        "Proxy error: scripted/scripted-9 is not offered here; there is scripted/scripted-1",
        "This operation was aborted",
        "No more faux responses queued",
    ]


async def test_an_abort_in_pi_reaches_the_model(pi: PiInstall) -> None:
    aborted = trio.Event()

    @asynccontextmanager
    async def held(model: Model, _context: ModelContext, options: Any) -> AsyncGenerator[ResponseStream]:
        options.signal.on_abort(aborted.set)
        stream, builder = ResponseStream(), ResponseBuilder(model)
        for event in (builder.start(), builder.text_start(), builder.text_delta("Once upon")):
            stream.push(event)
        yield stream

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(serve_proxy, [Offer(DEFAULT_MODEL, held)], token="t0ken"))
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        case = {"url": url, "token": "t0ken", "model": MODEL, "context": {"messages": [HELLO]}, "abortAt": 2}
        ((*_, event),) = await asked(pi, [case])
        await aborted.wait()
        nursery.cancel_scope.cancel()
    assert (event["reason"], event["error"]["errorMessage"]) == ("aborted", ABORTED)
    assert event["error"]["content"] == [{"type": "text", "text": "Once upon"}]
