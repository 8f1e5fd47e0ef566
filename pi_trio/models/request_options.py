"""What an adapter is given with a request: the options, after the collection has resolved them.

`StreamOptions` (`stream.py`) is what an agent has to say about a request; here is all that Pi knows, in its terms. The
collection takes the one or the other, finds the key and the headers, and gives the adapter a `ProviderOptions`.

Keys and headers are in no repr: what is logged or traced shows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from ..abort import AbortSignal
from ..jsonvalue import JSON
from ..messages import ThinkingLevel
from .dialect import DIALECT_1_6_0, Dialect
from .stream import StreamOptions

Headers: TypeAlias = Mapping[str, str | None]
"""Header fields by name; None takes a default of the adapter away."""

CacheRetention: TypeAlias = Literal["none", "short", "long"]
Transport: TypeAlias = str
"""`sse`, `websocket`, `websocket-cached` or `auto`."""


@attrs.frozen(kw_only=True)
class ProviderOptions:
    """The options of one request to a provider. Durations are in milliseconds; what is None was not said.

    Attributes:
        signal: the abort of the request; the adapter ends the response with "aborted" when it is raised.
        api_key: the key or token that was found; None where the provider takes none.
        headers: what is sent besides the adapter's own; they win over those, and None suppresses one.
        env: environment variables of the request, which win over those of the process.
        reasoning: how hard to think, None for off (in simple requests; adapters have options of their own besides).
        thinking_budgets: tokens by level, in place of the usual ones.
        tool_choice: `auto`, `none`, `required`, or what the provider takes.
        deferred: ask for a handle, and for the response later: True, or `{"window": …}`.
        timeout_ms: how long to wait for the headers of the answer.
        max_retries: tries after the first; None is none at all, as in Pi.
        max_retry_delay_ms: the longest pause that a server may ask for; 0 for no limit.
        sampling_params: fields of the body that win over all others.
        on_payload: `(body, model)`, before it is sent; what it returns, if anything, is sent in its place.
        on_response: `({"status", "headers"}, model)`, before the body of the answer is read.
        on_provider_stream_event: `(event, model)`, for each raw event of the provider (since 1.0.3).
        transform_headers: has the last word on `headers`; the collection calls it, no adapter sees it.
        provider: options of one adapter only, by their names there in snake_case.
        dialect: the release that the transport behaves as.
    """

    signal: AbortSignal = attrs.field(factory=AbortSignal)
    api_key: str | None = attrs.field(default=None, repr=False)
    headers: Headers | None = attrs.field(default=None, repr=False)
    env: Mapping[str, str] | None = attrs.field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None
    reasoning: ThinkingLevel | None = None
    thinking_budgets: Mapping[str, int] | None = None
    tool_choice: JSON = None
    deferred: JSON = None
    cache_retention: CacheRetention | None = None
    session_id: str | None = None
    transport: Transport | None = None
    disable_continuation: bool | None = None
    timeout_ms: float | None = None
    websocket_connect_timeout_ms: float | None = None
    max_retries: int | None = None
    max_retry_delay_ms: float | None = None
    metadata: Mapping[str, JSON] | None = None
    sampling_params: Mapping[str, JSON] | None = None
    service_tier: str | None = None
    identity: Mapping[str, JSON] | None = None
    on_payload: Callable[..., Any] | None = None
    on_response: Callable[..., Any] | None = None
    on_provider_stream_event: Callable[..., Any] | None = None
    transform_headers: Callable[..., Any] | None = None
    provider: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    dialect: Dialect = attrs.field(default=DIALECT_1_6_0, repr=lambda dialect: dialect.release)


#: What an agent says about a request that goes to the provider under the same name.
_SHARED = tuple(field.name for field in attrs.fields(StreamOptions))


def provider_options(options: StreamOptions | ProviderOptions | None) -> ProviderOptions:
    """The options of an agent as those of a provider; what is one already stays as it is."""
    if options is None:
        return ProviderOptions()
    if isinstance(options, ProviderOptions):
        return options
    return ProviderOptions(**{name: getattr(options, name) for name in _SHARED})
