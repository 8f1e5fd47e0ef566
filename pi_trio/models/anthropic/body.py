"""The body of a request to the Messages API.

The options of this API alone are in `ProviderOptions.provider`: `thinking_enabled`, `thinking_budget_tokens`,
`thinking_display`, `effort` and `interleaved_thinking`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import attrs

from ...jsonvalue import JSON
from ...messages import Message, Model, ToolDeclaration
from ..dialect import Dialect
from ..headers import model_headers
from ..late_tools import split_tools
from ..prompt_cache import retention_of
from ..request_options import ProviderOptions
from ..stream import ModelContext
from ..thinking import thinking_level_map
from ..transcript import (
    collapse_system_messages,
    current_tools,
    leading_system_message,
    normalise_context,
    system_text,
    without_leading_system_message,
)
from ..transform import transform, without_lone_surrogates
from .compat import Compat, compat_of
from .conversation import Conversation, cached_up_to_here, with_efforts
from .naming import call_id, is_oauth, sent_name
from .tools import PLACEHOLDER, ToolRules, prefers_strict

_CLAUDE_CODE: Final = "You are Claude Code, Anthropic's official CLI for Claude."


@attrs.frozen(kw_only=True)
class Built:
    """A body, and what was decided on the way to it.

    Attributes:
        body: with the `betas`, which are sent as a header.
        prefers_strict: some of its tools are strict, and need not be.
        effort: what the message will tell as its `provider_thinking_level`.
    """

    body: dict[str, JSON]
    prefers_strict: bool
    effort: str | None


def request_body(model: Model, context: ModelContext, options: ProviderOptions) -> dict[str, JSON]:
    """What a request says.

    Raises:
        ResponseFailedError: a tool requires what cannot be had.
    """
    return build(model, context, options).body


def build(model: Model, context: ModelContext, options: ProviderOptions, *, relaxed: bool = False) -> Built:
    """The body of a request; `relaxed` where there would be too many strict tools.

    Raises:
        ResponseFailedError: as `request_body`.
    """
    return _Builder(model, context, options, relaxed).built()


def tools_of(context: ModelContext, dialect: Dialect) -> Sequence[ToolDeclaration]:
    """The tools that may be called now."""
    if not dialect.system_messages:
        return context.tools or ()
    return tuple(current_tools(normalise_context(context).messages).values())


def session_of(options: ProviderOptions) -> str | None:
    """The session that a request belongs to; none without a cache."""
    return None if retention_of(options) == "none" else options.session_id


class _Builder:
    def __init__(self, model: Model, context: ModelContext, options: ProviderOptions, relaxed: bool) -> None:
        self.model = model
        self.options = options
        self.own: Mapping[str, Any] = options.provider
        self.dialect: Final = options.dialect
        self.compat: Final[Compat] = compat_of(model, options.dialect)
        self.oauth: Final = is_oauth(options.api_key) and model.provider != "github-copilot"
        self.rules: Final = ToolRules(
            compat=self.compat, dialect=self.dialect, oauth=self.oauth, relaxed=relaxed
        )
        if self.dialect.system_messages:
            context = normalise_context(context)
            if not self.compat.system_updates:
                context = ModelContext(messages=collapse_system_messages(context.messages))
        self.context = context
        self.cache_control = self._cache_control()
        thinking = self.own.get("thinking_enabled")
        #: Thinking is switched off, where that can be said.
        self.off: Final = (
            model.reasoning and thinking is False and thinking_level_map(model).get("off", "") is not None
        )
        self.thinks: Final = bool(thinking)
        managed = self.compat.effort_changes
        #: The effort that stands between the messages, where it does.
        self.effort: Final[str | None] = (
            (self.own.get("effort") or "high")
            if managed and not (self.off and self.dialect.anthropic_base_effort == "low")
            else None
        )

    def built(self) -> Built:
        model, options = self.model, self.options
        prompt, messages, leading = self._transcript()
        changes = self.compat.system_updates and self.compat.tool_changes and bool(leading)
        late: Mapping[str, ToolDeclaration] = {}
        tools: Sequence[ToolDeclaration] = leading
        if not changes:
            tools, late = self._placed(messages)
        conversation = Conversation(
            dialect=self.dialect,
            oauth=self.oauth,
            empty_signature=self.compat.empty_signature,
            declare=self.rules.declared if changes else None,
            referred=frozenset(late),
        )
        written, responses = conversation.written(messages)
        if self.cache_control is not None:
            cached_up_to_here(written, self.cache_control)
        if self.effort is not None:
            written = with_efforts(written, responses, model.provider, self.effort)
        betas = self._betas(changes)
        body: dict[str, Any] = {
            "model": model.id,
            "messages": written,
            "max_tokens": model.max_tokens if options.max_tokens is None else options.max_tokens,
            "stream": True,
            **({"betas": betas} if betas else {}),
        }
        if system := self._system(prompt):
            body["system"] = system
        if (
            options.temperature is not None
            and not self.thinks
            and not self.compat.effort_changes
            and self.compat.temperature
        ):
            body["temperature"] = options.temperature
        if tools or late:
            body["tools"] = [
                *self.rules.declared(tools, self.cache_control if self.compat.cached_tools else None),
                *self.rules.declared(tuple(late.values()), deferred=True),
                *([dict(PLACEHOLDER)] if changes else []),
            ]
        body.update(self._thinking())
        body.update(self._choices())
        declared = [*tools, *late.values()]
        if changes:
            declared = list(current_tools(self.context.messages).values())
        return Built(
            body=body,
            prefers_strict=any(prefers_strict(tool) and self.rules.strict(tool) for tool in declared),
            effort=self.effort,
        )

    def _transcript(self) -> tuple[str, Sequence[Message], Sequence[ToolDeclaration]]:
        """The prompt, the messages behind it, and the tools that come with it."""
        messages = transform(self.context.messages, self.model, self.dialect, call_id)
        if not self.dialect.system_messages:
            return self.context.system_prompt or "", messages, self.context.tools or ()
        leading = leading_system_message(self.context.messages)
        if leading is None:
            return "", messages, ()
        return system_text(leading), without_leading_system_message(messages), leading.tools_added or ()

    def _placed(
        self, messages: Sequence[Message]
    ) -> tuple[Sequence[ToolDeclaration], Mapping[str, ToolDeclaration]]:
        """The tools that are there from the beginning, and those that results refer to."""
        if self.dialect.system_messages:
            return tuple(current_tools(self.context.messages).values()), {}
        context = attrs.evolve(self.context, messages=tuple(messages))
        immediate, late = split_tools(
            context, self.compat.tool_references, lambda name: sent_name(name, self.oauth)
        )
        return (tuple(late.values()), {}) if late and not immediate else (immediate, late)

    def _cache_control(self) -> dict[str, JSON] | None:
        retention = retention_of(self.options)
        if retention == "none":
            return None
        long = retention == "long" and self.compat.long_cache
        return {"type": "ephemeral", **({"ttl": "1h"} if long else {})}

    def _system(self, prompt: str) -> list[dict[str, JSON]]:
        texts = [_CLAUDE_CODE] if self.oauth else []
        if prompt:
            texts.append(without_lone_surrogates(prompt))
        cached = {} if self.cache_control is None else {"cache_control": dict(self.cache_control)}
        return [{"type": "text", "text": text, **cached} for text in texts]

    def _thinking(self) -> dict[str, JSON]:
        display = self.own.get("thinking_display") or "summarized"
        if self.effort is not None:
            return {
                "thinking": {
                    "type": "adaptive",
                    "display": display,
                    "block_binding": {"prefix_mismatch_behavior": "drop_block"},
                },
                "output_config": {"effort": self.dialect.anthropic_base_effort},
            }
        if self.off:
            return {"thinking": {"type": "disabled"}}
        if not self.model.reasoning or not self.thinks:
            return {}
        if self.compat.adaptive:
            effort = self.own.get("effort")
            return {
                "thinking": {"type": "adaptive", "display": display},
                **({"output_config": {"effort": effort}} if effort else {}),
            }
        budget = self.own.get("thinking_budget_tokens") or 1024
        return {"thinking": {"type": "enabled", "budget_tokens": budget, "display": display}}

    def _choices(self) -> dict[str, JSON]:
        """What the caller wishes besides."""
        told: dict[str, JSON] = {}
        user = (self.options.metadata or {}).get("user_id")
        if isinstance(user, str):
            told["metadata"] = {"user_id": user}
        if choice := self.options.tool_choice:
            told["tool_choice"] = {"type": choice} if isinstance(choice, str) else choice
        if self.compat.fallbacks:
            told["fallbacks"] = [{"model": fallback["model"]} for fallback in self.compat.fallbacks]
        return told

    def _betas(self, changes: bool) -> list[str]:
        """The betas that are asked for: those that a header of the model or the caller names, or what is needed."""
        told: str | None | Literal[False] = False
        for headers in (model_headers(self.model), self.options.headers):
            for name, value in (headers or {}).items():
                if name.lower() == "anthropic-beta":
                    told = value
        if told is None:
            return []
        if told is not False:
            return list(dict.fromkeys(beta for each in told.split(",") if (beta := each.strip())))
        needed = {
            "claude-code-20250219": self.oauth,
            "oauth-2025-04-20": self.oauth,
            "fine-grained-tool-streaming-2025-05-14": not self.compat.eager_input
            and bool(tools_of(self.context, self.dialect)),
            "interleaved-thinking-2025-05-14": self.model.reasoning
            and self.own.get("thinking_enabled") is True
            and self.own.get("interleaved_thinking") is not False
            and not self.compat.adaptive,
            "server-side-fallback-2026-07-01": bool(self.compat.fallbacks),
            "mid-conversation-output-config-2026-07-01": self.compat.effort_changes,
            "thinking-binding-controls-2026-08-01": self.compat.effort_changes,
            "inline-tools-2026-09-15": changes,
            "message-threads-2026-08-12": self.compat.threads and bool(session_of(self.options)),
        }
        return [beta for beta, asked in needed.items() if asked]


def early_effort(model: Model, options: ProviderOptions) -> str | None:
    """The effort that a message tells before its request is built, in the releases where it hangs on nothing there."""
    if options.dialect.anthropic_base_effort == "low" or not compat_of(model, options.dialect).effort_changes:
        return None
    return options.provider.get("effort") or "high"


def effort_of(model: Model, level: str) -> str:
    """The effort that a level means to a model that thinks adaptively."""
    told = thinking_level_map(model).get(level)
    if isinstance(told, str):
        return told
    return {"minimal": "low", "low": "low", "medium": "medium"}.get(level, "high")
