"""MODEL, in the adapters: how an answer is read, what it was, and what it has cost."""

from __future__ import annotations

from itertools import chain
from typing import Any

import attrs

from pi_trio.messages import ToolCall
from pi_trio.models import cost, exchange, overflow, retrying
from pi_trio.models.anthropic import reader as anthropic
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.openai_chat import reader as chat
from pi_trio.models.sse import SseDecoder

from ..dialects import in_dialects
from ..transported import transported


@transported("MODEL-08", ResponseBuilder, "text_end")
def the_pieces_are_the_text(original):
    """The end of a text is what its pieces were, whatever the server says at its end."""
    return lambda self, content_index=None, **fields: original(
        self, content_index, **{**fields, "text": None}
    )


@transported("MODEL-10", ResponseBuilder, "error")
def failures_without_content(original):
    """The message of a failure has nothing of what was said."""

    def error(self, message, **details):
        event = original(self, message, **details)
        return attrs.evolve(event, error=attrs.evolve(event.error, content=()))

    return error


@transported("MODEL-11", anthropic.AnthropicReader, "fail")
def open_texts_are_ended_in_failures(original):
    """When a response fails, the texts that are open end before it."""

    def fail(self, text, aborted):
        open_ = [block for block in chain(*self._open.values()) if block.kind == "text"]
        return [*(self._builder.text_end(block.place) for block in open_), *original(self, text, aborted)]

    return fail


@transported("MODEL-12", chat.ChatReader, "_ends")
def blocks_end_from_the_last(original):
    """The blocks of Chat Completions end in reverse order."""
    return lambda self: reversed(list(original(self)))


@transported("MODEL-12", chat.ChatReader, "_ends")
def calls_end_before_texts(original):
    """The calls of Chat Completions end first."""
    return lambda self: sorted(original(self), key=lambda event: event.type != "toolcall_end")


in_dialects("MODEL-13", "arguments that break off are mended", truncated_arguments="partial")
in_dialects("MODEL-14", "arguments that break off are none", "1.0.3", truncated_arguments="error")
in_dialects("MODEL-15", "who answers is the model", anthropic_served_model="replaces")
in_dialects("MODEL-15", "nobody says who answers", anthropic_served_model="ignored")
in_dialects("MODEL-16", "who answers stands beside", "0.85.0", anthropic_served_model="beside")


@transported("MODEL-17", chat, "usage_of")
def cached_tokens_are_input_too(original):
    """What was read from the cache counts as input, too."""

    def usage_of(told, model, dialect):
        usage = original(told, model, dialect)
        total = usage.total_tokens + usage.cache_read
        return attrs.evolve(usage, input=usage.input + usage.cache_read, total_tokens=total)

    return usage_of


@transported("MODEL-18", cost, "_MILLION")
def prices_of_a_thousand(original):
    """The prices are taken for those of a thousand tokens."""
    return original // 1000


@transported("MODEL-19", anthropic, "_REASONS")
def too_long_is_a_stop(original):
    """An answer that is as long as it may be has simply stopped."""
    return {**original, "max_tokens": "stop"}


@transported("MODEL-19", chat, "STOPS")
def calls_are_a_stop(original):
    """An answer that stopped for its calls has simply stopped."""
    return {**original, "tool_calls": "stop"}


@transported("MODEL-20", ResponseBuilder, "done")
def calls_make_the_reason(original):
    """An answer with calls has stopped for them, whatever the server says."""

    def done(self, reason, **details):
        has_calls = any(isinstance(block, ToolCall) for block in self.partial.content)
        return original(self, "toolUse" if has_calls else reason, **details)

    return done


class _Lenient(dict[Any, Any]):
    """Takes every word for a stop."""

    def get(self, key, default=None):
        return super().get(key, "stop")


@transported("MODEL-21", chat, "STOPS")
def unknown_reasons_are_stops(original):
    """A reason that nobody knows is a stop."""
    return _Lenient(original)


@transported("MODEL-21", anthropic, "_REASONS")
def refusals_are_stops(original):
    """A refusal of the model is a stop."""
    return {**original, "refusal": "stop"}


@transported("MODEL-22", chat.ChatReader, "end")
def streams_that_break_off_are_whole(original):
    """A stream of Chat Completions that breaks off is a whole answer."""

    def end(self):
        self._stop = self._stop or "stop"
        return original(self)

    return end


@transported("MODEL-22", anthropic.AnthropicReader, "end")
def an_answer_needs_no_last_word(original):
    """A stream of Messages needs no message_stop."""

    def end(self):
        self._has_stopped, self._reason = True, self._reason or "stop"
        return original(self)

    return end


@transported("MODEL-23", exchange.Wording, "of")
def aborts_are_raised(original):
    """An abort is raised where the events are read."""

    def of(self, failure):
        if isinstance(failure, exchange.RequestAbortedError):
            raise failure
        return original(self, failure)

    return of


@transported("MODEL-23", anthropic.AnthropicReader, "fail")
def aborts_are_errors(original):
    """An abort ends a response as a failure does."""
    return lambda self, text, aborted: original(self, text, aborted=False)


@transported("MODEL-32", anthropic.AnthropicReader, "parse")
def unknown_events_fail(original):
    """An event that nobody knows fails the response."""

    def parse(self, raw):
        if raw.event not in anthropic._NAMES:
            raise exchange.ResponseFailedError(f"unknown event {raw.event}")
        return original(self, raw)

    return parse


@transported("MODEL-33", SseDecoder, "feed")
def each_chunk_by_itself(original):
    """Each chunk is decoded by itself."""
    return lambda self, data: self._read(data.decode("utf-8", "replace"))


@transported("MODEL-33", SseDecoder, "feed")
def each_chunk_is_whole(original):
    """What is left at the end of a chunk is given up."""

    def feed(self, data):
        events = original(self, data)
        self._line, self._lines = [], []
        return events

    return feed


class _Nothing:
    """Finds no words."""

    def found_in(self, text, release):
        return False


@transported("MODEL-44", overflow, "NO_OVERFLOW")
def every_limit_of_tokens_is_an_overflow(original):
    """A limit on how much may be asked in a time is an overflow, too."""
    return _Nothing()


@transported("MODEL-44", overflow, "OVERFLOW")
def nothing_is_an_overflow(original):
    """A context that is too long is not told apart."""
    return _Nothing()


@transported("MODEL-45", retrying, "ACCOUNT_LIMIT")
def what_is_used_up_may_pass(original):
    """A quota that is used up may be there again the next time."""
    return _Nothing()


@transported("MODEL-45", retrying, "TRANSIENT")
def nothing_may_pass(original):
    """No failure may be gone the next time."""
    return _Nothing()
