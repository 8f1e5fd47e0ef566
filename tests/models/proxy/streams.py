"""Answers of proxies, good ones and bent ones, drawn at random: what real Pi makes of them is known by asking it.

Left out is what Pi and this package read differently on purpose (see `reader.py`): what makes no response.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from pi_trio.codec import unstructure
from pi_trio.messages import Usage

Event = dict[str, Any]

TEXTS = (
    "",
    "a",
    "Hello, world. ",
    "Ünïcode 😀",
    "\n",
    "\\",
    '"',
    "line\u2028separator",
    "x" * 300,
    "\ud83d",
    "\ude00",
    "data: {}",
)
ARGUMENTS: tuple[Event, ...] = (
    {},
    {"path": "a/b.txt"},
    {"n": 1.5, "deep": {"list": [1, None, True, "é😀"]}},
    {"text": 'a "b"\n' * 5},
)
NOISE = (
    b": comment\n",
    b"event: text\n",
    b"\n",
    b"data:{}\n",
    b"data: \n",
    b"data: 5\n",
    b'data: {"type":"later"}\n',
    b"data\n",
)
STARTS = {
    "text": {"type": "text_start"},
    "thinking": {"type": "thinking_start"},
    "toolcall": {"type": "toolcall_start", "id": "call_1", "toolName": "read"},
}


def answer(chance: Random) -> bytes:
    """The body of one answer."""
    lines = [_line(chance, event) for event in _bent(chance, _events(chance))]
    if chance.random() < 0.3:
        for _ in range(chance.randrange(1, 4)):
            lines.insert(chance.randrange(len(lines) + 1), chance.choice(NOISE))
    data = b"".join(lines)
    if chance.random() < 0.2:
        data = data[: chance.randrange(len(data) + 1)]
    if chance.random() < 0.1:  # bytes that are no UTF-8, in the middle of some text
        data = data.replace(
            b"Hello", chance.choice((b"He\xffo", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\xaf")), 1
        )
    if chance.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    return data.rstrip(b"\n") if chance.random() < 0.2 else data


def _events(chance: Random) -> list[Event]:
    """A response; its blocks may overlap."""
    events: list[Event] = [{"type": "start"}]
    going = [_block(chance) for _ in range(chance.choice((0, 1, 1, 2, 3, 5)))]
    begun = 0
    while any(going):
        waiting = [block for block in going if block]
        block = waiting[0] if chance.random() < 0.7 else chance.choice(waiting)
        event = block.pop(0)
        if event["type"].endswith("_start"):
            for later in block:
                later["contentIndex"] = begun
            event["contentIndex"] = begun
            begun += 1
        events.append(event)
    return [*events, _end(chance)]


def _block(chance: Random) -> list[Event]:
    kind = chance.choice(tuple(STARTS))
    if kind == "toolcall":
        arguments = chance.choice(ARGUMENTS)
        deltas = _pieces(chance, json.dumps(arguments, ensure_ascii=chance.random() < 0.5))
        call = {"type": "toolCall", "id": "call_1|x", "name": "read", "arguments": arguments}
        if chance.random() < 0.3:
            call["thoughtSignature"] = "signed"
        end: Event = {"type": "toolcall_end", "toolCall": call}
    else:
        deltas = [chance.choice(TEXTS) for _ in range(chance.randrange(5))]
        end = {"type": f"{kind}_end"}
        if chance.random() < 0.4:
            end["contentSignature"] = "signed"
    return [dict(STARTS[kind]), *({"type": f"{kind}_delta", "delta": delta} for delta in deltas), end]


def _pieces(chance: Random, text: str) -> list[str]:
    pieces = []
    while text:
        length = chance.randint(1, 12)
        pieces.append(text[:length])
        text = text[length:]
    return pieces


def _end(chance: Random) -> Event:
    usage = {**unstructure(Usage.zero()), "input": chance.randrange(1000), "output": chance.randrange(1000)}
    end: Event = {"type": "done", "reason": chance.choice(("stop", "length", "toolUse")), "usage": usage}
    if chance.random() < 0.2:
        end = {"type": "error", "reason": chance.choice(("error", "aborted")), "usage": usage}
        if chance.random() < 0.8:
            end["errorMessage"] = "529 overloaded"
    if chance.random() < 0.2:
        end["providerThinkingLevel"] = "high"
    return end


def _bent(chance: Random, events: list[Event]) -> list[Event]:
    """The response, in about every third case with a mistake."""
    mistake = chance.choice(
        (None,) * 12 + ("no start", "two starts", "cut", "no end", "wrong kind", "call ends", "more")
    )
    at = chance.randrange(len(events))
    match mistake:
        case "no start":
            return events[1:]
        case "two starts":
            return [*events[:at], {"type": "start"}, *events[at:]]
        case "cut":
            return events[:at] or events
        case "no end":  # of some block, which is left as it is
            return [event for event in events if not event["type"].endswith(("text_end", "thinking_end"))]
        case "wrong kind":
            return [*events[:-1], {"type": "text_delta", "contentIndex": 77, "delta": "x"}, events[-1]]
        case "call ends":  # that has never begun
            return [*events[:-1], {"type": "toolcall_end", "contentIndex": 77, "toolCall": {}}, events[-1]]
        case "more":
            return [*events, events[-1], {"type": "text_delta", "contentIndex": 0, "delta": "x"}]
        case _:
            return events


def _line(chance: Random, event: Event) -> bytes:
    if chance.random() < 0.003:
        return b"data: {broken\n\n"
    text = json.dumps(event, ensure_ascii=chance.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass") if text.isascii() else json.dumps(event).encode()
    if b"\\ud" not in data and chance.random() < 0.7:
        data = json.dumps(event, ensure_ascii=False).encode()
    return b"data: " + data + chance.choice((b"\n\n", b"\n\n", b"\n", b"\r\n\r\n"))
