"""The state that is seen with an event, against what the events entail."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.conformance.monitors.docket import Docket
from pi_trio.conformance.monitors.reduction import Reduction

from .recordings import FORCE

STATE: dict[str, Any] = {"isStreaming": True, "signal": None, "pendingToolCalls": [], "messages": []}


@pytest.mark.parametrize(
    ("wrong", "clause"),
    [
        ({"errorMessage": "of the run before"}, "STATE-06"),
        ({"streamingMessage": {"role": "user"}}, "STATE-02"),
    ],
)
def test_what_stays_wrong_is_one_finding(wrong: dict[str, Any], clause: str) -> None:
    docket = Docket(FORCE, ["1.6.0"])
    reduction = Reduction(docket)
    for kind in ("agent_start", "turn_start", "tool_execution_update", "tool_execution_update"):
        reduction.reduce({"type": kind})
        reduction.see({"type": kind}, {**STATE, **wrong}, first=True)
    assert [each.clause for each in docket.collect()] == [clause]
