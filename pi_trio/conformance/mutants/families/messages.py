"""MSG: how a message is said."""

from __future__ import annotations

import attrs

from pi_trio.agent import batch, loop

from ..planting import planted
from ..wire import DROP, asked, heard, wired


@heard("MSG-01", "message_end")
def results_do_not_end(event):
    """The message of a result has a start and no end."""
    return DROP if event["message"]["role"] == "toolResult" else None


@heard("MSG-02", "message_end")
def another_message_ends(event):
    """The end of a user's message has other content than its start."""
    if event["message"]["role"] == "user":
        event["message"] = {**event["message"], "content": []}


@wired("MSG-03")
def updates_come_too_late():
    """The last update of an answer is told behind its end."""
    held = []

    def change(said, _):
        changed = []
        for message in said:
            kind = message.get("event", {}).get("type")
            if kind == "message_update":
                changed += held
                held[:] = [message]
                continue
            changed.append(message)
            if kind == "message_end":
                changed += held
                held.clear()
        return changed

    return change


@heard("MSG-04", "message_update")
def updates_show_an_empty_message(event):
    """The message of an update has no content."""
    event["message"] = {**event["message"], "content": []}


@planted("MSG-10", batch, "answer_of")
def results_have_no_name(original):
    """A result's message does not name the tool."""
    return lambda record, profile: attrs.evolve(original(record, profile), tool_name="tool")


@planted("MSG-10", batch, "answer_of")
def results_are_never_errors(original):
    """A result's message does not say that it is an error."""
    return lambda record, profile: attrs.evolve(original(record, profile), is_error=False)


@asked("MSG-11", "streamFn")
def unknown_fields_are_not_sent(args):
    """In a request messages have no fields but those that everybody knows."""
    for message in args["context"]["messages"]:
        if message["role"] == "user":
            for name in message.keys() - {"role", "content", "timestamp"}:
                del message[name]


@planted(("MSG-15", "MSG-08"), loop, "declared")
def a_tool_of_prepare_request_is_not_announced(original):
    """When there is a `prepareRequest`, the tools that it brings are not announced."""

    def declared(state, pending):
        if state.config.hooks.prepare_request is None:
            return original(state, pending)
        return [(message, message) for message in pending]

    return declared
