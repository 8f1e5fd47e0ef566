"""Messages with any JSON value in any field, known or not: the subject may fail for them, the tester never does."""

from __future__ import annotations

import io
import json
from contextlib import nullcontext
from functools import partial
from typing import Any, Final

import attrs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from pi_trio.conformance.blame import blame
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.judge import judge_subject
from pi_trio.conformance.lockstep import Guide, drive
from pi_trio.conformance.protocol import decode
from pi_trio.conformance.report.document import document
from pi_trio.conformance.report.sequence import show_sequence
from pi_trio.conformance.report.terminal import show_report
from pi_trio.conformance.ruled import Golden, propose
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.verdict import Outcome, Report
from pi_trio.jsontext import print_json

from .conftest import HELLO

IN_FORCE: Final = frozenset(clause.id for clause in Clauses.shipped().in_force("pi-1.6.0"))

SCENARIO: Final = Scenario(
    name="x",
    title="",
    topic="t",
    create={"listeners": ["L"], "hooks": ["beforeToolCall", "afterToolCall"]},
    answers=[],
    steps=[
        {"cmd": "prompt", "op": "p1", "input": "go"},
        {"cmd": "burst", "cmds": [{"cmd": "abort"}, {"cmd": "state"}]},
    ],
)

_WORDS: Final = (
    "re", "ask", "tell", "settled", "signal", "withdrawn", "event", "prepareArguments", "unhandled", "hello", "p1", "L",
    "a1", "t1", "execute", "streamFn", "listener", "beforeToolCall", "afterToolCall", "getApiKey", "agent_start",
    "turn_start", "turn_end", "agent_end", "message_start", "message_update", "message_end", "tool_execution_start",
    "tool_execution_update", "tool_execution_end", "assistant", "toolResult", "user", "text", "\ud800", "\x1b[2J",
)  # fmt: skip
_FIELDS: Final = (
    "re", "ok", "error", "ask", "tell", "fn", "key", "args", "aborted", "op", "event", "state", "tool", "type",
    "message", "toolResults", "messages", "toolCallId", "toolName", "result", "isError", "assistantMessageEvent",
    "partial",
    "role", "content", "text", "toolCall", "id", "options", "model", "context", "reply", "end", "send", "unresolved",
    "unknown",
    "isStreaming", "errorMessage", "timestamp", "nth", "zzz",
)  # fmt: skip

words = st.sampled_from(_WORDS)
scalars = st.one_of(
    words, st.none(), st.booleans(), st.sampled_from([0, 1, -1, 1.5, 2**60, 10**25, 1e300, "", "x" * 200])
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=4)
    ),
    max_leaves=8,
)
more = st.dictionaries(st.sampled_from(_FIELDS), values, max_size=4)
events = st.builds(lambda extra, kind: {**extra, "type": kind}, more, words)

asks = st.builds(
    lambda extra, ask, fn, args, event: {
        **extra, "ask": ask, "fn": fn, "key": "L", "aborted": False,
        "args": {**args, "event": event} if fn == "listener" else args,
    },
    more, st.sampled_from(["a1", "a2"]), words, more, events,
)  # fmt: skip
tells = st.one_of(
    st.builds(lambda extra, kind: {**extra, "tell": kind}, more, words),
    st.builds(lambda extra, event: {**extra, "tell": "event", "key": "L", "event": event}, more, events),
    st.builds(lambda extra, ok: {**extra, "tell": "settled", "op": "p1", "ok": ok, "error": "e"}, more, st.booleans()),
    st.builds(
        lambda extra, kind: {**extra, "tell": kind, "ask": "a1"}, more, st.sampled_from(["signal", "withdrawn"])
    ),
)  # fmt: skip
messages = st.one_of(asks, tells, st.builds(lambda extra: {**extra}, more))
replies = st.one_of(
    st.just({"ok": None}),
    st.builds(lambda extra, ok: {**extra, "ok": ok}, more, values),
    st.builds(lambda extra: {**extra, "error": "driver: no"}, more),
    st.just({"ok": [{"ok": None}, {"error": "no"}]}),
    st.builds(lambda one, two: {"ok": [one, two]}, more, more),
)


@attrs.define
class Saying:
    """A subject that says what it was given, step by step, as lines: what is no message is its breach."""

    said: list[tuple[list[dict[str, Any]], dict[str, Any]]]
    hello: dict[str, Any]
    at: int = 0

    async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
        said, reply = self.said[self.at % len(self.said)] if self.at < 30 else ([], {"ok": None})
        self.at += 1
        reply = {key: value for key, value in reply.items() if key not in ("ask", "tell")}
        found = [decode(json.dumps(message).encode()) for message in said if "re" not in message]
        return [*found, decode(json.dumps({**reply, "re": command["id"]}).encode())]


def ruled(lines: tuple[Any, ...]) -> Golden:
    """A ruling under which neither side does what the subject does, so that the postconditions are asked."""
    release = [*lines[:-1], {"tell": "unhandled", "error": "x"}, lines[-1]]
    golden = propose("x", "1.6.0", release, lines, "D-02")
    assert golden is not None
    return golden


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("order", ["total", "partial"])
@settings(max_examples=40, deadline=None)
@given(said=st.lists(st.tuples(st.lists(messages, max_size=4), replies), min_size=1, max_size=4))
def test_it_is_never_a_fault_of_the_tester(strict: bool, order: str, said: Any) -> None:
    hello = {**HELLO, "order": order, "features": {"keyless": ["execute"] if order == "partial" else []}}
    trio.run(_judged, said, hello, strict)


def _same(expected: Expectation, _: Scenario) -> Expectation:
    return expected


async def _judged(said: Any, hello: dict[str, Any], strict: bool) -> None:
    good = (await drive(SCENARIO, Saying([([], {"ok": None})], hello))).lines
    lines = (*good[:-1], {"end": "settled"})
    run = await drive(SCENARIO, Saying(said, hello), strict=strict, guide=Guide(order=lines))
    for expected in (Expectation(lines=lines), Expectation(lines=lines, golden=ruled(lines))):
        verdict = judge(run, expected)
        assert verdict.outcome is not Outcome.HARNESS
        blame(expected.lines, run.lines, IN_FORCE, cancelling=False)
        leg = await judge_subject(
            "any", lambda: nullcontext(Saying(said, hello)), [SCENARIO],
            expect=partial(_same, expected), decide=judge, strict=strict,
        )  # fmt: skip
        assert {each.outcome for each in leg.verdicts}.isdisjoint({Outcome.HARNESS})
        _shown(Report(legs=(leg,)))
    console = Console(file=io.StringIO(), markup=False, highlight=False, emoji=False, width=200)
    show_sequence(console, SCENARIO, run.lines, "", everything=True)


def _shown(report: Report) -> None:
    console = Console(file=io.StringIO(), markup=False, highlight=False, emoji=False, width=200)
    show_report(console, report, whole=lambda name: name, verbose=True)
    print_json(document(report, "pi-1.6.0"))
