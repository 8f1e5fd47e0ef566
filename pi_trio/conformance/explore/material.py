"""What stimuli are made of: messages, tools, results, responses of a provider, and answers of hooks, each as a table.

A table begins with its plainest entry: that is what a counterexample is shrunk to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from .. import scripting as s
from ..protocol import Object
from ..scripting.provider import Events

PROMPTS: Final[tuple[Any, ...]] = (
    "go",
    s.user("go"),
    [s.user("one"), s.user("two")],
    [],
    [s.user("go"), s.custom("note", body="n")],
    [s.system("be brief"), s.user("go")],
)

QUEUED: Final[tuple[Object, ...]] = (
    s.user("psst"),
    s.user([s.text("look"), s.image()]),
    s.custom("note", body="q"),
    s.system("be kind"),
    s.assistant("so far"),
)

TRANSCRIPTS: Final[tuple[list[Object], ...]] = (
    [],
    [s.user("before")],
    [s.user("before"), s.assistant("then")],
    [s.system("old rules"), s.user("before")],
)

TOOLSETS: Final[tuple[list[Object], ...]] = (
    [*s.ABC],
    [s.ABC[0], s.ABC[1], s.tool("c", executionMode="sequential")],
    [s.tool("a", s.parameters(["n"], n="number")), s.ABC[1], s.ABC[2]],
    [s.tool("a", prepareArguments={"set": {"s": "prepared"}}), s.tool("b", prepareArguments={"throw": "no"}), s.ABC[2]],
    [s.ABC[1]],
    [],
)  # fmt: skip

OPTIONS: Final[tuple[tuple[str, Any], ...]] = (
    ("steeringMode", "all"),
    ("steeringMode", "one-at-a-time"),
    ("followUpMode", "all"),
    ("followUpMode", "one-at-a-time"),
    ("toolExecution", "sequential"),
    ("toolExecution", "parallel"),
    ("model", s.model("m2")),
    ("thinkingLevel", "high"),
    ("thinkingLevel", "off"),
    ("systemPrompt", "other rules"),
)

RESULTS: Final[tuple[Any, ...]] = (
    s.result("ok"),
    s.result("ok", terminate=True),
    s.result("bad", isError=True),
    s.result("ok", details={"n": 1}),
    s.result([]),
    s.result("ok", usage=s.USAGE),
    s.result("ok", structuredContent={"x": 1}),
    s.result("ok", terminate="yes", extra=[1]),
    {"details": {}},
)

REPORTS: Final[tuple[Any, ...]] = (s.result("half"), s.result([], details={"done": 0.5}))

_TOOLS: Final = ("a", "b", "c")


def _calls(number: int, first: int, arguments: Any = None) -> list[Object]:
    """Calls of the tools in their order, with ids from `first` on."""
    return [s.call(f"t{first + n}", _TOOLS[n], arguments) for n in range(number)]


def _bare(*content: Any, **fields: Any) -> Events:
    """A response that comes in one event."""
    return (s.response(*content, **fields)[-1],)


def _brief(*content: Any, **fields: Any) -> Events:
    """A response that starts and is done."""
    whole = s.response(*content, **fields)
    return whole[0], whole[-1]


_RESPONSES: Final[tuple[tuple[int, Callable[[int], Events]], ...]] = (
    (0, lambda _: _bare("yes")),
    (2, lambda t: _bare(*_calls(2, t))),
    (1, lambda t: _bare(*_calls(1, t))),
    (0, lambda _: _brief("yes")),
    (3, lambda t: _bare(*_calls(3, t))),
    (2, lambda t: _brief(*_calls(2, t))),
    (0, lambda _: s.response(("Hel", "lo"))),
    (1, lambda t: s.response(*_calls(1, t, {"s": "x"}))),
    (2, lambda t: _bare("I look", *_calls(2, t), stop="length")),
    (2, lambda t: _bare(s.call(f"t{t}", "nobody"), *_calls(1, t + 1))),
    (2, lambda t: _bare(*_calls(2, t, {"s": 5}), stop="stop")),
    (2, lambda t: _bare(*_calls(2, t, {"s": {}, "n": "many"}))),
    (0, lambda _: s.response(s.thinking("hm"), "yes")),
    (2, lambda t: s.response("I look", *_calls(2, t))),
    (0, lambda _: _bare("cut", stop="aborted")),
    (0, lambda _: _bare("no", stop="error", errorMessage="Overloaded")),
    (0, lambda _: _bare()),
)
"""How a provider answers: how many calls are in it, and its events, given the number of the first call."""

RESPONSES: Final = len(_RESPONSES)


def calls_in(which: int) -> int:
    """How many calls are in a response."""
    return _RESPONSES[which][0]


@lru_cache(maxsize=4096)
def response(which: int, first: int) -> Events:
    """The events of a response whose calls are numbered from `first` on."""
    return _RESPONSES[which][1](first)


TWINS: Final = _bare(s.call("same", "a"), s.call("same", "b"))
"""A response with two calls of one id."""

SECOND_START: Final[Object] = {"type": "start", "partial": s.assistant("again", stop="pending")}

MALFORMED: Final[tuple[Object, ...]] = (
    {"type": "text_delta", "contentIndex": 7, "delta": "?", "partial": s.assistant("?", stop="pending")},
    {"type": "text_end", "contentIndex": 0, "content": "?", "partial": s.assistant("?", stop="pending")},
    {"type": "toolcall_start", "contentIndex": 0, "partial": s.assistant(s.call("t0", "a"), stop="pending")},
    {"type": "noise", "volume": 11},
    s.done(s.assistant("otherwise")),
)
"""Events that do not go with the stream in which they come."""

FAILURES: Final[tuple[Object, ...]] = (
    s.break_off(()),
    s.break_off((), "aborted", "Request was aborted"),
    s.break_off(s.until("text_delta", s.response(("Hel", "lo")))),
)
"""How a provider breaks off."""

ENDINGS: Final[tuple[Object, ...]] = (
    s.assistant("given"),
    s.assistant(stop="aborted"),
    s.assistant("no", stop="error"),
)
"""Results with which a stream is ended that has no last event."""

_KEPT: Final[Object] = {"messages": [s.user("kept")], "tools": [s.ABC[1]]}

HOOKS: Final[dict[str, tuple[Any, ...]]] = {
    "beforeToolCall": (
        None, {"block": True, "reason": "no"}, {"block": True}, {"block": True, "terminate": True},
        {"args": {"s": "changed"}}, {"block": False, "reason": "never mind"},
    ),
    "afterToolCall": (
        None, {"content": [s.text("new")]}, {"isError": True}, {"isError": False}, {"terminate": True},
        {"details": {"d": 1}}, {"structuredContent": {"y": 2}}, {"usage": s.USAGE}, {"content": None},
    ),
    "finishTurn": (None, {"action": "continue"}, {"action": "end"}),
    "shouldStopAfterTurn": (None, False, True),
    "prepareNextTurn": (
        None, {"model": s.model("m2")}, {"thinkingLevel": "high"}, {"messages": [s.user("ready")]}, {"context": _KEPT},
    ),
    "prepareNextTurnWithContext": (
        None, {"model": s.model("m2")}, {"thinkingLevel": "off"}, {"messages": [s.user("ready")]}, {"context": _KEPT},
    ),
    "prepareRequest": (None, {"model": s.model("m3")}, {"thinkingLevel": "high"}, {"context": _KEPT}),
    "transformContext": (None, [s.user("instead")], []),
    "convertToLlm": (None, [s.user("instead")]),
    "getApiKey": (None, "secret", ""),
    "getSteeringMessages": (None, [s.user("polled")], []),
    "getFollowUpMessages": (None, [s.user("polled")], []),
}  # fmt: skip
"""What hooks answer, without a throw."""

CONTAINED: Final = frozenset({"beforeToolCall", "afterToolCall"})
"""The hooks whose throw is a tool's error, and no failure of the run."""

SAYS: Final = "it failed"
"""What is thrown."""

EVENTS: Final = (
    "agent_start", "turn_start", "message_start", "message_update", "message_end", "tool_execution_start",
    "tool_execution_update", "tool_execution_end", "turn_end", "agent_end",
)  # fmt: skip
"""The events that a listener may hold."""
