"""The APIs that models are asked by, as people call them, and where a request goes: what a wrong address is told by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from pi_trio.messages import Model


@attrs.frozen
class _Api:
    name: str
    path: str


_APIS: Final[Mapping[str, _Api]] = {
    "anthropic-messages": _Api("Anthropic's Messages", "/v1/messages"),
    "openai-completions": _Api("OpenAI's Chat Completions", "/chat/completions"),
    "openai-responses": _Api("OpenAI's Responses", "/responses"),
    "openai-codex-responses": _Api("Codex's Responses", "/codex/responses"),
    "proxy": _Api("Pi's proxy protocol", "/api/stream"),
}


def api_of(model: Model) -> str:
    """What is spoken with a model."""
    known = _APIS.get(model.api)
    return model.api if known is None else known.name


def posted_to(model: Model) -> str:
    """The address that a request for a model goes to."""
    known = _APIS.get(model.api)
    return model.base_url if known is None else f"{model.base_url.rstrip('/')}{known.path}"
