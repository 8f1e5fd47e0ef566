"""The conditions under which a rule applies: short names for what can be said of a place and its scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ..fixed_texts import ABORTED, TRUNCATED
from ..protocol import Object
from .memory import NOTHING, CallSoFar, is_among, objects_in
from .place import Place, event_in, inside, kind_of
from .scene import Scene

When: TypeAlias = Callable[[Place], object]


def scene(of: Callable[[Scene], object]) -> When:
    """Something that is so in the scene."""
    return lambda place: of(place.scene)


failing: Final = scene(lambda s: s.failed)
"""The run has failed."""
cutting: Final = scene(lambda s: s.cancelling)
"""An abort that cancels has come."""
aborting: Final = scene(lambda s: s.aborted)
broken_off: Final = scene(lambda s: s.broken_off)
"""The latest answer ended in error or aborted."""
truncated: Final = scene(lambda s: s.truncated)
sequential: Final = scene(lambda s: s.sequential)
over: Final = scene(lambda s: s.over or not s.running)
"""There is no run, or it has told its end."""
loop: Final = scene(lambda s: s.loop)
in_batch: Final = scene(lambda s: s.in_batch)
behind_tools: Final = scene(lambda s: s.calls)
"""The turn that is open, or has just ended, had calls."""
queued: Final = scene(lambda s: s.queued)
without_start: Final = scene(lambda s: not s.started)
"""The open response has had no start."""
ended_without_done: Final = scene(lambda s: s.closed_without_done)
all_terminate: Final = scene(lambda s: s.terminates)
continued: Final = scene(lambda s: s.continued and s.turns <= 1)
"""The run was begun by `continue`, and this is its first turn."""
continued_by_steering: Final = scene(
    lambda s: s.continued and s.turns <= 1 and s.behind_answer and s.first_said in (None, "steering")
)
"""The same, behind an answer, and if anything was said it was steering."""
first_turn: Final = scene(lambda s: s.turns <= 1)


def both(*parts: When) -> When:
    """All of these."""
    return lambda place: all(part(place) for part in parts)


def came(*kinds: str) -> When:
    """One of these stands where the line should."""
    return lambda place: place.came in kinds


def nothing_came(place: Place) -> bool:
    """The subject had nothing more to say in this step."""
    return place.came in ("nothing", "reply", "refusal", "end", "command", "unresolved")


def comes_later(place: Place) -> bool:
    """The line does come, in a later step."""
    return place.later


def an_event_came(place: Place) -> bool:
    """An event stands where the line should."""
    return "_" in place.came


def role(*roles: str) -> When:
    """The message of the event has one of these roles."""
    return lambda place: place.message.get("role") in roles


def error_text(text: str) -> When:
    """The message of the event ends with this error."""
    return lambda place: place.message.get("errorMessage") == text


def origin(*names: str) -> When:
    """The message of the event comes from there."""
    return lambda place: bool(place.message) and place.scene.origin(place.message) in names


def other_origin(*names: str) -> When:
    """Another message has come, and it is from there."""

    def is_so(place: Place) -> bool:
        message = _started_message(place.other)
        return bool(message) and message != place.message and place.scene.origin(message) in names

    return is_so


def returned(place: Place) -> bool:
    """The message was taken from its queue when a run failed, or was aborted."""
    return is_among(place.message, place.scene.returned)


def late(place: Place) -> bool:
    """The message was queued at the last moment."""
    return is_among(place.message, place.scene.late)


def another_is_late(place: Place) -> bool:
    """The message that has come was queued at the last moment."""
    return is_among(_started_message(place.other), place.scene.late)


def a_system_message_came(place: Place) -> bool:
    """A system message is said that nobody has prompted or queued."""
    message = _started_message(place.other)
    return bool(message) and place.scene.origin(message) == "announcement"


def polled_already(place: Place) -> bool:
    """Since the turn's end steering has been polled, or the next turn has been prepared."""
    return place.scene.latest == "getSteeringMessages" or place.scene.latest.startswith("prepareNextTurn")


def a_turn_is_due(place: Place) -> bool:
    """There are results to answer, or something is queued, or one more turn was asked for."""
    of = place.scene
    return (bool(of.calls) and not of.terminates) or of.queued or of.decision == "continue"


def lists_of_messages(place: Place) -> list[object]:
    """The two lists of messages in which the difference is."""
    return [inside(each, place.whole_path[: _messages_at(place)]) for each in (place.line, place.other)]


def forgets_what_was_disturbed(place: Place) -> bool:
    """A message is lacking at whose start a listener has failed."""
    wanted, got = (list(objects_in(each)) for each in lists_of_messages(place))
    return any(is_among(each, wanted) and not is_among(each, got) for each in place.scene.beside.disturbed)


def one_is_of_the_system(place: Place) -> bool:
    """Of the two lists of messages one has a system message where the other has none."""
    lists = lists_of_messages(place)
    at = place.whole_path[_messages_at(place)] if len(place.whole_path) > _messages_at(place) else 0
    messages = [
        each[at] if isinstance(each, list) and isinstance(at, int) and at < len(each) else None
        for each in lists
    ]
    roles = [each.get("role") if isinstance(each, dict) else None for each in messages]
    return (roles[0] == "system") != (roles[1] == "system")


def _messages_at(place: Place) -> int:
    """How far the path leads to a list of messages."""
    names = place.whole_path
    return names.index("messages") + 1 if "messages" in names else 1


def read_by_release(place: Place) -> bool:
    """The argument that differs is of the sort that each release reads in its own way."""
    found = call_of(place)
    if found is None:
        return False
    raw = inside(found.block.get("arguments"), place.path[1:])
    return raw is None or _has_fraction(raw) or _schema_has("anyOf", found, place)


def judged_by_release(place: Place) -> bool:
    """Whether the arguments of the call fit is a matter of the release."""
    found = call_of(place)
    if found is None:
        return False
    arguments = found.block.get("arguments")
    fractions = any(map(_has_fraction, arguments.values())) if isinstance(arguments, dict) else False
    return fractions or bool(found.block.get("argumentsError")) or _schema_has("format", found, place)


def _has_fraction(value: object) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _schema_has(word: str, found: CallSoFar, place: Place) -> bool:
    tools = place.scene.created.get("tools", ())
    schemas = (tool.get("parameters") for tool in tools if tool.get("name") == found.block.get("name"))
    return any(f"'{word}'" in str(schema) for schema in schemas)


def at(*names: str) -> When:
    """The difference is at this field, or inside it."""
    return lambda place: place.fields[: len(names)] == names


def within(*names: str) -> When:
    """The difference is at, or inside, a field of one of these names, wherever it stands."""
    return lambda place: any(name in place.fields for name in names)


def decided(value: object) -> When:
    """What the stop hook has answered for the turn."""
    return lambda place: place.scene.decision == value and place.scene.decision is not None


def replaced_by(*hooks: str) -> When:
    """One of these hooks has answered with something in this run."""
    return lambda place: any(hook in place.scene.replaced for hook in hooks)


def call_of(place: Place) -> CallSoFar | None:
    """The call that the line is about."""
    return place.scene.call(place.event.get("toolCallId", place.message.get("toolCallId", place.key)))


def call(of: Callable[[CallSoFar], object]) -> When:
    """Something that is so of the call that the line is about."""

    def is_so(place: Place) -> object:
        found = call_of(place)
        return found is not None and of(found)

    return is_so


def hooked(hook: str) -> When:
    """That hook is installed."""
    return lambda place: hook in place.scene.created.get("hooks", ())


# --- why a call ended without having been executed, or with an error ----------------------------------------


def refusal(*reasons: str) -> When:
    """The end that was expected, or the message, has such a reason."""
    return lambda place: _reason(place.scene, place.line) in reasons


def other_refusal(*reasons: str) -> When:
    """The end that came has such a reason."""
    return lambda place: place.other is not None and _reason(place.scene, place.other) in reasons


def _reason(of: Scene, line: Object) -> str:
    """Why a call has ended as an end, or a result message, says it has."""
    event = event_in(line)
    carrier: Any = event.get("result") if event.get("type") == "tool_execution_end" else event.get("message")
    if not isinstance(carrier, dict):
        return ""
    found = of.call(event.get("toolCallId", carrier.get("toolCallId")))
    text = _text(carrier)
    if text == ABORTED:
        return "aborted"
    if text.startswith("Validation failed for tool"):
        return "arguments"
    if text.startswith("Tool call ") and TRUNCATED in text:
        return "truncated"
    if text.startswith("Tool ") and text.endswith(" not found"):
        return "unknown"
    return _by_answers(of, found, text)


def _by_answers(of: Scene, found: CallSoFar | None, text: str) -> str:
    """The same, as far as the tester's own answers say it."""
    if found is None:
        return ""
    checked = found.checked if isinstance(found.checked, dict) else NOTHING
    if checked.get("throw") == text:
        return "check threw"
    if found.checked is not None:
        return "overridden"
    if found.threw:
        return "threw"
    if found.refused == text and not found.executed:
        return "blocked"
    for tool in of.created.get("tools", ()):
        if (tool.get("prepareArguments") or NOTHING).get("throw") == text:
            return "preparation"
    return "executed" if found.executed else ""


def _text(carrier: Object) -> str:
    content = carrier.get("content")
    first = content[0] if isinstance(content, list) and content else NOTHING
    return str(first.get("text", "")) if isinstance(first, dict) else ""


def _started_message(line: Object | None) -> Object:
    message = event_in(line).get("message") if line is not None else None
    return message if isinstance(message, dict) and kind_of(line or NOTHING) == "message_start" else NOTHING
