"""Ctrl-C, as the tests need it: they can be struck by it, and so can the run as a whole.

A program that is started in the background by a script ignores SIGINT, and so do its children. Then nothing that a test
strikes itself with arrives. And a Ctrl-C that meant the whole run comes out of a nursery in a group, which pytest takes
for a failure like any other.
"""

from __future__ import annotations

import signal
from collections.abc import Generator

import pytest

_BEFORE = pytest.StashKey[object]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_BEFORE] = signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure(config: pytest.Config) -> None:
    signal.signal(signal.SIGINT, config.stash[_BEFORE])  # type: ignore[arg-type]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is not None and _interrupted(call.excinfo.value):
        item.session.shouldstop = f"Ctrl-C in {item.nodeid}"
    return report


def _interrupted(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_interrupted(one) for one in error.exceptions)
    return isinstance(error, KeyboardInterrupt)
