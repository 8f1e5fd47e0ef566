"""What type checkers make of a provider that builds its responses."""

from __future__ import annotations

from typing import assert_type

from pi_trio import Model, ResponseBuilder, StreamDone, StreamError, Usage
from pi_trio.messages import AssistantMessage


def a_response(builder: ResponseBuilder, complete: bool) -> StreamDone:
    builder.start()
    assert_type(builder.partial, AssistantMessage)
    builder.update(usage=Usage.zero(), response_id="r1", error_message=None, diagnostics=[], extra={"x": 1})
    return builder.done("stop" if complete else "length")


def a_failure() -> StreamError:
    return ResponseBuilder(Model.unknown()).error("no", reason="aborted")
