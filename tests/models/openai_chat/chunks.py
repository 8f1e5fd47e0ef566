"""Chunks of the Chat Completions API, and what a reader makes of them."""

from __future__ import annotations

from typing import Any

from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.dialect import DIALECT_1_6_0
from pi_trio.models.openai_chat.reader import ChatReader

from ..modelling import model

CHAT = model(api="openai-completions", provider="openai", id="m")


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk that brings something."""
    return {
        "id": "chatcmpl-1",
        "model": "m",
        "choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}],
    }


def call(index: int | None = 0, id: str | None = None, name: str | None = None, arguments: str | None = None):  # noqa: A002
    """One entry of `tool_calls`, with what is given."""
    function = {
        key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None
    }
    entry = {"index": index, "id": id, "function": function}
    return {key: value for key, value in entry.items() if value is not None}


def reader(dialect=DIALECT_1_6_0, asked=CHAT, **fields: Any) -> ChatReader:
    return ChatReader(ResponseBuilder(asked, timestamp=1, dialect=dialect), asked, dialect, **fields)


def read(*chunks: Any, by: ChatReader | None = None) -> list[Any]:
    """The events of a response of these chunks."""
    by = reader() if by is None else by
    events = [*by.start()]
    for chunk in chunks:
        events += by.feed(chunk)
    return [*events, *by.end()]


def types(events: list[Any]) -> list[str]:
    return [event.type for event in events]
