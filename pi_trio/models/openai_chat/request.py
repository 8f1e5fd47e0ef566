"""A request to the Chat Completions API: where it goes, and its headers."""

from __future__ import annotations

from typing import Final

from ...messages import Model
from ..client_headers import client_headers
from ..copilot_headers import copilot_headers
from ..headers import merge_headers, model_headers
from ..http import PostRequest
from ..openai_key import key_of
from ..prompt_cache import retention_of
from ..request_options import Headers, ProviderOptions
from .body import Prepared
from .compat import Compat

#: Where a model is that does not say where.
_OPENAI: Final = "https://api.openai.com/v1"


def request_of(model: Model, ready: Prepared, options: ProviderOptions, content: bytes) -> PostRequest:
    """The request, with its body.

    Raises:
        ResponseFailedError: there is no key.
    """
    headers: Headers | None = {
        "accept": "application/json",
        "content-type": "application/json",
        "authorization": f"Bearer {key_of(model, options)}",
    }
    copilot = copilot_headers(ready.messages) if model.provider == "github-copilot" else None
    session = _session_headers(ready.compat, options)
    for more in (client_headers(model, options), model_headers(model), copilot, session, options.headers):
        headers = merge_headers(headers, more)
    sent = {name: value for name, value in (headers or {}).items() if value is not None}
    url = (model.base_url or _OPENAI).removesuffix("/")
    return PostRequest(url=f"{url}/chat/completions", headers=sent, content=content)


def _session_headers(compat: Compat, options: ProviderOptions) -> Headers:
    """What keeps the requests of a session on one machine, if the endpoint wants it."""
    session = options.session_id
    if not session or not compat.send_session_affinity_headers or retention_of(options) == "none":
        return {}
    if compat.session_affinity_format == "openrouter":
        return {"x-session-id": session}
    named = {"session_id": session} if compat.session_affinity_format == "openai" else {}
    return {**named, "x-client-request-id": session, "x-session-affinity": session}
