"""The `ScriptedModel`: a model that says what a test has written down, and keeps what it was asked.

It is a stream function, as `ScriptedProvider.stream` is, but one for tests: it tells its answers word by word, for what
the test says they cost; it remembers the requests; a script that does not fit the run is an error; and a request can be
held, for the test to answer, word by word if need be.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import partial
from types import TracebackType
from typing import Final, Self, TypeAlias

import attrs

from ..agent.call import text_of
from ..events import StreamEvent
from ..messages import AssistantMessage, Content, Message, Model, ToolCall, Usage
from ..models.builder import ResponseBuilder
from ..models.scripted import DEFAULT_MODEL, assistant
from ..models.scripted_events import Cut, response_events
from ..models.scripted_stream import ScriptedStream
from ..models.stream import ModelContext, Opened, ResponseStream, StreamOptions
from ..texts import REQUEST_ABORTED
from .describing import describe
from .script import HELD, Function, Held, ScriptError, asked_in, check_answer, each_of

#: What a model says: a text, a block, a whole message; or an exception, for the error that the request has met.
ModelSaid: TypeAlias = str | Content | AssistantMessage | Exception
#: A step of a model's script: what it says, a function of the request that gives that, plain or async, or `HELD`.
ModelAnswer: TypeAlias = ModelSaid | Function["ScriptedRequest", ModelSaid] | Held


class ScriptedRequest:
    """What a `ScriptedModel` was asked; and if it is held, how it is answered.

    Attributes:
        model, context, options: what the stream function was called with.
    """

    def __init__(self, model: Model, context: ModelContext, options: StreamOptions, usage: Usage) -> None:
        self.model: Final = model
        self.context: Final = context
        self.options: Final = options
        self._usage = usage
        self._stream: ResponseStream | None = None
        self._builder = ResponseBuilder.like(self._stamped(assistant()))
        self._words: list[str] = []
        self._told = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The transcript that the model was shown."""
        return self.context.messages

    @property
    def pending(self) -> bool:
        """Whether it waits for the test."""
        return self._stream is not None and not self._stream.closed

    def say(self, *words: str) -> None:
        """Begin the text of the response, or go on with it: a delta for each word. The response stays open.

        Raises:
            ScriptError: the request does not wait for the test.
        """
        self._check_pending()
        if not self._told:
            self._tell(self._builder.start())
            self._tell(self._builder.text_start())
        for word in words:
            self._tell(self._builder.text_delta(word))
            self._words.append(word)

    def answer(self, *content: str | Content | AssistantMessage) -> None:
        """Tell the rest of the response.

        Args:
            content: the blocks behind the text that was said; a string is a block of text. Or one whole message.

        Raises:
            ScriptError: the request does not wait for the test; it cannot say this; or a whole message is not alone.
        """
        self._check_pending()
        said = ("".join(self._words),) if self._told else ()
        message = self._message(*said, *content)
        # What was said already is cut as it was said, and not told again.
        events = _all_events(message, lambda text: self._words if (text,) == said else words(text))
        for event in events[self._told :]:
            self._tell(event)

    def fail(self, error: str | Exception) -> None:
        """End the response with an error, as a provider does whose connection breaks.

        Raises:
            ScriptError: the request does not wait for the test.
        """
        self._check_pending()
        self._tell(self._builder.error(error if isinstance(error, str) else text_of(error)))

    def _check_pending(self) -> None:
        if not self.pending:
            raise ScriptError(f"the request does not wait for the test: {self!r}")

    def _hold(self) -> ResponseStream:
        self._stream = stream = ResponseStream()
        if self.options.signal.aborted:
            self._abort()
        else:
            self.options.signal.on_abort(self._abort)
        return stream

    def _abort(self) -> None:
        if self.pending:
            self._tell(self._builder.error(REQUEST_ABORTED, reason="aborted"))

    def _tell(self, event: StreamEvent) -> None:
        assert self._stream is not None
        self._stream.push(event)
        self._told += 1

    def _message(self, *said: ModelSaid) -> AssistantMessage:
        """The response that says this."""
        if len(said) == 1 and isinstance(said[0], AssistantMessage):
            return self._stamped(said[0])
        if len(said) == 1 and isinstance(said[0], Exception):
            return self._stamped(assistant(stop_reason="error", error_message=text_of(said[0])))
        for block in said:
            if not isinstance(block, ModelSaid):
                raise ScriptError(f"a model cannot say {block!r}")
        blocks = [block for block in said if not isinstance(block, (AssistantMessage, Exception))]
        if len(blocks) < len(said):
            raise ScriptError("a whole message, or an error, is the whole answer")
        calls = any(isinstance(block, ToolCall) for block in blocks)
        return self._stamped(assistant(*blocks, stop_reason="toolUse" if calls else "stop"))

    def _stamped(self, message: AssistantMessage) -> AssistantMessage:
        return attrs.evolve(
            message,
            api=self.model.api,
            provider=self.model.provider,
            model=self.model.id,
            usage=self._usage if message.usage == Usage.zero() else message.usage,
        )

    def __repr__(self) -> str:
        last = describe(self.messages[-1]) if self.messages else "nothing"
        return f"<ScriptedRequest {last}>"


class ScriptedModel:
    """A model that answers from a script. It is a stream function.

        with ScriptedModel([tool_call("add", {"a": 2, "b": 3}), "It is 5."]) as model:
            agent = Agent(model=model.model, stream_fn=model, tools=[add])
            await agent.prompt("What is 2 + 3?")

    The block is for checking: leaving it calls `check`.

    Args:
        answers: one for each request. `HELD` as the last holds all that follow, too.
        model: what `model` offers.
        usage: what an answer costs that does not say.

    Raises:
        ScriptError: an answer is none.

    Attributes:
        requests: what was asked, in order.
    """

    def __init__(
        self,
        answers: ModelAnswer | Iterable[ModelAnswer] = (),
        *,
        model: Model = DEFAULT_MODEL,
        usage: Usage | None = None,
    ) -> None:
        self.model: Final = model
        self.requests: Final[list[ScriptedRequest]] = []
        self._usage = Usage.zero() if usage is None else usage
        self._answers: tuple[ModelAnswer, ...] = each_of(answers)
        for answer in self._answers:
            check_answer(answer, ModelSaid, "a model")
        self._broken: AssertionError | None = None

    @property
    def pending(self) -> list[ScriptedRequest]:
        """The requests that wait for the test, the oldest first."""
        return [request for request in self.requests if request.pending]

    def check(self) -> None:
        """See that script and run fit.

        Raises:
            ScriptError: there were more requests than answers, or fewer.
            AssertionError: a function of the script, or of a `ScriptedTool` in the same run, has raised it or has
                returned no answer; the run has only heard of a failed request or call.
        """
        if self._broken is not None:
            raise self._broken
        if len(self.requests) < len(self._answers):
            unasked = ", ".join(map(_shown, self._answers[len(self.requests) :]))
            raise ScriptError(
                f"{len(self.requests)} of {len(self._answers)} answers were asked for; left over: {unasked}"
            )

    def broken_by(self, error: AssertionError) -> None:
        """Keep an error for `check`, which raises the first."""
        self._broken = self._broken or error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.check()
        elif self._broken is not None:
            error.add_note(f"{self._broken!r} came before")

    def __call__(self, model: Model, context: ModelContext, options: StreamOptions) -> Opened:
        """Take the next answer. To be called inside trio."""
        request = ScriptedRequest(model, context, options, self._usage)
        self.requests.append(request)
        asked_in(options.signal, self)
        answer = self._answer(request)
        if answer is HELD:
            return request._hold()
        return ScriptedStream(
            partial(self._events, request, answer),
            blank=request._stamped(assistant(stop_reason="error")),
            signal=options.signal,
            tokens_per_second=None,
            timed=False,
        )

    def _answer(self, request: ScriptedRequest) -> ModelAnswer:
        asked, length = len(self.requests), len(self._answers)
        if asked <= length:
            return self._answers[asked - 1]
        if self._answers and self._answers[-1] is HELD:
            return HELD
        error = ScriptError(f"request {asked} finds no answer: the script has {length}; it was {request!r}")
        self._broken = self._broken or error
        return error

    async def _events(
        self, request: ScriptedRequest, answer: ModelSaid | Function[ScriptedRequest, ModelSaid]
    ) -> Iterator[StreamEvent]:
        if not isinstance(answer, ModelSaid):
            try:
                made = answer(request)
                answer = await made if inspect.isawaitable(made) else made
            except AssertionError as error:  # of which the run makes a failed request
                self._broken = self._broken or error
                raise
        try:
            if not isinstance(answer, ModelSaid):
                raise ScriptError(f"a function of the script has returned {answer!r}")
            return iter(_all_events(request._message(answer), words))
        except ScriptError as error:  # and of this, too
            self._broken = self._broken or error
            raise


def _all_events(message: AssistantMessage, cut: Cut) -> list[StreamEvent]:
    """The events of a response, all of them before the first is told.

    Raises:
        ScriptError: there is no such response.
    """
    try:
        return list(response_events(message, cut))
    except (TypeError, ValueError) as error:
        raise ScriptError(f"a model cannot say this: {error}") from error


def words(text: str) -> list[str]:
    """A text, cut behind the space after each word; an empty text is one empty piece."""
    return re.findall(r"\s*\S+\s*|\s+", text) or [""]


def _shown(answer: ModelAnswer) -> str:
    """An answer, for people."""
    if isinstance(answer, AssistantMessage):
        return describe(answer)
    if isinstance(answer, (str, Exception, Held)):
        return repr(answer)
    return describe(assistant(answer, timestamp=0)) if isinstance(answer, Content) else "a function"
