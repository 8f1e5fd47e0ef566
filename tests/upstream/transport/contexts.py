"""What the generators of all apis share: models, texts, tools, and conversations of every kind.

A conversation has users with texts and images, assistants of the model that is asked and of others (with thinking,
signatures and tool calls), results with images, calls without results and results without calls, messages that
failed, system messages in the middle, lone surrogates, and tools.
"""

from __future__ import annotations

from random import Random
from typing import Any

_WORDS = (
    "the",
    "sum",
    "of",
    "two",
    "Ünïcode",
    "😀",
    "日本語",
    "line\n",
    "é",
    '"quoted"',
    "\\",
    "a\tb",
    " ",
    "\u2028",
    "😀👍🏽",
)
_IMAGE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}

#: Parameters of tools, as people write them.
_PARAMETERS: tuple[dict[str, Any], ...] = (
    {"type": "object", "properties": {}},
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where"},
            "n": {"type": "integer", "minimum": 0},
            "edits": {
                "type": "array",
                "items": {"type": "object", "properties": {"old": {"type": "string"}}},
            },
        },
        "required": ["path", "n"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {"any": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "$comment": "kept",
    },
)

_NAMES = ("read", "write", "bash", "Edit", "my_tool", "grep")


def a_text(chance: Random, most: int = 8) -> str:
    """A few words, of one to four bytes a character."""
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randint(1, most)))


def a_model(chance: Random, api: str, provider: str, **fields: Any) -> dict[str, Any]:
    """A model of the local server; `fields` win."""
    return {
        "id": "model-1",
        "name": "Model 1",
        "api": api,
        "provider": provider,
        "baseUrl": "{server}",
        "reasoning": chance.random() < 0.5,
        "input": chance.choice((["text"], ["text", "image"], ["text", "image"])),
        "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
        "contextWindow": 200000,
        "maxTokens": 8192,
        **fields,
    }


def tools(chance: Random, most: int = 3) -> list[dict[str, Any]]:
    """Some tools."""
    names = chance.sample(_NAMES, chance.randint(0, most))
    return [
        {"name": name, "description": a_text(chance), "parameters": chance.choice(_PARAMETERS)}
        for name in names
    ]


def a_context(chance: Random, model: dict[str, Any], turns: int = 1) -> dict[str, Any]:
    """A conversation of so many turns that waits for an answer."""
    maker = _Conversation(chance, model)
    for _ in range(turns):
        maker.turn()
    maker.user()
    context: dict[str, Any] = {"messages": maker.messages}
    if chance.random() < 0.7:
        context["systemPrompt"] = chance.choice(("Be brief.", a_text(chance), ""))
    if chance.random() < 0.7:
        context["tools"] = tools(chance)
    return context


class _Conversation:
    def __init__(self, chance: Random, model: dict[str, Any]) -> None:
        self.chance = chance
        self.model = model
        self.messages: list[dict[str, Any]] = []
        self.calls = 0

    def say(self, role: str, **fields: Any) -> None:
        self.messages.append({"role": role, **fields, "timestamp": len(self.messages) + 1})

    def turn(self) -> None:
        self.user()
        if self.chance.random() < 0.1:
            self.say("system", content=self.text())
        calls = self.assistant()
        while calls:
            for one in calls:
                if self.chance.random() < 0.85:
                    self.result(one)
            if self.chance.random() < 0.05:
                self.result({"id": "nobody", "name": "read"})
            calls = self.assistant() if self.chance.random() < 0.5 else []

    def text(self) -> str:
        chance = self.chance.random()
        if chance < 0.05:
            return "half \ud83d a pair \ude00"
        return "" if chance < 0.1 else "  \n" if chance < 0.13 else a_text(self.chance)

    def user(self) -> None:
        kind = self.chance.random()
        if kind < 0.6:
            self.say("user", content=self.text())
            return
        parts = [self.part() for _ in range(self.chance.randint(0 if kind < 0.65 else 1, 4))]
        self.say("user", content=parts)

    def part(self) -> dict[str, Any]:
        return _IMAGE if self.chance.random() < 0.4 else {"type": "text", "text": self.text()}

    def assistant(self) -> list[dict[str, Any]]:
        own = {key: self.model[key] for key in ("api", "provider")} | {"model": self.model["id"]}
        whose = self.chance.choice(
            (
                own,
                own,
                own,
                {**own, "model": "older"},
                {"api": "other-api", "provider": "other", "model": "foreign"},
            )
        )
        content = [self.block(whose is own) for _ in range(self.chance.randint(0, 3))]
        calls = [block for block in content if block["type"] == "toolCall"]
        reason = self.chance.choice(("stop", "stop", "stop", "length", "error", "aborted"))
        self.say(
            "assistant",
            content=content,
            **whose,
            usage={
                **dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 5),
                "totalTokens": 20,
                "cost": dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), 0),
            },
            stopReason="toolUse" if calls and reason == "stop" else reason,
        )
        return calls

    def block(self, own: bool) -> dict[str, Any]:
        kind = self.chance.choice(("text", "thinking", "toolCall"))
        if kind == "text":
            block = {"type": "text", "text": self.text()}
            if (signature := self.signature("text")) is not None:
                block["textSignature"] = signature
            return block
        if kind == "thinking":
            if self.chance.random() < 0.15:
                return {
                    "type": "thinking",
                    "thinking": "[Reasoning redacted]",
                    "thinkingSignature": "opaque==",
                    "redacted": True,
                }
            block = {"type": "thinking", "thinking": self.text()}
            if (signature := self.signature("thinking")) is not None:
                block["thinkingSignature"] = signature
            return block
        self.calls += 1
        ids = (f"toolu_{self.calls}", f"call_{self.calls}|fc_{self.calls}", f"odd id/{self.calls}" + "x" * 70)
        return {
            "type": "toolCall",
            "id": self.chance.choice(ids),
            "name": self.chance.choice(_NAMES),
            "arguments": self.chance.choice(
                ({}, {"path": "a"}, {"path": self.text(), "n": 1.5, "x": [None, True]})
            ),
        }

    def signature(self, kind: str) -> str | None:
        """What a provider has signed; each adapter takes only its own."""
        signatures: tuple[str | None, ...] = (None, "", "sig==")
        if kind == "text":
            signatures += ('{"v":1,"id":"msg_1"}', '{"v":1,"id":"msg_2","phase":"commentary"}', "m" * 80)
        else:
            signatures += (
                "reasoning_content",
                "reasoning",
                '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}',
                '[{"type":"reasoning.text","text":"hm"}]',
            )
        return self.chance.choice(signatures)

    def result(self, call: dict[str, Any]) -> None:
        parts = [self.part() for _ in range(self.chance.randint(0, 3))]
        self.say(
            "toolResult",
            toolCallId=call["id"],
            toolName=call["name"],
            content=parts,
            isError=self.chance.random() < 0.2,
        )
