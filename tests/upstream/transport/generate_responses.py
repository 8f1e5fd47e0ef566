"""What OpenAI's Responses API may say."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from .bodies import Asked
from .contexts import a_context, a_model, a_text, tools
from .spoken import Spoken

_STATUSES = (
    "completed",
    "completed",
    "completed",
    "incomplete",
    "failed",
    "cancelled",
    "queued",
    "in_progress",
    None,
    "odd",
)
_ARGUMENTS = (
    '{"path": "a/b", "n": 12}',
    "{}",
    "",
    '{"path": "\\u00fc 😀", "edits": [{"old": "x\\ny"}], "deep": {"a": [1, 2.5, null, true]}}',
    '{"path": "cut off',
    "[1, 2]",
    "not json",
    '{"a": "tab\there"}',
)
_TIERS = (None, "default", "flex", "priority", "fast", "auto")


def speak(chance: Random) -> Spoken:
    """A response of a few items."""
    model = a_model(chance, "openai-responses", **_of_model(chance))
    return Spoken(
        model=model,
        context=a_context(chance, model, chance.choice((0, 0, 1, 3))),
        options=options(chance),
        events=[(name if chance.random() < 0.5 else None, data) for name, data in response(chance)]
        if chance.random() < 0.2
        else response(chance),
        simple=chance.random() < 0.4,
        hooks=("onPayload", "onResponse", "onProviderStreamEvent") if chance.random() < 0.05 else (),
    )


def _of_model(chance: Random) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "provider": chance.choice(("openai", "openai", "opencode", "openrouter", "xai", "github-copilot"))
    }
    fields["id"] = chance.choice(("model-1", "gpt-5.5"))
    return {**fields, **of_any_model(chance)}


def of_any_model(chance: Random) -> dict[str, Any]:
    """What the catalog may say of a model of this kind."""
    fields: dict[str, Any] = {}
    if chance.random() < 0.4:
        names = (
            "supportsDeveloperRole",
            "supportsMidConvoSystemMessages",
            "supportsLongCacheRetention",
            "supportsStrictMode",
            "supportsOpenAIGrammarTools",
            "supportsAdditionalTools",
            "supportsToolSearch",
            "supportsExplicitPromptCacheMode",
            "supportsMaxOutputTokens",
            "supportsMidConvoEffort",
        )
        compat: dict[str, Any] = {name: chance.random() < 0.7 for name in names if chance.random() < 0.4}
        if chance.random() < 0.2:
            compat["sessionAffinityFormat"] = chance.choice(("openai", "openai-nosession", "openrouter"))
        if chance.random() < 0.2:
            compat["promptCacheKeyMode"] = chance.choice(("auto", "disabled"))
        fields["compat"] = compat
    if chance.random() < 0.3:
        words = {
            "off": (None, "none", "minimal"),
            "minimal": (None, "low"),
            "high": ("h",),
            "xhigh": ("xhigh", None),
        }
        fields["thinkingLevelMap"] = {
            level: chance.choice(told) for level, told in words.items() if chance.random() < 0.6
        }
    if chance.random() < 0.1:
        fields["samplingParams"] = {"top_p": 0.5}
    if chance.random() < 0.1:
        fields["samplingParamsByThinkingLevel"] = {"off": {"top_k": 1}, "high": {"top_p": 0.9}}
    if chance.random() < 0.1:
        fields["headers"] = {"X-Model": "m", "x-both": "model"}
    if chance.random() < 0.1:
        fields["cost"] = {
            "input": 3,
            "output": 15,
            "cacheRead": 0.3,
            "cacheWrite": 3.75,
            "tiers": [
                {"input": 6, "output": 30, "cacheRead": 0.6, "cacheWrite": 7.5, "inputTokensAbove": 500}
            ],
        }
    return fields


def options(chance: Random) -> dict[str, Any]:
    """What a caller may ask for."""
    told: dict[str, Any] = {}
    choices: dict[str, tuple[Any, ...]] = {
        "maxTokens": (1, 16, 4000),
        "temperature": (0, 0.7),
        "sessionId": ("s-1", "é" * 70, ""),
        "cacheRetention": ("none", "short", "long"),
        "serviceTier": ("flex", "priority", "fast", "default"),
        "toolChoice": ("auto", "none", "required", {"type": "function", "name": "read"}),
        "reasoningEffort": ("minimal", "low", "medium", "high", "xhigh"),
        "reasoningSummary": ("auto", "detailed", None),
        "reasoning": ("minimal", "low", "medium", "high", "xhigh", "max", "off"),
        "samplingParams": ({"top_p": 0.1}, {}),
        "headers": ({"X-Own": "o", "X-Both": "own"}, {"x-model": None}),
    }
    for name, values in choices.items():
        if chance.random() < 0.15:
            value = chance.choice(values)
            if value is not None:
                told[name] = value
    return told


# --- the stream -----------------------------------------------------------------------------------------------


def response(chance: Random) -> list[tuple[str | None, Any]]:
    """The events of one response; now and then something is missing."""
    items = [_item(chance, index) for index in range(chance.choice((0, 1, 1, 2, 2, 3, 5)))]
    told: list[Any] = []
    if chance.random() < 0.9:
        told.append({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}})
    if chance.random() < 0.1:
        told.append({"type": "response.in_progress", "response": {"id": "resp_1"}})
    streams = [_told(chance, index, item) for index, item in enumerate(items)]
    told += (
        _interleaved(chance, streams)
        if chance.random() < 0.3
        else [event for each in streams for event in each]
    )
    told += _ending(chance, items)
    return [(event["type"], event) for event in told]


def _interleaved(chance: Random, streams: list[list[Any]]) -> list[Any]:
    left = [list(stream) for stream in streams]
    told = []
    while left := [stream for stream in left if stream]:
        told.append(chance.choice(left).pop(0))
    return told


def _item(chance: Random, index: int) -> dict[str, Any]:
    kind = chance.choice(
        ("message", "message", "reasoning", "function_call", "function_call", "custom_tool_call", "other")
    )
    if kind == "message":
        parts = [
            {"type": "output_text", "text": a_text(chance)}
            if chance.random() < 0.9
            else {"type": "refusal", "refusal": "No."}
            for _ in range(chance.choice((1, 1, 1, 2, 0)))
        ]
        item: dict[str, Any] = {"type": kind, "id": f"msg_{index}", "role": "assistant", "content": parts}
        if chance.random() < 0.2:
            item["phase"] = chance.choice(("commentary", "final_answer", None))
        return item
    if kind == "reasoning":
        item = {"type": kind, "id": f"rs_{index}"}
        part = {"type": "summary_text", "text": a_text(chance)}
        if chance.random() < 0.8:
            item["summary"] = [part] * chance.choice((0, 1, 1, 2))
        if chance.random() < 0.3:
            item["content"] = chance.choice(([], [{"type": "reasoning_text", "text": "raw"}], None))
        if chance.random() < 0.4:
            item["encrypted_content"] = chance.choice(("gAAA", "", None))
        return item
    if kind == "function_call":
        item = {
            "type": kind,
            "id": f"fc_{index}",
            "call_id": f"call_{index}",
            "name": chance.choice(("read", "bash")),
        }
        if chance.random() < 0.05:
            del item["id"]
        if chance.random() < 0.1:
            item["namespace"] = "ns"
        return {**item, "arguments": chance.choice(_ARGUMENTS)}
    if kind == "custom_tool_call":
        item = {
            "type": kind,
            "id": f"ctc_{index}",
            "call_id": f"call_{index}",
            "name": chance.choice(("patch", "read")),
        }
        return {**item, "input": chance.choice(("", '*** Begin\n😀 "x"\\', "one two three"))}
    return {"type": "web_search_call", "id": f"ws_{index}"}


def _told(chance: Random, index: int, item: dict[str, Any]) -> list[Any]:
    """How an item comes: added, in pieces, done; or without one of these."""
    events: list[Any] = []
    place = {} if chance.random() < 0.02 else {"output_index": index}
    begun = {**item, **_BEGUN.get(item["type"], {})}
    if item["type"] in ("function_call", "custom_tool_call") and chance.random() < 0.1:
        key = "arguments" if item["type"] == "function_call" else "input"
        begun[key] = item[key][:3]
    if chance.random() < 0.93:
        events.append({"type": "response.output_item.added", **place, "item": begun})
    if chance.random() < 0.93:
        events += [{**event, **place} for event in _pieces(chance, item, begun)]
    if chance.random() < 0.93:
        events.append({"type": "response.output_item.done", **place, "item": _finished(chance, item)})
    return events


_BEGUN: dict[str, dict[str, Any]] = {
    "message": {"content": []},
    "reasoning": {"summary": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}


def _finished(chance: Random, item: dict[str, Any]) -> dict[str, Any]:
    """The item when it is done, mostly the same as in its deltas."""
    if chance.random() < 0.9:
        return item
    changes: dict[str, tuple[dict[str, Any], ...]] = {
        "message": (
            {"content": [{"type": "output_text", "text": "otherwise"}]},
            {"content": None},
            {"id": "other"},
        ),
        "reasoning": ({"summary": [{"type": "summary_text", "text": "otherwise"}]}, {"summary": []}),
        "function_call": ({"arguments": '{"other": 1}'}, {"arguments": ""}, {"namespace": "late"}),
        "custom_tool_call": ({"input": "otherwise"}, {"namespace": "late"}),
    }
    return {**item, **chance.choice(changes.get(item["type"], ({},)))}


def _pieces(chance: Random, item: dict[str, Any], begun: dict[str, Any]) -> list[Any]:
    kind = item["type"]
    if kind == "message":
        return [
            event
            for part in item["content"]
            for event in (
                {"type": "response.content_part.added", "part": {**part}},
                *_deltas(
                    chance,
                    "response.output_text" if "text" in part else "response.refusal",
                    part.get("text", "No."),
                ),
                {"type": "response.content_part.done", "part": part},
            )
        ]
    if kind == "reasoning":
        raw = chance.random() < 0.3
        name = "response.reasoning_text" if raw else "response.reasoning_summary_text"
        return [
            event
            for part in item.get("summary", ())
            for event in (
                *_deltas(chance, name, part["text"]),
                *([] if raw else [{"type": "response.reasoning_summary_part.done", "part": part}]),
            )
        ]
    if kind == "function_call":
        rest = item["arguments"][len(begun["arguments"]) :]
        events = _deltas(chance, "response.function_call_arguments", rest)
        return [
            *events,
            *_closing(
                chance, "response.function_call_arguments.done", "arguments", item["arguments"], events
            ),
        ]
    if kind == "custom_tool_call":
        rest = item["input"][len(begun["input"]) :]
        events = _deltas(chance, "response.custom_tool_call_input", rest)
        return [
            *events,
            *_closing(chance, "response.custom_tool_call_input.done", "input", item["input"], events),
        ]
    return []


def _deltas(chance: Random, name: str, text: str) -> list[Any]:
    size = chance.choice((1, 3, 5, 40))
    return [{"type": f"{name}.delta", "delta": text[at : at + size]} for at in range(0, len(text), size)]


def _closing(chance: Random, name: str, key: str, text: str, events: list[Any]) -> list[Any]:
    """The event that tells the whole text, and perhaps some of the text that no delta has told."""
    if events and chance.random() < 0.2:
        events.pop()
    if chance.random() < 0.2:
        return []
    return [{"type": name, key: text if chance.random() < 0.93 else '{"different": true}'}]


def _ending(chance: Random, items: list[dict[str, Any]]) -> list[Any]:
    kind = chance.random()
    if kind < 0.05:
        return []
    if kind < 0.1:
        error = chance.choice(
            ({"code": "server_error", "message": "Oops"}, {"message": "Oops"}, {"code": "c"}, None)
        )
        event: dict[str, Any] = {"type": "error", **(error or {})}
        return [
            {"type": "error", "error": error or {"message": "nested"}} if chance.random() < 0.3 else event
        ]
    if kind < 0.16:
        told: dict[str, Any] = {"id": "resp_1", "status": "failed"}
        told["error"] = chance.choice(
            ({"code": "rate_limit", "message": "slow"}, {"code": "c"}, {"message": "m"}, None, {})
        )
        if chance.random() < 0.3:
            told["incomplete_details"] = {"reason": "content_filter"}
        return [{"type": "response.failed", "response": told}]
    status = chance.choice(_STATUSES)
    whole: dict[str, Any] = {"id": "resp_1", "status": status, "output": chance.choice((items, [], None))}
    if isinstance(whole["output"], list):
        whole["output"] = [
            {**item, "encrypted_content": "late"}
            if item["type"] == "reasoning" and chance.random() < 0.7
            else item
            for item in whole["output"]
        ]
    if status is None and chance.random() < 0.5:
        del whole["status"]
    if status == "incomplete":
        reason = chance.choice(("max_output_tokens", "content_filter", "odd", None))
        whole["incomplete_details"] = None if reason is None else {"reason": reason}
    if chance.random() < 0.9:
        whole["usage"] = _usage(chance)
    tier = chance.choice(_TIERS)
    if tier is not None:
        whole["service_tier"] = tier
    if chance.random() < 0.1:
        whole["input_transformations"] = [
            {"type": "reasoning", "action": "removed", "reason": reason, "id": "rs_0"}
            for reason in ("turn_boundary", "prefix_mismatch")
        ]
    events: list[Any] = [
        {"type": "response.incomplete" if status == "incomplete" else "response.completed", "response": whole}
    ]
    if chance.random() < 0.05:
        events.append(
            chance.choice(
                (*events, {"type": "response.output_text.delta", "output_index": 0, "delta": "late"})
            )
        )
    return events


def _usage(chance: Random) -> Any:
    usage: dict[str, Any] = {"input_tokens": chance.randrange(999), "output_tokens": chance.randrange(99)}
    usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
    if chance.random() < 0.6:
        usage["input_tokens_details"] = {
            "cached_tokens": chance.randrange(400),
            "cache_write_tokens": chance.choice((0, 7)),
        }
    if chance.random() < 0.6:
        usage["output_tokens_details"] = {"reasoning_tokens": chance.randrange(50)}
    return chance.choice((usage, usage, usage, usage, {}, None, {"input_tokens": None}))


def refuse(chance: Random) -> Any:
    """The body of an error."""
    if chance.random() < 0.1:
        return chance.choice(({"error": "text"}, {"error": {}}, {"message": "no error"}, json.loads("[1]")))
    code = chance.choice(
        ("rate_limit_exceeded", "subscription_sharing_usage_limit_exceeded", "invalid_request_error", None)
    )
    message = chance.choice(("slow down", "prompt is too long", "", None, "x" * 5000))
    return {"error": {"message": message, "type": "t", "param": None, "code": code}}


# --- requests -------------------------------------------------------------------------------------------------

_WISHES: tuple[Any, ...] = (
    {"type": "json_schema", "strict": "prefer"},
    {"type": "json_schema", "strict": "require"},
    {"type": "grammar", "variants": {"openai_lark": "start: WORD"}},
    {"type": "grammar", "variants": {"openai_regex": "[a-z]+"}},
    {"type": "grammar", "variants": {}},
    False,
)
_SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": [1, None]}, "c": {"const": 1}}},
    {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": [],
    },
    {"type": "object", "properties": {"a": {"anyOf": [{"type": "object"}]}}},
    {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "object"}}}},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "$defs": {}},
    {"type": "object"},
)


def ask(chance: Random) -> Asked:
    """A model with any features, and options of any kind."""
    model = a_model(chance, "openai-responses", **_of_model(chance))
    if chance.random() < 0.2:
        model["baseUrl"] = "{server}/"
    told = options(chance)
    if chance.random() < 0.1:
        told["env"] = {"PI_CACHE_RETENTION": chance.choice(("long", "short"))}
    return Asked(model=model, options=told, simple=chance.random() < 0.5)


def context_of(chance: Random, model: dict[str, Any]) -> dict[str, Any]:
    """A conversation in which tools come and go."""
    context = a_context(chance, model, turns=chance.randrange(4))
    declared = [
        {**tool, "parameters": chance.choice(_SCHEMAS), "constrainedSampling": chance.choice(_WISHES)}
        if chance.random() < 0.3
        else tool
        for tool in context.get("tools", ())
    ]
    if "tools" in context:
        context["tools"] = declared
    messages = context["messages"]
    for _ in range(chance.choice((0, 0, 1, 2, 3))):
        changed: dict[str, Any] = {"role": "system", "content": chance.choice(("", "Later", a_text(chance)))}
        if chance.random() < 0.7:
            changed["toolsAdded"] = tools(chance, 2)
        if chance.random() < 0.3:
            changed["toolsRemoved"] = [{"name": chance.choice(("read", "bash", "write"))}]
        if chance.random() < 0.3:
            changed["sections"] = {"env": chance.choice(("e", None, "f")), "rules": "r"}
        messages.insert(chance.randint(0, len(messages)), {**changed, "timestamp": 1})
    for message in messages:
        if message["role"] == "toolResult" and chance.random() < 0.2:
            message["addedToolNames"] = [tool["name"] for tool in declared[:2]]
        if message["role"] == "assistant" and chance.random() < 0.2:
            message["providerThinkingLevel"] = chance.choice(("low", "high"))
            for block in message["content"]:
                if block["type"] == "toolCall":
                    block["namespace"] = "ns"
    return context
