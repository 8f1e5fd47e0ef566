"""A request to the Messages API: where it goes, its headers, and in what words its refusals are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...errors import CodecError
from ...jsontext import parse_json, print_json
from ...jsonvalue import JSON
from ...messages import Model
from ..client_headers import client_headers
from ..copilot_headers import copilot_headers
from ..dialect import Dialect
from ..exchange import ResponseFailedError, Wording
from ..headers import merge_headers, model_headers
from ..http import PostRequest
from ..request_options import Headers, ProviderOptions
from ..sse_exchange import json_content
from ..stream import ModelContext
from ..transport_errors import StatusError
from .body import session_of
from .compat import compat_of
from .naming import is_oauth

_KEY_HEADERS: Final = ("authorization", "x-api-key", "cf-aig-authorization")


def check_key(model: Model, options: ProviderOptions) -> None:
    """See that the request has a key, or a header that stands for one.

    Raises:
        ResponseFailedError: it has neither.
    """
    if options.api_key:
        return
    headers = options.headers or {}
    if not any(name.lower() in _KEY_HEADERS and value and value.strip() for name, value in headers.items()):
        raise ResponseFailedError(f"No API key for provider: {model.provider}")


def request_of(
    model: Model, context: ModelContext, options: ProviderOptions, body: Mapping[str, JSON]
) -> PostRequest:
    """The request with this body, whose `betas` become a header."""
    headers: dict[str, str | None] = {
        "accept": "application/json",
        "anthropic-version": "2023-06-01",
        "anthropic-dangerous-direct-browser-access": "true",
        **_key_header(model, options),
    }
    dynamic: Headers | None = None
    if model.provider == "github-copilot":
        dynamic = copilot_headers(context.messages)
    else:
        session, name = session_of(options), compat_of(model, options.dialect).session_header
        if session and name and not is_oauth(options.api_key):
            headers[name] = session
    merged: Headers | None = headers
    for more in (_client_headers(model, options), model_headers(model), dynamic, options.headers):
        merged = merge_headers(merged, more)
    sent = {name: value for name, value in (merged or {}).items() if value is not None}
    content = dict(body)
    betas: Any = content.pop("betas", None)
    if betas is not None:
        sent = {name: value for name, value in sent.items() if name.lower() != "anthropic-beta"}
        sent["anthropic-beta"] = ",".join(map(str, betas)) if isinstance(betas, (list, tuple)) else str(betas)
    sent["content-type"] = "application/json"
    url = f"{model.base_url.removesuffix('/')}/v1/messages?beta=true"
    return PostRequest(url=url, headers=sent, content=json_content(content))


def _key_header(model: Model, options: ProviderOptions) -> dict[str, str]:
    if not options.api_key:
        return {}
    if model.provider == "github-copilot" or is_oauth(options.api_key):
        return {"authorization": f"Bearer {options.api_key}"}
    return {"x-api-key": options.api_key}


def _client_headers(model: Model, options: ProviderOptions) -> dict[str, str]:
    """Who asks: with a subscription's token it is Claude Code."""
    if is_oauth(options.api_key) and model.provider != "github-copilot":
        return {"user-agent": f"claude-cli/{options.dialect.anthropic_claude_code}", "x-app": "cli"}
    return client_headers(model, options)


# --- refusals ---------------------------------------------------------------------------------------------


def wording(dialect: Dialect) -> Wording:
    """How failures of a request are told."""

    def with_cause(text: str, cause: str) -> str:
        return f"{text}: {cause}" if dialect.connection_cause else text

    return Wording(
        status=status_text,
        connection=lambda cause: with_cause("Connection error.", cause),
        body=lambda cause: with_cause("terminated", cause),
        aborted={
            "answer": "Request aborted",
            "body": "This operation was aborted",
            "nothing": "Request was aborted",
        },
    )


def status_text(refusal: StatusError) -> str:
    """The status with what the body says: its message, or all of it."""
    body = refusal_body(refusal)
    if not body and not isinstance(body, (dict, list)):
        text = refusal.body
    else:
        message = body.get("message") if isinstance(body, dict) else None
        if message or isinstance(message, (dict, list)):
            text = message if isinstance(message, str) else print_json(message)
        else:
            text = print_json(body)
    return f"{refusal.status} {text or 'status code (no body)'}"


def refusal_body(refusal: StatusError) -> JSON:
    """The body of a refusal, if it is JSON, else None."""
    try:
        return parse_json(refusal.body)
    except CodecError:
        return None
