"""The scripted provider against the one of real Pi: the same scripts, the same events, to the last number.

Left out: times, and what the provider does otherwise on purpose. It never cuts a surrogate pair, it keeps
keys such as "7" in their place, and a number too large for JavaScript shows nothing while it grows.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.codec import structure, unstructure
from pi_trio.jsontext import parse_json, print_json
from pi_trio.messages import AssistantMessage, Message
from pi_trio.models.growing_arguments import GrowingArguments
from pi_trio.models.scripted import ScriptedProvider, Step
from pi_trio.models.stream import ModelContext, StreamOptions

pytestmark = pytest.mark.upstream

Case = dict[str, Any]

HOUR = 3_600_000
"""In milliseconds; no test takes so long."""

SYSTEM = {
    "role": "system",
    "content": [{"type": "text", "text": "Be"}, {"type": "text", "text": "brief."}],
    "sections": {"env": "A shell.", "gone": None, "empty": ""},
    "toolsAdded": [
        {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {}}}
    ],
    "toolsRemoved": [{"name": "sub"}],
    "timestamp": 0,
}
USER = {"role": "user", "content": "What is 2 + 3? Ünïcode 😀", "timestamp": 1}
PICTURE = {
    "role": "user",
    "content": [{"type": "text", "text": "See"}, {"type": "image", "data": "QUJD", "mimeType": "image/png"}],
    "timestamp": 1,
}
RESULT = {
    "role": "toolResult",
    "toolCallId": "c1",
    "toolName": "add",
    "content": [
        {"type": "text", "text": "5"},
        {"type": "image", "data": "QUJDRA==", "mimeType": "image/gif"},
    ],
    "isError": False,
    "timestamp": 2,
}
USAGE = {
    **dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 7),
    "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 1),
}

TEXT = {
    "type": "text",
    "text": "The sum of two and three is five, as everybody knows.",
    "textSignature": "sig",
}
THINKING = {"type": "thinking", "thinking": "Two and three, let me see…", "thinkingSignature": "opaque"}
CALL = {
    "type": "toolCall",
    "id": "c1",
    "name": "add",
    "arguments": {
        "a": 2,
        "list": [True, None, -1.5, 1e21],
        "text": 'with "quotes"\n and ünïcode',
        "deep": {"x": {}},
    },
    "thoughtSignature": "mine",
}


def message(*content: Any, **fields: Any) -> Case:
    return {
        "role": "assistant",
        "content": list(content),
        "api": "any",
        "provider": "any",
        "model": "any",
        "usage": USAGE,
        "stopReason": "stop",
        "timestamp": 1,
        **fields,
    }


def one(step: Case, **request: Any) -> Case:
    """One step, and one request for it."""
    return {"steps": [step], "requests": [{"context": {"messages": [USER]}, **request}]}


ANSWER = message(THINKING, TEXT, CALL, stopReason="toolUse", responseId="r1")
TALK = [[SYSTEM], [SYSTEM, USER], [SYSTEM, USER, ANSWER, RESULT], [SYSTEM, PICTURE], [USER, PICTURE], []]

SCRIPTS: dict[str, Case] = {
    "text": one(message(TEXT)),
    "empty_text": one(message({"type": "text", "text": ""})),
    "thinking": one(message(THINKING)),
    "tool_call": one(message(CALL)),
    "tool_call_without_arguments": one(message({**CALL, "arguments": {}})),
    "no_content": one(message()),
    "all_blocks": one(ANSWER),
    "length": one(message(TEXT, stopReason="length")),
    "error": one(message(TEXT, stopReason="error", errorMessage="overloaded")),
    "aborted": one(message(CALL, stopReason="aborted", errorMessage="stopped")),
    "pending": one(message(TEXT, stopReason="pending")),
    "duration_known": one(message(TEXT, durationMs=HOUR)),
    "made_by_a_function": one({"made": ANSWER}),
    "function_raises": one({"raised": "out of order"}),
    "other_model": one(ANSWER, model="other"),
    "nothing_queued": {"steps": [], "requests": [{"context": {"messages": [SYSTEM, USER]}}] * 2},
    "nothing_queued_in_a_session": {
        "steps": [],
        "requests": [{"context": {"messages": [SYSTEM, USER]}, "options": {"sessionId": "s"}}] * 2,
    },
    "prompts": {
        "steps": [ANSWER] * 6,
        "requests": [{"context": {"messages": messages}} for messages in TALK],
    },
    "session": {
        "steps": [ANSWER] * 6,
        "requests": [{"context": {"messages": m}, "options": {"sessionId": "s"}} for m in TALK],
    },
    "two_sessions": {
        "steps": [ANSWER] * 6,
        "requests": [
            {"context": {"messages": m}, "options": {"sessionId": f"s{i % 2}"}} for i, m in enumerate(TALK)
        ],
    },
    "empty_session_id": one(ANSWER, options={"sessionId": ""}),
    "steps_are_left": {"steps": [ANSWER, {"raised": "no"}, ANSWER], "requests": one(ANSWER)["requests"] * 2},
    **{f"abort_at_{at}": one(ANSWER, abortAt=at) for at in range(-1, 20)},
    "abort_of_a_failing_function": one({"raised": "out of order"}, abortAt=-1),
}


async def ours(case: Case, tokens: int) -> Case:
    """What our provider answers to a case."""
    provider = ScriptedProvider(
        map(_step, case["steps"]), api="faux", provider="faux", token_size=(tokens, tokens)
    )
    answers = [await _told(provider, request) for request in case["requests"]]
    return {
        "answers": answers,
        "callCount": provider.state.call_count,
        "left": provider.pending_response_count,
    }


def _step(step: Case) -> Step:
    if "raised" in step:

        def fail(*_: object) -> AssistantMessage:
            raise ValueError(step["raised"])

        return fail
    if "made" in step:

        async def make(*_: object) -> AssistantMessage:
            return structure({**step["made"], "timestamp": 2**50}, AssistantMessage)

        return make
    return structure(step, AssistantMessage)


async def _told(provider: ScriptedProvider, request: Case) -> list[Any]:
    controller = AbortController()
    messages: list[Message] = [structure(each, Message) for each in request["context"]["messages"]]
    options = StreamOptions(signal=controller.signal, session_id=request.get("options", {}).get("sessionId"))
    model = structure(
        {**unstructure(provider.models[0]), "id": request.get("model", "faux-1")}, type(provider.models[0])
    )
    if request.get("abortAt") == -1:
        controller.abort()
    events: list[Any] = []
    async with provider.stream(model, ModelContext(messages=tuple(messages)), options) as stream:
        async for event in stream:
            events.append(parse_json(print_json(unstructure(event))))
            if len(events) - 1 == request.get("abortAt"):
                controller.abort()
        assert events[-1].get("message", events[-1].get("error")) == unstructure(await stream.result())
    return events


def theirs(pi_install: Any, cases: list[Case]) -> list[Any]:
    """What real Pi answers to the cases."""
    done = subprocess.run(
        [pi_install.node.path, Path(__file__).with_name("scripted.mjs"), pi_install.folder],
        input="".join(f"{json.dumps(case)}\n" for case in cases),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return [parse_json(line) for line in done.stdout.splitlines()]


def timeless(value: Any) -> Any:
    """Times that a clock has made are "#"; those that the scripts give stay."""
    if isinstance(value, list):
        return [timeless(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: "#"
        if (key == "timestamp" and item > 9) or (key == "durationMs" and item < HOUR)
        else timeless(item)
        for key, item in value.items()
    }


@pytest.mark.parametrize("tokens", [1, 3, 1000])
def test_scripts(pi_install: Any, tokens: int) -> None:
    options = {"api": "faux", "provider": "faux", "tokenSize": {"min": tokens, "max": tokens}}
    answers = theirs(pi_install, [{"options": options, **case} for case in SCRIPTS.values()])
    for (name, case), answer in zip(SCRIPTS.items(), answers, strict=True):
        assert timeless(trio.run(partial(ours, case, tokens))) == timeless(answer), name


def test_growing_arguments(pi_install: Any) -> None:
    chance = random.Random(1)
    texts = [_bent(chance, _text(chance)) for _ in range(1500)]
    cases = [_pieces(chance, text) for text in texts if not re.search(r"e\+?\d{3}", text)]
    for pieces, answer in zip(cases, theirs(pi_install, [{"grow": pieces} for pieces in cases]), strict=True):
        growing = GrowingArguments()
        for number, (piece, expected) in enumerate(zip(pieces, answer, strict=True)):
            growing.feed(piece)
            assert growing.shown == expected, pieces[: number + 1]


def test_a_long_array_is_shown_with_delay(pi_install: Any) -> None:
    text = print_json({"items": list(range(1000)), "named": {f"k{number}": number for number in range(300)}})
    pieces = [text[at : at + 16] for at in range(0, len(text), 16)]
    (answer,) = theirs(pi_install, [{"grow": pieces}])
    growing = GrowingArguments()
    for piece, expected in zip(pieces, answer, strict=True):
        growing.feed(piece)
        assert growing.shown == expected


_KEYS = ("a", "b", "x\ny", 'q"', "é", "", "key of some length")
_ATOMS = (
    True,
    False,
    None,
    0,
    -1,
    1.5,
    1e21,
    1e-7,
    123456789,
    "",
    "text",
    "lïne\n",
    "\\",
    'a "b"',
    "😀",
    "\ud800",
)
_NOISE = (*'{}[]:,"\\ \n\tu1-.tfnx/', "\\u12", "\\ud83d\\ude00", "\\q", "NaN", "12345678901234567890", "1e-")


def _text(chance: random.Random) -> str:
    value = {chance.choice("abc"): _value(chance, 0) for _ in range(chance.randrange(4))}
    if chance.random() < 0.6:
        return print_json(value)
    return json.dumps(value, indent=chance.choice((None, 2)))


def _value(chance: random.Random, depth: int) -> Any:
    kind = chance.random()
    if depth < 4 and kind < 0.3:
        return {chance.choice(_KEYS): _value(chance, depth + 1) for _ in range(chance.randrange(5))}
    if depth < 4 and kind < 0.5:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(6))]
    return chance.choice(_ATOMS)


def _bent(chance: random.Random, text: str) -> str:
    """The text, in every other case with a few mistakes in it."""
    characters = list(text)
    for _ in range(chance.choice((0, 0, 0, 1, 2, 3))):
        at = chance.randrange(len(characters))
        characters[at : at + chance.randrange(2)] = [chance.choice(("", *_NOISE))]
    return "".join(characters)


def _pieces(chance: random.Random, text: str) -> list[str]:
    pieces: list[str] = []
    longest = chance.choice((1, 2, 5, 20))
    while text:
        length = chance.randint(1, longest)
        pieces.append(text[:length])
        text = text[length:]
    return pieces
