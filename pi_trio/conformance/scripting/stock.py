"""What most scenarios are made of, each under one name: tools and their calls, answers, hooks, events.

A scenario that needs exactly this says so by the name; what only one topic needs stands in its own module.
"""

from __future__ import annotations

from typing import Final

from pi_trio.conformance.protocol import Object

from .provider import Events, after, broken, response, until
from .rules import returns
from .speech import call
from .steps import update
from .tools import tool

ABC: Final[tuple[Object, ...]] = (tool("a"), tool("b"), tool("c"))
"""The tools of the common set-up."""

AB: Final = ABC[:2]
"""Two of them."""

A: Final = ABC[:1]
"""One of them."""

T1, T2, T3 = call("t1", "a"), call("t2", "b"), call("t3", "c")
"""Their calls."""

CALL: Final = response(T1)
TWO: Final = response(T1, T2)
THREE: Final = response(T1, T2, T3)

OK: Final = returns("t1", "A")
"""The first tool returns at once."""

LATE: Final = update("t1", "late")
"""A report of a tool that has returned before."""

LET_GO: Final = "let go"
"""What a tool or a stream function says that was stopped by the signal."""

SEQUENTIAL: Final[Object] = {"toolExecution": "sequential"}
"""The setting that makes every batch sequential."""

HELLO: Final = response(("Hel", "lo"))
"""An answer in two deltas."""

HALF, REST = until("text_delta", HELLO), after("text_delta", HELLO)
"""What has come of it after the first, and what has not."""

WORD: Final = response("hello")
"""An answer in one delta."""

DONE: Final[Events] = response("done")
"""The last answer of most scenarios."""

ABORTED: Final[Events] = broken((), "aborted", "Request was aborted")
"""How a provider answers a request whose signal is already raised."""

BEFORE, AFTER = "beforeToolCall", "afterToolCall"
TOOL_HOOKS: Final = (BEFORE, AFTER)
"""The hooks around a tool call."""

REQUEST: Final = "prepareRequest"
REQUEST_HOOKS: Final = (REQUEST, "transformContext", "convertToLlm", "getApiKey")
"""The hooks before a request, in their order."""

NEXT, NEXT_WITH = "prepareNextTurn", "prepareNextTurnWithContext"
FINISH, STOP = "finishTurn", "shouldStopAfterTurn"
"""The hooks between turns."""

STEERING, FOLLOW_UP = "getSteeringMessages", "getFollowUpMessages"
"""The polls of the loop alone."""

START, UPDATE, END = "tool_execution_start", "tool_execution_update", "tool_execution_end"
"""The events of a call."""
