"""How a response has ended: why it stopped, what it used, what that costs, and what the provider left out.

All of it is in the last event of the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from ...jsonvalue import ABSENT, JSON
from ...messages import Diagnostic, Model, Usage, UsageCost
from ...timestamps import now
from ..cost import calculate_cost
from ..dialect import Dialect
from ..event_fields import Value, count, field, is_true, items, optional, shown, text_or_none
from ..exchange import ResponseFailedError

#: What a tier costs, as a multiple of the usual price; one model has a price of its own for the quick ones.
_FACTORS: Final[Mapping[str, float]] = {"flex": 0.5, "priority": 2, "fast": 2}
_DEARER: Final[Mapping[str, float]] = {"priority": 2.5, "fast": 2.5}
_DEARER_MODEL: Final = "gpt-5.5"


@attrs.frozen
class ServiceTier:
    """The tier that was asked for, and how one learns which was given.

    Attributes:
        requested: as the request says it.
        known: the tiers that have a price of their own.
        default_is_requested: an answer that says "default" was served as requested (Codex).
    """

    requested: str | None = None
    known: tuple[str, ...] = ("flex", "priority", "fast")
    default_is_requested: bool = False

    def factor(self, served: Value, model: Model) -> float:
        """The multiple of the usual price."""
        if self.default_is_requested and served == "default" and self.requested in ("flex", "priority"):
            served = self.requested
        tier = self.requested if served is None or served is ABSENT else served
        if not isinstance(tier, str) or tier not in self.known:
            return 1
        return (_DEARER if model.id == _DEARER_MODEL else _FACTORS).get(tier, _FACTORS[tier])


def usage_of(usage: Value) -> Usage | None:
    """The tokens, by Pi's names; None if the response tells none. What was cached is no input."""
    if not is_true(usage):
        return None
    details = optional(usage, "input_tokens_details")
    cached, written = (count(optional(details, name)) for name in ("cached_tokens", "cache_write_tokens"))
    return Usage(
        input=max(0, count(optional(usage, "input_tokens")) - cached - written),
        output=count(optional(usage, "output_tokens")),
        cache_read=cached,
        cache_write=written,
        reasoning=count(optional(optional(usage, "output_tokens_details"), "reasoning_tokens")),
        total_tokens=count(optional(usage, "total_tokens")),
        cost=UsageCost(input=0, output=0, cache_read=0, cache_write=0, total=0),
    )


def priced(usage: Usage, model: Model, dialect: Dialect, tier: ServiceTier, served: Value) -> Usage:
    """The usage with what it costs."""
    cost = calculate_cost(model, usage, dialect)
    factor = tier.factor(served, model)
    if factor == 1:
        return attrs.evolve(usage, cost=cost)
    parts = [part * factor for part in (cost.input, cost.output, cost.cache_read, cost.cache_write)]
    input_, output, cache_read, cache_write = parts
    return attrs.evolve(
        usage,
        cost=attrs.evolve(
            cost,
            input=input_,
            output=output,
            cache_read=cache_read,
            cache_write=cache_write,
            total=input_ + output + cache_read + cache_write,
        ),
    )


def raw_stop_reason(status: Value, details: Value) -> str | None:
    """Why a response has stopped, in the provider's words: its status, and the reason in `incomplete_details`."""
    why = text_or_none(optional(details, "reason"))
    return f"{shown(status)}.{why}" if why else text_or_none(status)


def stopped(status: Value, details: Value) -> tuple[str, str | None]:
    """Why a response has stopped, in Pi's words, and what went wrong if something did.

    Raises:
        ResponseFailedError: there is no such status.
    """
    why = text_or_none(optional(details, "reason"))
    if not is_true(status):
        return "stop", None
    match status:
        case "completed" | "in_progress" | "queued":
            return "stop", None
        case "incomplete" if why == "max_output_tokens":
            return "length", None
        case "incomplete":
            return "error", _incomplete(why)
        case "failed" | "cancelled":
            return "error", None
        case _:
            raise ResponseFailedError(f"Unhandled stop reason: {shown(status)}")


def _incomplete(why: str | None) -> str:
    return f"Response incomplete: {why}" if why else "Response incomplete without a provider reason"


def failure_of(response: Value) -> str:
    """The text of a response that has failed."""
    error = optional(response, "error")
    if is_true(error):
        code, message = optional(error, "code"), optional(error, "message")
        return f"{shown(code) if is_true(code) else 'unknown'}: {shown(message) if is_true(message) else 'no message'}"
    why = optional(optional(response, "incomplete_details"), "reason")
    return f"incomplete: {shown(why)}" if is_true(why) else "Unknown error (no error details in response)"


def removed_reasoning(transformations: Value) -> Diagnostic | None:
    """A note of the reasoning that the provider took out of the input, if it did.

    Of earlier turns it always does with some models; that is not worth a note.
    """
    if not isinstance(transformations, list):
        return None
    removals: list[JSON] = [
        {name: entry[name] for name in ("type", "id", "action", "reason") if name in entry}
        for entry in transformations
        if isinstance(entry, dict)
        and (entry.get("type"), entry.get("action")) == ("reasoning", "removed")
        and entry.get("reason") != "turn_boundary"
    ]
    if not removals:
        return None
    return Diagnostic(
        type="openai_input_transformations", timestamp=now(), details={"transformations": removals}
    )


def late_signatures(output: Value) -> dict[str, JSON]:
    """The reasoning that is told encrypted with the whole response only, by the ids of the items."""
    told: dict[str, JSON] = {}
    for item in items(output, "response.output"):
        if field(item, "type", "output item") == "reasoning" and isinstance(item, dict):
            encrypted = item.get("encrypted_content")
            if is_true(encrypted):
                told[shown(item.get("id", ABSENT))] = encrypted
    return told
