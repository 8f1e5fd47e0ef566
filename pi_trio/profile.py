"""What changed between Pi releases, as data.

Pi changes its behaviour between releases, and every port follows one of them. Each decision that differs is
**one field** here, and is read at **one place** in the runtime; nothing else in the package asks for a
release number. A field's comment names the release that brought each value. `PI_1_6_0` is the newest release,
and the default everywhere.
"""

from __future__ import annotations

from typing import Literal

import attrs

from .errors import PiTrioError


class UnknownProfileError(PiTrioError):
    """A profile was asked for by a name that is not in `PROFILES`."""


@attrs.frozen(kw_only=True, repr=False)
class Profile:
    """The behaviour of one Pi release, field by field."""

    name: str
    release: str

    # --- the run ------------------------------------------------------------------------------------------

    #: Who may stop a run after a turn: `should_stop_after_turn` of the low level alone ("low_level", 0.80.2), or
    #: also as an option of the Agent (0.85.0), both after `turn_end`; or `finish_turn` before it, which may also
    #: ask for one more turn (1.0.3).
    stop_hook: Literal["low_level", "should_stop_after_turn", "finish_turn"]
    #: When `prepare_next_turn` is called: after every good turn (0.80.2), or only before one that follows (0.85.0).
    prepare_next_turn: Literal["after_turn", "before_turn"]
    #: `prepare_next_turn_with_context` exists, and wins over `prepare_next_turn` (0.85.0).
    prepare_next_turn_with_context: bool
    #: `prepare_next_turn` may return messages for the turn that it prepares (1.0.3).
    prepared_messages: bool
    #: Steering is polled once more after `prepare_next_turn`, if the first poll was empty (0.85.0).
    second_steering_poll: bool
    #: `continue_()` refuses a transcript of system messages only (1.0.3).
    continue_needs_conversation: bool
    #: `reset()` during a run is refused (0.85.0); before, it empties the state under the run's feet.
    reset_refused_while_running: bool

    # --- the request --------------------------------------------------------------------------------------

    #: The prompt and the tools live in system messages of the transcript (1.0.3); before, they travel beside it.
    system_messages: bool
    #: A change of the tool set is announced by a system message (1.0.3); before, it is silent.
    announce_tool_changes: bool
    #: `prepare_request` exists (1.0.3).
    prepare_request: bool
    #: Requests carry an identity (1.6.0).
    identity: bool
    #: The loop writes the thinking level that it asked for into the assistant's message (1.0.3).
    message_thinking_level: bool

    # --- the tool batch -----------------------------------------------------------------------------------

    #: Which engine validates and coerces arguments; each release has its own.
    argument_rules: Literal["typebox-0.80", "typebox-0.85", "typebox", "pi-schema"]
    #: Calls of a message that hit the output limit: executed (0.80.2), or failed with a fixed text (0.85.0).
    truncated_calls: Literal["executed", "failed"]
    #: A block may also terminate the batch (0.85.0).
    block_may_terminate: bool
    #: When preparation notices an abort: after the hook was called, or before anything else (1.6.0).
    abort_noticed: Literal["after_hook", "first"]
    #: An abort that comes between preparation and launch stops the call (0.85.0).
    abort_noticed_at_launch: bool
    #: Calls that an abort has left unreached are started, ended and answered (1.6.0), or left out.
    abort_answers_every_call: bool
    #: A result with `isError` exactly true is an error (1.0.3).
    result_is_error: bool
    #: A result without content gets an empty one in its message (0.85.0); before, the message has none either.
    empty_content_filled: bool
    #: The fields of a result that `after_tool_call` can replace: + usage (0.85.0), + structured_content (1.0.3).
    after_tool_call_replaces: tuple[str, ...]
    #: The fields that `after_tool_call` cannot name survive it (0.85.0); before, the result is rebuilt without them.
    unnamed_result_fields_survive: bool
    #: The fields of a result that its message carries besides content and details: usage (0.85.0), and in that
    #: release alone addedToolNames.
    result_message_carries: tuple[str, ...]
    #: Ends and results of executed calls say how long the execution took (1.6.0).
    durations: bool

    # --- the surface --------------------------------------------------------------------------------------

    #: `peek_queued_messages` exists (1.0.3).
    peek_queued_messages: bool

    def __repr__(self) -> str:
        return f"Profile({self.name!r})"


PI_0_80_2 = Profile(
    name="pi-0.80.2",
    release="0.80.2",
    stop_hook="low_level",
    prepare_next_turn="after_turn",
    prepare_next_turn_with_context=False,
    prepared_messages=False,
    second_steering_poll=False,
    continue_needs_conversation=False,
    reset_refused_while_running=False,
    system_messages=False,
    announce_tool_changes=False,
    prepare_request=False,
    identity=False,
    message_thinking_level=False,
    argument_rules="typebox-0.80",
    truncated_calls="executed",
    block_may_terminate=False,
    abort_noticed="after_hook",
    abort_noticed_at_launch=False,
    abort_answers_every_call=False,
    result_is_error=False,
    empty_content_filled=False,
    after_tool_call_replaces=("content", "details", "terminate"),
    unnamed_result_fields_survive=False,
    result_message_carries=(),
    durations=False,
    peek_queued_messages=False,
)

PI_0_85_0 = attrs.evolve(
    PI_0_80_2,
    name="pi-0.85.0",
    release="0.85.0",
    stop_hook="should_stop_after_turn",
    prepare_next_turn="before_turn",
    prepare_next_turn_with_context=True,
    second_steering_poll=True,
    reset_refused_while_running=True,
    argument_rules="typebox-0.85",
    truncated_calls="failed",
    block_may_terminate=True,
    abort_noticed_at_launch=True,
    empty_content_filled=True,
    after_tool_call_replaces=("content", "details", "terminate", "usage"),
    unnamed_result_fields_survive=True,
    result_message_carries=("usage", "addedToolNames"),
)

PI_1_0_3 = attrs.evolve(
    PI_0_85_0,
    name="pi-1.0.3",
    release="1.0.3",
    stop_hook="finish_turn",
    prepared_messages=True,
    continue_needs_conversation=True,
    system_messages=True,
    announce_tool_changes=True,
    prepare_request=True,
    message_thinking_level=True,
    argument_rules="typebox",
    result_is_error=True,
    after_tool_call_replaces=("content", "details", "terminate", "usage", "structured_content"),
    result_message_carries=("usage",),
    peek_queued_messages=True,
)

PI_1_6_0 = attrs.evolve(
    PI_1_0_3,
    name="pi-1.6.0",
    release="1.6.0",
    identity=True,
    argument_rules="pi-schema",
    abort_noticed="first",
    abort_answers_every_call=True,
    durations=True,
)

#: The releases that the runtime can behave as, oldest first, by the name of their profile.
PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (PI_0_80_2, PI_0_85_0, PI_1_0_3, PI_1_6_0)
}

#: The fields that say how a release behaves.
FIELDS: tuple[str, ...] = tuple(
    field.name for field in attrs.fields(Profile) if field.name not in ("name", "release")
)


def get_profile(name: str) -> Profile:
    """The profile called `name`: a release's, or a composite of several.

    Ports follow commits, not releases, so a profile can be composed: `pi-0.85.0,prepare_next_turn=pi-0.80.2` is 0.85.0
    with one field as 0.80.2 has it. Its release is the first one's.

    Raises:
        UnknownProfileError: a release or a field is not known; the message lists those that are.
    """
    base, *changes = name.split(",")
    profile = _release_profile(base)
    for change in changes:
        field, _, donor = change.partition("=")
        if field not in FIELDS:
            raise UnknownProfileError(f"a profile has no field {field!r}; it has: {', '.join(FIELDS)}")
        profile = attrs.evolve(profile, name=name, **{field: getattr(_release_profile(donor), field)})
    return profile


def releases_in(name: str) -> tuple[str, ...]:
    """The releases that a profile is composed of, its base first.

    Raises:
        UnknownProfileError: as `get_profile`.
    """
    base, *changes = get_profile(name).name.split(",")
    donors = (change.partition("=")[2] for change in changes)
    return tuple(dict.fromkeys(PROFILES[each].release for each in (base, *donors)))


def _release_profile(name: str) -> Profile:
    try:
        return PROFILES[name]
    except KeyError:
        near = f" (pi-{name} is meant, if that is the release)" if f"pi-{name}" in PROFILES else ""
        known = ", ".join(PROFILES)
        raise UnknownProfileError(f"there is no profile {name!r}{near}; known are: {known}") from None
