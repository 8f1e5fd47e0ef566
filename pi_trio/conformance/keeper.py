"""Keeps a subject at hand through many scenarios, and starts it anew when one of them has broken it.

A subject that crashes loses that scenario and no other. Each subject lives in a task of its own, because it
is opened and closed at moments that its user does not choose, and two of them may be in use at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

import attrs
import trio

from ..happening import Happening
from .faults import SubjectFault, SubjectUnstartable
from .lockstep import Guide, Run, drive
from .nursery import single_errors
from .protocol import Object
from .scenario import Scenario
from .subject import Subject

Opener: TypeAlias = Callable[[], AbstractAsyncContextManager[Subject]]
"""Opens a subject anew each time it is called."""


@attrs.define(eq=False)
class _Job:
    """A scenario to run (None: only start the subject, or end it), and what came of it."""

    scenario: Scenario | None = None
    guide: Guide | None = None
    tapped: bool = True
    """What goes over the wire is kept."""
    last: bool = False
    """The subject is to be ended behind it."""
    run: Run | None = None
    error: Exception | None = None
    done: Happening = attrs.field(factory=Happening)


class Keeper:
    """A subject that is there when it is needed; made by `open_keeper`."""

    def __init__(self, opener: Opener, jobs: trio.MemorySendChannel[_Job], *, strict: bool) -> None:
        self._opener = opener
        self._jobs = jobs
        self._strict = strict
        self._hello: Object = {}

    @property
    def hello(self) -> Object:
        """How the subject introduced itself; empty until it was started."""
        return self._hello

    async def start(self) -> None:
        """Start the subject, if it does not run.

        Raises:
            SubjectUnstartable: it cannot be started.
        """
        await self._ask(_Job())

    async def rest(self) -> None:
        """End the subject until it is needed again."""
        await self._ask(_Job(last=True))

    async def drive(self, scenario: Scenario, guide: Guide | None = None, *, tapped: bool = True) -> Run:
        """Run one scenario; see `lockstep.drive`.

        Raises:
            SubjectUnstartable: the subject cannot be started (again).
        """
        run = await self._ask(_Job(scenario, guide, tapped=tapped))
        assert run is not None
        return run

    async def _ask(self, job: _Job) -> Run | None:
        await self._jobs.send(job)
        await job.done.wait()
        if job.error is not None:
            raise job.error
        return job.run

    async def serve(self, jobs: trio.MemoryReceiveChannel[_Job]) -> None:
        """Do the jobs, one subject after the other, until there are no more."""
        async for job in jobs:
            current = job
            try:
                async with self._opener() as subject:
                    self._hello = subject.hello
                    while await self._do(current, subject):
                        try:
                            current = await jobs.receive()
                        except trio.EndOfChannel:
                            return
            except Exception as error:
                # Of a subject that broke off its errors are known already; of one at rest this is news.
                if (
                    current.done.is_set()
                    and current.error is None
                    and (current.run is None or current.run.fault is None)
                ):
                    raise
                _resolve(current, error)

    async def _do(self, job: _Job, subject: Subject) -> bool:
        """Do one job; whether the subject can do another."""
        try:
            if job.scenario is not None:
                job.run = await drive(
                    job.scenario, subject, strict=self._strict, guide=job.guide, tapped=job.tapped
                )
        except Exception as error:  # the tester's own
            job.error = error
        job.done.set()
        return not job.last and job.error is None and (job.run is None or job.run.fault is None)


def _resolve(job: _Job, error: Exception) -> None:
    """Close a job that was cut off: by a subject that could not be started, or that failed from within."""
    if job.done.is_set():
        return
    if (
        job.scenario is not None
        and isinstance(error, SubjectFault)
        and not isinstance(error, SubjectUnstartable)
    ):
        job.run = Run(scenario=job.scenario, lines=({"end": error.end},), fault=error, ignored=Counter())
    else:
        job.error = error
    job.done.set()


@asynccontextmanager
async def open_keeper(opener: Opener, *, strict: bool = False) -> AsyncGenerator[Keeper]:
    """Keep the subject that `opener` opens: started when it is first needed, closed with the block."""
    send, receive = trio.open_memory_channel[_Job](0)
    with single_errors():
        async with trio.open_nursery() as nursery, send:
            keeper = Keeper(opener, send, strict=strict)
            nursery.start_soon(keeper.serve, receive)
            yield keeper
