"""A subject in this process, held to account as one outside is.

What it says is checked for its shape, a reply has to come within the tester's patience, and an error that
leaves it, in a request or in a task of its own, is its crash and not the tester's. What it logs is its
stderr: kept, and shown only if it breaks off. (Code that blocks the thread cannot be interrupted from within
it; there only Ctrl-C helps.)
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Final

import trio

from pi_trio.conformance.faults import ProtocolFault, SubjectDied, SubjectFault, SubjectSilent
from pi_trio.conformance.nursery import single_errors
from pi_trio.conformance.protocol import Object, check, check_hello
from pi_trio.conformance.subject import Subject

from .tail import Tail


class _Inside:
    def __init__(self, subject: Subject, patience: float, log: Tail) -> None:
        self._subject = subject
        self._patience = patience
        self._log = log

    @property
    def hello(self) -> Object:
        return self._subject.hello

    async def request(self, command: Object) -> list[Object]:
        try:
            with trio.fail_after(self._patience):
                messages = list(await self._subject.request(command))
        except trio.TooSlowError:
            message = f"no reply to {command['cmd']} within {self._patience:g} seconds"
            raise SubjectSilent(message, stderr=self._log.text()) from None
        except SubjectFault:
            raise
        except Exception as error:
            raise _death(error, self._log) from error
        if [index for index, said in enumerate(messages) if "re" in said] != [len(messages) - 1]:
            raise ProtocolFault("a request has one reply, which comes last")
        for said in messages:
            check(said)
        return messages


@asynccontextmanager
async def open_inside(
    opener: Callable[[], AbstractAsyncContextManager[Subject]], patience: float
) -> AsyncGenerator[Subject]:
    """The subject that `opener` opens, guarded.

    Args:
        opener: makes the subject.
        patience: seconds for each reply.

    Raises:
        SubjectFault: it failed at its start, in a task of its own, or at its end.

    An error of the block itself comes out as it is.
    """
    failed: BaseException | None = None
    with logging_kept("pi_trio") as log:
        try:
            with single_errors():
                async with opener() as subject:
                    check_hello(subject.hello)
                    try:
                        yield _Inside(subject, patience, log)
                    except BaseException as error:
                        failed = error
                        raise
        except SubjectFault:
            raise
        except Exception as error:
            if error is failed:
                raise
            raise _death(error, log) from error


def _death(error: Exception, log: Tail) -> SubjectDied:
    log.add("".join(traceback.format_exception(error)).encode("utf-8", "backslashreplace"))
    return SubjectDied(f"it raised {type(error).__name__}: {error}", stderr=log.text())


class _KeepingHandler(logging.Handler):
    def __init__(self, tail: Tail, propagated: bool) -> None:
        super().__init__()
        self._tail = tail
        self.propagated: Final = propagated

    def emit(self, record: logging.LogRecord) -> None:
        self._tail.add(f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))


@contextmanager
def logging_kept(name: str) -> Generator[Tail]:
    """Inside, what a logger says goes into a tail, and nowhere else."""
    tail = Tail()
    logger = logging.getLogger(name)
    # Several subjects may be open at once, and they need not be closed in the reverse order.
    before = next((each.propagated for each in _keeping(logger)), logger.propagate)
    handler = _KeepingHandler(tail, before)
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield tail
    finally:
        logger.removeHandler(handler)
        if not _keeping(logger):
            logger.propagate = before


def _keeping(logger: logging.Logger) -> list[_KeepingHandler]:
    return [handler for handler in logger.handlers if isinstance(handler, _KeepingHandler)]
