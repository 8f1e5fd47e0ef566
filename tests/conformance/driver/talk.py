"""A talk with the runtime's driver in this process, as values and without the tester of the package."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pi_trio.conformance.driver.serve import Driver, open_driver
from pi_trio.jsonvalue import thaw
from pi_trio.profile import PI_1_6_0, Profile

Message = dict[str, Any]


class Talk:
    """`said` are all messages since the last `create` that are no replies."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._id = 0
        self.said: list[Message] = []
        self.open: list[Message] = []

    async def reply(self, cmd: str, **fields: Any) -> Message:
        """Send a command; its reply."""
        self._id += 1
        *said, reply = thaw(await self._driver.handle({"id": self._id, "cmd": cmd, **fields}))
        assert reply.pop("re") == self._id
        self.said += said
        self.open += [message for message in said if "fn" in message]
        return reply

    async def do(self, cmd: str, **fields: Any) -> Any:
        """Send a command that must succeed; its value."""
        reply = await self.reply(cmd, **fields)
        assert "error" not in reply, reply
        return reply["ok"]

    async def create(self, **fields: Any) -> None:
        self.said, self.open = [], []
        assert await self.do("create", **fields) is None

    async def answer(self, fn: str, value: Any = None, **fields: Any) -> None:
        """Answer the oldest open ask of that function, or fail it with `throw`."""
        ask = next(ask for ask in self.open if ask["fn"] == fn)
        self.open.remove(ask)
        await self.do("answer", ask=ask["ask"], **({} if value is None else {"value": value}), **fields)

    async def settle(self, *held: str) -> None:
        """Answer with nothing what is open, oldest first, except streams, tools and the functions `held`."""
        while asked := [ask["fn"] for ask in self.open if ask["fn"] not in {"streamFn", "execute", *held}]:
            await self.answer(asked[0])

    async def stream(self, *events: Message, held: tuple[str, ...] = ()) -> None:
        """Answer the open request with a stream of these events, and settle after each."""
        address = next(ask["ask"] for ask in self.open if ask["fn"] == "streamFn")
        await self.answer("streamFn", "stream")
        for event in events:
            await self.do("push", ask=address, event=event)
            await self.settle(*held)

    def brief(self, mark: int = 0) -> list[str]:
        """What was said after the first `mark` messages: an event's type, a callback's name, or what is told."""
        return [_brief(message) for message in self.said[mark:]]


def _brief(message: Message) -> str:
    if "fn" in message:
        return message["args"]["event"]["type"] if message["fn"] == "listener" else message["fn"]
    if message["tell"] == "event":
        return message["event"]["type"]
    if message["tell"] == "settled":
        return f"settled {message['op']} {message.get('error', 'well')}"
    return f"{message['tell']} {message.get('ask', '')}".strip()


@asynccontextmanager
async def talking(profile: Profile = PI_1_6_0) -> AsyncGenerator[Talk]:
    """A driver without a conversation."""
    async with open_driver(profile) as driver:
        yield Talk(driver)


USER: Message = {"role": "user", "content": "hi", "timestamp": 0}
TOOL: Message = {"name": "a", "label": "a", "description": "tool a", "parameters": {"type": "object"}}
RESULT: Message = {"content": [{"type": "text", "text": "A"}]}


def assistant(*content: Any, stop: str = "stop", **fields: Any) -> Message:
    return {
        "role": "assistant",
        "content": [{"type": "text", "text": block} if isinstance(block, str) else block for block in content],
        "api": "script",
        "provider": "acme",
        "model": "m",
        "usage": {
            "input": 0,
            "output": 0,
            "cacheRead": 0,
            "cacheWrite": 0,
            "totalTokens": 0,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
        },
        "stopReason": stop,
        "timestamp": 0,
        **fields,
    }  # fmt: skip


def call(call_id: str, name: str = "a") -> Message:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": {}}


def done(*content: Any, stop: str = "stop") -> Message:
    return {"type": "done", "reason": stop, "message": assistant(*content, stop=stop)}


CALL = done(call("t1"), stop="toolUse")
BYE = done("bye")
