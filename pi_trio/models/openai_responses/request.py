"""A request to the Responses API: where it goes, and its headers. (Facts, section 8.4.)"""

from __future__ import annotations

from collections.abc import Sequence

from ...messages import AssistantMessage, ImageContent, Message, Model, ToolResultMessage, UserMessage
from ..client_headers import client_headers
from ..exchange import ResponseFailedError
from ..headers import merge_headers, model_headers
from ..http import PostRequest
from ..request_options import Headers, ProviderOptions
from .body import Prepared
from .caching import retention_of
from .tools import compat_value

#: Headers that stand for a key, where none is given.
_KEYS = ("authorization", "cf-aig-authorization")


def key_of(model: Model, options: ProviderOptions) -> str:
    """The key of the request. Where a header has one already, any will do.

    Raises:
        ResponseFailedError: there is none.
    """
    if options.api_key:
        return options.api_key
    headers = options.headers or {}
    if any(name.lower() in _KEYS and value and value.strip() for name, value in headers.items()):
        return "unused"
    raise ResponseFailedError(f"No API key for provider: {model.provider}")


def request_of(model: Model, ready: Prepared, options: ProviderOptions, content: bytes) -> PostRequest:
    """The request, with its body."""
    headers: Headers | None = {
        "accept": "application/json",
        "content-type": "application/json",
        "authorization": f"Bearer {key_of(model, options)}",
    }
    mine = client_headers(model, options)
    copilot = _copilot_headers(ready.messages) if model.provider == "github-copilot" else None
    for more in (mine, model_headers(model), copilot, _session_headers(model, options), options.headers):
        headers = merge_headers(headers, more)
    sent = {name: value for name, value in (headers or {}).items() if value is not None}
    return PostRequest(url=f"{model.base_url.rstrip('/')}/responses", headers=sent, content=content)


def _session_headers(model: Model, options: ProviderOptions) -> Headers:
    """What keeps the requests of a session on one machine, in the terms of the destination."""
    session = options.session_id
    if not session or retention_of(options) == "none":
        return {}
    through_openrouter = model.provider == "openrouter" or "openrouter.ai" in model.base_url
    format_ = compat_value(model, "sessionAffinityFormat") or (
        "openrouter" if through_openrouter else "openai"
    )
    if format_ == "openrouter":
        return {"x-session-id": session}
    headers: dict[str, str | None] = {"x-client-request-id": session}
    if format_ == "openai":
        headers[options.dialect.responses_session_header] = session
    return headers


def _copilot_headers(messages: Sequence[Message]) -> Headers:
    """Who has begun the request, the user or the agent, and whether there is anything to see."""
    by_agent = bool(messages) and not isinstance(messages[-1], UserMessage)
    headers = {"X-Initiator": "agent" if by_agent else "user", "Openai-Intent": "conversation-edits"}
    return {**headers, "Copilot-Vision-Request": "true"} if any(map(_has_image, messages)) else headers


def _has_image(message: Message) -> bool:
    if isinstance(message, AssistantMessage) or not isinstance(message, (UserMessage, ToolResultMessage)):
        return False
    content = message.content
    return isinstance(content, tuple) and any(isinstance(block, ImageContent) for block in content)
