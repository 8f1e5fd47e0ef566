"""Wires as the tester shows them: which are looked at, their messages, and in which order else they may go."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pi_trio.conformance.lines import commands_in
from pi_trio.conformance.protocol import PROTOCOL

NAMES = (
    "tools_parallel_reverse", "two_listeners_throw_at_one_event", "listener_subscribed_again", "agent_replaced_in_run",
    "prompt_and_steer_same_tick", "abort_tools_honored", "stream_double_start", "loop_listener_throws",
    "prompt_while_running", "failed_run_leaves_tool_running_end_after_idle", "no_listeners",
)  # fmt: skip
HELLO = {
    "tell": "hello", "protocol": PROTOCOL, "subject": "runtime", "version": "0", "profile": "pi-1.6.0", "hooks": [],
    "commands": [],
}  # fmt: skip


def messages(wire: Iterable[str], side: str = "<>") -> Iterator[Any]:
    return (json.loads(line[2:]) for line in wire if line[0] in side)


def interleaved(
    wire: Sequence[Any], chance: random.Random, *, ahead: int = 0, late: bool = False
) -> list[Any]:
    """The same messages in another order, in which they may have gone over the wire as well.

    Args:
        ahead: so many commands more than one may be sent before a reply, but none before the ask that it is about.
        late: replies are not behind what their commands cause, but a former agent says no more when a new one is there.
    """
    steps = list(_steps(wire))
    told = [(number, each) for number, step in enumerate(steps) for each in step[1:] if "re" not in each]
    replies = [each for step in steps for each in step if "re" in each]
    creates = [step[0]["cmd"] == "create" for step in steps]
    order: list[Any] = []
    sent = replied = heard = 0
    asked: set[str] = set()
    while replied < len(replies) or heard < len(told):
        due = told[heard][0] if heard < len(told) else len(steps)
        may = [
            sent < len(steps)
            and sent - replied <= ahead
            and (sent == replied or not creates[sent - 1])
            and asked.issuperset(_named_in(steps[sent][0])),
            replied < sent and (due > replied or (late and not creates[replied])),
            due < sent and (due <= replied if late else due == replied),
        ]
        what = chance.choice([number for number, each in enumerate(may) if each])
        if what == 0:
            order.append(steps[sent][0])
            sent += 1
        elif what == 1:
            order.append(replies[replied])
            if creates[replied]:
                asked.clear()  # the names of asks begin anew
            replied += 1
        else:
            order.append(told[heard][1])
            asked.add(told[heard][1].get("ask", ""))
            heard += 1
    return order


def _steps(wire: Iterable[Any]) -> Iterator[list[Any]]:
    """Each command with what comes of it."""
    step: list[Any] = []
    for message in wire:
        if "cmd" in message and step:
            yield step
            step = []
        step.append(message)
    yield step


def _named_in(command: Any) -> list[str]:
    """The asks that a command is about."""
    return [each["ask"] for each in commands_in(command) if "ask" in each]
