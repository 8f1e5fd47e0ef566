"""What Anthropic's Messages API may say, and what it may be asked.

Answers have blocks of every kind, one after the other or side by side, with texts that begin before their first delta,
signatures in pieces, arguments that are cut off or no JSON, kinds of blocks and events that nobody knows, errors in
the middle, and usage that is told twice, in part or not at all. Requests have every feature of an endpoint switched on
and off, tokens of subscriptions, strict tools, tools that come later, and system messages in the middle.
"""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from .bodies import LEVELS, Asked
from .contexts import a_context, a_model, a_text, tools
from .spoken import Spoken

API = "anthropic-messages"

_Event = tuple[str | None, Any]

_HALF = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]")

_TOKEN = "sk-ant-oat01-0123456789"

_ARGUMENTS = (
    '{"path": "a/b", "n": 12}',
    '{"path":"😀 日本語\\n\\u00e9","list":[1,2.5,-3e2,true,null,{"x":[]}]}',
    "{}",
    "",
    "  ",
    '{"path":"cut o',
    '{"a":1,"b":[1,{"c":"d"',
    '{"text":"raw\nline\tbreak"}',
    '{"text":"bad \\q escape and C:\\Users"}',
    "not json",
    "[1,2]",
    "null",
    '{"a":1} and more',
    '{"a":1,"a":2}',
    '{"half":"\\ud83d"}',
)

_REASONS = (
    *("end_turn",) * 6,
    *("tool_use",) * 4,
    *(
        "max_tokens",
        "stop_sequence",
        "pause_turn",
        "refusal",
        "sensitive",
        "model_context_window_exceeded",
        None,
        "",
    ),
)


def speak(chance: Random) -> Spoken:
    """A response of a few blocks."""
    model = _model(chance)
    context = a_context(chance, model, turns=chance.randrange(2))
    options: dict[str, Any] = {}
    if chance.random() < 0.15:
        options["apiKey"] = _TOKEN
        context["tools"] = tools(chance)
    hooks = ("onPayload", "onResponse", "onProviderStreamEvent") if chance.random() < 0.1 else ()
    return Spoken(
        model=model,
        context=context,
        options=options,
        events=_Speech(chance, model).said(),
        simple=chance.random() < 0.3,
        hooks=hooks,
    )


def ask(chance: Random) -> Asked:
    """A model with any features, and options of any kind."""
    model = _model(chance)
    compat: dict[str, Any] = {name: chance.random() < 0.5 for name in _FEATURES if chance.random() < 0.15}
    if chance.random() < 0.25:
        compat["supportsMidConvoSystemMessages"] = True
        compat["supportsMidConvoToolChanges"] = chance.random() < 0.7
    if chance.random() < 0.1:
        compat["sessionAffinityFormat"] = chance.choice(("openrouter", "other"))
    model["compat"] = {**model.get("compat", {}), **compat}
    if chance.random() < 0.3:
        levels = {"off": None, "minimal": None, "low": "low", "high": "hi", "xhigh": "xhigh", "max": "max"}
        model["thinkingLevelMap"] = {
            level: levels[level] for level in chance.sample(list(levels), chance.randint(0, len(levels)))
        }
    if chance.random() < 0.15:
        model["headers"] = chance.choice(
            (
                {"X-Model": "m"},
                {"anthropic-beta": "one, two,,one"},
                {"anthropic-beta": None},
                {"X-Api-Key": "other"},
            )
        )
    simple = chance.random() < 0.5
    options: dict[str, Any] = {
        name: chance.choice(values) for name, values in _OPTIONS.items() if chance.random() < 0.2
    }
    if simple:
        if chance.random() < 0.6:
            options["reasoning"] = chance.choice(LEVELS)
    else:
        options |= {name: chance.choice(values) for name, values in _OWN.items() if chance.random() < 0.3}
    return Asked(model=model, options=options, simple=simple)


def refuse(chance: Random) -> Any:
    """The body of an error."""
    kind = chance.choice(
        ("invalid_request_error", "overloaded_error", "rate_limit_error", "authentication_error")
    )
    message = chance.choice(
        (
            "Overloaded",
            "prompt is too long: 200001 tokens > 200000 maximum",
            "Too many strict tools (21)",
            "",
            None,
        )
    )
    error = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return chance.choice((error, error, error, {"message": message}, {"message": {"a": 1}}, [message], {}))


_FEATURES = (
    "supportsEagerToolInputStreaming",
    "supportsLongCacheRetention",
    "sendSessionAffinityHeaders",
    "supportsCacheControlOnTools",
    "supportsTemperature",
    "allowEmptySignature",
    "supportsStrictTools",
    "supportsToolReferences",
    "supportsMidConvoEffort",
    "forceAdaptiveThinking",
)

_OPTIONS: dict[str, tuple[Any, ...]] = {
    "apiKey": (_TOKEN,),
    "maxTokens": (1, 100, 4000, 100000),
    "temperature": (0, 0.7, 1),
    "cacheRetention": ("none", "short", "long"),
    "sessionId": ("session-1",),
    "metadata": ({"user_id": "me"}, {"user_id": 7, "x": "y"}),
    "toolChoice": ("auto", "none", {"type": "tool", "name": "read"}),
    "thinkingBudgets": ({"low": 1234, "high": 5000},),
    "headers": (
        {"X-Mine": "1"},
        {"anthropic-beta": "mine"},
        {"Anthropic-Beta": ""},
        {"anthropic-version": None},
        {"anthropic-dangerous-direct-browser-access": None},
    ),
}
_OWN: dict[str, tuple[Any, ...]] = {
    "thinkingEnabled": (True, True, False),
    "thinkingBudgetTokens": (0, 500, 2000),
    "thinkingDisplay": ("summarized", "omitted"),
    "effort": ("low", "medium", "max"),
    "interleavedThinking": (True, False),
}

_WISHES = (
    {"type": "json_schema", "strict": "prefer"},
    {"type": "json_schema", "strict": "require"},
    {"type": "grammar", "variants": {"openai_lark": "start: /a/"}},
    False,
)


def context_of(chance: Random, model: dict[str, Any]) -> dict[str, Any]:
    """The conversation of a request: with tools that wish to be strict, that come with a result, or that change."""
    context = a_context(chance, model, turns=chance.randrange(4))
    for tool in context.get("tools", ()):
        if chance.random() < 0.2:
            tool["constrainedSampling"] = chance.choice(_WISHES)
        if chance.random() < 0.2:
            tool["parameters"] = chance.choice(_SCHEMAS)
    for message in context["messages"]:
        if message["role"] == "toolResult" and chance.random() < 0.3:
            names = ("read", "Read", "write", "grep", "nothing")
            message["addedToolNames"] = chance.sample(names, chance.randint(1, 3))
        elif message["role"] == "system":
            if chance.random() < 0.5:
                message["sections"] = {"env": chance.choice((a_text(chance), None)), "b": "x"}
            if chance.random() < 0.6:
                message["toolsAdded"] = tools(chance)
            if chance.random() < 0.4:
                message["toolsRemoved"] = [{"name": chance.choice(("read", "write", "bash"))}]
        elif message["role"] == "assistant" and chance.random() < 0.3:
            message["providerThinkingLevel"] = chance.choice(("low", "max", "none"))
    return context


_SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": []},
    {"type": "object", "properties": {"a": {"type": "array", "minItems": 1, "items": {"type": "string"}}}},
    {"type": "object", "properties": {"a": {"type": "array", "minItems": 2, "items": {"type": "string"}}}},
    {"type": "object", "properties": {"d": {"type": "string", "format": "date"}, "e": {"enum": ["a", None]}}},
    {"type": "object", "properties": {"d": {"type": "string", "format": "phone"}}},
    {"type": "object", "properties": {"d": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": "string"}}},
    {"type": "object", "properties": {"d": {"const": "x"}}, "additionalProperties": True},
    {"type": "object", "required": ["x"]},
    {"anyOf": [{"type": "object"}]},
    {},
)


def _model(chance: Random) -> dict[str, Any]:
    provider = chance.choice(("anthropic", "anthropic", "anthropic", "openrouter", "github-copilot", "mine"))
    model = a_model(chance, API, provider)
    if provider == "anthropic" and chance.random() < 0.3:
        model["id"] = chance.choice(
            ("claude-opus-4-5", "claude-sonnet-4-20250514", "claude-haiku-4-5", "claude-fable-5")
        )
    if chance.random() < 0.15:
        cost = {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1.25}
        fallback = {
            "provider": provider,
            "model": "other",
            **({"cost": cost} if chance.random() < 0.7 else {}),
        }
        model["compat"] = {"allowedFallbackModels": [fallback]}
    if chance.random() < 0.2:
        tier = {"inputTokensAbove": 500, "input": 6, "output": 22, "cacheRead": 0.6, "cacheWrite": 7.5}
        model["cost"] = {**model["cost"], "tiers": [tier]}
    return model


class _Speech:
    def __init__(self, chance: Random, model: dict[str, Any]) -> None:
        self.chance = chance
        self.model = model
        self.blocks = 0

    def said(self) -> list[_Event]:
        chance = self.chance
        blocks = [self.block() for _ in range(chance.choice((0, 1, 1, 2, 3, 4)))]
        told = self.mixed(blocks) if chance.random() < 0.2 else [event for block in blocks for event in block]
        events = [self.start(), *told, *self.finish()]
        for kind in (self.noise, self.noise, self.noise):
            if chance.random() < 0.15:
                events.insert(chance.randint(0, len(events)), kind())
        if chance.random() < 0.05:
            events.insert(chance.randint(0, len(events)), self.start())
        if chance.random() < 0.05:
            error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
            events.insert(chance.randint(0, len(events)), ("error", error))
        return events

    def mixed(self, blocks: list[list[_Event]]) -> list[_Event]:
        """Blocks side by side."""
        left = [list(block) for block in blocks]
        events: list[_Event] = []
        while left := [block for block in left if block]:
            events.append(self.chance.choice(left).pop(0))
        return events

    def start(self) -> _Event:
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": self.chance.choice((self.model["id"], self.model["id"], "other")),
            "content": [],
            "usage": self.usage(),
            **self.transformations(),
        }
        return _named("message_start", message=message)

    def transformations(self) -> dict[str, Any]:
        if self.chance.random() < 0.93:
            return {}
        told = [{"type": "drop", "path": "messages.0", "reason": None, "x": 1}, {}]
        return {"input_transformations": self.chance.choice((told, [], None))}

    def usage(self, *, late: bool = False) -> dict[str, Any]:
        chance = self.chance
        names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        some = names if not late else chance.sample(names, chance.randint(0, 4))
        usage: dict[str, Any] = {name: chance.choice((0, None, chance.randrange(900))) for name in some}
        if chance.random() < 0.3:
            usage["cache_creation"] = chance.choice(
                ({"ephemeral_1h_input_tokens": chance.randrange(9), "ephemeral_5m_input_tokens": 1}, {}, None)
            )
        if chance.random() < 0.2:
            usage["output_tokens_details"] = chance.choice(
                ({"thinking_tokens": chance.randrange(9)}, {}, None)
            )
        if late and chance.random() < 0.2:
            usage |= {"cost": 0.5, "is_byok": chance.random() < 0.5}
            usage["cost_details"] = chance.choice(
                (
                    {"upstream_inference_cost": 0.25},
                    {
                        "upstream_inference_cost": None,
                        "upstream_inference_prompt_cost": 0.25,
                        "upstream_inference_completions_cost": 1,
                    },
                    {"upstream_inference_cost": -1},
                    None,
                )
            )
        return usage

    def finish(self) -> list[_Event]:
        chance = self.chance
        events: list[_Event] = []
        for _ in range(chance.choice((1, 1, 1, 1, 0, 2))):
            delta: dict[str, Any] = {"stop_reason": chance.choice(_REASONS), "stop_sequence": None}
            if chance.random() < 0.2:
                delta["stop_details"] = chance.choice(
                    ({"explanation": "No, thank you."}, {"explanation": ""}, None)
                )
            told = {"usage": self.usage(late=True)} if chance.random() < 0.9 else {}
            events.append(_named("message_delta", delta=delta, **told, **self.transformations()))
        if chance.random() < 0.95:
            events.append(_named("message_stop"))
        return events

    def noise(self) -> _Event:
        index = self.chance.randrange(max(1, self.blocks))
        return self.chance.choice(
            (
                _named("ping"),
                _named("something_new", a=1),
                (None, {"type": "content_block_stop", "index": index}),
                ("message_stop", {"type": "something_else"}),
                _named("content_block_stop", index=index),
                _named("content_block_stop", index=77),
                _named("content_block_delta", index=index, delta={"type": "text_delta", "text": "late"}),
                _named("content_block_delta", index=index, delta={"type": "citations_delta", "citation": {}}),
                _named("content_block_start", index=index, content_block={"type": "text", "text": "again"}),
                _named(
                    "content_block_start", index=self.blocks, content_block={"type": "fallback", "from": {}}
                ),
            )
        )

    def block(self) -> list[_Event]:
        index = self.blocks
        self.blocks += 1
        kind = self.chance.choice(
            ("text", "text", "thinking", "redacted_thinking", "tool_use", "tool_use", "new")
        )
        block, deltas = getattr(self, kind)(index)
        events = [_named("content_block_start", index=index, content_block={"type": kind, **block})]
        events += [_named("content_block_delta", index=index, delta=delta) for delta in deltas]
        if self.chance.random() < 0.96:
            events.append(_named("content_block_stop", index=index))
        return events

    def text(self, _: int) -> tuple[dict[str, Any], list[Any]]:
        begun = self.chance.choice(({"text": ""}, {"text": ""}, {"text": "pre "}, {}, {"text": None}))
        deltas = [{"type": "text_delta", "text": piece} for piece in self.pieces(a_text(self.chance))]
        return {**begun, "citations": None}, deltas

    def thinking(self, _: int) -> tuple[dict[str, Any], list[Any]]:
        begun = self.chance.choice(
            ({"thinking": "", "signature": ""}, {"thinking": "hm, "}, {"signature": "a"}, {})
        )
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in self.pieces(a_text(self.chance))]
        for piece in self.pieces("c2lnbmVk")[: self.chance.randint(0, 3)]:
            delta = {"type": "signature_delta", "signature": piece}
            if self.chance.random() < 0.2:
                deltas.insert(self.chance.randint(0, len(deltas)), delta)
            else:
                deltas.append(delta)
        return begun, deltas

    def redacted_thinking(self, _: int) -> tuple[dict[str, Any], list[Any]]:
        return {"data": "b3BhcXVl"}, []

    def tool_use(self, index: int) -> tuple[dict[str, Any], list[Any]]:
        name = self.chance.choice(("read", "Read", "bash", "my_tool", "todowrite"))
        inputs: tuple[dict[str, Any], ...] = (
            {"input": {}},
            {"input": {"path": "early"}},
            {},
            {"input": None},
        )
        begun = self.chance.choice((inputs[0], *inputs))
        text = self.chance.choice((_ARGUMENTS[0], *_ARGUMENTS))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in self.pieces(text)]
        if self.chance.random() < 0.5:
            deltas.insert(0, {"type": "input_json_delta", "partial_json": ""})
        return {"id": f"toolu_{index}", "name": name, **begun}, deltas

    def new(self, _: int) -> tuple[dict[str, Any], list[Any]]:
        return {"id": "srvtoolu_1", "name": "web_search", "input": {}}, [
            {"type": "input_json_delta", "partial_json": piece} for piece in self.pieces('{"query":"x"}')
        ]

    def pieces(self, text: str) -> list[str]:
        """The text in pieces, which may part a pair of surrogates."""
        units = text.encode("utf-16-le", "surrogatepass")
        pieces: list[str] = []
        at = 0
        while at < len(units):
            size = 2 * self.chance.choice((1, 2, 4, 4, 8, 20))
            pieces.append(units[at : at + size].decode("utf-16-le", "surrogatepass"))
            at += size
        return pieces


def _named(name: str, **fields: Any) -> _Event:
    text = json.dumps({"type": name, **fields})
    # Half a pair can only be told by its escape.
    return name, text if _HALF.search(text) else json.loads(text)
