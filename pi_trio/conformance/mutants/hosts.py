"""Host classes: what an implementation's language and runtime let a tester see of it.

Pi runs on one thread, in an order that is always the same; it awaits its listeners; and its adapter knows when it is at
rest. Not everybody has that. The less is seen, the more may be wrong unseen, and how much that is has to be known: so
each mutant is judged in the clothes of each class.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import attrs
import trio

from ..keeper import Opener
from ..protocol import Object
from ..subject import Subject


@attrs.frozen(kw_only=True)
class Host:
    """A class of hosts.

    Attributes:
        name: in one or two words.
        title: what is special there.
        limit: what is not seen there for that.
        hello: what a subject there says of itself, besides what it says anyway.
        features: the same of its features.
        own_way: scenarios are played in another way there, so that the runtime has to be asked what is expected.
    """

    name: str
    title: str
    limit: str = ""
    hello: Object = attrs.field(factory=dict[str, object])
    features: Object = attrs.field(factory=dict[str, object])
    own_way: bool = False

    def clothe(self, opener: Opener) -> Opener:
        """The subject that `opener` opens, which says that it is of this class."""
        if not self.hello and not self.features:
            return opener

        clothed = _Unquiet if self.hello.get("quiescence") == "none" else _Clothed

        @asynccontextmanager
        async def opened() -> AsyncGenerator[Subject]:
            async with opener() as subject:
                yield clothed(subject, self)

        return opened


class _Clothed:
    """A subject that says something else of itself."""

    def __init__(self, inner: Subject, host: Host) -> None:
        self._inner = inner
        features = {**inner.hello.get("features", {}), **host.features}
        self._hello: Object = {**inner.hello, **host.hello, "features": features}

    @property
    def hello(self) -> Object:
        return self._hello

    async def request(self, command: Object) -> list[Object]:
        return await self._inner.request(command)


class _Unquiet(_Clothed):
    """One that replies before it has said anything. That nothing more comes is known here, so nobody has to wait."""

    patience: Final = 1.0

    def __init__(self, inner: Subject, host: Host) -> None:
        super().__init__(inner, host)
        self._unsaid: deque[Object] = deque()

    async def request(self, command: Object) -> list[Object]:
        if command["cmd"] == "create":
            self._unsaid.clear()
        *said, reply = await self._inner.request(command)
        self._unsaid += said
        return [reply]

    async def more(self, until: float) -> Object | None:  # noqa: ARG002
        await trio.lowlevel.checkpoint()
        return self._unsaid.popleft() if self._unsaid else None


HOSTS: Final = (
    Host(name="total", title="order inside a step is Pi's own, as on one thread"),
    Host(
        name="partial",
        title="order inside a step is free between calls, as with threads",
        limit="What one call does is arranged between what others do as it was expected, so no order of that is wrong.",
        hello={"order": "partial"},
    ),
    Host(
        name="sync",
        title="listeners are called and not awaited",
        limit="No listener holds anything up or fails a run, so nothing of what would come of that is played.",
        features={"listeners": "sync"},
        own_way=True,
    ),
    Host(
        name="unquiet",
        title="nobody knows when the subject is at rest",
        limit=(
            "A scenario is over with the first thing that does not come as expected, so that is all there is to judge "
            "by; and what comes too early is heard when it is due."
        ),
        hello={"quiescence": "none"},
    ),
)
"""From the most to the least that can be seen."""

BEST: Final = HOSTS[0]
"""In this class every mutant has to be killed."""
