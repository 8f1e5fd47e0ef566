"""The scripted provider: a model whose answers are written beforehand, for tests, and for trying things out.

    provider = ScriptedProvider([assistant(tool_call("add", {"a": 2, "b": 3})), assistant("It is 5.")])
    agent = Agent(model=provider.models[0], stream_fn=provider.stream, tools=[add])

Each request takes the next *step* of the script: a message, or a function that makes one when it is asked.
The message is told as a model tells it, in chunks, with partials and an estimate of its usage
(Pi calls this the faux provider). Two providers with the same script tell
the same chunks, because their randomness is seeded.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

from ..events import StreamError, StreamEvent
from ..messages import (
    AssistantMessage,
    Content,
    Model,
    ModelCost,
    StopReason,
    TextContent,
    ThinkingContent,
    ToolCall,
    Usage,
)
from ..timestamps import now
from .scripted_events import RandomCut, response_events
from .scripted_stream import ScriptedStream
from .scripted_usage import UsageEstimator
from .stream import ModelContext, StreamOptions

if TYPE_CHECKING:
    from ..jsonvalue import JSON

API: Final = "scripted"
PROVIDER: Final = "scripted"
NOTHING_QUEUED: Final = "No more faux responses queued"

DEFAULT_MODEL: Final = Model(
    id="scripted-1",
    name="Scripted Model",
    api=API,
    provider=PROVIDER,
    base_url="http://localhost:0",
    reasoning=False,
    input=("text", "image"),
    cost=ModelCost(input=0, output=0, cache_read=0, cache_write=0),
    context_window=128_000,
    max_tokens=16_384,
)


# --- writing messages -------------------------------------------------------------------------------------

_call_numbers = count(1)


def text(text: str) -> TextContent:
    """A block of text."""
    return TextContent(text=text)


def thinking(thinking: str) -> ThinkingContent:
    """A block of thinking."""
    return ThinkingContent(thinking=thinking)


def tool_call(name: str, arguments: Mapping[str, JSON] | None = None, *, id: str | None = None) -> ToolCall:  # noqa: A002
    """A tool call. Without an `id` it gets one of its own: `tool:1`, `tool:2` and so on, in this process."""
    return ToolCall(id=id or f"tool:{next(_call_numbers)}", name=name, arguments=arguments or {})


def assistant(
    *content: str | Content,
    stop_reason: StopReason = "stop",
    error_message: str | None = None,
    response_id: str | None = None,
    timestamp: int | None = None,
) -> AssistantMessage:
    """A response of the model, for a script.

    Args:
        content: its blocks; a string is a block of text.
        stop_reason: `stop` also fits a response with calls, because the loop looks at the calls alone.
            `error` and `aborted` tell the content first; `pending` ends in an error.
        error_message: what went wrong.
        response_id: the provider's own id of the response.
        timestamp: Unix time in milliseconds; the present by default.
    """
    return AssistantMessage(
        content=[text(block) if isinstance(block, str) else block for block in content],
        api=API,
        provider=PROVIDER,
        model=DEFAULT_MODEL.id,
        usage=Usage.zero(),
        stop_reason=stop_reason,
        error_message=error_message,
        response_id=response_id,
        timestamp=now() if timestamp is None else timestamp,
    )


# --- the provider -----------------------------------------------------------------------------------------


@attrs.define
class ScriptedState:
    """What a script's functions can see of the provider. `call_count` includes the present request."""

    call_count: int = 0


Answer: TypeAlias = Callable[
    [ModelContext, StreamOptions, ScriptedState, Model], AssistantMessage | Awaitable[AssistantMessage]
]
"""A function of a script, plain or async. It gets the request, the provider's state and the model asked for.
What it raises becomes the error of the response."""

Step: TypeAlias = AssistantMessage | Answer


class ScriptedProvider:
    """A provider that answers from a script. `stream` is its stream function.

    Messages are told under this provider's `api` and `provider` and the model that was asked for, with an
    estimated usage; their timestamp stays. A request that finds the script at its end gets one `error` event.

    Args:
        responses: the script's first steps.
        api, provider: the names in messages and models.
        models: what `models` offers, renamed to this provider; one model "scripted-1" by default.
        token_size: the least and the most tokens in a chunk; a token is four characters.
        tokens_per_second: the pace of the deltas, on trio's clock; None for as fast as they are read.
        random: decides on the size of the chunks; `random.Random(0)` by default.

    Raises:
        TypeError: a response is neither a message nor a function; so too where steps are added.
    """

    def __init__(
        self,
        responses: Iterable[Step] = (),
        *,
        api: str = API,
        provider: str = PROVIDER,
        models: Iterable[Model] = (DEFAULT_MODEL,),
        token_size: tuple[int, int] = (3, 5),
        tokens_per_second: float | None = None,
        random: Random | None = None,
    ) -> None:
        self.api: Final = api
        self.provider: Final = provider
        self.models: Final = tuple(attrs.evolve(model, api=api, provider=provider) for model in models)
        self.state: Final = ScriptedState()
        self._steps: deque[Step] = deque(map(_checked, responses))
        self._least = max(1, min(token_size))
        self._most = max(self._least, token_size[1])
        self._tokens_per_second = tokens_per_second if tokens_per_second and tokens_per_second > 0 else None
        self._random = random or _seeded(0)
        self._usage = UsageEstimator()

    def get_model(self, id: str | None = None) -> Model | None:  # noqa: A002
        """The model with this id, or the first one; None if there is none."""
        return next((model for model in self.models if id is None or model.id == id), None)

    def set_responses(self, responses: Iterable[Step]) -> None:
        """Put these steps in place of those that are left."""
        self._steps = deque(map(_checked, responses))

    def append_responses(self, responses: Iterable[Step]) -> None:
        """Put these steps behind those that are left."""
        self._steps.extend(map(_checked, responses))

    @property
    def pending_response_count(self) -> int:
        """How many steps are left."""
        return len(self._steps)

    def stream(self, model: Model, context: ModelContext, options: StreamOptions) -> ScriptedStream:
        """The stream function. The call takes a step and counts the request; the rest comes by reading.

        To be called inside trio.
        """
        step = self._steps.popleft() if self._steps else None
        self.state.call_count += 1
        # A generator for each response: its chunks then do not depend on what is told beside it.
        cut = RandomCut(self._least, self._most, _seeded(self._random.getrandbits(64)))
        return ScriptedStream(
            partial(self._answer, step, cut, model, context, options),
            blank=self._blank(model),
            signal=options.signal,
            tokens_per_second=self._tokens_per_second,
            timed=not isinstance(step, AssistantMessage),  # a message of the script is older than any request
        )

    async def _answer(
        self, step: Step | None, cut: RandomCut, model: Model, context: ModelContext, options: StreamOptions
    ) -> Iterator[StreamEvent]:
        if options.on_response is not None:
            heard = options.on_response({"status": 200, "headers": {}}, model)
            if inspect.isawaitable(heard):
                await heard
        if step is None:
            usage = self._usage.estimate(context, (), options.session_id)
            blank = self._blank(model)
            refusal = attrs.evolve(blank, usage=usage, error_message=NOTHING_QUEUED, timestamp=now())
            return iter((StreamError(reason="error", error=refusal),))
        message = step
        if not isinstance(message, AssistantMessage):
            made = message(context, options, self.state, model)
            message = await made if inspect.isawaitable(made) else made
        usage = self._usage.estimate(context, message.content, options.session_id)
        stamped = attrs.evolve(message, api=self.api, provider=self.provider, model=model.id, usage=usage)
        return response_events(stamped, cut)

    def _blank(self, model: Model) -> AssistantMessage:
        return AssistantMessage(
            content=(),
            api=self.api,
            provider=self.provider,
            model=model.id,
            usage=Usage.zero(),
            stop_reason="error",
            timestamp=0,
        )


def _checked(step: Step) -> Step:
    """Raises: TypeError: it is no step."""
    if isinstance(step, AssistantMessage) or callable(step):
        return step
    raise TypeError(f"a step of a script is a message, as assistant(…) makes it, or a function, not {step!r}")


def _seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - reproducible on purpose
