"""Models, usages and responses, written shortly."""

from __future__ import annotations

from typing import Any

from pi_trio.codec import structure
from pi_trio.messages import AssistantMessage, Model, ModelCost, Usage, UsageCost
from pi_trio.models.stream import ModelContext

NOTHING = UsageCost(input=0, output=0, cache_read=0, cache_write=0, total=0)


def model(**fields: Any) -> Model:
    """A model of provider `p`; unknown fields (`thinkingLevelMap`, …) are those of its JSON form."""
    return structure(
        {
            "id": "m", "name": "M", "api": "some-api", "provider": "p", "baseUrl": "http://there", "reasoning": False,
            "input": ["text"], "contextWindow": 100_000, "maxTokens": 8_000,
            "cost": {"input": 1, "output": 2, "cacheRead": 0.1, "cacheWrite": 1.25},
            **fields,
        },
        Model,
    )  # fmt: skip


def usage(input: int = 0, output: int = 0, cache_read: int = 0, cache_write: int = 0, **more: Any) -> Usage:  # noqa: A002
    return Usage(
        input=input, output=output, cache_read=cache_read, cache_write=cache_write, cost=NOTHING,
        **{"total_tokens": input + output + cache_read + cache_write, **more},
    )  # fmt: skip


def response(*content: Any, stop: str = "stop", **fields: Any) -> AssistantMessage:
    return AssistantMessage(
        content=content, stop_reason=stop,
        **{"api": "some-api", "provider": "p", "model": "m", "usage": usage(), "timestamp": 10, **fields},
    )  # fmt: skip


def failed(text: str, **fields: Any) -> AssistantMessage:
    return response(stop="error", error_message=text, **fields)


def context(*messages: Any, **fields: Any) -> ModelContext:
    return ModelContext(messages=messages, **fields)


FREE = ModelCost(input=0, output=0, cache_read=0, cache_write=0)
