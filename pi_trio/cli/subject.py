"""`pi-trio subject`: the runtime as a subject, for a tester on the other end of standard input and output, or of a
WebSocket.
"""

from __future__ import annotations

import argparse
import os

from ..profile import PI_1_6_0, PROFILES, Profile, UnknownProfileError, get_profile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--profile",
        type=_profile,
        default=os.environ.get("PI_PROFILE", PI_1_6_0.name),
        help=f"the Pi release to behave as: {', '.join(PROFILES)} (default: PI_PROFILE, or {PI_1_6_0.name})",
    )
    parser.add_argument(
        "--listen", metavar="PORT", nargs="?", type=_port, const=0,
        help="wait for testers at a WebSocket of this machine, one after the other, and print its URL "
        "(without PORT: at any free port)",
    )  # fmt: skip
    parser.add_argument("-v", "--verbose", action="store_true", help="show tracebacks")
    parser.epilog = (
        "It ends with its input; at a WebSocket, and in any case, with Ctrl-C or SIGTERM: exit code 130."
    )


def _port(text: str) -> int:
    value = int(text) if text.isdecimal() else -1
    if not 0 <= value < 65536:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return value


def run(arguments: argparse.Namespace) -> int:
    """Serve until the input ends; at a WebSocket, until Ctrl-C or SIGTERM."""
    if arguments.listen is not None:
        return _listen(arguments)
    from ..conformance.driver.serve import serve_stdio

    serve_stdio(arguments.profile)
    return 0


def _listen(arguments: argparse.Namespace) -> int:
    from ..conformance.driver.listen import serve_websocket
    from ..conformance.verdict import ExitCode
    from .refusing import complain

    try:
        serve_websocket(arguments.profile, arguments.listen, lambda url: print(url, flush=True))
    except OSError as error:
        return complain(f"cannot listen at port {arguments.listen}: {error}", ExitCode.USAGE)
    return 0


def _profile(name: str) -> Profile:
    """The profile of a name on the command line or in the environment."""
    try:
        return get_profile(name)
    except UnknownProfileError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
