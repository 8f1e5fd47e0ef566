"""Where this package's transport does otherwise than Pi's on purpose: the decisions of `spec/deviations/transport.md`.

Each says which differences it allows, in which cases. A decision that no case needs is stale, and fails the run: it
is either no longer true, or nobody tests it.
"""

from __future__ import annotations

from .decision import APIS, RELEASES, Decision, Difference
from .decisions_anthropic import ANTHROPIC
from .decisions_chat import CHAT
from .decisions_responses import RESPONSES

__all__ = ["APIS", "DECISIONS", "RELEASES", "Decision", "Difference"]

DECISIONS: tuple[Decision, ...] = (*ANTHROPIC, *CHAT, *RESPONSES)
