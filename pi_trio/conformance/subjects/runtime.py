"""The runtime of this package as a subject in the tester's own process.

The same driver as behind `pi-trio subject`, without pipes and without JSON text between: commands and
messages are handed over as values. Run it under `scheduling.first_in_first_out`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from ...jsonvalue import thaw
from ...profile import get_profile
from ..driver.serve import Driver, hello, open_driver
from ..protocol import Object


class RuntimeSubject:
    """The runtime, ready to be driven."""

    def __init__(self, introduction: Object, driver: Driver) -> None:
        self._introduction = introduction
        self._driver = driver

    @property
    def hello(self) -> Object:
        """How it introduces itself."""
        return self._introduction

    async def request(self, command: Object) -> list[Object]:
        """Send one command; what it causes, and the reply last."""
        return [thaw(message) for message in await self._driver.handle(command)]


@asynccontextmanager
async def open_runtime_subject(profile: str) -> AsyncGenerator[RuntimeSubject]:
    """The runtime as a subject, in the profile of that name.

    Raises:
        UnknownProfileError: there is no such profile.
    """
    known = get_profile(profile)
    async with open_driver(known) as driver:
        yield RuntimeSubject(hello(known), driver)
