"""Messages: what a transcript consists of.

User, assistant, tool result and system messages, their content blocks, token usage, tool declarations, the
result of a tool, and the model. Field by field these are Pi's (1.6.0, with what older releases had besides);
`wire.Wire` says how names, absent fields and unknown fields are treated. A message with another role is a
`CustomMessage`, a content block of another type an `UnknownContent`: both keep everything.

Constructors take lists and plain dicts, and store tuples and frozen JSON. They do not check types; JSON from
outside is checked by the codec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Literal, TypeAlias, cast, get_args

import attrs

from .errors import CodecError
from .jsonvalue import ABSENT, JSON, Absent, Number, freeze, freeze_if_there, freeze_object
from .wire import Wire, quick

StopReason: TypeAlias = str
"""`stop`, `length`, `toolUse`, `error`, `aborted`; since 0.85.0 also `pending` (only while streaming) and
`deferred`. Others that a provider invents survive."""

ThinkingLevel: TypeAlias = str
"""`off`, `minimal`, `low`, `medium`, `high`, `xhigh`, and since 0.85.0 `max`."""


# --- content blocks ---------------------------------------------------------------------------------------


@quick
@attrs.frozen(kw_only=True, repr=False)
class TextContent(Wire):
    """A block of text. `text_signature` is opaque, and belongs to the provider that wrote it."""

    type: ClassVar[Literal["text"]] = "text"
    text: str
    text_signature: str | None = None


@attrs.frozen(kw_only=True, repr=False)
class ThinkingContent(Wire):
    """A block of reasoning. Where `redacted` is true the reasoning itself is in the opaque signature."""

    type: ClassVar[Literal["thinking"]] = "thinking"
    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None


@attrs.frozen(kw_only=True, repr=False)
class ImageContent(Wire):
    """An image: `data` is its bytes in base64."""

    type: ClassVar[Literal["image"]] = "image"
    data: str
    mime_type: str


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolCall(Wire):
    """The model's wish to have a tool called.

    `arguments` is an object as a rule; up to 1.0.3 a model's text could make it any JSON, so any is kept.
    Since 1.6.0 arguments that were not a complete object are `{}`, and `arguments_error` says why.
    """

    type: ClassVar[Literal["toolCall"]] = "toolCall"
    id: str
    name: str
    arguments: JSON = attrs.field(converter=freeze)
    thought_signature: str | None = None
    namespace: str | None = None
    arguments_error: str | None = None


def _is_unknown(_block: object, _attribute: object, value: str) -> None:
    if value in ("text", "thinking", "image", "toolCall"):
        raise CodecError("type", f"expected a type without a class of its own, found {value!r}")


@attrs.frozen(kw_only=True, repr=False)
class UnknownContent(Wire):
    """A content block of another type, as a later Pi may have it. Its fields are in `extra`."""

    type: str = attrs.field(validator=_is_unknown)


Content: TypeAlias = TextContent | ThinkingContent | ImageContent | ToolCall | UnknownContent
"""Any content block. Which of them a message may hold is the business of its role, not of the codec."""


_BLOCKS: Final = frozenset(get_args(Content))


def _contents(value: Iterable[Content]) -> tuple[Content, ...]:
    if isinstance(value, str):
        raise TypeError(
            f"content is a sequence of blocks here, not a text: [TextContent(text={value!r:.40})]"
        )
    blocks = value if isinstance(value, tuple) else tuple(value)
    if not _BLOCKS.issuperset(map(type, blocks)):
        for block in blocks:
            if not isinstance(block, Content):
                raise TypeError(f"content is a sequence of blocks, and {block!r:.40} is none")
    return blocks


def _text_or_contents(value: str | Iterable[Content]) -> str | tuple[Content, ...]:
    return value if isinstance(value, str) else _contents(value)


def _text_of(content: str | Iterable[Content] | Absent) -> str:
    if isinstance(content, str):
        return content
    blocks = () if isinstance(content, Absent) else content
    return "".join(block.text for block in blocks if isinstance(block, TextContent))


def _contents_if_there(value: Iterable[Content] | Absent) -> tuple[Content, ...] | Absent:
    if type(value) is tuple:  # as mostly, and then of one or two blocks
        for block in value:
            if type(block) not in _BLOCKS:
                break
        else:
            return value
    return value if isinstance(value, Absent) else _contents(value)


# --- usage ------------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, repr=False)
class UsageCost(Wire):
    """US dollars. `total_from_provider` is true where `total` was billed so, not computed from a catalog."""

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number
    total: Number
    total_from_provider: bool | None = None


@attrs.frozen(kw_only=True, repr=False)
class Usage(Wire):
    """Tokens of one response: `input` without those of the cache, `output` with the reasoning.

    `cache_write_1h` is a part of `cache_write`, `reasoning` a part of `output`.
    """

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number
    total_tokens: Number
    cost: UsageCost
    cache_write_1h: Number | None = None
    reasoning: Number | None = None

    @classmethod
    def zero(cls) -> Usage:
        """Nothing used, nothing owed."""
        return _ZERO_USAGE


def _usage_if_there(value: Usage | None) -> Usage | None:
    if value is not None and not isinstance(value, Usage):
        raise TypeError(f"a usage is a Usage, not {value!r:.40}")
    return value


_ZERO_USAGE = Usage(
    input=0,
    output=0,
    cache_read=0,
    cache_write=0,
    total_tokens=0,
    cost=UsageCost(input=0, output=0, cache_read=0, cache_write=0, total=0),
)


# --- tools in the transcript ------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, repr=False)
class ToolDeclaration(Wire):
    """A tool as the model is told of it: `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: JSON = attrs.field(converter=freeze)
    constrained_sampling: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)


@attrs.frozen(kw_only=True, repr=False)
class ToolRemoval(Wire):
    """The name of a tool that is no longer there."""

    name: str


def _declarations(value: Iterable[ToolDeclaration] | None) -> tuple[ToolDeclaration, ...] | None:
    return value if value is None else tuple(value)


def _removals(value: Iterable[ToolRemoval] | None) -> tuple[ToolRemoval, ...] | None:
    return value if value is None else tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class NestedToolCallRecord(Wire):
    """One call that a tool made to another tool.

    `status` is `ok`, `error` or `unfinished`. Arguments over the size limit are left out, and
    `arguments_bytes` gives their size. `duration_ms` is in milliseconds, `error` a shortened text.
    """

    id: str
    name: str
    arguments: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    arguments_bytes: Number | None = None
    status: str
    duration_ms: Number | None = None
    error: str | None = None


def _records(value: Iterable[NestedToolCallRecord]) -> tuple[NestedToolCallRecord, ...]:
    return tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class NestedToolCalls(Wire):
    """The calls that a tool made to other tools; `complete` is false where something is missing."""

    calls: tuple[NestedToolCallRecord, ...] = attrs.field(converter=_records)
    complete: bool


@quick
@attrs.frozen(kw_only=True, repr=False)
class ToolResult(Wire):
    """What a tool's `execute` returns, and what progress reports and `tool_execution_end` carry.

    Attributes:
        content: what the model sees. `ABSENT` where the tool gave none.
        details: any JSON, for logs and user interfaces.
        structured_content: any JSON, for programs; dropped before the result message.
        usage: tokens that the tool itself used.
        is_error: exactly true means a failure (since 1.0.3). Other JSON is kept and means nothing.
        terminate: exactly true asks that the run take no further turn for this batch's sake.
    """

    content: tuple[Content, ...] | Absent = attrs.field(default=ABSENT, converter=_contents_if_there)
    details: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    structured_content: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    usage: Usage | None = attrs.field(default=None, converter=_usage_if_there)
    is_error: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    terminate: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return _text_of(self.content)


# --- messages ---------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True, repr=False)
class DiagnosticError(Wire):
    """An error that a provider adapter met on the way; `code` is a string or a number."""

    name: str | None = None
    message: str
    stack: str | None = None
    code: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)


@attrs.frozen(kw_only=True, repr=False)
class Diagnostic(Wire):
    """A note by a provider adapter on how a response came about. `timestamp` is in Unix milliseconds."""

    type: str
    timestamp: Number
    error: DiagnosticError | None = None
    details: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)


@attrs.frozen(kw_only=True, repr=False)
class DeferredHandle(Wire):
    """Where a response that was put off can be fetched. Times are milliseconds, `expires_at` a Unix time."""

    provider: str
    model_id: str
    api: str
    id: str
    expires_at: Number | None = None
    poll_after_ms: Number | None = None
    data: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)


def _diagnostics(value: Iterable[Diagnostic] | None) -> tuple[Diagnostic, ...] | None:
    return value if value is None else tuple(value)


def _names(value: Iterable[str] | None) -> tuple[str, ...] | None:
    return value if value is None else tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class UserMessage(Wire):
    """What the user says: a string, or text and image blocks. `timestamp` is in Unix milliseconds."""

    role: ClassVar[Literal["user"]] = "user"
    content: str | tuple[Content, ...] = attrs.field(converter=_text_or_contents)
    timestamp: Number

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return _text_of(self.content)


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
    content: tuple[Content, ...] = attrs.field(converter=_contents)
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
        return _text_of(self.content)


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
    content: tuple[Content, ...] | Absent = attrs.field(default=ABSENT, converter=_contents_if_there)
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
        return _text_of(self.content)


def _sections(value: Mapping[str, str | None] | None) -> Mapping[str, str | None] | None:
    return None if value is None else cast("Mapping[str, str | None]", freeze_object(value))


@attrs.frozen(kw_only=True, repr=False)
class SystemMessage(Wire):
    """Instructions and changes of the tool set, from this place of the transcript on (since 1.0.3).

    `sections` are named texts in order; null takes a section away. `timestamp` is in Unix milliseconds,
    0 for a leading message that the agent made itself.
    """

    role: ClassVar[Literal["system"]] = "system"
    content: str | tuple[Content, ...] = attrs.field(converter=_text_or_contents)
    sections: Mapping[str, str | None] | None = attrs.field(default=None, converter=_sections)
    tools_added: tuple[ToolDeclaration, ...] | None = attrs.field(default=None, converter=_declarations)
    tools_removed: tuple[ToolRemoval, ...] | None = attrs.field(default=None, converter=_removals)
    timestamp: Number

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return _text_of(self.content)


def _is_custom(_message: object, _attribute: object, value: str) -> None:
    if value in ("user", "assistant", "toolResult", "system"):
        raise CodecError("role", f"expected a role without a class of its own, found {value!r}")


@attrs.frozen(kw_only=True, repr=False)
class CustomMessage(Wire):
    """A message of an application's own role. The loop carries it; its fields are in `extra`."""

    role: str = attrs.field(validator=_is_custom)


Message: TypeAlias = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage | CustomMessage
"""Any message of a transcript."""


# --- model ------------------------------------------------------------------------------------------------


def _texts(value: Iterable[str]) -> tuple[str, ...]:
    return tuple(value)


@attrs.frozen(kw_only=True, repr=False)
class ModelCost(Wire):
    """US dollars for a million tokens."""

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number


@attrs.frozen(kw_only=True, repr=False)
class Model(Wire):
    """A model, and what is known of it.

    `input` lists what it takes (`text`, `image`); `context_window` and `max_tokens` count tokens. What
    Pi's catalog says besides (headers, compat, thinkingLevelMap, …) is in `extra`.
    """

    id: str
    name: str
    api: str
    provider: str
    base_url: str
    reasoning: bool
    input: tuple[str, ...] = attrs.field(converter=_texts)
    cost: ModelCost
    context_window: Number
    max_tokens: Number

    @classmethod
    def unknown(cls) -> Model:
        """The model of an agent that was given none."""
        return _UNKNOWN_MODEL


_UNKNOWN_MODEL = Model(
    id="unknown",
    name="unknown",
    api="unknown",
    provider="unknown",
    base_url="",
    reasoning=False,
    input=(),
    cost=ModelCost(input=0, output=0, cache_read=0, cache_write=0),
    context_window=0,
    max_tokens=0,
)
