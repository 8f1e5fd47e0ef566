"""What a request says of the prompt cache: its key, for how long, and (for Claude behind OpenRouter) up to where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...jsonvalue import JSON
from ...messages import Model
from ..prompt_cache import cache_key, retention_of
from ..request_options import ProviderOptions
from .compat import Compat

_OPENAI: Final = "api.openai.com"


def cache_fields(model: Model, options: ProviderOptions, compat: Compat) -> dict[str, JSON]:
    """The fields of the body."""
    retention = retention_of(options)
    long = retention == "long" and compat.supports_long_cache_retention
    keyed = compat.prompt_cache_key_mode == "enabled" or (
        compat.prompt_cache_key_mode == "auto" and (_OPENAI in model.base_url or long)
    )
    fields: dict[str, JSON] = {}
    key = cache_key(options.session_id)
    if retention != "none" and keyed and key is not None:
        fields["prompt_cache_key"] = key
    if long:
        fields["prompt_cache_retention"] = "24h"
    return fields


def mark_for_cache(body: dict[str, Any], options: ProviderOptions, compat: Compat) -> None:
    """Say in a body up to where the prompt is to be kept, if the endpoint wants to be told.

    That is: the first system message, the last tool, and the last message that has a text.
    """
    retention = retention_of(options)
    if compat.cache_control_format != "anthropic" or retention == "none":
        return
    mark: dict[str, JSON] = {"type": "ephemeral"}
    if retention == "long" and compat.supports_long_cache_retention:
        mark["ttl"] = "1h"
    messages: Sequence[dict[str, Any]] = body["messages"]
    for message in messages:
        if message["role"] in ("system", "developer"):
            _marked(message, mark)
            break
    if body.get("tools"):
        body["tools"][-1]["cache_control"] = mark
    for message in reversed(messages):
        if message["role"] in ("user", "assistant", "tool") and _marked(message, mark):
            break


def _marked(message: dict[str, Any], mark: dict[str, JSON]) -> bool:
    """Mark the last text of a message; false if it has none."""
    content = message.get("content")
    if isinstance(content, str):
        if content:
            message["content"] = [{"type": "text", "text": content, "cache_control": mark}]
        return bool(content)
    for part in reversed(content or ()):
        if part["type"] == "text":
            part["cache_control"] = mark
            return True
    return False
