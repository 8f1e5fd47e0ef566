"""What every command says of wrong usage, and how much it shows of a fault."""

from __future__ import annotations

import argparse


class UsageError(Exception):
    """What was asked for makes no sense; the message says why."""


def verbose_argument(parser: argparse.ArgumentParser) -> None:
    """Declare that tracebacks are wanted."""
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks")
