"""STREAM: the request, and how its answer is read."""

from __future__ import annotations

import attrs

from pi_trio.agent import response
from pi_trio.agent.response import _Slot
from pi_trio.events import MessageStart, MessageUpdate, StreamStart, UnknownStreamEvent

from ...driver.exchange import Exchange
from ...lines import is_ask
from ..planting import planted
from ..wire import DROP, asked, heard, wired


@planted("STREAM-01", _Slot, "take")
def updates_are_not_awaited(original):
    """The next event is read while listeners still hear of the last one."""

    def take(slot, event):
        delivery = original(slot, event)
        if delivery is not None:
            slot._state.run.nursery.start_soon(delivery.finish)

    return take


@planted("STREAM-02", _Slot, "take")
def a_start_says_nothing(original):
    """The message begins with the first delta, and not at `start`."""
    started = {}

    def take(slot, event):
        if isinstance(event, StreamStart):
            started[slot] = event
            return None
        if slot in started:
            original(slot, started.pop(slot))
        return original(slot, event)

    return take


@heard("STREAM-03", "message_update")
def only_deltas_are_told(event):
    """The end of a block is no update."""
    return DROP if event["assistantMessageEvent"]["type"].endswith("_end") else None


@planted("STREAM-04", _Slot, "take")
def a_delta_begins_the_message(original):
    """Without a `start` the first delta begins the message, and the others say nothing."""
    open_slots = set()

    def take(slot, event):
        if slot in open_slots:
            return None
        if slot._partial is None and not isinstance(event, StreamStart | UnknownStreamEvent):
            open_slots.add(slot)
            slot._put(event.partial)
            return slot._state.run.begin(MessageStart(message=event.partial), "response")
        return original(slot, event)

    return take


@planted("STREAM-05", _Slot, "finish")
def the_last_partial_is_the_answer(original):
    """The answer's content is what the deltas have added up to."""

    def finish(slot, final):
        partial = slot._partial
        return original(slot, final if partial is None else attrs.evolve(final, content=partial.content))

    return finish


@planted("STREAM-06", Exchange, "end")
def a_result_needs_a_done(original):
    """A stream that ends without `done`, though with a result, is still waited for."""
    return lambda exchange, command: original(exchange, command) if command.get("result") is None else None


@planted("STREAM-07", _Slot, "cut_off")
def a_stream_without_a_result_is_good(original):
    """An answer that nobody finished has ended well."""
    return lambda slot, reason, text: attrs.evolve(
        original(slot, reason, text), stop_reason="stop", error_message=None
    )


@planted("STREAM-08", _Slot, "take")
def a_second_start_is_a_second_message(original):
    """A second `start` begins another message, though the first has no end."""

    def take(slot, event):
        if slot._partial is not None and isinstance(event, StreamStart):
            slot._put(event.partial)
            return slot._state.run.begin(MessageStart(message=event.partial), "response")
        return original(slot, event)

    return take


@planted("STREAM-09", _Slot, "take")
def an_unknown_event_is_an_update(original):
    """A provider event of an unknown type is told as an update."""

    def take(slot, event):
        if isinstance(event, UnknownStreamEvent) and slot._partial is not None:
            update = MessageUpdate(message=slot._partial, assistant_message_event=event)
            return slot._state.run.begin(update, "response")
        return original(slot, event)

    return take


@planted("STREAM-10", response, "_model_context")
def the_key_is_asked_for_first(original):
    """`getApiKey` is asked before the context is made, too."""

    async def model_context(state):
        hook = state.config.hooks.get_api_key
        if hook is not None:
            await state.run.ask(hook, state.model.provider)
        return await original(state)

    return model_context


@planted("STREAM-10", response, "_model_context", shows="context_hooks_order")
def converted_before_transformed(original):
    """`convertToLlm` is asked before `transformContext`."""

    async def model_context(state):
        config, hooks = state.config, state.config.hooks
        if hooks.convert_to_llm is None or hooks.transform_context is None:
            return await original(state)
        first = hooks.convert_to_llm
        state.config = attrs.evolve(
            config,
            hooks=attrs.evolve(
                hooks,
                transform_context=lambda messages, _: first(messages),
                convert_to_llm=lambda messages: hooks.transform_context(messages, state.run.signal),
            ),
        )
        try:
            return await original(state)
        finally:
            state.config = config

    return model_context


@planted("STREAM-11", response, "_model_context")
def a_transformed_context_is_not_sent(original):
    """What `transformContext` returns is not used."""

    async def model_context(state):
        config, hook = state.config, state.config.hooks.transform_context
        if hook is None:
            return await original(state)

        async def transform(messages, signal):
            await hook(messages, signal)
            return messages

        state.config = attrs.evolve(config, hooks=attrs.evolve(config.hooks, transform_context=transform))
        try:
            return await original(state)
        finally:
            state.config = config

    return model_context


@planted("STREAM-16", response, "conversation")
def everything_is_sent(original):
    """Messages of an unknown role are sent to the model."""
    return lambda messages, classes, profile: messages


@planted(("STREAM-16", "TURN-23"), response, "conversation", shows="prompt_unknown_fields")
def results_are_not_sent(original):
    """The default conversion sends what the user and the model have said, and no results."""
    return lambda messages, classes, profile: tuple(
        message for message in original(messages, classes, profile) if message.role != "toolResult"
    )


@wired("STREAM-17")
def an_empty_key_is_a_key():
    """If `getApiKey` answers with nothing, the request carries an empty key."""
    known = []

    def change(said, _):
        for message in said:
            if message.get("fn") == "getApiKey":
                known.append(message)
            if message.get("fn") == "streamFn" and known:
                message["args"]["options"].setdefault("apiKey", "")
        return said

    return change


@planted("STREAM-18", _Slot, "finish")
def the_event_decides(original):
    """An answer that came with `done` is good, whatever its stop reason says."""

    def finish(slot, final):
        if final.stop_reason == "error" and final.error_message is not None and slot._partial is not None:
            final = attrs.evolve(final, stop_reason="stop")
        return original(slot, final)

    return finish


@wired("STREAM-19")
def what_comes_behind_the_end_is_refused():
    """To push anything behind `done` is an error."""
    closed = set()

    def change(said, command):
        if command["cmd"] == "push":
            if command["ask"] in closed:
                return [*said[:-1], {"re": command["id"], "error": "the stream is closed"}]
            if command["event"]["type"] in ("done", "error"):
                closed.add(command["ask"])
        return said

    return change


@asked("STREAM-23", "streamFn")
def off_is_a_level(args):
    """With the level "off" a request asks for reasoning at that level."""
    args["options"].setdefault("reasoning", "off")


@asked("STREAM-24", "convertToLlm")
def convert_sees_what_models_know(args):
    """`convertToLlm` is not shown messages of an unknown role."""
    known = ("system", "user", "assistant", "toolResult")
    args["messages"] = [message for message in args["messages"] if message["role"] in known]


@asked("STREAM-25", "getApiKey")
def the_key_is_asked_for_nobody(args):
    """`getApiKey` is not told the provider."""
    args["provider"] = ""


@wired("STREAM-26")
def the_key_is_that_of_the_first_model():
    """`getApiKey` is asked for the provider of the agent's own model."""
    first = []

    def change(said, command):
        if command["cmd"] == "create":
            first.append(command.get("initialState", {}).get("model", {}).get("provider"))
        for message in said:
            if is_ask(message) and message["fn"] == "getApiKey" and first[0]:
                message["args"]["provider"] = first[0]
        return said

    return change
