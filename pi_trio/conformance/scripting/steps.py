"""Steps of a scenario: the commands of the script, and the addresses by which they refer to open asks.

Their names are imperatives (`answer`, `finish`). Operations are not named here; `scenario` numbers them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from pi_trio.conformance.protocol import Object

from .tools import result

Step: TypeAlias = Object | Sequence[Object]
"""A command, or several that the script gives one after the other."""


def flat(steps: Iterable[Step]) -> list[Object]:
    """The commands of all steps."""
    return [command for step in steps for command in ([step] if isinstance(step, dict) else step)]


def command(cmd: str, **fields: Any) -> Object:
    """Any command of the driver protocol."""
    return {"cmd": cmd, **fields}


def prompt(given: str | Object | Sequence[Object], **fields: Any) -> Object:
    """Start a run with text, a message or a list of messages; `images` may be among the fields."""
    return command("prompt", input=given if isinstance(given, (str, dict)) else [*given], **fields)


def continue_() -> Object:
    """Start a run from what the transcript holds."""
    return command("continue")


def wait_for_idle() -> Object:
    """Wait for settlement."""
    return command("waitForIdle")


def steer(message: str | Object) -> Object:
    """Queue a steering message."""
    return command("steer", message=_message(message))


def follow_up(message: str | Object) -> Object:
    """Queue a follow-up message."""
    return command("followUp", message=_message(message))


def _message(given: str | Object) -> Object:
    return {"role": "user", "content": given, "timestamp": 0} if isinstance(given, str) else given


def abort() -> Object:
    """Raise the signal of the active run."""
    return command("abort")


def state() -> Object:
    """Look at the agent's state."""
    return command("state")


def messages() -> Object:
    """Look at the transcript."""
    return command("messages")


def set_option(name: str, value: Any) -> Object:
    """Assign an option of the agent."""
    return command("setOption", name=name, value=value)


def set_tools(*tools: Object) -> Object:
    """Assign the agent's tools."""
    return command("setTools", tools=[*tools])


def set_messages(*given: Object) -> Object:
    """Assign the agent's transcript."""
    return command("setMessages", messages=[*given])


def ask(fn: str, key: str | None = None, nth: int = 0, event: str | None = None) -> Object:
    """The address of the nth such ask; with `event` the nth of that listener for events of that type."""
    which = {"fn": fn, "key": key, "event": event, "nth": nth}
    return {name: value for name, value in which.items() if value is not None}


def answer(
    fn: str, value: Any = None, *, key: str | None = None, nth: int = 0, event: str | None = None
) -> Object:
    """Answer one open ask; None: the callback returns nothing."""
    return command("answer", ask=ask(fn, key, nth, event), **({} if value is None else {"value": value}))


def throw(fn: str, says: str, *, key: str | None = None, nth: int = 0, event: str | None = None) -> Object:
    """Let one open callback fail."""
    return command("answer", ask=ask(fn, key, nth, event), throw=says)


def finish(call_id: str, value: Any = None, nth: int = 0) -> Object:
    """The tool of that call returns; a string is short for a result that says it, None returns nothing."""
    return answer("execute", result(value) if isinstance(value, str) else value, key=call_id, nth=nth)


def crash(call_id: str, says: str) -> Object:
    """The tool of that call fails."""
    return throw("execute", says, key=call_id)


def update(call_id: str, value: str | Object) -> Object:
    """The tool of that call reports progress; a string is short for a result that says it."""
    given = result(value) if isinstance(value, str) else value
    return command("update", ask=ask("execute", call_id), value=given)


def release(listener: str, event: str, nth: int = 0) -> Object:
    """A listener that kept an event lets go of it."""
    return answer("listener", key=listener, event=event, nth=nth)


def fail_listener(listener: str, event: str, nth: int = 0) -> Object:
    """A listener that kept an event fails."""
    return throw("listener", f"{listener} failed", key=listener, event=event, nth=nth)


def play(events: Sequence[Object], nth: int = 0) -> list[Object]:
    """Answer the nth request with a stream and send these events, one a step."""
    return [answer("streamFn", "stream", nth=nth), *push(events, nth)]


def push(events: Object | Sequence[Object], nth: int = 0) -> list[Object]:
    """Send further events on the nth request's stream, one a step."""
    sent = (events,) if isinstance(events, dict) else events
    return [command("push", ask=ask("streamFn", nth=nth), event=event) for event in sent]


def end_stream(nth: int = 0, **fields: Any) -> Object:
    """End the nth request's stream, with a `result` (a message) or without."""
    return command("end", ask=ask("streamFn", nth=nth), **fields)


def fail_stream(says: str, nth: int = 0) -> Object:
    """Let reading the nth request's stream fail."""
    return command("fail", ask=ask("streamFn", nth=nth), error=says)


def at_once(*commands: Step) -> Object:
    """Several commands in one synchronous stretch: a declared race."""
    return command("burst", cmds=flat(commands))
