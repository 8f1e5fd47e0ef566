"""What an endpoint of the Messages API can do: the catalog says it, or these defaults hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ...jsonvalue import JSON
from ...messages import Model
from ..dialect import Dialect


@attrs.frozen(kw_only=True)
class Compat:
    """What is left open by the API's own definition.

    Attributes:
        eager_input: tools stream their arguments as they are written, when they are asked to; else a beta does it.
        long_cache: a cache may last an hour.
        cached_tools: tools may be a part of what is cached.
        temperature: there is one.
        empty_signature: thinking may have an empty signature.
        strict_tools: tools may be strict.
        session_header: the header that names the session; None for none.
        system_updates: system messages may stand in the middle of the conversation (since 1.0.3).
        tool_changes: and so may changes of the tools.
        adaptive: thinking is adaptive, and knows efforts in place of budgets.
        effort_changes: the effort may change in the middle of the conversation.
        fallbacks: models that may answer in place of the one that is asked, as the catalog has them.
        tool_references: results may refer to tools (0.85.0).
        threads: a request may continue the one before (1.6.0).
    """

    eager_input: bool
    long_cache: bool
    cached_tools: bool
    temperature: bool
    empty_signature: bool
    strict_tools: bool
    session_header: str | None
    system_updates: bool
    tool_changes: bool
    adaptive: bool
    effort_changes: bool
    fallbacks: tuple[Mapping[str, JSON], ...]
    tool_references: bool
    threads: bool


def compat_of(model: Model, dialect: Dialect) -> Compat:
    """What a model's endpoint can do."""
    told = model.extra.get("compat")
    told = told if isinstance(told, Mapping) else {}

    def says(name: str, default: bool) -> bool:
        value = told.get(name)
        return default if value is None else bool(value)

    router = dialect.anthropic_openrouter_session and is_openrouter(model)
    header = None
    if says("sendSessionAffinityHeaders", router):
        told_format = told.get("sessionAffinityFormat") or ("openrouter" if router else None)
        named = dialect.anthropic_openrouter_session and told_format == "openrouter"
        header = "x-session-id" if named else "x-session-affinity"
    fallbacks: Any = told.get("allowedFallbackModels")
    return Compat(
        eager_input=says("supportsEagerToolInputStreaming", True),
        long_cache=says("supportsLongCacheRetention", True),
        cached_tools=says("supportsCacheControlOnTools", True),
        temperature=says("supportsTemperature", True),
        empty_signature=says("allowEmptySignature", False),
        strict_tools=says("supportsStrictTools", False),
        session_header=header,
        system_updates=dialect.system_messages and says("supportsMidConvoSystemMessages", False),
        tool_changes=dialect.system_messages and says("supportsMidConvoToolChanges", False),
        adaptive=told.get("forceAdaptiveThinking") is True,
        effort_changes=told.get("supportsMidConvoEffort") is True,
        fallbacks=tuple(fallbacks) if isinstance(fallbacks, (list, tuple)) else (),
        tool_references=dialect.anthropic_tool_references
        and says("supportsToolReferences", _knows_references(model)),
        threads=dialect.anthropic_threads
        and says("supportsMessageThreads", "api.anthropic.com" in model.base_url),
    )


def is_openrouter(model: Model) -> bool:
    """Whether requests go to OpenRouter."""
    return model.provider == "openrouter" or "openrouter.ai" in model.base_url


def _knows_references(model: Model) -> bool:
    """Anthropic's own models since 4.5 know references to tools, but for the smallest ones."""
    if model.provider != "anthropic" or "haiku" in model.id:
        return False
    family, *numbers = model.id.removeprefix("claude-").split("-")
    if not model.id.startswith("claude-") or family not in ("opus", "sonnet", "fable"):
        return False
    if not numbers or not _is_digits(numbers[0]):
        return False
    # A number of eight digits is the date of a model whose version is the family's alone.
    dated = len(numbers) < 2 or not _is_digits(numbers[1]) or len(numbers[1]) >= 8
    return (int(numbers[0]), 0 if dated else int(numbers[1])) >= (4, 5)


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
