"""What the transport does differently by release, as data.

A `Dialect` is to the transport what a `Profile` is to the loop: each decision that a release of pi-ai has changed is
**one field**, read at **one place**. A field's comment names the release that brought each value. `DIALECT_1_6_0` is
the newest release, and the default everywhere.

The sections are those of the package: a field stands with the module that reads it.
"""

from __future__ import annotations

from typing import Final, Literal

import attrs

from ..errors import PiTrioError
from ..profile import PROFILES, releases_in


class UnknownDialectError(PiTrioError):
    """A dialect was asked for by the name of a release that is not in `DIALECTS`."""


@attrs.frozen(kw_only=True)
class Dialect:
    """How the transport of one Pi release behaves, field by field."""

    release: str

    # --- the collection (collection.py, auth.py, transcript.py) -------------------------------------------

    #: Providers see the prompt and the tools as system messages (1.0.3); before, beside the messages.
    system_messages: bool
    #: Which tools move into the request where the API takes additions only, and the transcript has another change: all
    #: (1.0.3), or those up to the last such change (1.6.0).
    tools_folded: Literal["all", "up_to_change"]
    #: A provider for which no key is found: asked all the same (0.80.2), or an error (0.85.0).
    missing_auth: Literal["asked", "refused"]
    #: The stop reason of a request whose signal was raised before it: the auth step fails with "error" (0.85.0), or
    #: it is "aborted" (1.6.0, and 0.80.2, which has no such step).
    aborted_before_request: Literal["error", "aborted"]
    #: Models have a type, and only chat models are streamed (1.0.3).
    model_types: bool
    #: The text of a failure inside the collection ends with that of its cause (0.85.0).
    cause_in_text: bool
    #: The function `transform_headers` of the options has the last word on the headers (0.85.0).
    transform_headers: bool
    #: An OAuth token is renewed when so many milliseconds are left: 0 (0.80.2), or five minutes (0.85.0).
    oauth_refresh_ahead_ms: int
    #: A destination that keeps conversations apart by a header is sent it (1.6.0).
    session_headers: bool
    #: Requests carry the identity of the client (1.6.0).
    identity: bool
    #: The last message of a stream says how long it took (1.6.0).
    durations: bool

    # --- levels, limits, cost (thinking.py, estimate.py, limits.py, cost.py) --------------------------------

    #: The levels there are, from the least: with "max" (0.85.0), or without.
    thinking_levels: tuple[str, ...]
    #: What is asked for where the caller sets no limit: nothing (0.80.2), or all that the model can give (0.85.0).
    max_tokens_default: Literal["omitted", "model"]
    #: What is left free of the context window: 4,096 tokens (0.85.0), or 15% of the input if that is more (1.6.0).
    context_margin: Literal["none", "fixed", "ratio"]
    #: How many half characters an estimate takes for a token: 8 (4 characters), or 7 (1.6.0).
    half_characters_per_token: int
    #: Whose sampling parameters are merged: nobody's (0.80.2), the model's (0.85.0), and its level's (1.0.3).
    sampling_params: Literal["none", "model", "level"]
    #: Prices may depend on how long the prompt is (0.85.0).
    cost_tiers: bool
    #: A computed cost says that it is computed: `totalFromProvider` false (1.6.0).
    total_from_provider: bool

    # --- failures (overflow.py, retrying.py) --------------------------------------------------------------

    #: Which texts mean an overflow, and which that a second try may help: each release has its own lists.
    failure_texts: Literal["0.80.2", "0.85.0", "1.0.3", "1.6.0"]
    #: The longest pause between two tries of `retry_assistant_call`, in milliseconds; None without a limit (0.85.0).
    max_agent_delay_ms: int | None

    # --- the messages that are sent (transform.py) --------------------------------------------------------

    #: The thinking of another model is sent as text, or dropped (1.6.0).
    foreign_thinking: Literal["text", "dropped"]

    # --- the request (http.py) ----------------------------------------------------------------------------

    #: Who tries again: the SDK, which knows no longest delay (0.80.2), or the transport's own loop (0.85.0).
    own_retries: bool
    #: The text of a connection that failed ends with that of its deepest cause (1.6.0).
    connection_cause: bool
    #: What the client calls itself: the SDK's name, `pi` with the system (0.85.0), with its version, too (1.6.0).
    user_agent: Literal["sdk", "pi", "pi/version"]
    #: `on_provider_stream_event` sees each raw event (1.0.3).
    provider_stream_events: bool

    # --- what all readers share ---------------------------------------------------------------------------

    #: The arguments of a call that is not complete: what there is of them, or {} and `argumentsError` (1.6.0).
    truncated_arguments: Literal["partial", "error"]
    #: `rawStopReason`, `endTurn` and `providerThinkingLevel` of a message, `reasoning` of its usage (0.85.0).
    message_extras: bool

    # --- anthropic ----------------------------------------------------------------------------------------

    #: The model that has answered: ignored (0.80.2), in place of the one asked (0.85.0), beside it (1.0.3).
    anthropic_served_model: Literal["ignored", "replaces", "beside"]
    #: A tool choice of a simple request is sent (0.85.0).
    anthropic_simple_tool_choice: bool

    # --- openai chat --------------------------------------------------------------------------------------

    #: A tool that does not ask for strictness says `strict: false`, or nothing (1.0.3).
    chat_strict_default: Literal["false", "omitted"]

    # --- openai responses ---------------------------------------------------------------------------------

    #: An incomplete response of any reason is "length" (0.80.2), or only that of `max_output_tokens` (0.85.0).
    responses_incomplete: Literal["length", "by_reason"]
    #: Deltas count only in a part that was announced (0.80.2).
    responses_parts_announced: bool

    # --- codex --------------------------------------------------------------------------------------------


DIALECT_0_80_2: Final = Dialect(
    release="0.80.2",
    # the collection
    system_messages=False,
    tools_folded="all",
    missing_auth="asked",
    aborted_before_request="aborted",
    model_types=False,
    cause_in_text=False,
    transform_headers=False,
    oauth_refresh_ahead_ms=0,
    session_headers=False,
    identity=False,
    durations=False,
    # levels, limits, cost
    thinking_levels=("off", "minimal", "low", "medium", "high", "xhigh"),
    max_tokens_default="omitted",
    context_margin="none",
    half_characters_per_token=8,
    sampling_params="none",
    cost_tiers=False,
    total_from_provider=False,
    # failures
    failure_texts="0.80.2",
    max_agent_delay_ms=None,
    # the messages that are sent
    foreign_thinking="text",
    # the request
    own_retries=False,
    connection_cause=False,
    user_agent="sdk",
    provider_stream_events=False,
    # what all readers share
    truncated_arguments="partial",
    message_extras=False,
    # anthropic
    anthropic_served_model="ignored",
    anthropic_simple_tool_choice=False,
    # openai chat
    chat_strict_default="false",
    # openai responses
    responses_incomplete="length",
    responses_parts_announced=True,
    # codex
)

DIALECT_0_85_0: Final = attrs.evolve(
    DIALECT_0_80_2,
    release="0.85.0",
    # the collection
    missing_auth="refused",
    aborted_before_request="error",
    cause_in_text=True,
    transform_headers=True,
    oauth_refresh_ahead_ms=300_000,
    # levels, limits, cost
    thinking_levels=("off", "minimal", "low", "medium", "high", "xhigh", "max"),
    max_tokens_default="model",
    context_margin="fixed",
    sampling_params="model",
    cost_tiers=True,
    # failures
    failure_texts="0.85.0",
    # the messages that are sent
    # the request
    own_retries=True,
    user_agent="pi",
    # what all readers share
    message_extras=True,
    # anthropic
    anthropic_served_model="replaces",
    anthropic_simple_tool_choice=True,
    # openai chat
    # openai responses
    responses_incomplete="by_reason",
    responses_parts_announced=False,
    # codex
)

DIALECT_1_0_3: Final = attrs.evolve(
    DIALECT_0_85_0,
    release="1.0.3",
    # the collection
    system_messages=True,
    model_types=True,
    # levels, limits, cost
    sampling_params="level",
    # failures
    failure_texts="1.0.3",
    max_agent_delay_ms=60_000,
    # the messages that are sent
    # the request
    provider_stream_events=True,
    # what all readers share
    # anthropic
    anthropic_served_model="beside",
    # openai chat
    chat_strict_default="omitted",
    # openai responses
    # codex
)

DIALECT_1_6_0: Final = attrs.evolve(
    DIALECT_1_0_3,
    release="1.6.0",
    # the collection
    tools_folded="up_to_change",
    aborted_before_request="aborted",
    session_headers=True,
    identity=True,
    durations=True,
    # levels, limits, cost
    context_margin="ratio",
    half_characters_per_token=7,
    total_from_provider=True,
    # failures
    failure_texts="1.6.0",
    # the messages that are sent
    foreign_thinking="dropped",
    # the request
    connection_cause=True,
    user_agent="pi/version",
    # what all readers share
    truncated_arguments="error",
    # anthropic
    # openai chat
    # openai responses
    # codex
)

#: The releases whose transport is known, oldest first.
DIALECTS: Final[dict[str, Dialect]] = {
    dialect.release: dialect for dialect in (DIALECT_0_80_2, DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0)
}


def dialect_of(name: str) -> Dialect:
    """The dialect of a release, or of a profile: `1.6.0` and `pi-1.6.0` are the same one.

    A composite profile (`pi-0.85.0,prepare_next_turn=pi-0.80.2`) has the dialect of its base: what it changes is the
    loop's business.

    Raises:
        UnknownDialectError: there is no such release; the message lists those that are known.
        UnknownProfileError: a composite profile names something that is not known.
    """
    release = name if name in DIALECTS else None
    if release is None and name.split(",", maxsplit=1)[0] in PROFILES:
        release = releases_in(name)[0]
    if release is None:
        raise UnknownDialectError(f"there is no dialect {name!r}; known are: {', '.join(DIALECTS)}")
    return DIALECTS[release]
