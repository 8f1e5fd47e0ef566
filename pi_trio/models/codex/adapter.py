"""The adapter of the Codex endpoint: by WebSocket where that works, else by server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import attrs
import trio

from ...messages import Model
from ..builder import ResponseBuilder
from ..exchange import Answer, Exchange, ResponseFailedError, Wording
from ..http import PostRequest
from ..limits import base_options
from ..nursery import open_bare_nursery
from ..openai_responses.ending import ServiceTier
from ..prompt_cache import cache_key
from ..request_options import ProviderOptions, provider_options
from ..sse_exchange import final_payload, json_content
from ..stream import ModelContext, Opened, StreamOptions
from ..thinking import clamp_thinking_level
from .account import account_of
from .body import body_of, prepare, session_of, told_effort
from .by_event_stream import open_event_stream, packed
from .by_socket import SocketAnswer, SocketRequest
from .reading import CodexReader, Messages
from .request import event_stream_headers, event_stream_url, milliseconds
from .sessions import CodexSessions

if TYPE_CHECKING:
    from ..http import Client

_API: Final = "openai-codex-responses"
_ABORTED: Final = "Request was aborted"
_TIERS: Final = ("flex", "priority")


class CodexResponses:
    """Asks models of the Codex endpoint, with the token of a sign-in as the key.

    Args:
        sessions: keeps sockets between requests; without it each request opens its own.
        client: sends the requests by HTTP; one is made for each of them, if none is given.
    """

    def __init__(self, sessions: CodexSessions | None = None, client: Client | None = None) -> None:
        self._sessions: Final = CodexSessions() if sessions is None else sessions
        self._client: Final = client

    @asynccontextmanager
    async def stream(
        self, model: Model, context: ModelContext, options: ProviderOptions | StreamOptions | None = None
    ) -> AsyncGenerator[Exchange]:
        """A response, with options in the provider's own terms (`body.request_body` says which).

        Nothing is sent before the first event is asked for. All failures are events. A socket that is not kept is
        closed when the block is left.
        """
        options = provider_options(options)
        builder = ResponseBuilder(model, dialect=options.dialect)
        builder.update(api=_API, provider_thinking_level=told_effort(model, options))
        tier = ServiceTier(options.service_tier, _TIERS, default_is_requested=True)
        reader = CodexReader(builder, model, options.dialect, tier=tier)
        async with open_bare_nursery() as nursery:
            exchange = Exchange(
                lambda: self._opened(nursery, reader, model, context, options),
                reader,
                model=model,
                # The hook is called where messages are read, since the first of them is read before the start.
                options=attrs.evolve(options, on_provider_stream_event=None),
                wording=Wording(
                    body=lambda cause: (
                        f"terminated: {cause}" if options.dialect.connection_cause else "terminated"
                    ),
                    aborted=_texts_of_abort(options),
                ),
            )
            async with exchange:
                yield exchange
            nursery.cancel_scope.cancel()

    def stream_simple(
        self, model: Model, context: ModelContext, options: ProviderOptions | StreamOptions | None = None
    ) -> Opened:
        """A response, with the options that all providers share: `reasoning` says how hard to think.

        Raises:
            ResponseFailedError: there is no key.
        """
        options = provider_options(options)
        _check_key(model, options)
        return self.stream(model, context, simple_options(model, context, options))

    @asynccontextmanager
    async def _opened(
        self,
        nursery: trio.Nursery,
        reader: CodexReader,
        model: Model,
        context: ModelContext,
        options: ProviderOptions,
    ) -> AsyncGenerator[Answer]:
        _check_key(model, options)
        account = account_of(options.api_key or "")
        ready = prepare(model, context, options)
        reader.grammar_parameters = ready.rules.grammar_parameters
        body = await final_payload(body_of(model, ready, options), model=model, options=options)
        session = session_of(options)
        key = cache_key(session)
        headers = event_stream_headers(model, options, account, key)
        milliseconds(options.timeout_ms)
        milliseconds(options.websocket_connect_timeout_ms)
        if (options.transport or "auto") != "sse" and self._sessions.uses_sockets(session):
            asked = SocketRequest(
                model=model,
                options=options,
                body=body,
                rules=ready.rules,
                account=account,
                session=session,
                key=key,
                sessions=self._sessions,
                nursery=nursery,
            )
            by_socket = SocketAnswer(asked, reader)
            try:
                if await by_socket.begin():
                    yield by_socket
                    return
            finally:
                by_socket.close()
        request = PostRequest(
            url=event_stream_url(model), headers=headers, content=packed(json_content(body))
        )
        messages = Messages("SSE", model, options, reader.note_end)
        async with open_event_stream(
            request, messages, model=model, options=options, client=self._client
        ) as answer:
            yield answer


def simple_options(model: Model, context: ModelContext, options: ProviderOptions) -> ProviderOptions:
    """The options of a simple request in the provider's own terms."""
    level = clamp_thinking_level(model, options.reasoning, options.dialect) if options.reasoning else "off"
    if level == "off" and options.dialect.codex_effort_off == "level" and model.reasoning:
        level = "none"
    effort = {} if level == "off" else {"reasoning_effort": level}
    return attrs.evolve(base_options(model, context, options), provider=effort, service_tier=None)


def _texts_of_abort(options: ProviderOptions) -> Mapping[str, str]:
    """What is said of an abort, by what was waited for.

    Where the headers have a limit, Pi's request has a signal of its own, which follows the caller's until they are
    there. From then on an abort only gives the body up, and the platform has nothing to say of it.
    """
    limited = (options.timeout_ms or 0) >= 1
    body = _ABORTED if limited else "This operation was aborted"
    return {"answer": _ABORTED, "body": body, "nothing": _ABORTED}


def _check_key(model: Model, options: ProviderOptions) -> None:
    if not options.api_key:
        raise ResponseFailedError(f"No API key for provider: {model.provider}")
