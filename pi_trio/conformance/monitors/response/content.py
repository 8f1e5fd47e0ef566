"""What the events of a response carry: the number of a block, its pieces and its end, and the message at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any, Final

import attrs

from ..content import Object
from ..docket import Docket
from .order import OPEN

REASONS: Final = {"done": ("stop", "length", "toolUse", "deferred"), "error": ("error", "aborted")}
"""With which reasons a response ends, by the event that ends it."""

_WORDS: Final = {"text": "text", "thinking": "thinking"}
"""Where a block has its words, by its kind; a call has none."""
_TOTAL_TOLD: Final = ("openai-responses", "openai-codex-responses", "azure-openai-responses")
"""The apis whose providers tell the total themselves, which then counts."""
_SUMMED: Final = ("input", "output", "cacheRead", "cacheWrite")


@attrs.define
class Block:
    """What is known of a block.

    Attributes:
        kind: as part of a message: `text`, `thinking`, `toolCall`.
        place: where it is in its life.
        pieces: what came in pieces, one behind the other.
        end: what its end has told of it.
    """

    kind: str
    place: str = OPEN
    pieces: list[str] = attrs.field(factory=list[str])
    end: Any = None


def judge_reason(docket: Docket, event: Object, message: Object | None) -> None:
    """The event that ends a response says why."""
    kind, reason = event["type"], event.get("reason")
    if reason not in REASONS[kind]:
        docket.breaks("MODEL-03", f"{kind} with another reason", repr(reason), REASONS[kind])
    else:
        docket.holds("MODEL-03")
    if message is None:
        return
    if message.get("stopReason") != reason:
        docket.breaks(
            "MODEL-04", "a reason that is not the message's", f"{reason!r}, {message.get('stopReason')!r}"
        )
    else:
        docket.holds("MODEL-04")


def judge_message(docket: Docket, message: Object, blocks: Mapping[int, Block]) -> None:
    """The message at the end has what the events have told."""
    content = message.get("content")
    parts: Sequence[Any] = content if isinstance(content, list) else []
    kinds = [part.get("type") if isinstance(part, dict) else None for part in parts]
    told = [blocks[number].kind for number in sorted(blocks)]
    if not isinstance(content, list) or message.get("role") != "assistant" or kinds != told:
        docket.breaks(
            "MODEL-09", "other blocks than were told", f"{_listed(kinds)}, told were {_listed(told)}"
        )
        return
    docket.holds("MODEL-09")
    for number, block in blocks.items():
        _judge_block(docket, number, block, parts[number])


def _judge_block(docket: Docket, number: int, block: Block, part: Object) -> None:
    words = _WORDS.get(block.kind)
    if block.place == OPEN:
        if words is not None and not _whole(str(part.get(words))).endswith(_whole("".join(block.pieces))):
            docket.breaks("MODEL-10", "an open block without its pieces", f"block {number}")
        else:
            docket.holds("MODEL-10")
        return
    if block.end is not None and block.end != (part if words is None else part.get(words)):
        docket.breaks("MODEL-08", "a block that is not as its end has told it", f"block {number}")
    else:
        docket.holds("MODEL-08")


def _whole(text: str) -> str:
    """A text whose halves of characters, which may come in two pieces, are put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def judge_call(docket: Docket, call: object) -> None:
    """A finished call has its arguments; since 1.6.0 none at all if they are no whole object."""
    if not isinstance(call, dict):
        docket.breaks("MODEL-08", "the end of a call without the call")
        return
    arguments = call.get("arguments")
    if "argumentsError" in call:
        if arguments != {}:
            docket.breaks("MODEL-13", "arguments beside what is wrong with them", str(call.get("name")))
        else:
            docket.tells("MODEL-13", "MODEL-14", "what is wrong with the arguments", str(call.get("name")))
    elif not isinstance(arguments, dict):
        docket.denies("MODEL-13", "arguments that are no object", str(call.get("name")))


def judge_usage(docket: Docket, message: Object) -> None:
    """What was used adds up, and so does what it costs."""
    usage = message.get("usage")
    used: Object = usage if isinstance(usage, dict) else {}
    cost = used.get("cost")
    costs: Object = cost if isinstance(cost, dict) else {}
    if message.get("api") not in _TOTAL_TOLD:
        _judge_sum(docket, "MODEL-17", "tokens", used, "totalTokens")
    if costs.get("totalFromProvider") is not True:
        _judge_sum(docket, "MODEL-18", "costs", costs, "total")


def _judge_sum(docket: Docket, clause: str, what: str, counts: Object, total: str) -> None:
    values = [counts.get(name) for name in (*_SUMMED, total)]
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        docket.breaks(clause, f"{what} that are no numbers", str(counts)[:200])
        return
    *parts, whole = map(float, values)  # type: ignore[arg-type]
    if not isclose(sum(parts), whole, rel_tol=1e-9, abs_tol=1e-12):
        docket.breaks(clause, f"{what} that do not add up", f"{total} is {whole:g}, and not {sum(parts):g}")
    else:
        docket.holds(clause)


def _listed(kinds: Sequence[Any]) -> str:
    return ", ".join(map(str, kinds)) or "none"
