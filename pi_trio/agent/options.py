"""What a run reads from its agent, once, when it starts: the hooks and the options of requests.

They are plain attributes, because they can be assigned between runs. Here they become the `LoopConfig` of a run, as
far as the profile knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..abort import AbortSignal
from ..jsonvalue import JSON
from ..messages import Model, ThinkingLevel
from ..models.stream import StreamFn, StreamOptions
from ..profile import Profile
from ..tools.tool import ExecutionMode
from .config import LoopConfig
from .hooks import (
    AfterToolCall,
    BeforeToolCall,
    ConvertToLlm,
    FinishTurn,
    GetApiKey,
    Hooks,
    PrepareNextTurn,
    PrepareNextTurnWithContext,
    PrepareRequest,
    ShouldStopAfterTurn,
    TransformContext,
    TurnContext,
)
from .polls import Polls
from .settings import OneOf, Setting


class RunOptions:
    """The options of an `Agent` that are its runs' options; `Agent` sets them, and says what each means.

    A class of its own, so that `Agent` reads as what an agent does.
    """

    stream_fn: StreamFn
    convert_to_llm: ConvertToLlm | None
    transform_context: TransformContext | None
    get_api_key: GetApiKey | None
    before_tool_call: BeforeToolCall | None
    after_tool_call: AfterToolCall | None
    prepare_next_turn: PrepareNextTurn | None
    prepare_next_turn_with_context: PrepareNextTurnWithContext | None
    prepare_request: PrepareRequest | None
    finish_turn: FinishTurn | None
    should_stop_after_turn: ShouldStopAfterTurn | None
    tool_execution: Setting[ExecutionMode] = Setting(OneOf("parallel", "sequential"))
    deps: Any
    session_id: str | None
    thinking_budgets: Mapping[str, int] | None
    transport: str
    max_retry_delay_ms: float | None
    identity: Mapping[str, JSON] | None
    on_payload: Callable[..., Any] | None
    on_response: Callable[..., Any] | None
    on_provider_stream_event: Callable[..., Any] | None

    def __init__(self, profile: Profile) -> None:
        self.profile: Final = profile

    def _config(self, model: Model, thinking_level: ThinkingLevel, polls: Polls) -> LoopConfig:
        """The settings of a run that starts now."""
        return LoopConfig(
            stream_fn=self.stream_fn,
            model=model,
            thinking_level=thinking_level,
            tool_execution=self.tool_execution,
            hooks=self._hooks(),
            options=self._stream_options(),
            deps=self.deps,
            get_steering_messages=polls.steering,
            get_follow_up_messages=polls.follow_up,
        )

    def _hooks(self) -> Hooks:
        return Hooks(
            transform_context=self.transform_context,
            convert_to_llm=self.convert_to_llm,
            get_api_key=self.get_api_key,
            before_tool_call=self.before_tool_call,
            after_tool_call=self.after_tool_call,
            # Unlike the others it is looked up at each call, if there was one at the start.
            prepare_next_turn=None if self._next_turn_hook() is None else self._prepare_next_turn,
            prepare_request=self.prepare_request,
            finish_turn=self.finish_turn,
            # Up to 0.80.2 the Agent has no such option: only the low level stops so.
            should_stop_after_turn=None
            if self.profile.stop_hook == "low_level"
            else self.should_stop_after_turn,
        )

    def _prepare_next_turn(self, turn: TurnContext, signal: AbortSignal) -> Any:
        hook = self._next_turn_hook()
        return None if hook is None else hook(turn, signal)

    def _next_turn_hook(self) -> PrepareNextTurnWithContext | None:
        """The hook that prepares turns: the one with the context wins, where there is one (0.85.0)."""
        if self.profile.prepare_next_turn_with_context and self.prepare_next_turn_with_context is not None:
            return self.prepare_next_turn_with_context
        plain = self.prepare_next_turn
        return None if plain is None else lambda _turn, signal: plain(signal)

    def _stream_options(self) -> StreamOptions:
        return StreamOptions(
            session_id=self.session_id,
            identity=self.identity,
            transport=self.transport,
            thinking_budgets=self.thinking_budgets,
            max_retry_delay_ms=self.max_retry_delay_ms,
            on_payload=self.on_payload,
            on_response=self.on_response,
            on_provider_stream_event=self.on_provider_stream_event,
        )
