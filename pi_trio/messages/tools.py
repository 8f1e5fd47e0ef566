"""Tools as a transcript tells of them: declarations and removals, calls inside a call, and what a tool gives."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from ..jsonvalue import ABSENT, JSON, Absent, Number, freeze, freeze_if_there
from ..wire import Wire, quick
from .content import Content, contents_if_there, text_of
from .usage import Usage, usage_if_there


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

    content: tuple[Content, ...] | Absent = attrs.field(default=ABSENT, converter=contents_if_there)
    details: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    structured_content: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    usage: Usage | None = attrs.field(default=None, converter=usage_if_there)
    is_error: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)
    terminate: JSON | Absent = attrs.field(default=ABSENT, converter=freeze_if_there)

    @property
    def text(self) -> str:
        """What it says in text: that of its text blocks, one behind the other."""
        return text_of(self.content)
