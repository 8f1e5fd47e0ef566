"""Judges a log that a test has at hand."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.logs import Basis, Checked, LogCheck, Remark

CLAUSES = Clauses.shipped()
ANY = Basis.of_releases(CLAUSES)

DATA = Path(__file__).parent / "data"
SESSIONS = sorted(DATA.glob("*.jsonl"))
"""What real releases of Pi printed, see data/README.md."""

USER = {"role": "user", "content": "hi", "timestamp": 0}
ANSWER = {
    "role": "assistant",
    "content": [{"type": "text", "text": "ho"}],
    "stopReason": "stop",
    "timestamp": 0,
}


def judge(
    log: bytes, basis: Basis = ANY, *, complete: bool = False, midway: bool = False
) -> tuple[Checked, list[Remark]]:
    """What came of a log, and what was remarked."""
    remarks: list[Remark] = []
    check = LogCheck(basis, remarks.append, complete=complete, midway=midway)
    check.read(io.BytesIO(log))
    return check.end(), remarks


def log_of(*lines: Any) -> bytes:
    """Lines as a log: bytes as they are, everything else as JSON."""
    return b"".join(line if isinstance(line, bytes) else f"{json.dumps(line)}\n".encode() for line in lines)


def a_run() -> list[dict[str, Any]]:
    """The events of a short run, as the first releases say them."""
    return [
        {"type": "agent_start"},
        {"type": "turn_start"},
        {"type": "message_start", "message": USER},
        {"type": "message_end", "message": USER},
        {"type": "message_start", "message": {**ANSWER, "content": []}},
        {"type": "message_update", "message": ANSWER,
         "assistantMessageEvent": {"type": "text_delta", "contentIndex": 0, "delta": "ho", "partial": ANSWER}},
        {"type": "message_end", "message": ANSWER},
        {"type": "turn_end", "message": ANSWER, "toolResults": []},
        {"type": "agent_end", "messages": [USER, ANSWER]},
    ]  # fmt: skip


def kinds(remarks: Iterable[Remark]) -> list[tuple[int, str]]:
    """Line and kind of each."""
    return [(remark.line, remark.kind) for remark in remarks]


def broken(remarks: Iterable[Remark]) -> list[tuple[int, str]]:
    """Line and clause of what is broken."""
    return [(each.line, each.finding.clause) for each in remarks if each.kind == "broken" and each.finding]
