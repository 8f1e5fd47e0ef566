"""Sessions of Anthropic's Messages API whose requests continue each other (1.6.0): several calls, one after the other.

Between two calls something may change that a thread cannot bear: the prompt, a tool, the level, what was said before.
The answers may come from another model, fail, or refuse the thread for one reason or another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from .cases import ABORT, Case, answer, call, case, chunk
from .contexts import a_context, a_model, tools
from .event_stream import plain

API = "anthropic-messages"

_CODES = (
    "thread_not_found",
    "thread_already_continued",
    "thread_continue_in_flight",
    "thread_fingerprint_mismatch",
    "thread_unsupported_request",
    "something_else",
    None,
)


def thread_case(seed: int, number: int) -> Case:
    """A session, by its seed and number."""
    chance = Random(f"thread/{seed}/{number}")
    model = a_model(chance, API, "anthropic")
    model["compat"] = {"supportsMessageThreads": True, "supportsStrictTools": chance.random() < 0.3}
    context = a_context(chance, model, turns=chance.randrange(2))
    options: dict[str, Any] = {"sessionId": f"thread-{seed}-{number}"}
    calls: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for index in range(chance.randint(2, 4)):
        context, options = _changed(context, chance), _varied(options, chance)
        calls.append(call(context, options))
        answers += _answers(chance, model, index)
        context = {
            **context,
            "messages": [
                *context["messages"],
                {"$message": index},
                *(
                    {"role": "user", "content": "And?", "timestamp": 99}
                    for _ in range(chance.choice((1, 1, 1, 0, 2)))
                ),
            ],
        }
    return case(API, model, calls, answers, f"thread {seed}:{number}")


def thread_cases(seed: int, count: int) -> Iterator[Case]:
    """The first `count` sessions of a seed."""
    return (thread_case(seed, number) for number in range(count))


def _changed(context: dict[str, Any], chance: Random) -> dict[str, Any]:
    kind = chance.random()
    if kind < 0.1:
        return {**context, "systemPrompt": "Now be long."}
    if kind < 0.2:
        wish = {"constrainedSampling": {"type": "json_schema", "strict": "prefer"}}
        return {**context, "tools": [{**tool, **wish} for tool in tools(chance)]}
    if kind < 0.25:
        return {**context, "messages": context["messages"][1:]}
    return context


def _varied(options: dict[str, Any], chance: Random) -> dict[str, Any]:
    chances = {
        "cacheRetention": ("none", 0.05),
        "disableContinuation": (True, 0.1),
        "thinkingEnabled": (True, 0.1),
        "toolChoice": ("auto", 0.05),
    }
    return {**options, **{name: value for name, (value, often) in chances.items() if chance.random() < often}}


def _answers(chance: Random, model: dict[str, Any], index: int) -> list[dict[str, Any]]:
    answers = []
    while chance.random() < 0.3:
        code = chance.choice(_CODES)
        words = chance.choice(("thread: Extra inputs are not permitted", "no", "Too many strict tools (21)"))
        problem: dict[str, Any] = {"type": "invalid_request_error", "message": words}
        if code is not None:
            problem["details"] = {"error_code": code}
        body = json.dumps({"type": "error", "error": problem})
        status = chance.choice((400, 400, 404, 409))
        answers.append(answer([body], status=status, headers={"content-type": "application/json"}))
    served = model["id"] if chance.random() < 0.9 else "other"
    message: dict[str, Any] = {
        "id": f"msg_{index}",
        "model": served,
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
    if chance.random() < 0.1:
        del message["id"]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "Well."}, {"type": "thinking", "signature": "s"}]
    blocks.append({"type": "tool_use", "id": f"toolu_{index}", "name": "read", "input": {}})
    chosen = chance.sample(blocks, chance.randint(0, 3))
    events: list[tuple[str | None, Any]] = [_named("message_start", message=message)]
    for at, block in enumerate(chosen):
        events.append(_named("content_block_start", index=at, content_block=block))
        events.append(_named("content_block_stop", index=at))
    reason = chance.choice(("end_turn", "end_turn", "tool_use", "refusal"))
    events += [_named("message_delta", delta={"stop_reason": reason}), _named("message_stop")]
    steps: list[Any] = [chunk(b"".join(plain(events)))]
    if chance.random() < 0.05:
        steps = [chunk(b"".join(plain(events[:-1]))), ABORT]
    return [*answers, answer(steps)]


def _named(name: str, **fields: Any) -> tuple[str | None, Any]:
    return name, {"type": name, **fields}
