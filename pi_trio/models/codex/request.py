"""A request to the Codex endpoint: where it goes, and its headers, which differ by transport."""

from __future__ import annotations

import math
import secrets
import time
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from ...messages import Model
from ...tools.js_number import text_of
from ..client_headers import client_headers
from ..exchange import ResponseFailedError
from ..headers import merge_headers, model_headers
from ..request_options import Headers, ProviderOptions

_BASE_URL: Final = "https://chatgpt.com/backend-api"
_BETA: Final = "OpenAI-Beta"
_OF_HTTP: Final = {"accept": None, "content-type": None, _BETA: None}


def event_stream_url(model: Model) -> str:
    """Where responses are asked for by HTTP."""
    url = (model.base_url if model.base_url.strip() else _BASE_URL).rstrip("/")
    if url.endswith("/codex/responses"):
        return url
    return f"{url}/responses" if url.endswith("/codex") else f"{url}/codex/responses"


def socket_url(model: Model) -> str:
    """Where they are asked for by WebSocket."""
    parts = urlsplit(event_stream_url(model))
    return urlunsplit(parts._replace(scheme={"https": "wss", "http": "ws"}.get(parts.scheme, parts.scheme)))


def event_stream_headers(
    model: Model, options: ProviderOptions, account: str, session: str | None
) -> dict[str, str]:
    """The headers of a request by HTTP; `session` is the key of its prompt."""
    own: dict[str, str | None] = {
        _BETA: "responses=experimental",
        "accept": "text/event-stream",
        "content-type": "application/json",
        "content-encoding": "zstd",
    }
    if session:
        own |= {"session-id": session, "x-client-request-id": session}
    return _sent(_common(model, options, account), own)


def socket_headers(
    model: Model, options: ProviderOptions, account: str, session: str | None
) -> dict[str, str]:
    """The headers of a WebSocket's handshake. Where there is no session, the request names itself."""
    named = session or _uuid7()
    own = {_BETA: "responses_websockets=2026-02-06", "x-client-request-id": named, "session-id": named}
    return _sent(merge_headers(_common(model, options, account), _OF_HTTP), own)


def milliseconds(value: float | None) -> float | None:
    """A duration of the options, in whole milliseconds.

    Raises:
        ResponseFailedError: it is none.
    """
    if value is None:
        return None
    if not math.isfinite(value) or value < 0:
        raise ResponseFailedError(f"Invalid timeoutMs: {text_of(value)}")
    return math.floor(value)


def _common(model: Model, options: ProviderOptions, account: str) -> Headers | None:
    client: Headers = {"originator": "pi", **client_headers(model, options)}
    told = merge_headers(model_headers(model), options.headers)
    if options.dialect.codex_client_headers == "first":
        headers = merge_headers(client, told)
    else:
        headers = merge_headers(told, client)
    return merge_headers(
        headers, {"Authorization": f"Bearer {options.api_key}", "chatgpt-account-id": account}
    )


def _sent(headers: Headers | None, own: Headers) -> dict[str, str]:
    return {name: value for name, value in (merge_headers(headers, own) or {}).items() if value is not None}


def _uuid7() -> str:
    """A random id that begins with the time."""
    digits = (
        f"{time.time_ns() // 1_000_000:012x}7{secrets.randbits(12):03x}{secrets.randbits(62) | 2 << 62:016x}"
    )
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
