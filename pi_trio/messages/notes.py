"""What a provider notes beside its answer: faults on the way, and where an answer is that was put off."""

from __future__ import annotations

import attrs

from ..jsonvalue import ABSENT, JSON, Absent, Number, freeze_if_there
from ..wire import Wire


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
