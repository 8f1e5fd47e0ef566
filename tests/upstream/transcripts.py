"""Random transcripts, as JSON: well ordered ones, and such as a host makes that has stopped and resumed.

They hold what adapters must cope with: responses of other models, thinking with and without signatures, images, calls
without results and results without calls, failed responses, system messages in odd places, half of a surrogate pair.
"""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

#: Some providers' models; the first one is asked.
SOURCES = (
    ("openai-completions", "openai", "asked"),
    ("openai-completions", "openai", "other"),
    ("anthropic-messages", "anthropic", "claude"),
    ("openai-responses", "openai", "asked"),
)
TEXTS = (
    "plain", "", " ", "\u00a0\ufeff", "two\nlines", "größer 😀", "half \ud83d of it", "\udc00", "\x85", "x" * 70,
    "(image omitted: model does not support images)", "(tool image omitted: model does not support images)",
)  # fmt: skip
IDS = ("call_1", "call_2", "call_1|fc_2", "toolu_Ab-9", "", "a" * 70, "call:4/é", "call_x|" + "item+/=" * 9)
ARGUMENTS: tuple[Any, ...] = (
    {},
    {"a": 1},
    {"text": "ä😀", "n": 1.5e21, "b": [None, True]},
    {"s": "half \ud83d"},
)


class TranscriptMaker:
    """Makes transcripts, the same ones for the same seed.

    Args:
        seed: chooses them.
        system: whether system messages occur (releases from 1.0.3 on).
    """

    def __init__(self, seed: int, *, system: bool) -> None:
        self._chance = random.Random(seed)
        self._system = system

    def transcript(self, longest: int = 8) -> list[Json]:
        """The messages of one transcript."""
        messages: list[Json] = []
        for _ in range(self._chance.randint(0, longest)):
            messages.extend(self._step())
        for place, message in enumerate(messages):
            message["timestamp"] = 1000 + place
        return messages

    def _step(self) -> list[Json]:
        draw = self._chance.random()
        if draw < 0.3:
            return [self._user()]
        if draw < 0.8:
            return self._turn()
        if draw < 0.9 and self._system:
            return [{"role": "system", "content": self._chance.choice(TEXTS)}]
        return [self._result(self._chance.choice(IDS))]

    def _user(self) -> Json:
        content = self._text() if self._chance.random() < 0.5 else self._parts()
        return {"role": "user", "content": content}

    def _turn(self) -> list[Json]:
        """A response, and the results of most of its calls, mostly in order."""
        chance = self._chance
        api, provider, model = SOURCES[0] if chance.random() < 0.5 else chance.choice(SOURCES)
        content = [self._block() for _ in range(chance.randint(0, 4))]
        stop = chance.choice(["stop", "toolUse", "toolUse", "length", "error", "aborted"])
        response = {
            "role": "assistant", "content": content, "api": api, "provider": provider, "model": model,
            "usage": {
                "input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
            },
            "stopReason": stop,
        }  # fmt: skip
        turn = [response]
        for block in content:
            if block["type"] == "toolCall" and chance.random() < 0.8:
                if self._system and chance.random() < 0.1:
                    turn.append({"role": "system", "content": chance.choice(TEXTS)})
                turn.append(self._result(block["id"], block["name"]))
        return turn

    def _block(self) -> Json:
        chance = self._chance
        kind = chance.choice(["text", "thinking", "toolCall"])
        block: Json
        if kind == "text":
            block = {"type": "text", "text": self._text()}
            if chance.random() < 0.3:
                block["textSignature"] = chance.choice(["msg_1", '{"v":1,"id":"msg_2","phase":"commentary"}'])
        elif kind == "thinking":
            block = {"type": "thinking", "thinking": self._text()}
            if chance.random() < 0.6:
                block["thinkingSignature"] = chance.choice(
                    [
                        "reasoning_content",
                        "reasoning",
                        "reasoning_text",
                        "",
                        "opaque==",
                        '[{"type":"reasoning.text"}]',
                    ]
                )
            if chance.random() < 0.2:
                block["redacted"] = True
        else:
            block = {
                "type": "toolCall", "id": chance.choice(IDS), "name": chance.choice(["read", "bash"]),
                "arguments": chance.choice(ARGUMENTS),
            }  # fmt: skip
            if chance.random() < 0.2:
                block["thoughtSignature"] = chance.choice(
                    ["opaque==", '{"type":"reasoning.encrypted","id":"call_1","data":"d"}', '{"type":"x"}']
                )
        return block

    def _result(self, call_id: str, name: str = "read") -> Json:
        return {
            "role": "toolResult", "toolCallId": call_id, "toolName": name, "content": self._parts(),
            "isError": self._chance.random() < 0.2,
        }  # fmt: skip

    def _parts(self) -> list[Json]:
        parts: list[Json] = []
        for _ in range(self._chance.randint(0, 3)):
            if self._chance.random() < 0.4:
                parts.append({"type": "image", "data": "aGk=", "mimeType": "image/png"})
            else:
                parts.append({"type": "text", "text": self._text()})
        return parts

    def _text(self) -> str:
        return self._chance.choice(TEXTS)
