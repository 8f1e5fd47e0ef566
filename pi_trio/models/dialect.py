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


@attrs.frozen(kw_only=True, repr=False)
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

    #: The text of a connection that failed ends with that of its deepest cause (1.6.0).
    connection_cause: bool
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
    #: The version of Claude Code that requests with an OAuth token name.
    anthropic_claude_code: str
    #: Tools that a result has brought are declared beforehand, and referred to by the result (0.85.0 alone).
    anthropic_tool_references: bool
    #: OpenRouter is told the session, in a header of its own (1.0.3).
    anthropic_openrouter_session: bool
    #: A strict schema must not say what Anthropic cannot enforce (1.0.3).
    anthropic_strict_keywords: bool
    #: What a request refuses for too many strict tools is sent again with fewer (1.6.0).
    anthropic_strict_fallback: bool
    #: What is sent of a tool's schema besides its properties (1.6.0).
    anthropic_schema_keys: tuple[str, ...]
    #: Images of a failed result follow all results (1.6.0); before, they are in it.
    anthropic_error_images: Literal["inside", "behind"]
    #: An update of the prompt waits for the next response (1.0.3), or for the next that is sent at all (1.6.0).
    anthropic_updates_before: Literal["response", "sent_response"]
    #: The effort beside that of the messages, where a model takes it there: "high", also if it is not to think, or
    #: "low" (1.6.0).
    anthropic_base_effort: Literal["high", "low"]
    #: Of several blocks of one number, the deltas go to the first that is open, or to the last (1.6.0).
    anthropic_same_index: Literal["first", "last"]
    #: Later usage tells how long cache writes last (1.0.3).
    anthropic_later_cache_times: bool
    #: What OpenRouter has billed counts as the cost (1.6.0).
    anthropic_billed_cost: bool
    #: Requests of a session continue the one before (1.6.0).
    anthropic_threads: bool
    #: When a signal is noticed that was raised before the request: after the hooks, or before anything else (1.6.0).
    anthropic_abort_noticed: Literal["after_hooks", "first"]

    # --- openai's client (openai_client.py) ---------------------------------------------------------------

    #: An event whose name is "error" is one, whatever its data says (1.0.3).
    openai_error_events: bool
    #: What comes behind `[DONE]` is read, and not looked at; or it is the end of the answer (1.0.3).
    openai_done: Literal["reads_on", "ends"]
    #: What the network has brought before an abort is told, or nothing behind the abort (1.0.3).
    openai_abort: Literal["reads_on", "drops"]
    #: An event that the end of the answer has cut off counts (1.0.3).
    openai_flush_at_end: bool
    #: What of the body of a refusal is the error: its `error`, or the body itself if it has none (1.0.3).
    openai_error_bodies: Literal["error", "any"]

    # --- openai chat --------------------------------------------------------------------------------------

    #: A tool that does not ask for strictness says `strict: false`, or nothing (1.0.3).
    chat_strict_default: Literal["false", "omitted"]
    #: What a model's `compat` may say, and this release does not know.
    chat_unknown_compat: frozenset[str]
    #: Whose endpoints take the role "developer": those of no other kind, or OpenAI's own (1.6.0).
    chat_developer_role: Literal["by_host", "openai"]
    #: OpenRouter is told of the session (1.0.3).
    chat_openrouter_sessions: bool
    #: Empty texts among the parts of a user's message are sent, or dropped (1.0.3).
    chat_empty_parts: Literal["sent", "dropped"]
    #: A request without tools says so where the conversation has calls, or where the endpoint requires it (1.6.0).
    chat_empty_tools: Literal["with_history", "if_required"]
    #: A result of blanks only counts as empty (1.6.0).
    chat_blank_output: bool
    #: What comes first in a chunk that has both: the answer, or its reasoning (1.6.0).
    chat_first: Literal["content", "reasoning"]
    #: A raw event says of each choice why it has ended, if only null; a choice that is null fails (1.6.0).
    chat_reasons_told: bool
    #: Tokens of reasoning are also looked for in the usage itself (1.6.0).
    chat_bare_reasoning_tokens: bool
    #: OpenRouter's own account of the cost wins over the catalog's (1.6.0).
    chat_reported_cost: bool

    # --- openai responses ---------------------------------------------------------------------------------

    #: A call that was not done when the response completed: it is handed on, or fails the response (1.0.3).
    responses_unfinished_calls: Literal["kept", "refused"]
    #: A note tells of the reasoning that the provider took out of the input (1.6.0).
    responses_input_transformations: bool
    #: The tiers that have a price of their own: "fast" among them (1.0.3).
    responses_tiers: tuple[str, ...]
    #: What an error calls the provider: always "OpenAI", or as the model says (1.0.3).
    responses_error_provider: Literal["OpenAI", "named"]
    #: The usage limits of ChatGPT that an error explains: none, the subscription's (1.0.3), the workspace's (1.6.0).
    responses_limit_hints: tuple[str, ...]
    #: A key that is none of the API's is a sign-in with ChatGPT, which takes fewer fields (1.0.3).
    responses_chatgpt_sign_in: bool
    #: A model with explicit caching gets no retention, but a time to live (1.0.3).
    responses_cache_options: bool
    #: A model may take no cache key at all (1.6.0).
    responses_cache_key_mode: bool
    #: The header that names the session (1.6.0: with a hyphen).
    responses_session_header: Literal["session_id", "session-id"]
    #: What becomes of tools that come in the middle: they follow the result that named them (0.85.0), or stand with
    #: their system message as additions (1.0.3) or as any change (1.6.0).
    responses_late_tools: Literal["after_results", "additions", "changes"]
    #: Models may be told of another effort in the middle of the conversation (1.6.0).
    responses_mid_effort: bool
    #: The id of an item is dropped where it does not fit the kind of call: of functions only, or of all (1.0.3).
    responses_item_ids: Literal["functions", "all"]
    #: A result of blanks only counts as empty (1.6.0).
    responses_blank_output: bool
    #: Strict schemas must name their types (1.6.0).
    strict_schemas_typed: bool

    # --- codex --------------------------------------------------------------------------------------------

    #: The prompt is in `instructions`, or a leading item (1.6.0).
    codex_prompt: Literal["instructions", "item"]
    #: The limit of the answer is sent (1.6.0).
    codex_max_output_tokens: bool
    #: What is said of the effort where a reasoning model is not to think: nothing, or "none" (1.0.3), and that as an
    #: effort like others (1.6.0).
    codex_effort_off: Literal["omitted", "none", "level"]
    #: Headers of the model and the caller win over what the client calls itself (1.6.0).
    codex_client_headers: Literal["last", "first"]
    #: A socket that is as old as this gets no new request, in seconds: 55 minutes, or 45 (1.6.0).
    codex_socket_age: float

    def __repr__(self) -> str:
        return f"Dialect({self.release!r})"


_CHAT_COMPAT_OF_1_6_0: Final = (
    "promptCacheKeyMode",
    "requiresNonNullAssistantContent",
    "requiresToolsWithToolHistory",
)

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
    connection_cause=False,
    provider_stream_events=False,
    # what all readers share
    truncated_arguments="partial",
    message_extras=False,
    # anthropic
    anthropic_served_model="ignored",
    anthropic_simple_tool_choice=False,
    anthropic_claude_code="2.1.251",
    anthropic_tool_references=False,
    anthropic_openrouter_session=False,
    anthropic_strict_keywords=False,
    anthropic_strict_fallback=False,
    anthropic_schema_keys=(),
    anthropic_error_images="inside",
    anthropic_updates_before="response",
    anthropic_base_effort="high",
    anthropic_same_index="first",
    anthropic_later_cache_times=False,
    anthropic_billed_cost=False,
    anthropic_threads=False,
    anthropic_abort_noticed="after_hooks",
    # openai's client
    openai_error_events=False,
    openai_done="reads_on",
    openai_abort="reads_on",
    openai_flush_at_end=False,
    openai_error_bodies="error",
    # openai chat
    chat_strict_default="false",
    chat_unknown_compat=frozenset(
        {"supportsMidConvoSystemMessages", "supportsMidConvoToolAdditions", *_CHAT_COMPAT_OF_1_6_0}
    ),
    chat_developer_role="by_host",
    chat_openrouter_sessions=False,
    chat_empty_parts="sent",
    chat_empty_tools="with_history",
    chat_blank_output=False,
    chat_first="content",
    chat_reasons_told=False,
    chat_bare_reasoning_tokens=False,
    chat_reported_cost=False,
    # openai responses
    responses_unfinished_calls="kept",
    responses_input_transformations=False,
    responses_tiers=("flex", "priority"),
    responses_error_provider="OpenAI",
    responses_limit_hints=(),
    responses_chatgpt_sign_in=False,
    responses_cache_options=False,
    responses_cache_key_mode=False,
    responses_session_header="session_id",
    responses_late_tools="after_results",
    responses_mid_effort=False,
    responses_item_ids="functions",
    responses_blank_output=False,
    strict_schemas_typed=False,
    # codex
    codex_prompt="instructions",
    codex_max_output_tokens=False,
    codex_effort_off="omitted",
    codex_client_headers="last",
    codex_socket_age=3300,
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
    # what all readers share
    message_extras=True,
    # anthropic
    anthropic_served_model="replaces",
    anthropic_simple_tool_choice=True,
    anthropic_tool_references=True,
    # openai chat
    # openai responses
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
    anthropic_claude_code="2.1.280",
    anthropic_tool_references=False,
    anthropic_openrouter_session=True,
    anthropic_strict_keywords=True,
    anthropic_later_cache_times=True,
    # openai's client
    openai_error_events=True,
    openai_done="ends",
    openai_abort="drops",
    openai_flush_at_end=True,
    openai_error_bodies="any",
    # openai chat
    chat_strict_default="omitted",
    chat_unknown_compat=frozenset({"deferredToolsMode", *_CHAT_COMPAT_OF_1_6_0}),
    chat_openrouter_sessions=True,
    chat_empty_parts="dropped",
    # openai responses
    responses_unfinished_calls="refused",
    responses_tiers=("flex", "priority", "fast"),
    responses_error_provider="named",
    responses_limit_hints=("subscription",),
    responses_chatgpt_sign_in=True,
    responses_cache_options=True,
    responses_late_tools="additions",
    responses_item_ids="all",
    # codex
    codex_effort_off="none",
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
    # what all readers share
    truncated_arguments="error",
    # anthropic
    anthropic_claude_code="2.1.322",
    anthropic_strict_fallback=True,
    anthropic_schema_keys=("additionalProperties", "$defs", "definitions"),
    anthropic_error_images="behind",
    anthropic_updates_before="sent_response",
    anthropic_base_effort="low",
    anthropic_same_index="last",
    anthropic_billed_cost=True,
    anthropic_threads=True,
    anthropic_abort_noticed="first",
    # openai chat
    chat_unknown_compat=frozenset({"deferredToolsMode"}),
    chat_developer_role="openai",
    chat_empty_tools="if_required",
    chat_blank_output=True,
    chat_first="reasoning",
    chat_reasons_told=True,
    chat_bare_reasoning_tokens=True,
    chat_reported_cost=True,
    # openai responses
    responses_input_transformations=True,
    responses_limit_hints=("subscription", "workspace"),
    responses_cache_key_mode=True,
    responses_session_header="session-id",
    responses_late_tools="changes",
    responses_mid_effort=True,
    responses_blank_output=True,
    strict_schemas_typed=True,
    # codex
    codex_prompt="item",
    codex_max_output_tokens=True,
    codex_effort_off="level",
    codex_client_headers="first",
    codex_socket_age=2700,
)

#: The releases whose transport is known, oldest first.
DIALECTS: Final[dict[str, Dialect]] = {
    dialect.release: dialect for dialect in (DIALECT_0_80_2, DIALECT_0_85_0, DIALECT_1_0_3, DIALECT_1_6_0)
}


def dialect_of(name: str | Dialect) -> Dialect:
    """The dialect of a release, or of a profile: `1.6.0` and `pi-1.6.0` are the same one. A dialect is its own.

    A composite profile (`pi-0.85.0,prepare_next_turn=pi-0.80.2`) has the dialect of its base: what it changes is the
    loop's business.

    Raises:
        UnknownDialectError: there is no such release; the message lists those that are known.
        UnknownProfileError: a composite profile names something that is not known.
        TypeError: it is neither a name nor a dialect.
    """
    if isinstance(name, Dialect):
        return name
    if not isinstance(name, str):
        raise TypeError(f"a dialect is a Dialect or the name of a release, not {name!r}")
    release = name if name in DIALECTS else None
    if release is None and name.split(",", maxsplit=1)[0] in PROFILES:
        release = releases_in(name)[0]
    if release is None:
        raise UnknownDialectError(f"there is no dialect {name!r}; known are: {', '.join(DIALECTS)}")
    return DIALECTS[release]
