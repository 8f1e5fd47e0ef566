"""What every command says of wrong usage, and how much it shows of a fault."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Generator
from contextlib import contextmanager


class UsageError(Exception):
    """What was asked for makes no sense; the message says why."""


def verbose_argument(parser: argparse.ArgumentParser) -> None:
    """Declare that tracebacks are wanted."""
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks")


@contextmanager
def quiet_log(*, verbose: bool) -> Generator[None]:
    """Inside, what the runtime logs is not on standard error, unless it is wanted: the command says what matters."""
    log, unheard = logging.getLogger("pi_trio"), logging.NullHandler()
    if not verbose:
        log.addHandler(unheard)
    try:
        yield
    finally:
        log.removeHandler(unheard)
