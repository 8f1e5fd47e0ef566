"""The subjects that a user can name, each as something that opens it anew whenever it is needed.

The runtime can be reached in this process, where it is fast, and as a program of its own, where the wire is
judged too. A release of Pi is installed first, if need be. Any other implementation is a command line, to
which the profile is added, or a WebSocket at which it waits.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from pi_trio.conformance.keeper import Opener

from .inside import open_inside
from .process import open_process_subject


def runtime_inside(profile: str, patience: float) -> Opener:
    """The runtime of this package, in this process. To be driven under `first_in_first_out()`."""
    from .runtime import open_runtime_subject

    return partial(open_inside, partial(open_runtime_subject, profile), patience)


def runtime_process(profile: str, patience: float) -> Opener:
    """The runtime of this package, as a program that speaks the driver protocol."""
    command = [sys.executable, "-m", "pi_trio.cli", "subject", "--profile", profile]
    return partial(open_process_subject, command, profile=profile, patience=patience)


def program(command_line: str, profile: str, patience: float) -> Opener:
    """Any implementation, started by a command line. It is split as a shell would, but no shell runs it.

    A profile composed of several releases is the tester's affair: the subject is told the first of them.

    Raises:
        ValueError: a quotation in it is not closed, or it is empty.
    """
    words = shlex.split(command_line)
    if not words:
        raise ValueError("the command line of a program is needed")
    base = profile.partition(",")[0]
    return partial(open_process_subject, [*words, "--profile", base], profile=base, patience=patience)


def websocket(url: str, patience: float) -> Opener:
    """Any implementation that waits for testers at a WebSocket.

    Raises:
        ValueError: that is not the URL of one.
    """
    from .websocket import open_websocket_subject

    if not url.isascii() or not url.isprintable() or " " in url:  # which `urlsplit` lets pass, or leaves out
        raise ValueError("a URL is ASCII, without blanks; write other characters as %XX")
    parts = urlsplit(url)
    if parts.port == 0:
        raise ValueError("the port of a WebSocket is a number from 1 to 65535")
    if parts.scheme not in ("ws", "wss") or not parts.hostname:
        raise ValueError("the URL of a WebSocket begins with ws:// or wss:// and has a host")
    return partial(open_websocket_subject, url, patience=patience)


async def release_of_pi(reference: str, patience: float, report: Callable[[str], None]) -> tuple[str, Opener]:
    """A release of Pi, by its number or from a folder, and that number.

    Args:
        report: told what the installation is about, in short lines.

    Raises:
        SubjectUnavailable: it cannot be had; the message says what to do.

    Cancellation ends an installation and leaves nothing half-made.
    """
    from .pi_releases import command_of, obtain_pi

    install = await obtain_pi(reference, report=report)
    profile = f"pi-{install.release}"
    opener = partial(open_process_subject, command_of(install, profile), profile=profile, patience=patience)
    return install.release, opener
