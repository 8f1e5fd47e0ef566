"""The adapter of the Messages API: one POST, whose answer is a stream of server-sent events.

In 1.6.0 a request may be made again in another way: whole where it could not continue its thread, and with fewer strict
tools where there were too many.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs

from ...jsonvalue import JSON
from ...messages import AssistantMessage, Model
from ..exchange import Exchange, ResponseFailedError
from ..limits import base_options, clamp_max_tokens
from ..request_options import ProviderOptions, provider_options
from ..sse_exchange import SseAnswer, final_payload, open_sse
from ..stream import ModelContext, Opened, StreamOptions
from ..thinking import limits_with_thinking
from ..transform import transform
from ..transport_errors import StatusError
from .body import build, early_effort, effort_of, session_of, tools_of
from .compat import compat_of
from .conversation import Conversation
from .naming import call_id, is_oauth
from .reader import AnthropicReader
from .request import check_key, refusal_body, request_of, status_text, wording
from .sessions import Sessions, knows_no_threads, may_begin_anew, new_thread

if TYPE_CHECKING:
    from ..http import Client

#: What a refusal says for too many strict tools.
_TOO_STRICT: Final = (
    "The compiled grammar is too large",
    "Too many strict tools (",
    "Schemas contains too many parameters with union types (",
)


class AnthropicMessages:
    """Asks models by the Messages API.

    Args:
        client: sends the requests; one is made for each of them, if none is given.
    """

    def __init__(self, client: Client | None = None) -> None:
        self._client = client
        self._sessions = Sessions()

    def stream(
        self, model: Model, context: ModelContext, options: ProviderOptions | StreamOptions | None = None
    ) -> Opened:
        """A response, with options in the provider's own terms (`body.py` says which).

        Nothing is sent before the first event is asked for. All failures are events.
        """
        options = provider_options(options)
        oauth = is_oauth(options.api_key) and model.provider != "github-copilot"
        tools = [tool.name for tool in tools_of(context, options.dialect)]
        reader = AnthropicReader(model, options.dialect, tools=tools, oauth=oauth)
        reader.asks(effort=early_effort(model, options))
        request = _Request(model, context, options, reader, self._sessions, self._client, oauth)

        @asynccontextmanager
        async def opening() -> AsyncGenerator[SseAnswer]:
            async with AsyncExitStack() as stack:
                yield await request.answer(stack)

        return Exchange(opening, reader, model=model, options=options, wording=wording(options.dialect))

    def stream_simple(
        self, model: Model, context: ModelContext, options: ProviderOptions | StreamOptions | None = None
    ) -> Opened:
        """A response, with the options that all providers share: `reasoning` says how hard to think.

        Raises:
            ResponseFailedError: there is no key.
        """
        options = provider_options(options)
        check_key(model, options)
        return self.stream(model, context, simple_options(model, context, options))


@attrs.frozen
class _Request:
    """One request, until it is answered."""

    model: Model
    context: ModelContext
    options: ProviderOptions
    reader: AnthropicReader
    sessions: Sessions
    client: Client | None
    oauth: bool

    async def answer(self, stack: AsyncExitStack) -> SseAnswer:
        """Make the request, and make it again where that may help."""
        options, dialect = self.options, self.options.dialect
        check_key(self.model, options)
        relaxed = dialect.anthropic_strict_fallback and options.session_id in self.sessions.relaxed
        while True:
            if options.signal.aborted and dialect.anthropic_abort_noticed == "first":
                raise ResponseFailedError("This operation was aborted")
            built = build(self.model, self.context, options, relaxed=relaxed)
            self.reader.asks(effort=built.effort)
            body = await final_payload(built.body, model=self.model, options=options, stream=True)
            try:
                return await self._threaded(stack, body)
            except StatusError as refusal:
                if relaxed or not built.prefers_strict or not self._too_strict(refusal):
                    raise
                text = status_text(refusal)
            relaxed = True
            self.sessions.relax(options.session_id)
            self.reader.note("anthropic_strict_tools_fallback", text, "strict_tool_limits_exceeded")

    async def _threaded(self, stack: AsyncExitStack, body: dict[str, Any]) -> SseAnswer:
        """Send a body as a part of its session's thread, where there are such."""
        session = session_of(self.options) if compat_of(self.model, self.options.dialect).threads else None
        thread = None
        if session is not None and self.options.disable_continuation is not True:
            thread = self.sessions.threaded(self.model, session, body)
        if session is None or thread is None:
            return await self._sent(stack, body)
        try:
            answer = await self._sent(stack, thread)
        except StatusError as refusal:
            code, text = _thread_code(refusal), status_text(refusal)
            anew = may_begin_anew(code)
            if self.options.signal.aborted or not (anew or knows_no_threads(refusal, code, text)):
                raise
            self.reader.note("anthropic_thread_fallback", text, code or str(refusal.status))
            answer = await self._sent(stack, new_thread(body) if anew else body)
            if not anew:
                self.sessions.turn_off(session)
                return answer
        self.reader.when_done(lambda message: self._go_on(session, body, message))
        return answer

    async def _sent(self, stack: AsyncExitStack, body: dict[str, Any]) -> SseAnswer:
        request = request_of(self.model, self.context, self.options, body)
        return await stack.enter_async_context(
            open_sse(request, model=self.model, options=self.options, client=self.client)
        )

    def _go_on(self, session: str, body: Mapping[str, Any], message: AssistantMessage) -> None:
        """The next request of the session may continue with this message, as it will be sent then."""
        if message.response_id is None or message.response_model is not None:
            return
        dialect = self.options.dialect
        conversation = Conversation(
            dialect=dialect,
            oauth=self.oauth,
            empty_signature=compat_of(self.model, dialect).empty_signature,
        )
        written, _ = conversation.written(transform([message], self.model, dialect, call_id))
        reply: list[Any] = [each for each in written if each["role"] == "assistant"]
        self.sessions.go_on(self.model, session, body, reply, message.response_id)

    def _too_strict(self, refusal: StatusError) -> bool:
        """Whether a refusal is for the strictness of the tools."""
        if not self.options.dialect.anthropic_strict_fallback or self.options.signal.aborted:
            return False
        problem = _problem(refusal)
        return (
            refusal.status == 400
            and problem.get("type") == "invalid_request_error"
            and any(words in status_text(refusal) for words in _TOO_STRICT)
        )


def simple_options(model: Model, context: ModelContext, options: ProviderOptions) -> ProviderOptions:
    """The options of a simple request in the provider's own terms."""
    base = base_options(model, context, options)
    if not options.dialect.anthropic_simple_tool_choice:
        base = attrs.evolve(base, tool_choice=None)
    level = options.reasoning
    if not level:
        return attrs.evolve(base, provider={"thinking_enabled": False})
    if compat_of(model, options.dialect).adaptive:
        return attrs.evolve(base, provider={"thinking_enabled": True, "effort": effort_of(model, level)})
    model_limit: Any = model.max_tokens
    limit, budget = limits_with_thinking(base.max_tokens, model_limit, level, options.thinking_budgets)
    fitted: Any = clamp_max_tokens(model, context, limit, options.dialect)
    own: Mapping[str, JSON] = {
        "thinking_enabled": True,
        "thinking_budget_tokens": min(budget, max(0, fitted - 1024)),
    }
    return attrs.evolve(base, max_tokens=fitted, provider=own)


def _problem(refusal: StatusError) -> Mapping[str, JSON]:
    """The error that a refusal tells, if it tells any."""
    body = refusal_body(refusal)
    problem = body.get("error") if isinstance(body, Mapping) else None
    return problem if isinstance(problem, Mapping) else {}


def _thread_code(refusal: StatusError) -> str | None:
    """Why a thread was refused."""
    details = _problem(refusal).get("details")
    code = details.get("error_code") if isinstance(details, Mapping) else None
    return code if isinstance(code, str) else None
