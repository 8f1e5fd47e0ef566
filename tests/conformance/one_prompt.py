"""A scenario of one prompt, and what a subject may do in it: right, otherwise, and too early."""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.ruled import Golden, golden_path, propose
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.vectors import Recording, Vectors

PROMPT = {"cmd": "prompt", "op": "p1", "input": "go"}
SCENARIO = Scenario(name="x", title="X.", topic="t", steps=[PROMPT])
REPLY: dict[str, Any] = {"say": {"re": "$id", "ok": None}}


def event(kind: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"messages": []} if kind == "agent_end" else {}
    return {"say": {"tell": "event", "key": "L", "event": {"type": kind, **fields}}}


def settled(**fields: Any) -> dict[str, Any]:
    return {"say": {"tell": "settled", "op": "p1", "ok": True, **fields}}


GOOD = [None, [event("agent_start"), event("agent_end"), settled(), REPLY]]
OTHER = [None, [event("agent_start"), event("turn_start"), settled(), REPLY]]
THIRD = [None, [event("agent_start"), event("turn_end"), settled(), REPLY]]
EARLY = [[event("turn_start"), REPLY], [event("agent_start"), event("turn_end"), settled(), REPLY]]


def record(vectors: Vectors, run: Run) -> None:
    vectors.write(Recording(scenario=run.scenario, release="1.6.0", lines=run.lines))


def ruled(vectors: Vectors, release: Run, runtime: Run) -> Golden:
    golden = propose("x", "1.6.0", release.lines, runtime.lines, "D-01")
    assert golden is not None
    golden.write(golden_path(vectors, "1.6.0", "x"))
    return golden
