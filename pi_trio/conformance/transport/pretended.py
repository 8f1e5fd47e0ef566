"""A provider that is none: it answers the requests of a case with the case's bytes, without a socket.

It stands below the client that an adapter sends its requests with, so everything above is played as it is: tries,
pauses, the events of the stream, the reading of them. What it says it says at once; where a case raises the signal,
that is done when the adapter asks for more than was said.
"""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import httpx
import trio

ADDRESS: Final = "http://server"
"""What `{server}` stands for in the base URL of a case."""

_USED_UP: Final[dict[str, Any]] = {
    "status": 599,
    "headers": {},
    "steps": ["the case has no more answers"],
    "end": "end",
}


class PretendedProvider(httpx.AsyncBaseTransport):
    """Answers in the order of a case.

    Args:
        answers: of the case.
        abort: raises the signal of the call that is under way.

    Attributes:
        requests: what was asked: the path and the body of each request.
    """

    def __init__(self, answers: list[dict[str, Any]], abort: Callable[[], object]) -> None:
        self._answers = iter(answers)
        self._abort = abort
        self.requests: Final[list[dict[str, Any]]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """As `httpx` asks. A checkpoint."""
        await trio.lowlevel.checkpoint()
        body = await request.aread()
        self.requests.append({"target": request.url.raw_path.decode(), "body": json.loads(body)})
        answer = next(self._answers, _USED_UP)
        return httpx.Response(answer["status"], headers=answer["headers"], stream=_Body(answer, self._abort))


class _Body(httpx.AsyncByteStream):
    """The body of an answer, chunk by chunk."""

    def __init__(self, answer: dict[str, Any], abort: Callable[[], object]) -> None:
        self._answer = answer
        self._abort = abort

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for step in self._answer["steps"]:
            await trio.lowlevel.checkpoint()
            if isinstance(step, str):
                yield step.encode("utf-8", "surrogatepass")
            elif "b64" in step:
                yield base64.b64decode(step["b64"])
            else:
                self._abort()
                await trio.sleep_forever()
        if self._answer["end"] != "end":
            raise httpx.ReadError("the connection is closed")
