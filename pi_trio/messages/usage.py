"""What a response has used: tokens, and what they cost."""

from __future__ import annotations

import attrs

from ..jsonvalue import Number
from ..wire import Wire


@attrs.frozen(kw_only=True, repr=False)
class UsageCost(Wire):
    """US dollars. `total_from_provider` is true where `total` was billed so, not computed from a catalog."""

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number
    total: Number
    total_from_provider: bool | None = None


@attrs.frozen(kw_only=True, repr=False)
class Usage(Wire):
    """Tokens of one response: `input` without those of the cache, `output` with the reasoning.

    `cache_write_1h` is a part of `cache_write`, `reasoning` a part of `output`.
    """

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number
    total_tokens: Number
    cost: UsageCost
    cache_write_1h: Number | None = None
    reasoning: Number | None = None

    @classmethod
    def zero(cls) -> Usage:
        """Nothing used, nothing owed."""
        return _ZERO_USAGE


def usage_if_there(value: Usage | None) -> Usage | None:
    if value is not None and not isinstance(value, Usage):
        raise TypeError(f"a usage is a Usage, not {value!r:.40}")
    return value


_ZERO_USAGE = Usage(
    input=0,
    output=0,
    cache_read=0,
    cache_write=0,
    total_tokens=0,
    cost=UsageCost(input=0, output=0, cache_read=0, cache_write=0, total=0),
)
