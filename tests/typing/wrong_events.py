# mypy: ignore-errors
"""What type checkers refuse of events and hooks: every line that is marked, and no other."""

from __future__ import annotations

from pi_trio import ToolResult, TurnDecision

TurnDecision(action="stop")  # E: there is no such decision
number: int = ToolResult(content=()).text  # E: a text is no number
