"""What OpenAI's Chat Completions API may say, and those who speak it: their chunks, their usage, their refusals.

Also what they are asked (`ask`): models with every `compat` that is known.
"""

from __future__ import annotations

from random import Random
from typing import Any

from .bodies import LEVELS, Asked
from .contexts import a_context, a_model, a_text
from .spoken import Spoken

_API = "openai-completions"

#: Providers that are told apart, and addresses that tell them.
_PROVIDERS = (
    "openai", "openai", "openai", "openrouter", "deepseek", "zai", "zai-coding-cn", "together", "moonshotai", "nvidia",
    "ant-ling", "cerebras", "xai", "opencode", "opencode-go", "cloudflare-workers-ai", "cloudflare-ai-gateway", "groq",
    "github-copilot", "llama.cpp", "ollama", "vllm",
)  # fmt: skip
_ADDRESSES = (
    "", "", "", "", "api.openai.com", "openrouter.ai", "api.DeepSeek.com", "api.z.ai", "open.bigmodel.cn",
    "api.together.xyz", "api.moonshot.ai", "integrate.api.nvidia.com", "api.ant-ling.com", "cerebras.ai", "api.x.ai",
    "chutes.ai", "opencode.ai", "api.cloudflare.com", "gateway.ai.cloudflare.com",
)  # fmt: skip
_IDS = ("model-1", "anthropic/claude", "openai/gpt", "qwen3")

_GRAMMAR_TOOL = {
    "name": "patch",
    "description": "Patches",
    "parameters": {"type": "object", "properties": {"diff": {"type": "string"}}, "required": ["diff"]},
    "constrainedSampling": {"type": "grammar", "variants": {"openai_lark": "start: /.+/"}},
}


def a_chat_model(chance: Random) -> dict[str, Any]:
    """A model of any provider; the address tells of another one now and then."""
    address = chance.choice(_ADDRESSES)
    fields: dict[str, Any] = {"id": chance.choice(_IDS)}
    if address:
        fields["baseUrl"] = "{server}/" + address
    return a_model(chance, _API, chance.choice(_PROVIDERS), **fields)


# --- what is said -------------------------------------------------------------------------------------------


def speak(chance: Random) -> Spoken:
    """A response: chunks of text, reasoning and calls in any order, its end, and its usage."""
    model = a_chat_model(chance)
    compat: dict[str, Any] = {}
    if chance.random() < 0.15:
        compat["supportsFinishReason"] = False
    if chance.random() < 0.3:
        compat["supportsOpenAIGrammarTools"] = True
    if compat:
        model["compat"] = compat
    context = a_context(chance, model)
    if chance.random() < 0.3:
        context["tools"] = [*context.get("tools", ()), _GRAMMAR_TOOL]
    events = _chunks(chance, model)
    hooks = ("onPayload", "onResponse", "onProviderStreamEvent") if chance.random() < 0.1 else ()
    return Spoken(
        model=model,
        context=context,
        options={},
        events=[(None, chunk) for chunk in events],
        simple=chance.random() < 0.3,
        hooks=hooks,
    )


def _chunks(chance: Random, model: dict[str, Any]) -> list[Any]:
    head = _head(chance, model)
    deltas = _deltas(chance)
    reason = chance.choice(
        (
            "stop",
            "stop",
            "tool_calls",
            "tool_calls",
            "length",
            "end",
            "function_call",
            "content_filter",
            "odd",
            None,
        )
    )
    chunks: list[Any] = [_chunk(head, delta) for delta in deltas]
    ends: dict[str, Any] = {"finish_reason": reason}
    if chance.random() < 0.2 and chunks:
        chunks[-1]["choices"][0].update(ends)
    else:
        chunks.append(_chunk(head, chance.choice(({}, {}, {"content": ""}, None)), **ends))
    if chance.random() < 0.05:
        chunks.append(
            _chunk(head, {"content": "more"}, finish_reason=chance.choice(("stop", "length", None)))
        )
    if chance.random() < 0.8:
        _tell_usage(chance, chunks, head)
    if chance.random() < 0.06:
        chunks.insert(chance.randint(0, len(chunks)), chance.choice(_ODD_CHUNKS))
    if chance.random() < 0.05:
        chunks.insert(chance.randint(0, len(chunks)), {"error": refuse(chance)["error"]})
    if chance.random() < 0.7:
        chunks.append("[DONE]")
    return chunks


#: Chunks that say nothing, or not much.
_ODD_CHUNKS: tuple[Any, ...] = (
    {}, {"choices": []}, {"choices": None}, {"choices": [None]}, {"choices": [{}]}, {"choices": [{"delta": None}]},
    {"choices": [{"delta": {"content": None, "tool_calls": None, "reasoning_details": None}}]}, {"usage": {}},
    {"choices": [{"delta": {"content": 5, "reasoning": 5, "reasoning_content": ["x"]}}]}, {"error": None},
    {"choices": [{"delta": {"tool_calls": []}}]}, {"choices": {"0": {}}}, 5, "text", {"choices": [{"delta": {}}, {}]},
)  # fmt: skip


def _head(chance: Random, model: dict[str, Any]) -> dict[str, Any]:
    head: dict[str, Any] = {"id": chance.choice(("chatcmpl-1",) * 9 + ("gen-ü",) * 4 + ("", None))}
    if chance.random() < 0.9:
        head |= {
            "object": "chat.completion.chunk",
            "created": 1,
            "model": chance.choice((model["id"], "served", "")),
        }
    return head if chance.random() < 0.95 else {}


def _chunk(head: dict[str, Any], delta: Any, **choice: Any) -> dict[str, Any]:
    return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None, **choice}]}


def _deltas(chance: Random) -> list[dict[str, Any]]:
    """What grows, in the order in which it does."""
    parts = chance.choices(_PARTS, k=chance.choice((0, 1, 1, 2, 2, 3, 4)))
    streams = [part(chance, 10 * number) for number, part in enumerate(parts)]
    deltas: list[dict[str, Any]] = []
    if chance.random() < 0.5:
        deltas.append({"role": "assistant", "content": chance.choice(("", None))})
    in_turn = chance.random() < 0.6
    while any(streams):
        stream = next(filter(None, streams)) if in_turn else chance.choice([each for each in streams if each])
        deltas.append(stream.pop(0))
    return _joined(chance, deltas) if chance.random() < 0.2 else deltas


def _joined(chance: Random, deltas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some deltas together in one, as proxies put them."""
    joined: list[dict[str, Any]] = []
    for delta in deltas:
        if joined and not joined[-1].keys() & delta.keys() and chance.random() < 0.6:
            joined[-1] = {**joined[-1], **delta}
        else:
            joined.append(delta)
    return joined


def _pieces(chance: Random, text: str) -> list[str]:
    size = chance.choice((1, 3, 5, 40))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _text(chance: Random, _: int) -> list[dict[str, Any]]:
    return [{"content": piece} for piece in _pieces(chance, a_text(chance))]


def _reasoning(chance: Random, _: int) -> list[dict[str, Any]]:
    fields = chance.choice(
        (("reasoning_content",), ("reasoning",), ("reasoning_text",), ("reasoning_content", "reasoning"))
    )
    pieces = _pieces(chance, a_text(chance))
    return [{field: piece if chance.random() < 0.95 else "" for field in fields} for piece in pieces]


def _details(chance: Random, _: int) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = []
    for _ in range(chance.randint(1, 5)):
        detail = dict(chance.choice(_DETAILS))
        for key, values in _DETAIL_FIELDS.items():
            if chance.random() < 0.4:
                detail[key] = chance.choice(values)
        delta: dict[str, Any] = {"reasoning_details": [detail]}
        if chance.random() < 0.3:
            delta["reasoning"] = a_text(chance, 2)
        deltas.append(delta)
    return deltas


_DETAILS: tuple[dict[str, Any], ...] = (
    {"type": "reasoning.text", "text": "hm"},
    {"type": "reasoning.text", "text": " ü😀", "signature": "sig"},
    {"type": "reasoning.text", "text": "", "signature": None},
    {"type": "reasoning.summary", "summary": "so"},
    {"type": "reasoning.summary", "summary": " then"},
    {"type": "reasoning.encrypted", "data": "gA=="},
    {"type": "reasoning.encrypted", "data": 5},
    {"type": "odd"},
)
_DETAIL_FIELDS: dict[str, tuple[Any, ...]] = {
    "id": ("r1", None, "", 5),
    "format": ("anthropic-claude-v1", "", None),
    "index": (0, 1, "0"),
    "signature": ("s1", "", None),
    "extra": ({"b": 1, "2": [1.0]},),
}


def _calls(chance: Random, first: int) -> list[dict[str, Any]]:
    """Calls side by side: by number, by id, by both, or by neither."""
    by = chance.choice(("index", "index", "both", "id", "neither"))
    streams = []
    for number in range(first, first + chance.choice((1, 1, 2, 3))):
        mark: dict[str, Any] = {}
        if by in ("index", "both"):
            mark["index"] = number
        if by in ("id", "both"):
            mark["id"] = f"call_{number}"
        streams.append(_one_call(chance, mark, f"call_{number}", by))
    deltas: list[dict[str, Any]] = []
    while any(streams):
        chosen = chance.choice([stream for stream in streams if stream])
        entries = [chosen.pop(0)]
        if chance.random() < 0.2 and any(streams):
            entries.append(next(filter(None, streams)).pop(0))
        deltas.append({"tool_calls": entries})
    return deltas


def _one_call(chance: Random, mark: dict[str, Any], id_: str, by: str) -> list[dict[str, Any]]:
    if chance.random() < 0.15:
        first: dict[str, Any] = {
            **mark,
            "id": id_,
            "type": "custom",
            "custom": {"name": chance.choice(("patch", "odd"))},
        }
        texts = _pieces(chance, a_text(chance)) if by != "neither" else []
        return [first, *({**mark, "custom": {"input": text}} for text in texts)]
    arguments = chance.choice(_ARGUMENTS)
    pieces = _pieces(chance, arguments) if by != "neither" else [arguments]
    function: dict[str, Any] = {"name": chance.choice(("read", "bash", "my_tool"))}
    first = {**mark, "type": "function", "function": function}
    if chance.random() < 0.9:
        first["id"] = id_
    later: list[dict[str, Any]] = [{**mark, "function": {"arguments": piece}} for piece in pieces]
    if chance.random() < 0.03:
        later = [{**mark, "function": {"arguments": {"path": "ü", "n": [1]}}}]
    if (chance.random() < 0.4 and later) or by == "neither":
        function["arguments"] = later.pop(0)["function"]["arguments"] if later else ""
    if chance.random() < 0.1 and later and by != "neither":
        # The name, or the id, comes late.
        late = later[chance.randrange(len(later))]
        if chance.random() < 0.5:
            late["function"]["name"] = function.pop("name")
        elif "id" in first and by == "index":
            late["id"] = first.pop("id")
    if chance.random() < 0.1:
        later.append(
            {
                **mark,
                **chance.choice(
                    ({}, {"function": {}}, {"function": None}, {"function": {"arguments": None}})
                ),
            }
        )
    return [first, *later]


_ARGUMENTS = (
    "", "{}", '{"path": "a/b", "n": 12}', '{"path":"ünï\\n😀","edits":[{"old":"x"},{}]}', '{"path": "cut off',
    '{"path":"a",}',
    '{"raw":"line\nbreak"}', '{"p":"C:\\Users"}', "[1,2]", "null", "not json", '{"a":1}{"b":2}', '"text"',
    '{"n": 1.50, "big": 1234567890123456, "b": tr', '{"2":1,"b":2,"1":3}',
)  # fmt: skip

_PARTS = (_text, _text, _reasoning, _reasoning, _details, _calls, _calls)


def _tell_usage(chance: Random, chunks: list[Any], head: dict[str, Any]) -> None:
    usage = _usage(chance)
    where = chance.choice(("own", "own", "last", "choice", "all"))
    if where == "own":
        chunks.append({**head, "choices": [], "usage": usage})
    elif where == "choice":
        chunks[-1]["choices"][0]["usage"] = usage
    else:
        for chunk in chunks[-1:] if where == "last" else chunks:
            chunk["usage"] = usage if chunk is chunks[-1] else _usage(chance)


def _usage(chance: Random) -> Any:
    prompt = chance.randrange(9000)
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": chance.randrange(900)}
    usage["total_tokens"] = prompt + usage["completion_tokens"]
    more: dict[str, tuple[Any, ...]] = {
        "prompt_tokens_details": (
            {"cached_tokens": prompt // 2}, {"cached_tokens": 7, "cache_write_tokens": 5}, {}, None,
            {"cached_tokens": None}, {"cached_tokens": prompt + 50},
        ),
        "prompt_cache_hit_tokens": (3, 0, None),
        "cached_tokens": (2, None),
        "completion_tokens_details": (
            {"reasoning_tokens": 11}, {"reasoning_tokens": 0}, {"reasoning_tokens": None}, None,
        ),
        "reasoning_tokens": (9,),
        "cost": (0.0123, 0, -1, "1"),
        "is_byok": (False, True, None),
        "cost_details": (
            {"upstream_inference_cost": 0.5}, {"upstream_inference_cost": None}, None, {},
            {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 0.1,
             "upstream_inference_completions_cost": 0.2},
        ),
    }  # fmt: skip
    for key, values in more.items():
        if chance.random() < 0.4:
            usage[key] = chance.choice(values)
    return chance.choice((usage, usage, usage, usage, usage, {}, None))


def refuse(chance: Random) -> Any:
    """An error, as OpenAI and those who imitate it word it."""
    error: dict[str, Any] = {
        "message": chance.choice(("bad", "Rate limit reached", "ünï 😀", "x" * 5000, ""))
    }
    for key, values in {
        "type": ("invalid_request_error", None),
        "code": ("context_length_exceeded", 429),
        "param": (None,),
        "metadata": (
            {"raw": "upstream says no"}, {"raw": '{"why": "no"}', "provider_name": "X"}, {}, None,
            {"raw": {"a": 1}}, {"raw": {"b": [1]}}, {"raw": {"c": "ü"}},
            {"raw": ""},
        ),
    }.items():  # fmt: skip
        if chance.random() < 0.4:
            error[key] = chance.choice(values)
    return {"error": chance.choice((error, error, error, error, {"message": ""}, "a text", {}))}


# --- what is asked ------------------------------------------------------------------------------------------


def ask(chance: Random) -> Asked:
    """A model with some of the `compat` that there is, and options."""
    model = a_chat_model(chance)
    compat = {key: chance.choice(values) for key, values in _COMPAT.items() if chance.random() < 0.15}
    if chance.random() < 0.5:
        compat["thinkingFormat"] = chance.choice(_FORMATS)
    if chance.random() < 0.7:
        model["compat"] = compat
    if chance.random() < 0.5:
        words = {
            "off": (None, "none"), "minimal": (None, "min"), "low": ("low",), "high": ("hi", None),
            "xhigh": ("xhigh",), "max": ("max", None),
        }  # fmt: skip
        model["thinkingLevelMap"] = {
            level: chance.choice(words[level])
            for level in chance.sample(list(words), chance.randint(0, len(words)))
        }
    if chance.random() < 0.1:
        model["headers"] = {"X-Model": "m", "user-agent": "mine"}
    if chance.random() < 0.1:
        model["samplingParams"] = {"top_k": 5, "temperature": 0.9}
    if chance.random() < 0.1:
        model["samplingParamsByThinkingLevel"] = {"off": {"top_p": 1}, "high": {"top_p": 0.5}}
    options = {key: chance.choice(values) for key, values in _OPTIONS.items() if chance.random() < 0.25}
    simple = chance.random() < 0.5
    if chance.random() < 0.6:
        options["reasoning" if simple else "reasoningEffort"] = chance.choice(LEVELS)
    return Asked(model=model, options=options, simple=simple)


_FORMATS = (
    "openai", "openrouter", "deepseek", "zai", "qwen", "qwen-chat-template", "chat-template", "baseten", "ant-ling",
    "together", "string-thinking", "odd",
)  # fmt: skip

_VALUES: tuple[Any, ...] = (
    {
        "a": 1,
        "on": {"$var": "thinking.enabled"},
        "n": {"$var": "thinking.budget"},
        "e": {"$var": "thinking.effort"},
    },
    {"e": {"$var": "thinking.effort", "omitWhenOff": True}, "l": [1], "z": None},
    {},
)
_COMPAT: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        (
            "supportsStore", "supportsDeveloperRole", "supportsReasoningEffort", "supportsUsageInStreaming",
            "requiresToolResultName", "requiresAssistantAfterToolResult", "requiresThinkingAsText",
            "requiresReasoningContentOnAssistantMessages", "zaiToolStream", "supportsThinkingTokenBudget",
            "supportsStrictMode", "supportsOpenAIGrammarTools", "supportsMidConvoSystemMessages",
            "supportsMidConvoToolAdditions", "sendSessionAffinityHeaders", "supportsLongCacheRetention",
            "requiresNonNullAssistantContent", "requiresToolsWithToolHistory", "supportsStore",
        ),
        (True, True, False, None),
    ),
    "maxTokensField": ("max_tokens", "max_completion_tokens"),
    "thinkingTokenBudgetField": ("thinking_budget",),
    "chatTemplateKwargs": _VALUES,
    "chatTemplateArgs": _VALUES,
    "cacheControlFormat": ("anthropic",),
    "promptCacheKeyMode": ("auto", "enabled", "disabled"),
    "sessionAffinityFormat": ("openai", "openai-nosession", "openrouter"),
    "openRouterRouting": ({"only": ["a"]}, {}),
    "vercelGatewayRouting": ({"only": ["a"], "order": ["b"]}, {"order": ["c"]}, {}),
    "vllmPriority": (0, 3),
    "deferredToolsMode": ("kimi",),
}  # fmt: skip

_OPTIONS: dict[str, tuple[Any, ...]] = {
    "maxTokens": (0, 1, 100, 4000, 100000),
    "temperature": (0, 0.7),
    "cacheRetention": ("none", "short", "long", "long"),
    "sessionId": ("session-1", "s" * 70, "ü" * 66),
    "toolChoice": ("auto", "none", "required", {"type": "function", "function": {"name": "read"}}),
    "samplingParams": ({"top_p": 0.5}, {"temperature": 0.1, "max_tokens": 3}),
    "headers": (
        {"X-Mine": "1"},
        {"x-model": None},
        {"Authorization": "Bearer other"},
        {"X-Session-Id": "mine"},
    ),
    "thinkingBudgets": ({"low": 1234, "high": 100000},),
}
