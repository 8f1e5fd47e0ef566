"""The adapter of the Responses API: one POST, whose answer is a stream of server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import attrs

from ...events import StreamEvent
from ...jsonvalue import JSON
from ...messages import Model
from ..builder import ResponseBuilder
from ..exchange import Exchange, ResponseFailedError
from ..limits import base_options
from ..openai_client import DoneAnswer, openai_wording, parsed_event
from ..openai_key import key_of
from ..request_options import ProviderOptions, provider_options
from ..sse import ServerSentEvent
from ..sse_exchange import final_payload, json_content, open_sse
from ..stream import ModelContext, Opened, StreamOptions
from ..thinking import clamp_thinking_level
from .body import body_of, prepare, told_effort
from .ending import ServiceTier
from .reader import ResponsesReader
from .request import request_of

if TYPE_CHECKING:
    from ..http import Client

_ENDED_EARLY: Final = "OpenAI Responses stream ended before a terminal response event"

#: What is said of an abort behind the beginning; which of them counts depends on how far the response had come.
_ABORTED: Final = (_ENDED_EARLY, "Request was aborted")

#: What an error means that speaks of the limits of ChatGPT, by the hint's name: the code that it shows, and the words.
_HINTS: Final[Mapping[str, tuple[str, str]]] = {
    "subscription": (
        "subscription_sharing_usage_limit_exceeded",
        "Check your ChatGPT usage: https://chatgpt.com/settings/usage",
    ),
    "workspace": (
        "subscription_sharing_workplace_individual_usage_limit_exceeded",
        (
            "You've reached your ChatGPT workspace's usage limit. Ask your workspace admin to increase it at "
            "admin.openai.com → Workspace → Usage limits."
        ),
    ),
}


class OpenAIResponses:
    """Asks models by the Responses API.

    Args:
        client: sends the requests; one is made for each of them, if none is given.
    """

    def __init__(self, client: Client | None = None) -> None:
        self._client = client

    def stream(
        self, model: Model, context: ModelContext, options: ProviderOptions | StreamOptions | None = None
    ) -> Opened:
        """A response, with options in the provider's own terms (`body.request_body` says which).

        Nothing is sent before the first event is asked for. All failures are events.
        """
        options = provider_options(options)
        builder = ResponseBuilder(model, dialect=options.dialect)
        builder.update(provider_thinking_level=told_effort(model, options))
        tier = ServiceTier(options.service_tier, options.dialect.responses_tiers)
        reader = _Reader(builder, model, options.dialect, tier=tier)

        @asynccontextmanager
        async def opening() -> AsyncGenerator[DoneAnswer]:
            key_of(model, options)
            ready = prepare(model, context, options)
            reader.grammar_parameters = ready.rules.grammar_parameters
            body = await final_payload(body_of(model, ready, options), model=model, options=options)
            request = request_of(model, ready, options, json_content(body))
            flush = options.dialect.openai_flush_at_end
            async with open_sse(
                request, model=model, options=options, flush_at_end=flush, client=self._client
            ) as answer:
                yield DoneAnswer(answer, options.dialect)

        named = options.dialect.responses_error_provider == "named" and model.provider != "openai"
        wording = openai_wording(
            options.dialect, f"{model.provider if named else 'OpenAI'} API error", _ENDED_EARLY
        )
        return Exchange(
            opening,
            reader,
            model=model,
            options=options,
            wording=wording,
            abort_drops=options.dialect.openai_abort == "drops",
        )

    def stream_simple(
        self, model: Model, context: ModelContext, options: ProviderOptions | StreamOptions | None = None
    ) -> Opened:
        """A response, with the options that all providers share: `reasoning` says how hard to think.

        Raises:
            ResponseFailedError: there is no key.
        """
        options = provider_options(options)
        key_of(model, options)
        return self.stream(model, context, simple_options(model, context, options))


def simple_options(model: Model, context: ModelContext, options: ProviderOptions) -> ProviderOptions:
    """The options of a simple request in the provider's own terms."""
    level = options.reasoning and clamp_thinking_level(model, options.reasoning, options.dialect)
    effort = {} if level in (None, "", "off") else {"reasoning_effort": level}
    return attrs.evolve(base_options(model, context, options), provider=effort, service_tier=None)


class _Reader(ResponsesReader):
    """Reads server-sent events."""

    def parse(self, raw: ServerSentEvent) -> JSON:
        """The event that a server-sent one says."""
        event = parsed_event(raw, self.dialect)
        if event is None:
            raise ResponseFailedError("The provider's stream is malformed: null is no event")
        return event

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        """As the base class does; with what an error means, and for an abort with what it has interrupted."""
        if aborted and self.started and text in _ABORTED:
            text = self.text_of_abort()
        for name in self.dialect.responses_limit_hints:
            code, hint = _HINTS[name]
            if code in text:
                return super().fail(f"{text}\n{hint}", aborted)
        return super().fail(text, aborted)
