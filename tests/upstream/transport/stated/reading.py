"""How an answer is read: the events of a response, its message, its usage, and why it stopped."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from ..cases import Step, chunk
from .case import TOOLED, Stated, for_each, state
from .speech import ANTHROPIC, CHAT, RESPONSES, Call, Counts, Event, Text, Thinking, choice, chunk_of

HELLO = Text(["Hel", "lo"])
THOUGHT = Thinking(["Let me ", "see."])
READ = Call("call_1", "read", ['{"path": ', '"a.txt"}'])
WRITE = Call("call_2", "write", ["{}"])
_THINKS: dict[str, Any] = {"reasoning": True}

_UNKNOWN: dict[str, Event] = {
    "anthropic": ("ping", {"type": "ping"}),
    "chat": (None, {"id": "chatcmpl-1", "model": "model-1", "choices": []}),
    "responses": ("response.queued", {"type": "response.queued", "response": {}}),
}


def _odd(text: str) -> list[Step]:
    """A text in chunks of seven bytes, wherever these end."""
    data = text.encode()
    return [chunk(data[start : start + 7]) for start in range(0, len(data), 7)]


def _piece(index: int, arguments: str, call: str = "", name: str = "") -> dict[str, Any]:
    """What a chunk of Chat Completions says of a call."""
    if not call:
        return {"index": index, "function": {"arguments": arguments}}
    return {
        "index": index,
        "id": call,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def _interleaved() -> list[str]:
    """Two items whose events come in turns."""
    first, *said, last = RESPONSES.words([HELLO, READ], "toolUse")
    text = [each for each in said if '"output_index":0' in each]
    call = [each for each in said if '"output_index":1' in each]
    turns = [each for pair in zip_longest(text, call) for each in pair if each is not None]
    return [first, *turns, last]


CASES: list[Stated] = [
    *for_each(lambda api: state(api, "text", "A text in two pieces.", api.words([HELLO]))),
    *for_each(
        lambda api: state(
            api,
            "thinking",
            "Thinking, and then a text.",
            api.words([THOUGHT, HELLO]),
            model=_THINKS,
            options={"reasoning": "low"},
            simple=True,
        )
    ),
    *for_each(
        lambda api: state(
            api,
            "call",
            "A text, and a call in two pieces.",
            api.words([HELLO, READ], "toolUse"),
            context=TOOLED,
        )
    ),
    *for_each(
        lambda api: state(
            api, "two_calls", "Two calls in one answer.", api.words([READ, WRITE], "toolUse"), context=TOOLED
        ),
        [ANTHROPIC, RESPONSES],
    ),
    *for_each(
        lambda api: state(
            api,
            "call_cut_short",
            "The answer is as long as it may be, and a call in it is cut short.",
            api.words([Call("call_1", "read", ['{"path": "a.t', "xt"])], "length"),
            context=TOOLED,
        )
    ),
    *for_each(
        lambda api: state(api, "length", "The answer is as long as it may be.", api.words([HELLO], "length")),
        [ANTHROPIC],
    ),
    *for_each(
        lambda api: state(
            api,
            "call_that_stops",
            "There are calls, and the server says that the answer has simply stopped.",
            api.words([READ], "stop"),
            context=TOOLED,
        ),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: state(
            api,
            "usage",
            "What was used, with cached tokens and tokens of thinking.",
            api.words([HELLO], "stop", Counts(input=100, output=50, cached=400, thinking=30)),
        )
    ),
    *for_each(
        lambda api: state(api, "nothing_said", "An answer without a block.", api.words([])),
        [ANTHROPIC, RESPONSES],
    ),
    *for_each(
        lambda api: state(
            api,
            "odd_chunks",
            "An answer whose chunks end in the middle of lines and of characters.",
            _odd("".join(api.words([Text(["né", "e 😀 日本語"])]))),
        ),
        [ANTHROPIC, CHAT],
    ),
    *for_each(
        lambda api: state(
            api,
            "unknown_events",
            "Events that nobody knows, and comments, between the others.",
            [
                step
                for chunk in api.words([HELLO])
                for step in (": still there\n\n", chunk_of(_UNKNOWN[api.short]), chunk)
            ],
        ),
        [ANTHROPIC, RESPONSES],
    ),
    state(
        ANTHROPIC,
        "prefilled",
        "A text that the server begins with its block.",
        [
            chunk.replace('"text":""', '"text":"He"').replace("Hel", "l")
            if "start" in chunk or "Hel" in chunk
            else chunk
            for chunk in ANTHROPIC.words([HELLO])
        ],
    ),
    state(
        ANTHROPIC,
        "redacted",
        "Thinking that nobody may read.",
        [
            chunk.replace(
                '{"type":"thinking","thinking":"","signature":""}',
                '{"type":"redacted_thinking","data":"b3BhcXVl"}',
            )
            for chunk in ANTHROPIC.words([Thinking([], signature=""), HELLO])
        ],
        model=_THINKS,
        options={"reasoning": "low"},
        simple=True,
    ),
    state(
        ANTHROPIC,
        "other_model_served",
        "Another model answers than was asked.",
        [chunk.replace('"model":"model-1"', '"model":"model-1-0500"') for chunk in ANTHROPIC.words([HELLO])],
    ),
    state(
        CHAT,
        "blocks_interleave",
        "Pieces of thinking, text and two calls come in turns.",
        [
            *map(
                chunk_of,
                [
                    choice({"reasoning_content": "Hm"}),
                    choice({"content": "Hel"}),
                    choice(
                        {"tool_calls": [_piece(0, "", "call_1", "read"), _piece(1, "", "call_2", "write")]}
                    ),
                    choice({"reasoning_content": "m."}),
                    choice({"content": "lo"}),
                    choice({"tool_calls": [_piece(1, "{}")]}),
                    choice({"tool_calls": [_piece(0, '{"path":"a"}')]}),
                ],
            ),
            *CHAT.words([], "toolUse"),
        ],
        context=TOOLED,
    ),
    state(
        RESPONSES,
        "blocks_interleave",
        "Pieces of a text and of a call come in turns.",
        _interleaved(),
        context=TOOLED,
    ),
    state(
        RESPONSES,
        "corrected",
        "The end of a text says something else than its pieces.",
        [chunk.replace('"text":"Hello"', '"text":"Hello!"') for chunk in RESPONSES.words([HELLO])],
    ),
]
