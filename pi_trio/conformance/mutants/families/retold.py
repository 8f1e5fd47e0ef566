"""MODEL, as it is heard: faults in the events of a response, and in its message."""

from __future__ import annotations

from ..transported import retold


def _first(events, end):
    """The place of the first event whose name ends so."""
    return next((place for place, event in enumerate(events) if event["type"].endswith(end)), None)


def _each(events, end, change):
    """The events, with a change of each whose name ends so."""
    for event in events:
        if event["type"].endswith(end):
            change(event)
    return events


@retold("MODEL-01")
def responses_without_a_start(events, message):
    """A response has no start."""
    return [event for event in events if event["type"] != "start"]


@retold("MODEL-01")
def two_starts(events, message):
    """The start comes twice."""
    return [event for event in events for _ in range(1 + (event["type"] == "start"))]


@retold("MODEL-02")
def responses_without_an_end(events, message):
    """Nothing says that a response is over."""
    return events[:-1]


@retold("MODEL-02")
def a_piece_behind_the_response(events, message):
    """The last piece comes behind the end of the response."""
    place = _first(events, "_delta")
    return events if place is None else [*events[:place], *events[place + 1 :], events[place]]


@retold("MODEL-03")
def reasons_of_the_provider(events, message):
    """The end of a response has the provider's own word."""
    events[-1]["reason"] = message["stopReason"] = "end_turn"
    return events


@retold("MODEL-03")
def aborts_that_are_done(events, message):
    """A response that failed or was aborted ends with done."""
    events[-1]["type"] = "done"
    return events


@retold("MODEL-04")
def the_event_says_another_reason(events, message):
    """The event says stop or error, and the message something else."""
    events[-1]["reason"] = {"done": "stop", "error": "error"}[events[-1]["type"]]
    message["stopReason"] = {"stop": "length", "error": "aborted"}.get(events[-1]["reason"])
    return events


@retold("MODEL-05")
def blocks_counted_from_one(events, message):
    """The first block has the number 1."""
    for event in events:
        if "contentIndex" in event:
            event["contentIndex"] += 1
    return events


@retold("MODEL-05")
def every_block_is_the_first(events, message):
    """All blocks have the number 0."""
    for event in events:
        if "contentIndex" in event:
            event["contentIndex"] = 0
    return events


@retold("MODEL-06")
def a_piece_before_its_block(events, message):
    """A block's first piece comes in front of its start."""
    place = _first(events, "_delta")
    if place is not None:
        events[place - 1], events[place] = events[place], events[place - 1]
    return events


@retold("MODEL-06")
def pieces_that_are_no_texts(events, message):
    """A piece is an object with the text in it."""
    return _each(events, "_delta", lambda event: event.update(delta={"text": event["delta"]}))


@retold("MODEL-06")
def pieces_of_another_kind(events, message):
    """Every piece is told as one of a text."""
    return _each(events, "_delta", lambda event: event.update(type="text_delta"))


@retold("MODEL-07")
def blocks_end_twice(events, message):
    """The end of a block comes twice."""
    return [event for event in events for _ in range(1 + event["type"].endswith("_end"))]


@retold("MODEL-07")
def a_piece_behind_the_end_of_its_block(events, message):
    """A block's last piece comes behind its end."""
    place = _first(events, "_end")
    if place is not None and events[place - 1]["type"].endswith("_delta"):
        events[place - 1], events[place] = events[place], events[place - 1]
    return events


@retold("MODEL-08")
def ends_without_content(events, message):
    """The end of a text or of thinking has an empty content."""
    return _each(events, "_end", lambda event: event.update({"content": ""} if "content" in event else {}))


@retold("MODEL-09")
def messages_without_their_calls(events, message):
    """The message has no calls, which were told."""
    message["content"] = [block for block in message["content"] if block["type"] != "toolCall"]
    return events


@retold("MODEL-09")
def thinking_that_is_not_remembered(events, message):
    """The message has no thinking, which was told."""
    message["content"] = [block for block in message["content"] if block["type"] != "thinking"]
    return events


@retold("MODEL-10")
def a_block_that_was_cut_off_is_empty(events, message):
    """A block that has not ended is empty in the message."""
    message["content"] = [{**block, "text": ""} if "text" in block else block for block in message["content"]]
    return events


@retold("MODEL-13")
def arguments_beside_what_is_wrong(events, message):
    """A call that broke off has arguments, and what is wrong with them."""
    return _each(events, "toolcall_end", lambda event: event["toolCall"].update(arguments={"path": "a.txt"}))


@retold("MODEL-13")
def arguments_that_are_a_text(events, message):
    """The arguments of a call are a JSON text."""

    def change(event):
        event["toolCall"] = {**event["toolCall"], "arguments": '{"path"'}
        event["toolCall"].pop("argumentsError", None)

    return _each(events, "toolcall_end", change)


@retold("MODEL-17")
def totals_without_the_cache(events, message):
    """The total of the tokens is without those of the cache."""
    message["usage"]["totalTokens"] = message["usage"]["input"] + message["usage"]["output"]
    return events


@retold("MODEL-18")
def costs_without_the_output(events, message):
    """The cost is that of what was read."""
    message["usage"]["cost"]["total"] -= message["usage"]["cost"]["output"]
    return events
