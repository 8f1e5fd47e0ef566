"""The adapter of the Chat Completions API: one POST, whose answer is a stream of server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import attrs

from ...errors import CodecError
from ...jsontext import parse_json, print_json
from ...jsonvalue import JSON
from ...messages import Model
from ..builder import ResponseBuilder
from ..exchange import Exchange, ResponseFailedError
from ..limits import base_options
from ..openai_client import DoneAnswer, openai_wording, parsed_event, status_text
from ..openai_key import key_of
from ..request_options import ProviderOptions, provider_options
from ..sse import ServerSentEvent
from ..sse_exchange import final_payload, json_content, open_sse
from ..stream import ModelContext, Opened, StreamOptions
from ..thinking import clamp_thinking_level
from ..transport_errors import RequestAbortedError, StatusError
from .body import body_of, prepare
from .compat import compat_of
from .reader import ABORTED, MALFORMED, ChatReader
from .request import request_of

if TYPE_CHECKING:
    from ..http import Client


class OpenAIChat:
    """Asks models by the Chat Completions API, which many endpoints speak: `compat.py` tells them apart.

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
        dialect = options.dialect
        reader = _Reader(
            ResponseBuilder(model, dialect=dialect),
            model,
            dialect,
            supports_finish_reason=compat_of(model, dialect).supports_finish_reason,
        )

        @asynccontextmanager
        async def opening() -> AsyncGenerator[DoneAnswer]:
            key_of(model, options)
            ready = prepare(model, context, options)
            reader.grammar_parameters = ready.rules.grammar_parameters
            try:
                body = await final_payload(body_of(model, ready, options), model=model, options=options)
            except RequestAbortedError:
                raise RequestAbortedError("answer") from None  # nothing was sent
            request = request_of(model, ready, options, json_content(body))
            flush = dialect.openai_flush_at_end
            async with open_sse(
                request, model=model, options=options, flush_at_end=flush, client=self._client
            ) as answer:
                yield DoneAnswer(answer, dialect)

        def status(failure: StatusError) -> str:
            return _with_upstream(status_text(failure, None, dialect), _read(failure.body))

        return Exchange(
            opening,
            reader,
            model=model,
            options=options,
            wording=attrs.evolve(openai_wording(dialect, None, ABORTED), status=status),
            abort_drops=dialect.openai_abort == "drops",
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
    return attrs.evolve(base_options(model, context, options), provider=effort)


class _Reader(ChatReader):
    """Reads server-sent events."""

    def parse(self, raw: ServerSentEvent) -> JSON:
        try:
            chunk = parsed_event(raw, self.dialect)
        except ResponseFailedError as error:
            raise ResponseFailedError(_with_upstream(str(error), _read(raw.data))) from None
        return _with_reasons(chunk) if self.dialect.chat_reasons_told else chunk


def _with_reasons(chunk: JSON) -> JSON:
    """The chunk with a reason in each choice, if only null, as OpenAI's client gives it since 1.6.0."""
    choices = chunk.get("choices") if isinstance(chunk, dict) else None
    if not isinstance(choices, list) or all(
        isinstance(one, dict) and "finish_reason" in one for one in choices
    ):
        return chunk
    if None in choices:
        raise ResponseFailedError(MALFORMED.format("a choice is null"))
    told = [{"finish_reason": None, **_members(one)} for one in choices]
    return {**cast("dict[str, JSON]", chunk), "choices": told}


def _members(choice: JSON) -> Mapping[str, JSON]:
    """What JavaScript copies of a value into an object: of a text and an array, what they have by its place."""
    if isinstance(choice, dict):
        return choice
    return {str(at): each for at, each in enumerate(choice)} if isinstance(choice, (str, list)) else {}


def _with_upstream(text: str, told: JSON) -> str:
    """The text of an error, with what OpenRouter adds to it: the words of the provider that it has asked."""
    value = told
    for name in ("error", "metadata", "raw"):
        value = value.get(name) if isinstance(value, Mapping) else None
    if not value:
        return text
    raw = value if isinstance(value, str) else print_json(value)
    return text if raw in text else f"{text}\n{raw}"


def _read(text: str) -> JSON:
    try:
        return parse_json(text)
    except CodecError:
        return None
