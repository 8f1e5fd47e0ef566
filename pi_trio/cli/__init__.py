"""The command line `pi-trio`: finds the command, imports it, and turns what it ends with into an exit code.

Each command is a module of its own with `add_arguments(parser)`, which declares what it takes, and
`run(arguments)`, which does it and returns the exit code. A module is imported only when its command is
called, so `pi-trio --help` is quick and a command that needs an extra says so when it is used, not before.
"""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Final

from pi_trio.conformance.termination import hear_no_more, sigterm_as_ctrl_c

COMMANDS: Final = {
    "conform": ("conform", "judge an implementation of the Pi agent protocol"),
    "fuzz": ("fuzz", "make conversations up, and look for faults in them"),
    "replay": ("replay", "play again what fuzz has found"),
    "fit": ("fit", "tell which release an implementation behaves as, field by field"),
    "scopes": ("scopes", "play small scopes whole: every order, every schedule"),
    "explain-run": ("explain_run", "show what happens in one scenario, as a sequence to read"),
    "check": ("check", "judge a log of events"),
    "explain": ("explain", "show a clause, a surprise or a ruling of the spec"),
    "list": ("list_clauses", "list the clauses of the spec"),
    "revisions": ("revisions", "tell what changed from one release to another, clause by clause"),
    "mutants": ("mutants", "prove that the suite can fail, by subjects that break one clause each"),
    "vectors": ("vectors", "record what a real Pi release does, and compare anew"),
    "run": ("run", "ask a model, and show its answer as it comes"),
    "serve": ("serve", "serve models to others, by Pi's proxy protocol"),
    "subject": ("subject", "speak the driver protocol on stdin and stdout, as a subject"),
}

USAGE: Final = 2
HARNESS: Final = 4
INTERRUPTED: Final = 130

_EXIT_CODES: Final = """\
exit codes:
  0    conformant, or done
  1    not conformant, or different
  2    wrong usage (also a selection that selects nothing, an extra that is missing)
  3    the subject did not start
  4    a fault of the tester
  130  interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: what stands behind `pi-trio`; without it, the arguments of this process.

    Returns:
        The exit code. Ctrl-C and SIGTERM give 130 from here on, however often they come; before this is called, while
        Python imports the package, they do what they always do. (In another thread than the main one there are no
        signals.)

    Raises:
        SystemExit: after --help, --version, and wrong usage.
    """
    try:
        in_main = threading.current_thread() is threading.main_thread()
        with sigterm_as_ctrl_c() if in_main else nullcontext():
            try:
                return _main(arguments)
            finally:
                if arguments is None and in_main:
                    hear_no_more()  # the process ends with this, and what it ends with has been told
    except KeyboardInterrupt:  # another one, while the first was still being told
        return INTERRUPTED


def _main(arguments: Sequence[str] | None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character still gets the others
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    if not given:
        parser.print_help()
        return USAGE
    if given[0] not in COMMANDS:
        # --help, --version, what is wrong with it, or the command's name behind a `--`.
        given = [parser.parse_args(given).command]
    try:
        return _run(given[0], given[1:])
    except BaseException as caught:
        error = _by_itself(caught)
        if isinstance(error, BrokenPipeError):
            # Whoever read the output has had enough; nothing more can be said there.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        if arguments is None and _interrupted(error):
            hear_no_more()  # the process ends with this
        return _mishap(given[0], error, verbose=not {"-v", "--verbose"}.isdisjoint(given))


def _run(name: str, given: Sequence[str]) -> int:
    """Import a command, and run it."""
    module, summary = COMMANDS[name]
    command = import_module(f"pi_trio.cli.{module}")
    parser = argparse.ArgumentParser(
        prog=f"pi-trio {name}",
        description=f"{summary[0].upper()}{summary[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    code: int = command.run(parser.parse_intermixed_args(given))
    if sys.stdout is not None:  # as it is where a shell has closed it
        sys.stdout.flush()
    return code


def _mishap(name: str, error: BaseException, *, verbose: bool) -> int:
    """Say what went wrong, and with which code. A fault of pi-trio itself shows its traceback to who asks for it."""
    if _interrupted(error):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    if not isinstance(error, Exception):
        raise error
    extra = (
        _EXTRAS.get((error.name or "").partition(".")[0]) if isinstance(error, ModuleNotFoundError) else None
    )
    if extra is not None:
        print(
            f"pi-trio {name} needs more than the runtime does: pip install 'pi_trio[{extra}]'",
            file=sys.stderr,
        )
        return USAGE
    full = isinstance(error, OSError) and error.errno == errno.ENOSPC and error.filename is None
    if verbose and not full:
        traceback.print_exception(error)
    if isinstance(error, OSError) and error.filename is not None:
        # Of the files that are touched nearly all are named by the user.
        print(f"pi-trio: {error.filename}: {error.strerror}", file=sys.stderr)
        return USAGE
    if full:
        print(
            f"pi-trio: what there is to say cannot be written: {os.strerror(errno.ENOSPC)}", file=sys.stderr
        )
        return HARNESS
    hint = "" if verbose else "; --verbose shows the traceback"
    print(f"pi-trio: a fault of pi-trio itself: {type(error).__name__}: {error}{hint}", file=sys.stderr)
    return HARNESS


_EXTRAS: Final[dict[str, str]] = {
    **dict.fromkeys(("rich", "filelock", "hypothesis", "platformdirs", "trio_websocket"), "conformance"),
    **dict.fromkeys(("h11", "httpx", "zstandard"), "models"),
}
"""Modules that an extra brings."""


def _by_itself(error: BaseException) -> BaseException:
    """The error that nurseries have wrapped, if it is one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _interrupted(error: BaseException) -> bool:
    """Whether this is Ctrl-C, also if nurseries have wrapped it, or trio itself was hit at the wrong moment."""
    if isinstance(error, BaseExceptionGroup):
        return any(_interrupted(inner) for inner in error.exceptions)
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


def _parser() -> argparse.ArgumentParser:
    from pi_trio._version import __version__

    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:{width}}  {summary}" for name, (_, summary) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="pi-trio",
        description="The Pi agent protocol in structured concurrency: judge implementations, and follow what they do.",
        epilog=f"commands:\n{listed}\n\n`pi-trio COMMAND --help` explains a command.\n\n{_EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"pi_trio {__version__}")
    parser.add_argument("command", metavar="COMMAND", choices=tuple(COMMANDS), help="what to do")
    return parser
