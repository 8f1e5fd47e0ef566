"""`pi-trio check`: judges recorded logs by the clauses, or one that is just being written."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from pi_trio.conformance.clauses import read_clauses
from pi_trio.conformance.logs import (
    LONGEST,
    MEGABYTE,
    Basis,
    Checked,
    LogCheck,
    Remark,
    UnreadableError,
    open_log,
)
from pi_trio.conformance.report.checked import Teller, checked_document, show_logs
from pi_trio.conformance.report.prose import one_line
from pi_trio.conformance.report.terminal import make_console

from .amounts import amount_of
from .candidates import checked_profile
from .material import spec_argument, vectors_of
from .places import json_argument, write_json
from .refusing import refusing
from .usage import UsageError

STDIN: Final = "-"
_LABELS: Final[dict[str, str]] = {STDIN: "stdin", "stdin": "./stdin"}
"""What a log is called, where not by its path: there may be a file of the name that standard input has here."""

_MORE: Final = """\
A log is a file of JSON lines, which gzip may have packed. Each line says what it is:
  {"type":"agent_start"}     an event of an agent, as an implementation writes it
  {"type":"session",…}       what `pi --mode json` prints, of any of the releases
  {"send":…} {"ask":…}       a trace, such as a vector or `pi-trio explain-run --jsonl`
  {"id":1,"cmd":…} {"re":1}  the wire of the driver protocol, both sides as they went, or
                             the subject's alone, of which less can be told
  {"type":"text_delta",…}    what a provider says, in a log of its own: the events of
                             responses, each with its message at the end

Which release a log follows is found out, unless --profile says it, or the log itself
does. A log may end anywhere, but for --complete. A line that cannot be read is a
fault, and the log is judged on behind it.

examples:
  pi-trio check events.jsonl                     one log
  pi-trio check logs/*.jsonl --profile pi-1.0.3  many, as a release
  my-agent | tee events.jsonl | pi-trio check -  while it is written; Ctrl-C ends it
  pi --mode json "Hello" | pi-trio check -       Pi itself

exit codes:
  0 conformant   1 a clause is broken, a line unreadable, or there is nothing to judge
  2 wrong usage, or no such file     4 fault of pi-trio     130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    parser.add_argument("logs", metavar="LOG", nargs="+", help="a file, or - for standard input")
    parser.add_argument(
        "--profile",
        help="what the logs follow: pi-0.85.0, or a composite such as pi-0.85.0,prepare_next_turn=pi-0.80.2",
    )
    parser.add_argument(
        "--complete", action="store_true", help="a log that ends in the middle of a run has a fault"
    )
    parser.add_argument(
        "--midway",
        action="store_true",
        help="a log may begin in the middle of a run, like the tail of another; up to the next run it is then "
        "judged only as far as can be told, and so are calls that may have begun before it",
    )
    parser.add_argument(
        "--longest-line",
        type=_megabytes,
        default=LONGEST,
        metavar="MB",
        help=f"how long a line may be, in megabytes of {MEGABYTE:,} bytes ({LONGEST // MEGABYTE} if it is not said); a "
        "longer one is told as unreadable, and the log is judged on behind it",
    )
    spec_argument(parser)
    json_argument(parser, "what was found")
    parser.add_argument(
        "-v", "--verbose", action="store_true",
        help="show every finding, also what is as Pi does it, a line for each log, and tracebacks",
    )  # fmt: skip


@refusing
def run(options: argparse.Namespace) -> int:
    """Read, judge, print, and return the exit code."""
    clauses = read_clauses(vectors_of(options).spec)
    basis = (
        Basis.of_releases(clauses)
        if options.profile is None
        else Basis.of_profile(clauses, checked_profile(options.profile))
    )
    for path in options.logs:
        _check_file(path)
    console = make_console()
    teller = Teller(console, clauses, verbose=options.verbose)
    logs = _read(options, basis, teller)
    code = show_logs(console, logs, teller, verbose=options.verbose)
    if options.json is not None:
        write_json(options.json, checked_document(logs, teller, clauses))
    return code


def _megabytes(text: str) -> int:
    """So many megabytes, in bytes. Raises: argparse.ArgumentTypeError: that is no size."""
    return min(int(amount_of("megabytes")(text) * MEGABYTE), sys.maxsize - 1) or 1


def _check_file(path: str) -> None:
    """Raises: UsageError: nobody can read there."""
    if path == STDIN:
        if sys.stdin is None:
            raise UsageError("-: there is no standard input")
        return
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            raise UsageError(one_line(f"{path}: that is a folder"))
        if not os.access(path, os.R_OK):
            raise UsageError(one_line(f"{path}: it may not be read"))
    except ValueError:  # in words that differ between versions of Python
        raise UsageError(one_line(f"{path}: a null byte is in the name")) from None
    except OSError as error:
        raise UsageError(one_line(f"{path}: {error.strerror or error}")) from None


def _read(options: argparse.Namespace, basis: Basis, teller: Teller) -> dict[str, Checked]:
    """What came of each log, as far as they were read."""
    logs: dict[str, Checked] = {}
    paths: list[str] = options.logs
    for path in dict.fromkeys(paths):
        label = _LABELS.get(path, path)
        say = teller.of(label)
        check = LogCheck(
            basis, say, complete=options.complete, midway=options.midway, longest=options.longest_line
        )
        interrupted = False
        try:
            with (
                open_log(path, options.longest_line) as (file, place),
                _progress(teller, path, place) as tick,
            ):
                check.read(file, tick)
        except KeyboardInterrupt:
            interrupted = True
        except UnreadableError as error:
            logs[label] = check.end()
            logs[label].remarks["unreadable"] += 1
            say(Remark(1, "unreadable", str(error)))
            continue
        logs[label] = check.end(interrupted=interrupted)
        if interrupted:
            break
    return logs


@contextmanager
def _progress(teller: Teller, path: str, place: Callable[[], int]) -> Generator[Callable[[], object]]:
    """A bar for a file, by its bytes; only on a terminal. What is told meanwhile stands above it."""
    size = os.stat(path).st_size if path != STDIN else 0
    if not size or not make_console(stderr=True).is_terminal:
        yield lambda: None
        return
    console = Console(markup=False, highlight=False, emoji=False, stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task(one_line(os.path.basename(path))[-30:], total=size)
        out = teller.console
        teller.console = console if out.is_terminal else out
        try:
            yield lambda: bar.update(task, completed=place())
        finally:
            teller.console = out
