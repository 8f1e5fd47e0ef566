# mypy: ignore-errors
"""What type checkers refuse of a provider: every line that is marked, and no other."""

from __future__ import annotations

from pi_trio import ResponseBuilder


def a_response(builder: ResponseBuilder, error: Exception) -> None:
    builder.text_delta(None)  # E: a delta is a text
    builder.update(usage=3)  # E: a usage is no number
    builder.update(content=())  # E: the events make the content
    builder.update(stop_reason="stop")  # E: and the stop reason
    builder.done("nonsense")  # E: there is no such reason
    builder.done("error")  # E: a failure is no end of a complete response
    builder.error(error)  # E: what went wrong is a text
    builder.error("no", reason="stop")  # E: nor the other way round
