"""Reads commands, carries them out, waits until nothing can run any more, and replies.

One line is handled completely before the next is read, so the chunks in which lines arrive cannot matter.
Quiescence is exact: the reply is written when every task of the process is blocked. The process schedules
first in, first out, so that what one stimulus makes runnable runs in Pi's order.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from operator import attrgetter
from typing import Any, Final, TypeAlias, cast

import trio
from trio.testing import wait_all_tasks_blocked

from pi_trio.conformance.shown import shown

from ..._version import __version__
from ...errors import CodecError, PiTrioError
from ...jsontext import parse_json, print_json
from ...profile import Profile
from ..protocol import LIMITS, PROTOCOL, Framing, Object
from ..scheduling import first_in_first_out
from .agent_conversation import AgentConversation
from .asks import DriverError
from .loop_conversation import LoopConversation
from .offers import TARGETS, offered_hooks, options, targets

Conversation: TypeAlias = AgentConversation | LoopConversation

#: Which part of a conversation carries out a command.
_METHODS: Final = {
    "prompt": attrgetter("prompt"),
    "continue": attrgetter("continue_"),
    "waitForIdle": attrgetter("wait_for_idle"),
    "steer": attrgetter("steer"),
    "followUp": attrgetter("follow_up"),
    "abort": attrgetter("abort"),
    "reset": attrgetter("reset"),
    "clearQueue": attrgetter("clear_queue"),
    "subscribe": attrgetter("subscriptions.subscribe"),
    "unsubscribe": attrgetter("subscriptions.unsubscribe"),
    "setTools": attrgetter("set_tools"),
    "setMessages": attrgetter("set_messages"),
    "setOption": attrgetter("set_option"),
    "state": attrgetter("state"),
    "messages": attrgetter("messages"),
    "peekQueued": attrgetter("peek_queued"),
    "answer": attrgetter("exchange.answer"),
    "update": attrgetter("exchange.update"),
    "push": attrgetter("exchange.push"),
    "end": attrgetter("exchange.end"),
    "fail": attrgetter("exchange.fail"),
}
_IGNORED_REPLIES: Final = frozenset({"subscribe", "unsubscribe"})


def _commands(profile: Profile) -> list[str]:
    """The commands that are offered."""
    commands = ["create", "sync", "burst", *_METHODS]
    if not profile.peek_queued_messages:
        commands.remove("peekQueued")
    return commands


def hello(profile: Profile) -> Object:
    """How the runtime introduces itself."""
    return {
        "tell": "hello",
        "protocol": PROTOCOL,
        "subject": "pi_trio",
        "version": __version__,
        "profile": profile.name,
        "hooks": offered_hooks(profile),
        "commands": _commands(profile),
        "quiescence": "exact",
        "features": {"abort": "both", **options(profile), **targets(profile)},
    }


class Driver:
    """The runtime as a subject: `handle` a command, and get what the subject says."""

    def __init__(self, profile: Profile, nursery: trio.Nursery) -> None:
        self._profile = profile
        self._commands = frozenset(_commands(profile))
        self._nursery = nursery
        self._said: list[Object] = []
        self.conversation: Conversation | None = None

    async def handle(self, command: Object) -> list[Object]:
        """Carry out a command.

        Returns:
            Everything that it has caused, and the reply last.
        """
        reply: Object = {"re": command.get("id")}
        reply.update(await self.outcome(command))
        await wait_all_tasks_blocked()
        return [*self.drain(), reply]

    def drain(self) -> list[Object]:
        """What the subject has said since this was last asked."""
        said, self._said = self._said, []
        return said

    async def outcome(self, command: Object) -> Object:
        """Carry out a command, and wait for nothing that it has caused: what its reply will say of it.

        Only `create` takes time; all others are done when this is first run.
        """
        try:
            match command.get("cmd"):
                case "create":
                    await self._create(command)
                    return {"ok": None}
                case "sync":
                    return {"ok": None}
                case "burst":
                    return {"ok": [self._carry_out(part) for part in _parts(command)]}
                case _:
                    return self._carry_out(command)
        except PiTrioError as error:
            return {"error": f"driver: {error}"}

    def _carry_out(self, command: Object) -> Object:
        """A command that has its effect at once."""
        name = command.get("cmd")
        method = _METHODS.get(name) if isinstance(name, str) and name in self._commands else None
        try:
            if method is None:
                raise DriverError(f"there is no command {shown(name)}")
            if self.conversation is None:
                raise DriverError("create comes first")
            value = method(self.conversation)(command)
        except (DriverError, CodecError) as error:
            return {"error": f"driver: {error}"}
        except PiTrioError as error:
            return {"error": str(error)}
        return {"ok": None if name in _IGNORED_REPLIES else value}

    async def dispose(self) -> None:
        """End the present conversation, if there is one."""
        if self.conversation is not None:
            conversation, self.conversation = self.conversation, None
            await conversation.exchange.dispose()

    async def _create(self, command: Object) -> None:
        await self.dispose()
        target = command.get("target", "agent")
        if target not in TARGETS:
            raise DriverError(f"target {shown(target)} is not offered")
        kind = LoopConversation if target == "loop" else AgentConversation
        conversation = kind(self._profile, command, self._say)
        await self._nursery.start(conversation.exchange.live)
        self.conversation = conversation

    def _say(self, message: Object) -> None:
        self._said.append(message)


def _parts(command: Object) -> list[Object]:
    parts: Any = command.get("cmds")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise DriverError("cmds is a list of commands")
    return cast("list[Object]", parts)


@asynccontextmanager
async def open_driver(profile: Profile) -> AsyncGenerator[Driver]:
    """A driver with the nursery that its conversations live in. Leaving it ends them."""
    async with trio.open_nursery() as nursery:
        driver = Driver(profile, nursery)
        yield driver
        await driver.dispose()


def serve_stdio(profile: Profile) -> None:
    """Be a subject on standard input and output, until the input ends."""
    with first_in_first_out():
        trio.run(_serve_stdio, profile)


async def _serve_stdio(profile: Profile) -> None:
    framing = Framing(LIMITS.line)
    async with (
        trio.lowlevel.FdStream(os.dup(0)) as source,
        trio.lowlevel.FdStream(os.dup(1)) as sink,
        open_driver(profile) as driver,
    ):
        await sink.send_all(_lines([hello(profile)]))
        async for chunk in source:
            for line in framing.feed(bytes(chunk)):
                if line.strip():
                    await sink.send_all(_lines(await answer_line(driver, line)))


async def answer_line(driver: Driver, line: bytes) -> list[Object]:
    """Read a command, and carry it out: all that it causes, and the reply last."""
    try:
        command: Any = parse_json(line)
    except CodecError as error:
        return [{"re": None, "error": f"driver: not a JSON line: {error}"}]
    if not isinstance(command, dict):
        return [{"re": None, "error": "driver: a command is an object"}]
    return await driver.handle(cast("Object", command))


def _lines(messages: list[Object]) -> bytes:
    return "".join(f"{print_json(message)}\n" for message in messages).encode()
