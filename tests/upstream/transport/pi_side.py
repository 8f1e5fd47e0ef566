"""Real pi-ai as one side of the lockstep: a Node process that runs many cases at once."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import trio

from pi_trio.conformance.subjects.pi_releases import PiInstall

from .cases import Case

SCRIPT = Path(__file__).with_name("pi_ai.mjs")


class StrayFailureError(AssertionError):
    """The process has ended early, or something in it failed that no case was told of."""


@attrs.define
class PiSide:
    """The process: `run` gives it a case, `wait` says that the server is waiting."""

    _process: trio.Process
    _results: dict[int, Any] = attrs.field(factory=dict)
    _happened: dict[tuple[str, int], trio.Event] = attrs.field(factory=dict)
    _ended: bool = False
    _sending: trio.Lock = attrs.field(factory=trio.Lock)

    async def run(self, case: Case, number: int) -> Any:
        """The result of a case whose base URL is the server's."""
        await self._ask({"run": case, "id": number}, ("result", number))
        return self._results.pop(number)

    async def wait(self, number: int, kind: str) -> None:
        """Return when the case's client has done all that it can; "abort" raises its signal then."""
        await self._ask({"wait": number, "kind": kind}, ("waited", number))

    async def _ask(self, message: dict[str, Any], reply: tuple[str, int]) -> None:
        self._happened[reply] = happened = trio.Event()
        assert self._process.stdin is not None
        async with self._sending:
            await self._process.stdin.send_all(f"{json.dumps(message)}\n".encode())
        await happened.wait()
        if self._ended:
            raise StrayFailureError("the Node process has ended")

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        rest = b""
        async for data in self._process.stdout:
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._heard(json.loads(line))
        self._ended = True
        for happened in self._happened.values():
            happened.set()

    def _heard(self, message: dict[str, Any]) -> None:
        if "stray" in message:
            raise StrayFailureError(message["stray"])
        if "waited" in message:
            self._happened.pop(("waited", message["waited"])).set()
        elif "result" in message:
            self._results[message["id"]] = message["result"]
            self._happened.pop(("result", message["id"])).set()


@asynccontextmanager
async def open_pi(pi: PiInstall, environment: Mapping[str, str] | None = None) -> AsyncIterator[PiSide]:
    """The adapters of this release, ready to be driven; `environment` is added to an empty one."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT", "TEMP") if name in os.environ}
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            [str(pi.node.path), str(SCRIPT), str(pi.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**kept, **(environment or {})},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        side = PiSide(process)
        try:
            nursery.start_soon(side._listen)
            yield side
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()
                await process.stdin.aclose()
                await process.stdout.aclose()
            nursery.cancel_scope.cancel()
