"""A conversation with the adapter over raw lines, and the vocabulary of what is said in it.

The tester of the package has a client of its own. This one is independent of it, so that a fault in either
shows.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import trio

from pi_trio.conformance.subjects.pi_releases import PiInstall, command_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Message = dict[str, Any]

SHORT = {
    "agent_start": "AS",
    "agent_end": "AE",
    "turn_start": "TS",
    "turn_end": "TE",
    "message_start": "ms",
    "message_update": "mu",
    "message_end": "me",
    "tool_execution_start": "ts",
    "tool_execution_update": "tu",
    "tool_execution_end": "te",
}


class Talk:
    """One adapter process. `said` are all messages so far that are no replies."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self.said: list[Message] = []
        self.open: list[Message] = []
        self._id = 0
        self._rest = b""

    async def hear(self) -> Message:
        """The next message."""
        while b"\n" not in self._rest:
            chunk = await self.process.stdout.receive_some()
            assert chunk, "the adapter ended"
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        message: Message = json.loads(line)
        return message

    async def write(self, text: str) -> None:
        await self.process.stdin.send_all(text.encode())

    async def reply_of(self, number: int) -> Message:
        """Reads up to the reply with that number, and keeps the rest."""
        while True:
            message = await self.hear()
            if message.get("re") == number:
                return message
            self.said.append(message)
            if "fn" in message:
                self.open.append(message)

    async def reply(self, cmd: str, **fields: Any) -> Message:
        """Sends a command; its reply."""
        self._id += 1
        await self.write(json.dumps({"id": self._id, "cmd": cmd, **fields}) + "\n")
        return await self.reply_of(self._id)

    async def do(self, cmd: str, **fields: Any) -> Any:
        """Sends a command that must succeed; its value."""
        reply = await self.reply(cmd, **fields)
        assert "error" not in reply, reply
        return reply["ok"]

    async def create(self, **fields: Any) -> None:
        self.said, self.open = [], []
        assert await self.do("create", **fields) is None

    async def answer(self, ask: Any, value: Any = None, **fields: Any) -> None:
        if value is not None:
            fields["value"] = value
        assert await self.do("answer", ask=ask, **fields) is None

    async def settle(self, *held: str) -> None:
        """Answers with nothing what is open, oldest first, except streams, tools and the functions `held`."""
        while True:
            asked = [ask for ask in self.open if ask["fn"] not in {"streamFn", "execute", *held}]
            if not asked:
                return
            self.open.remove(asked[0])
            await self.answer(asked[0]["ask"])

    async def stream(self, events: list[Message], nth: int = 0, *held: str) -> None:
        """Answers the nth request with a stream, pushes the events, and settles after each."""
        address = {"fn": "streamFn", "nth": nth}
        await self.answer(address, "stream")
        for event in events:
            await self.do("push", ask=address, event=event)
            await self.settle(*held)

    def since(self, mark: int = 0) -> str:
        """What was said after the first `mark` messages, in short."""
        names = {message["ask"]: short(message) for message in self.said if "fn" in message}
        return " ".join(
            f"signal({names[message['ask']]})" if message.get("tell") == "signal" else short(message)
            for message in self.said[mark:]
        )


def short(message: Message) -> str:
    """One message in a few letters: `ts1`, `[execute t1]`, and `~` behind it if its signal was raised."""
    if "tell" in message:
        values = (str(message[key]) for key in message if key not in {"event", "state", "args"})
        return f"({' '.join(values)})"
    aborted = "~" if message.get("aborted") else ""
    key = message.get("key")
    if message["fn"] != "listener":
        return f"[{message['fn']}{f' {key}' if key else ''}]{aborted}"
    event = message["args"]["event"]
    call = event.get("toolCallId", "")[1:]
    failed = "!" if event.get("isError") else ""
    return f"{'' if key == 'L' else key + ':'}{SHORT[event['type']]}{call}{failed}{aborted}"


@asynccontextmanager
async def talking(install: PiInstall, profile: str | None = None) -> AsyncGenerator[Talk]:
    """An adapter that has said its hello; that is `said[0]` until the first `create`."""
    process = await trio.lowlevel.open_process(
        command_of(install, profile), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    try:
        async with process.stdin:
            talk = Talk(process)
            talk.said.append(await talk.hear())
            yield talk
        with trio.fail_after(20):
            assert await process.wait() == 0
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            await process.stdout.aclose()


MODEL = {
    "id": "m",
    "name": "m",
    "api": "scripted",
    "provider": "scripted",
    "baseUrl": "",
    "reasoning": False,
    "input": ["text"],
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
    "contextWindow": 1000,
    "maxTokens": 100,
}
USAGE = {
    "input": 0,
    "output": 0,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 0,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
}
TOOLS = [
    {
        "name": name,
        "label": name.upper(),
        "description": f"tool {name}",
        "parameters": {"type": "object", "properties": {"x": {"type": "string"}}},
    }
    for name in "abc"
]
USER = {"role": "user", "content": [{"type": "text", "text": "hi"}], "timestamp": 0}


def text(content: str) -> Message:
    return {"type": "text", "text": content}


def call(number: int, tool: str, **arguments: Any) -> Message:
    return {"type": "toolCall", "id": f"t{number}", "name": tool, "arguments": arguments}


def assistant(*content: Message, stop: str = "stop", **fields: Any) -> Message:
    return {
        "role": "assistant",
        "content": list(content),
        "api": "scripted",
        "provider": "scripted",
        "model": "m",
        "usage": USAGE,
        "stopReason": stop,
        "timestamp": 0,
        **fields,
    }


def start() -> Message:
    return {"type": "start", "partial": assistant()}


def delta(content: str) -> Message:
    return {"type": "text_delta", "contentIndex": 0, "delta": content, "partial": assistant(text(content))}


def done(*content: Message, stop: str = "stop") -> Message:
    return {"type": "done", "reason": stop, "message": assistant(*content, stop=stop)}


def failed(reason: str, message: str) -> Message:
    error = assistant(stop=reason, errorMessage=message)
    return {"type": "error", "reason": reason, "error": error}


def result(content: str) -> Message:
    return {"content": [text(content)], "details": {}}
