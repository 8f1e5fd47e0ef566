"""Questions for `core_asking`, drawn at random: models, contexts, transcripts, and texts of failures."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from pi_trio.models.dialect import Dialect

from .core_asking import Question

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")
TEXTS = ("", "a", "hello there", "caf\u00e9 \U0001f600", "line\nline", "x" * 100, "\u2028", "[1, 2]")


class Maker:
    """Makes questions that mean something in one release."""

    def __init__(self, seed: int, dialect: Dialect) -> None:
        self.random = random.Random(seed)
        self.dialect = dialect

    def often(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def count(self, most: int) -> int:
        """A number of any size up to `most`."""
        return int(10 ** self.random.uniform(0, len(str(most)) - 1)) if self.often(0.8) else 0

    def text(self) -> str:
        return self.random.choice(TEXTS) * self.random.choice((1, 1, 1, 7))

    def model(self, **fields: Any) -> dict[str, Any]:
        cost = self._rates()
        if self.often():
            cost["tiers"] = [
                {"inputTokensAbove": self.random.choice((0, 100, 200_000, 272_000)), **self._rates()}
                for _ in range(self.random.randrange(4))
            ]
        made: dict[str, Any] = {
            "id": "m", "name": "M", "api": "some-api", "provider": self.random.choice(("p", "cerebras")),
            "baseUrl": "http://there", "reasoning": self.often(0.8), "input": ["text"], "cost": cost,
            "contextWindow": self.random.choice((0, 5_000, 32_768, 131_072, 200_000, 1_000_000)),
            "maxTokens": self.random.choice((1, 4_096, 32_000, 128_000)),
        }  # fmt: skip
        if self.often(0.7):
            chosen = self.random.sample(LEVELS, self.random.randrange(8))
            made["thinkingLevelMap"] = {level: self.random.choice((None, level, "own")) for level in chosen}
        if self.often():
            made["samplingParams"] = self.params()
        if self.often():
            made["samplingParamsByThinkingLevel"] = {
                level: self.params() for level in self.random.sample(LEVELS, 3)
            }
        return {**made, **fields}

    def _rates(self) -> dict[str, Any]:
        names = ("input", "output", "cacheRead", "cacheWrite")
        return {name: self.random.choice((0, 0.1, 0.3, 1.25, 3, 15, 37.5)) for name in names}

    def params(self) -> dict[str, Any]:
        return {name: self.random.random() for name in self.random.sample(("top_p", "top_k", "min_p"), 2)}

    def usage(self) -> dict[str, Any]:
        names = ("input", "output", "cacheRead", "cacheWrite")
        made: dict[str, Any] = {name: self.count(1_000_000) for name in names}
        made["totalTokens"] = self.random.choice((0, sum(made.values()), self.count(1_000_000)))
        made["cost"] = {**dict.fromkeys(names, 0), "total": 0}
        if self.often(0.3):
            made["cacheWrite1h"] = self.random.randint(0, made["cacheWrite"])
        return made

    def response(self, **fields: Any) -> dict[str, Any]:
        stop = self.random.choice(("stop", "stop", "length", "toolUse", "error", "aborted"))
        return {
            "role": "assistant", "content": [self.block() for _ in range(self.random.randrange(3))],
            "api": "some-api", "provider": self.random.choice(("p", "cerebras")), "model": "m",
            "usage": self.usage(), "stopReason": stop, "timestamp": self.random.randrange(10), **fields,
        }  # fmt: skip

    def block(self) -> dict[str, Any]:
        return self.random.choice(
            (
                {"type": "text", "text": self.text()},
                {"type": "thinking", "thinking": self.text()},
                {
                    "type": "toolCall",
                    "id": "1",
                    "name": "t",
                    "arguments": {"a": self.text(), "b": [1.5, None]},
                },
            )
        )

    def told(self) -> list[dict[str, Any]]:
        block = {"type": "text", "text": self.text()}
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        return self.random.choice(([block], [block, image], [image, image], [block, block], []))

    def tool(self) -> dict[str, Any]:
        parameters: list[dict[str, Any]] = [
            {}, {"type": "object", "properties": {}}, {"properties": {}, "type": "object"}, {"type": "object"},
        ]  # fmt: skip
        made: dict[str, Any] = {
            "name": self.random.choice("abc"), "description": self.random.choice(("", "does it")),
            "parameters": self.random.choice(parameters),
        }  # fmt: skip
        if self.often(0.2):
            made["constrainedSampling"] = self.random.choice(
                (False, {"type": "json_schema", "strict": "prefer"})
            )
        return made

    def tools(self) -> list[dict[str, Any]]:
        """Tools with different names."""
        made = {tool["name"]: tool for tool in (self.tool() for _ in range(self.random.randrange(4)))}
        return list(made.values())

    def system(self) -> dict[str, Any]:
        blocks = [{"type": "text", "text": self.text()} for _ in range(self.random.randrange(3))]
        made: dict[str, Any] = {"role": "system", "content": self.text() if self.often(0.7) else blocks}
        if self.often():
            sections = self.random.sample(("env", "rules", "end"), self.random.randint(1, 3))
            made["sections"] = {name: self.random.choice((None, "", self.text())) for name in sections}
        if self.often():
            made["toolsAdded"] = self.tools() + (self.tools() if self.often(0.1) else [])
        if self.often(0.3):
            made["toolsRemoved"] = [{"name": name} for name in self.random.sample("abcd", 2)]
        return {**made, "timestamp": self.random.randrange(10)}

    def message(self) -> dict[str, Any]:
        roles = (
            "user",
            "assistant",
            "toolResult",
            *(("system",) * 2 if self.dialect.system_messages else ()),
        )
        match self.random.choice(roles):
            case "user":
                content: Any = self.text() if self.often() else self.told()
                return {"role": "user", "content": content, "timestamp": self.random.randrange(10)}
            case "assistant":
                return self.response()
            case "system":
                return self.system()
            case _:
                made: dict[str, Any] = {
                    "role": "toolResult", "toolCallId": "1", "toolName": "t", "content": self.told(),
                    "isError": False, "timestamp": self.random.randrange(10),
                }  # fmt: skip
                if not self.dialect.system_messages and self.often():
                    made["addedToolNames"] = self.random.sample("abcd", 2)
                return made

    def messages(self) -> list[dict[str, Any]]:
        return [self.message() for _ in range(self.random.randrange(7))]

    def context(self) -> dict[str, Any]:
        """A context as providers see it."""
        made: dict[str, Any] = {"messages": self.messages()}
        return made if self.dialect.system_messages else {**made, **self.beside()}

    def beside(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.often(0.7):
            made["systemPrompt"] = self.text()
        if self.often(0.7):
            made["tools"] = self.tools()
        return made

    def limit(self) -> int:
        return self.random.choice((1, 500, 1024, 4_000, 16_384, 100_000))

    def questions(self, each: int) -> Iterator[Question]:
        """So many questions of each kind that the release can be asked."""
        for _ in range(each):
            yield "cost", (self.model(), self.usage())
            yield "levels", (self.model(),)
            yield "clamp", (self.model(), self.random.choice((*LEVELS, "strong", "")))
            budgets = {level: self.limit() for level in self.random.sample(LEVELS[1:5], 2)}
            yield (
                "limits",
                (
                    self.random.choice((None, self.limit())),
                    self.limit(),
                    self.random.choice(LEVELS[1:]),
                    budgets,
                ),
            )
            yield "estimate", (self.context(),)
            yield "options", (self.model(), self.context(), self.options())
            yield "overflow", (self.response(), self.random.choice((None, 0, 100_000, 1_000)))
            yield "recoverable", (self.response(), self.random.choice((0, 10, 1_000, 1_000_000)))
            policy = self.random.choice((None, self.policy(), self.policy()))
            yield "retrying", ([self.answer() for _ in range(5)], policy, self.often(0.2))
            if self.dialect.max_agent_delay_ms is not None:
                yield "delay", (self.policy(base=True), self.random.randrange(20))
            if self.dialect.system_messages:
                yield from self._transcripts()

    def options(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.often():
            made["maxTokens"] = self.limit()
        if self.often():
            made["reasoning"] = self.random.choice(LEVELS[1:])
        if self.often():
            made["samplingParams"] = self.params()
        return made

    def policy(self, *, base: bool = False) -> dict[str, Any]:
        """A policy that costs no time, unless its `base` delay is asked for alone."""
        made: dict[str, Any] = {"enabled": self.often(0.8), "maxRetries": self.random.randrange(4)}
        made["baseDelayMs"] = self.random.choice((0, 0.5, 1000, 2.5e9, 1e300)) if base else 0
        if base and self.often():
            made["maxAgentDelayMs"] = self.random.choice((0, 5_000, 1e6))
        return made

    def answer(self) -> dict[str, Any]:
        text = self.random.choice(("overloaded", "overloaded", "rate limit", "insufficient_quota", "no", ""))
        stop = self.random.choice(("error", "error", "error", "stop", "aborted"))
        return self.response(stopReason=stop, **({} if stop == "stop" else {"errorMessage": text}))

    def _transcripts(self) -> Iterator[Question]:
        yield "normalise", ({"messages": self.messages(), **self.beside()},)
        for ask in ("current", "prompt", "tools", "collapse"):
            yield ask, (self.messages(),)
        yield "update", (self.system(),)
        yield "changes", (self.tools(), self.tools())
        if self.dialect.tools_folded == "all":
            yield "place", (self.messages(), self.often())
        else:
            yield "place", (self.messages(), self.random.choice(("none", "additions", "changes")))
