"""The events of the Responses API become those of a response. No waiting, no sockets: JSON in, events out.

The API tells a response as a list of *output items*, each at its `output_index`: reasoning, messages, calls. An item
is added, grows, and is done; several may grow at a time. For Pi each is a block of the message. What an item says when
it is done counts, whatever the deltas said; an item whose beginning was never told begins then.

What is open when the response ends, stays so: a response may be done before its items are, as in Pi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

import attrs

from ...events import StreamEvent
from ...jsontext import print_json
from ...jsonvalue import ABSENT, JSON
from ...messages import Model, ThinkingContent, ToolCall
from ..builder import ResponseBuilder
from ..dialect import Dialect
from ..event_fields import Value, field, is_true, items, optional, shown, text_or_none
from ..exchange import ResponseFailedError
from ..grammar_input import GrammarInput
from .ending import (
    ServiceTier,
    failure_of,
    late_signatures,
    priced,
    raw_stop_reason,
    removed_reasoning,
    stopped,
    usage_of,
)
from .slots import KINDS, Event, Kind, Slot, name_of, place_of, text_in, told_arguments, whole_input


class ResponsesReader:
    """Reads the events of one response. `feed` each, then `end`; or `fail`, at any time.

    Args:
        builder: makes the events.
        model: what was asked.
        dialect: the release to read as.
        grammar_parameters: the tools that take a plain text, by name, with the parameter that gets it.
        tier: the service tier that was asked for.
    """

    def __init__(
        self,
        builder: ResponseBuilder,
        model: Model,
        dialect: Dialect,
        *,
        grammar_parameters: Mapping[str, str] | None = None,
        tier: ServiceTier | None = None,
    ) -> None:
        self.builder = builder
        self._model = model
        self.dialect = dialect
        self.grammar_parameters = grammar_parameters or {}
        self._tier = tier or ServiceTier()
        self._slots: dict[object, Slot] = {}
        self._unfinished: dict[int, tuple[str, str]] = {}  # calls by their places: name and id
        self._reasoning: dict[str, tuple[int, dict[str, JSON]]] = {}  # by item id: place, and the item
        self.stop_reason = "pending"
        self._error_message: str | None = None
        #: The answer has begun.
        self.started = False
        #: The provider has said how the response ends.
        self.complete = False
        #: The stream has ended, and nothing of the response is missing.
        self.whole = False

    # --- what the adapter calls -----------------------------------------------------------------------------

    def start(self) -> Iterable[StreamEvent]:
        """The answer has begun."""
        self.started = True
        return (self.builder.start(),)

    def feed(self, event: Value) -> Iterable[StreamEvent]:
        """Read one event. Gives what it says, which is to be taken before the next one is fed.

        Raises:
            ResponseFailedError: the response has failed, perhaps after some events: `fail` with its text.
        """
        kind = field(event, "type", "event")
        handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
        return () if handler is None else handler(self, cast("Event", event))

    def end(self) -> Iterable[StreamEvent]:
        """The stream has ended: the response is complete.

        Raises:
            ResponseFailedError: it is not.
        """
        self.check_whole()
        if self.stop_reason == "error":
            raise ResponseFailedError(self._error_message or "An unknown error occurred")
        return (self.builder.done(cast("Any", self.stop_reason), unfinished=True),)

    def check_whole(self) -> None:
        """See that nothing is missing of the response, whether it was a good one or not.

        Raises:
            ResponseFailedError: something is.
        """
        if not self.complete:
            raise ResponseFailedError("OpenAI Responses stream ended before a terminal response event")
        if (
            self.stop_reason == "toolUse"
            and self._unfinished
            and self.dialect.responses_unfinished_calls == "refused"
        ):
            name, id_ = next(iter(self._unfinished.values()))
            raise ResponseFailedError(
                f"OpenAI Responses stream completed with an unfinished tool call: {name} ({id_})"
            )
        self.whole = True

    def text_of_abort(self) -> str:
        """What is said of an abort: that it was one, or what is missing of the response if that was noticed first."""
        try:
            self.check_whole()
        except ResponseFailedError as failure:
            return str(failure)
        return "Request was aborted"

    def fail(self, text: str, aborted: bool) -> Iterable[StreamEvent]:
        """The response has failed, or was aborted: its last event."""
        return (self.builder.error(text, reason="aborted" if aborted else "error"),)

    # --- items ----------------------------------------------------------------------------------------------

    def _added(self, event: Event) -> Iterator[StreamEvent]:
        yield from self._begun(event)

    def _begun(self, event: Event) -> Iterator[StreamEvent]:
        item = event.get("item", ABSENT)
        type_ = field(item, "type", "item")
        kind = KINDS.get(type_) if isinstance(type_, str) else None
        if kind is None:
            return
        self._note_phase(item)
        builder = self.builder
        slot = Slot(kind, -1)
        if kind == "thinking":
            said: Any = builder.thinking_start()
        elif kind == "text":
            said = builder.text_start()
        else:
            said = self._call_begun(slot, cast("Event", item))
        slot.place = said.content_index
        if kind in ("call", "custom call"):
            self._unfinished[slot.place] = (said.partial.content[-1].name, said.partial.content[-1].id)
        self._slots[place_of(event)] = slot
        yield said

    def _call_begun(self, slot: Slot, item: Event) -> StreamEvent:
        name = name_of(item)
        id_ = f"{shown(item.get('call_id', ABSENT))}|{shown(item.get('id', ABSENT))}"
        namespace = text_or_none(item.get("namespace"))
        if slot.kind == "call":
            text = text_or_none(item.get("arguments")) or ""
            slot.pieces.append(text)
            return self.builder.toolcall_start(id_, name, text=text, namespace=namespace)
        parameter = self.grammar_parameters.get(name, "input")
        slot.input = GrammarInput(parameter, text_or_none(item.get("input")) or "")
        return self.builder.toolcall_start(
            id_, name, arguments=slot.input.arguments, written=True, namespace=namespace
        )

    def _done(self, event: Event) -> Iterator[StreamEvent]:
        item = event.get("item", ABSENT)
        type_ = field(item, "type", "item")
        self._note_phase(item)
        key = place_of(event)
        if key not in self._slots:
            yield from self._begun(event)
        slot = self._slots.get(key)
        if slot is None or not isinstance(type_, str) or KINDS.get(type_) != slot.kind:
            return
        yield from _ENDS[slot.kind](self, slot, cast("Event", item))
        self._unfinished.pop(slot.place, None)
        del self._slots[key]

    def _thinking_done(self, slot: Slot, item: Event) -> Iterator[StreamEvent]:
        summary, content = (
            "\n\n".join(text_in(part, "text") for part in items(item.get(name), name))
            for name in ("summary", "content")
        )
        self._reasoning[shown(item.get("id", ABSENT))] = (slot.place, item)
        yield self.builder.thinking_end(
            slot.place, thinking=summary or content or None, thinking_signature=print_json(item)
        )

    def _text_done(self, slot: Slot, item: Event) -> Iterator[StreamEvent]:
        parts = items(item.get("content"), "content")
        text = "".join(
            text_in(part, "text" if field(part, "type", "content part") == "output_text" else "refusal")
            for part in parts
        )
        signature: dict[str, JSON] = {"v": 1}
        if "id" in item:
            signature["id"] = item["id"]
        if is_true(item.get("phase")):
            signature["phase"] = item["phase"]
        yield self.builder.text_end(slot.place, text=text, text_signature=print_json(signature))

    def _call_done(self, slot: Slot, item: Event) -> Iterator[StreamEvent]:
        text = text_or_none(item.get("arguments")) or "".join(slot.pieces)
        arguments, problem = told_arguments(text, self.dialect)
        yield self.builder.toolcall_end(
            slot.place,
            arguments=arguments,
            arguments_error=problem,
            namespace=text_or_none(item.get("namespace")),
        )

    def _custom_call_done(self, slot: Slot, item: Event) -> Iterator[StreamEvent]:
        assert slot.input is not None
        yield from self._grown(slot, slot.input.close(whole_input(item)))
        yield self.builder.toolcall_end(
            slot.place, arguments=slot.input.arguments, namespace=text_or_none(item.get("namespace"))
        )

    def _note_phase(self, item: Value) -> None:
        """A message that calls itself the final answer ends the turn, even after the response has said otherwise."""
        if optional(item, "type") == "message" and optional(item, "phase") == "final_answer":
            self.stop_reason = "stop"
            self.builder.stopping("stop")

    # --- deltas ---------------------------------------------------------------------------------------------

    def _thinking_grows(self, event: Event) -> Iterable[StreamEvent]:
        slot = self._slots.get(place_of(event))
        delta = event.get("delta")
        if slot is None or slot.kind != "thinking" or not isinstance(delta, str):
            return ()
        return (self.builder.thinking_delta(delta, slot.place),)

    def _summary_part_done(self, event: Event) -> Iterable[StreamEvent]:
        return self._thinking_grows({**event, "delta": "\n\n"})

    def _text_grows(self, event: Event) -> Iterable[StreamEvent]:
        slot = self._slots.get(place_of(event))
        delta = event.get("delta")
        if slot is None or slot.kind != "text" or not isinstance(delta, str):
            return ()
        return (self.builder.text_delta(delta, slot.place),)

    def _arguments_grow(self, event: Event) -> Iterable[StreamEvent]:
        slot = self._slots.get(place_of(event))
        delta = event.get("delta")
        if slot is None or slot.kind != "call" or not isinstance(delta, str):
            return ()
        slot.pieces.append(delta)
        return (self.builder.toolcall_delta(delta, slot.place),)

    def _arguments_done(self, event: Event) -> Iterable[StreamEvent]:
        """The whole text: what is missing of it is one more delta; another text takes the place of what was told."""
        slot = self._slots.get(place_of(event))
        if slot is None or slot.kind != "call":
            return ()
        text = event.get("arguments", ABSENT)
        if not isinstance(text, str):
            raise ResponseFailedError(
                "The provider's stream is malformed: the arguments of a call are no text"
            )
        said = "".join(slot.pieces)
        slot.pieces = [text]
        if not text.startswith(said):
            self.builder.restart_toolcall(text, slot.place)
            return ()
        return self._grown(slot, text[len(said) :])

    def _input_grows(self, event: Event) -> Iterable[StreamEvent]:
        slot = self._slots.get(place_of(event))
        delta = event.get("delta")
        if slot is None or slot.input is None or not isinstance(delta, str):
            return ()
        return self._grown(slot, slot.input.append(delta))

    def _input_done(self, event: Event) -> Iterable[StreamEvent]:
        slot = self._slots.get(place_of(event))
        if slot is None or slot.input is None:
            return ()
        return self._grown(slot, slot.input.close(whole_input(event)))

    def _grown(self, slot: Slot, delta: str | None) -> Iterable[StreamEvent]:
        """The delta, if it says anything."""
        return (self.builder.toolcall_delta(delta, slot.place),) if delta else ()

    # --- the response ---------------------------------------------------------------------------------------

    def _created(self, event: Event) -> Iterable[StreamEvent]:
        self.builder.update(response_id=text_or_none(field(event.get("response"), "id", "response")))
        return ()

    def _completed(self, event: Event) -> Iterable[StreamEvent]:
        self.complete = True
        response = event.get("response", ABSENT)
        self._sign(late_signatures(field(response, "output", "response")))
        builder = self.builder
        if self.dialect.responses_input_transformations:
            note = removed_reasoning(optional(response, "input_transformations"))
            if note is not None:
                builder.update(diagnostics=(*(builder.partial.diagnostics or ()), note))
        if (id_ := text_or_none(optional(response, "id"))) is not None and id_:
            builder.update(response_id=id_)
        usage = usage_of(optional(response, "usage")) or builder.partial.usage
        served = optional(response, "service_tier")
        builder.update(usage=priced(usage, self._model, self.dialect, self._tier, served))
        status, details = optional(response, "status"), optional(response, "incomplete_details")
        builder.update(raw_stop_reason=raw_stop_reason(status, details))
        self.stop_reason, self._error_message = stopped(status, details)
        if self.stop_reason == "stop" and any(
            isinstance(block, ToolCall) for block in builder.partial.content
        ):
            self.stop_reason = "toolUse"
        # Blocks that are still open may grow behind this; then partials show how the response is to end.
        builder.update(error_message=self._error_message)
        builder.stopping(cast("Any", self.stop_reason))
        return ()

    def _sign(self, late: Mapping[str, JSON]) -> None:
        """Complete the signatures of reasoning whose encrypted content came only with the whole response."""
        for id_, encrypted in late.items():
            place, item = self._reasoning.get(id_, (-1, {}))
            if place < 0 or is_true(item.get("encrypted_content")):
                continue
            item = {**item, "encrypted_content": encrypted}
            block = cast("ThinkingContent", self.builder.partial.content[place])
            self._reasoning[id_] = (place, item)
            self.builder.amend(attrs.evolve(block, thinking_signature=print_json(item)), place)

    def _failed(self, event: Event) -> Iterable[StreamEvent]:
        response = event.get("response")
        self.complete = True
        self.builder.update(raw_stop_reason=text_or_none(optional(response, "status")))
        raise ResponseFailedError(failure_of(response))

    def _error(self, event: Event) -> Iterable[StreamEvent]:
        raise ResponseFailedError(
            f"Error Code {shown(event.get('code', ABSENT))}: {shown(event.get('message', ABSENT))}"
        )


_Handler: TypeAlias = Callable[["ResponsesReader", Event], Iterable[StreamEvent]]

_ENDS: Final[Mapping[Kind, Callable[[ResponsesReader, Slot, Event], Iterator[StreamEvent]]]] = {
    "thinking": ResponsesReader._thinking_done,
    "text": ResponsesReader._text_done,
    "call": ResponsesReader._call_done,
    "custom call": ResponsesReader._custom_call_done,
}

_HANDLERS: Final[Mapping[str, _Handler]] = {
    "response.created": ResponsesReader._created,
    "response.output_item.added": ResponsesReader._added,
    "response.reasoning_summary_text.delta": ResponsesReader._thinking_grows,
    "response.reasoning_text.delta": ResponsesReader._thinking_grows,
    "response.reasoning_summary_part.done": ResponsesReader._summary_part_done,
    "response.output_text.delta": ResponsesReader._text_grows,
    "response.refusal.delta": ResponsesReader._text_grows,
    "response.function_call_arguments.delta": ResponsesReader._arguments_grow,
    "response.function_call_arguments.done": ResponsesReader._arguments_done,
    "response.custom_tool_call_input.delta": ResponsesReader._input_grows,
    "response.custom_tool_call_input.done": ResponsesReader._input_done,
    "response.output_item.done": ResponsesReader._done,
    "response.completed": ResponsesReader._completed,
    "response.incomplete": ResponsesReader._completed,
    "response.failed": ResponsesReader._failed,
    "error": ResponsesReader._error,
}
