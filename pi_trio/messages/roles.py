"""The messages of a transcript, role by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, TypeAlias, cast

import attrs

from ..errors import CodecError
from ..jsonvalue import ABSENT, JSON, Absent, Number, freeze, freeze_if_there, freeze_object
from ..wire import Wire, quick
from .content import Content, contents, contents_if_there, text_of, text_or_contents
from .model import ThinkingLevel
from .notes import DeferredHandle, Diagnostic
from .tools import NestedToolCalls, ToolDeclaration, ToolRemoval
from .usage import Usage

StopReason: TypeAlias = str
"""`stop`, `length`, `toolUse`, `error`, `aborted`; since 0.85.0 also `pending` (only while streaming) and
`deferred`. Others that a provider invents survive."""


def _diagnostics(value: Iterable[Diagnostic] | None) -> tuple[Diagnostic, ...] | None:
    return value if value is None else tuple(value)


def _names(value: Iterable[str] | None) -> tuple[str, ...] | None:
    return value if value is None else tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class UserMessage(Wire):
    """What the user says: a string, or text and image blocks. `timestamp` is in Unix milliseconds."""

    role: ClassVar[Literal["user"]] = "user"
    content: str | tuple[Content, ...] = attrs.field(converter=text_or_contents)
    timestamp: Number

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return text_of(self.content)


@attrs.frozen(kw_only=True, repr=False)
class AssistantMessage(Wire):
    """One response of the model.

    Attributes:
        content: text, thinking and tool call blocks; may be empty.
        api, provider, model: what was asked; `response_model` is what answered, where that differs.
        error_message: there when `stop_reason` is `error` or `aborted`.
        timestamp: when the request started, in Unix milliseconds.
        raw_stop_reason: the provider's own word for why it stopped.
        provider_thinking_level: the provider's own name of the effort.
        duration_ms: from `timestamp` to the end of the response, in milliseconds (1.6.0).
        thinking_level: the level that the agent loop asked for (since 1.0.3, set by the loop only).
    """

    role: ClassVar[Literal["assistant"]] = "assistant"
    content: tuple[Content, ...] = attrs.field(converter=contents)
    api: str
    provider: str
    model: str
    usage: Usage
    stop_reason: StopReason
    error_message: str | None = None
    timestamp: Number
    response_model: str | None = None
    response_id: str | None = None
    raw_stop_reason: str | None = None
    end_turn: bool | None = None
    deferred: DeferredHandle | None = None
    diagnostics: tuple[Diagnostic, ...] | None = attrs.field(default=None, converter=_diagnostics)
    provider_thinking_level: str | None = None
    duration_ms: Number | None = None
    thinking_level: ThinkingLevel | None = None

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return text_of(self.content)


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolResultMessage(Wire):
    """The result of one tool call, as the model sees it.

    `content` is `ABSENT` only where a tool of 0.80.2 gave none; later releases put an empty one there.
    `is_error` is a boolean as a rule; a hook can make it any JSON. `added_tool_names` is of 0.85.0 only.
    `timestamp` is in Unix milliseconds; `duration_ms` is the time that `execute` took (1.6.0).
    """

    role: ClassVar[Literal["toolResult"]] = "toolResult"
    tool_call_id: str
    tool_name: str
    content: tuple[Content, ...] | Absent = attrs.field(default=ABSENT, converter=contents_if_there)
    details: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    usage: Usage | None = None
    added_tool_names: tuple[str, ...] | None = attrs.field(default=None, converter=_names)
    nested_calls: NestedToolCalls | None = None
    is_error: JSON = attrs.field(converter=freeze)
    duration_ms: Number | None = None
    timestamp: Number

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return text_of(self.content)


def _declarations(value: Iterable[ToolDeclaration] | None) -> tuple[ToolDeclaration, ...] | None:
    return value if value is None else tuple(value)


def _removals(value: Iterable[ToolRemoval] | None) -> tuple[ToolRemoval, ...] | None:
    return value if value is None else tuple(value)


def _sections(value: Mapping[str, str | None] | None) -> Mapping[str, str | None] | None:
    return None if value is None else cast("Mapping[str, str | None]", freeze_object(value))


@attrs.frozen(kw_only=True, repr=False)
class SystemMessage(Wire):
    """Instructions and changes of the tool set, from this place of the transcript on (since 1.0.3).

    `sections` are named texts in order; null takes a section away. `timestamp` is in Unix milliseconds,
    0 for a leading message that the agent made itself.
    """

    role: ClassVar[Literal["system"]] = "system"
    content: str | tuple[Content, ...] = attrs.field(converter=text_or_contents)
    sections: Mapping[str, str | None] | None = attrs.field(default=None, converter=_sections)
    tools_added: tuple[ToolDeclaration, ...] | None = attrs.field(default=None, converter=_declarations)
    tools_removed: tuple[ToolRemoval, ...] | None = attrs.field(default=None, converter=_removals)
    timestamp: Number

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return text_of(self.content)


def _is_custom(_message: object, _attribute: object, value: str) -> None:
    if value in ("user", "assistant", "toolResult", "system"):
        raise CodecError("role", f"expected a role without a class of its own, found {value!r}")


@attrs.frozen(kw_only=True, repr=False)
class CustomMessage(Wire):
    """A message of an application's own role. The loop carries it; its fields are in `extra`."""

    role: str = attrs.field(validator=_is_custom)


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage | CustomMessage
"""Any message of a transcript."""
