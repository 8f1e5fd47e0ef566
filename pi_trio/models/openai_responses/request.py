"""A request to the Responses API: where it goes, and its headers."""

from __future__ import annotations

from ...messages import Model
from ..client_headers import client_headers
from ..copilot_headers import copilot_headers
from ..headers import merge_headers, model_headers
from ..http import PostRequest
from ..openai_key import key_of
from ..prompt_cache import retention_of
from ..request_options import Headers, ProviderOptions
from .body import Prepared
from .tools import compat_value


def request_of(model: Model, ready: Prepared, options: ProviderOptions, content: bytes) -> PostRequest:
    """The request, with its body."""
    headers: Headers | None = {
        "accept": "application/json",
        "content-type": "application/json",
        "authorization": f"Bearer {key_of(model, options)}",
    }
    mine = client_headers(model, options)
    copilot = copilot_headers(ready.messages) if model.provider == "github-copilot" else None
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
