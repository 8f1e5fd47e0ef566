"""What a decision is: where this package does otherwise than Pi on purpose, and how that shows in a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from .cases import Case

RELEASES = ("0.85.0", "1.0.3", "1.6.0")
APIS = ("anthropic-messages", "openai-completions", "openai-responses", "openai-codex-responses")


@attrs.frozen
class Difference:
    """One place where the two sides differ: a path such as `calls[0].message.stopReason`, and what each has there."""

    path: str
    theirs: Any
    ours: Any


@attrs.frozen(kw_only=True)
class Decision:
    """One decision, by its id in the spec.

    Attributes:
        covers: whether it allows this difference in this case.
        apis, releases: where it applies; there, each run of the cases must need it.
    """

    id: str
    title: str
    covers: Callable[[Case, Difference], bool]
    apis: Sequence[str] = APIS
    releases: Sequence[str] = RELEASES

    def allows(self, case: Case, difference: Difference, release: str) -> bool:
        """Whether the difference is as decided."""
        return release in self.releases and case["api"] in self.apis and self.covers(case, difference)
