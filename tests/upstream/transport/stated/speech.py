"""What a provider says, as each of the three apis words it: so that one case can be stated for all of them.

A response is a list of blocks, and how it ends. `Api.words` gives the events that the api's server sends for it, each
as one chunk; what no general description can say, a case writes itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import attrs

Event: TypeAlias = tuple[str | None, Any]


@attrs.frozen
class Text:
    """A block of text, in pieces."""

    pieces: Sequence[str]


@attrs.frozen
class Thinking:
    """A block of thinking, in pieces, and its signature."""

    pieces: Sequence[str]
    signature: str = "c2lnbmF0dXJl"


@attrs.frozen
class Call:
    """A call of a tool: the JSON text of its arguments, in pieces."""

    id: str
    name: str
    pieces: Sequence[str]


Block: TypeAlias = Text | Thinking | Call


@attrs.frozen(kw_only=True)
class Counts:
    """How many tokens were used; `input` is without what was cached."""

    input: int = 100
    output: int = 20
    cached: int = 0
    thinking: int = 0


@attrs.frozen
class Api:
    """One api: its name in Pi and in the names of the cases, its provider, and the end of its base URL."""

    name: str
    short: str
    provider: str
    path: str = ""

    def model(self, **fields: Any) -> dict[str, Any]:
        """A model; `fields` win."""
        return {
            "id": "model-1",
            "name": "Model 1",
            "api": self.name,
            "provider": self.provider,
            "baseUrl": f"{{server}}{self.path}",
            "reasoning": False,
            "input": ["text", "image"],
            "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
            "contextWindow": 200000,
            "maxTokens": 8192,
            **fields,
        }

    def words(self, blocks: Sequence[Block], end: str = "stop", counts: Counts = Counts()) -> list[str]:
        """A whole response, an event in each chunk. `end` is in Pi's words."""
        return [chunk_of(event) for event in _SPEAK[self.short](blocks, end, counts)]

    def begun(self, blocks: Sequence[Block]) -> list[str]:
        """A response that breaks off inside its last block."""
        said = list(_SPEAK[self.short](blocks, "stop", Counts()))
        last = max(place for place, (_, data) in enumerate(said) if _is_piece(data))
        return [chunk_of(event) for event in said[: last + 1]]


def chunk_of(event: Event) -> str:
    """An event of a stream."""
    name, data = event
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n" if name else f"data: {text}\n\n"


def _is_piece(data: Any) -> bool:
    if not isinstance(data, dict):
        return False
    choices = data.get("choices")
    return (data.get("type", "").endswith("delta") and "usage" not in data) or bool(
        choices and choices[0]["delta"]
    )


# --- the Messages API -------------------------------------------------------------------------------------

_ANTHROPIC_ENDS = {"stop": "end_turn", "length": "max_tokens", "toolUse": "tool_use"}


def _named(data: dict[str, Any]) -> Event:
    return data["type"], data


def _anthropic(blocks: Sequence[Block], end: str, counts: Counts) -> Iterator[Event]:
    used = {"input_tokens": counts.input, "output_tokens": 1}
    if counts.cached:
        used |= {"cache_read_input_tokens": counts.cached, "cache_creation_input_tokens": 0}
    yield _named({"type": "message_start", "message": {"id": "msg_1", "model": "model-1", "usage": used}})
    for index, block in enumerate(blocks):
        first, deltas = _anthropic_block(block)
        yield _named({"type": "content_block_start", "index": index, "content_block": first})
        for delta in deltas:
            yield _named({"type": "content_block_delta", "index": index, "delta": delta})
        yield _named({"type": "content_block_stop", "index": index})
    final: dict[str, Any] = {"output_tokens": counts.output}
    if counts.thinking:
        final["output_tokens_details"] = {"thinking_tokens": counts.thinking}
    reason = _ANTHROPIC_ENDS.get(end, end)
    yield _named({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": final})
    yield _named({"type": "message_stop"})


def _anthropic_block(block: Block) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match block:
        case Text():
            deltas = [{"type": "text_delta", "text": piece} for piece in block.pieces]
            return {"type": "text", "text": ""}, deltas
        case Thinking():
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in block.pieces]
            signed = [{"type": "signature_delta", "signature": block.signature}] if block.signature else []
            return {"type": "thinking", "thinking": "", "signature": ""}, [*deltas, *signed]
        case Call():
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in block.pieces]
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}, deltas


# --- Chat Completions -------------------------------------------------------------------------------------

_CHAT_ENDS = {"stop": "stop", "length": "length", "toolUse": "tool_calls"}


def choice(delta: dict[str, Any], reason: str | None = None) -> Event:
    """A chunk with one choice."""
    choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return None, {"id": "chatcmpl-1", "model": "model-1", "choices": choices}


def _chat(blocks: Sequence[Block], end: str, counts: Counts) -> Iterator[Event]:
    calls = 0
    for block in blocks:
        match block:
            case Text():
                yield from (choice({"content": piece}) for piece in block.pieces)
            case Thinking():
                yield from (choice({"reasoning_content": piece}) for piece in block.pieces)
            case Call():
                first = {"index": calls, "id": block.id, "type": "function"}
                named = {**first, "function": {"name": block.name, "arguments": ""}}
                yield choice({"tool_calls": [named]})
                for piece in block.pieces:
                    yield choice({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                calls += 1
    yield choice({}, _CHAT_ENDS.get(end, end))
    used: dict[str, Any] = {
        "prompt_tokens": counts.input + counts.cached,
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.cached + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cached},
        "completion_tokens_details": {"reasoning_tokens": counts.thinking},
    }
    yield None, {"id": "chatcmpl-1", "model": "model-1", "choices": [], "usage": used}
    yield None, "[DONE]"


# --- Responses --------------------------------------------------------------------------------------------


def _responses(blocks: Sequence[Block], end: str, counts: Counts) -> Iterator[Event]:
    yield _named({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}})
    for index, block in enumerate(blocks):
        for event in item_events(index, block):
            yield _named({**event, "output_index": index})
    used = {
        "input_tokens": counts.input + counts.cached,
        "output_tokens": counts.output,
        "total_tokens": counts.input + counts.cached + counts.output,
        "input_tokens_details": {"cached_tokens": counts.cached},
        "output_tokens_details": {"reasoning_tokens": counts.thinking},
    }
    status = {"length": "incomplete"}.get(end, "completed")
    why = {"incomplete_details": {"reason": "max_output_tokens"}} if end == "length" else {}
    yield _named(
        {
            "type": f"response.{status}",
            "response": {"id": "resp_1", "status": status, **why, "usage": used},
        }
    )


def item_events(index: int, block: Block) -> Iterable[dict[str, Any]]:
    """The events of one item of an output, without its place."""
    whole = "".join(block.pieces)
    match block:
        case Text():
            item: dict[str, Any] = {"type": "message", "id": f"msg_{index}", "role": "assistant"}
            part = {"type": "output_text", "text": "", "annotations": []}
            yield {"type": "response.output_item.added", "item": {**item, "content": []}}
            yield {"type": "response.content_part.added", "content_index": 0, "part": part}
            for piece in block.pieces:
                yield {"type": "response.output_text.delta", "content_index": 0, "delta": piece}
            done = {**item, "status": "completed", "content": [{**part, "text": whole}]}
        case Thinking():
            item = {"type": "reasoning", "id": f"rs_{index}"}
            part = {"type": "summary_text", "text": ""}
            yield {"type": "response.output_item.added", "item": {**item, "summary": []}}
            yield {"type": "response.reasoning_summary_part.added", "summary_index": 0, "part": part}
            for piece in block.pieces:
                yield {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": piece}
            yield {
                "type": "response.reasoning_summary_part.done",
                "summary_index": 0,
                "part": {**part, "text": whole},
            }
            done = {**item, "summary": [{**part, "text": whole}], "encrypted_content": block.signature}
        case Call():
            item = {"type": "function_call", "id": f"fc_{index}", "call_id": block.id, "name": block.name}
            yield {"type": "response.output_item.added", "item": {**item, "arguments": ""}}
            for piece in block.pieces:
                yield {"type": "response.function_call_arguments.delta", "delta": piece}
            yield {"type": "response.function_call_arguments.done", "arguments": whole}
            done = {**item, "status": "completed", "arguments": whole}
    yield {"type": "response.output_item.done", "item": done}


_SPEAK = {"anthropic": _anthropic, "chat": _chat, "responses": _responses}

ANTHROPIC = Api("anthropic-messages", "anthropic", "anthropic")
CHAT = Api("openai-completions", "chat", "openai", "/v1")
RESPONSES = Api("openai-responses", "responses", "openai", "/v1")

APIS = (ANTHROPIC, CHAT, RESPONSES)
