"""A trace as a sequence that a person can read from top to bottom: numbered commands, and under each what followed.

A listener or hook that a rule answers with nothing is answered at once, and that answer says nothing; so it is not
shown unless everything is wanted. The numbers stay those of the trace. A golden trace is shown with both sides: what
only the runtime says is marked `+`, what only the release says `-`, each with its ruling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from pi_trio.conformance.lines import is_ask
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Entry, Golden
from pi_trio.conformance.scenario import Scenario

from .prose import clean, heard, sent

_STYLES: Final = {"=": "", "+": "green", "-": "red"}


def show_sequence(
    console: Console,
    scenario: Scenario,
    lines: Sequence[Object],
    source: str,
    *,
    everything: bool,
    words: Mapping[int, str] | None = None,
) -> None:
    """Print a trace.

    Args:
        source: whose trace it is.
        everything: show empty answers and empty replies too.
        words: by the index of a line, what an error in it says in full, where the trace has that as a host's text.
    """
    entries = [Entry("=", line) for line in lines]
    _show(console, scenario, source, entries, everything=everything, words=words or {})


def show_golden(
    console: Console, scenario: Scenario, golden: Golden, *, everything: bool, cancelling: bool = False
) -> None:
    """Print a golden trace. Lines that differ are always shown.

    Args:
        cancelling: it is one of aborts that cancel, whose two sides are modes of the runtime.
    """
    release, runtime = f"pi {golden.release}", "the runtime"
    if cancelling:
        release, runtime = (
            f"the runtime as {release}, where an abort is advice",
            "the same, where it cancels",
        )
    source = f"- {release}   + {runtime}"
    _show(console, scenario, source, golden.entries, everything=everything, marked=True)


def _show(
    console: Console,
    scenario: Scenario,
    source: str,
    entries: Iterable[Entry],
    *,
    everything: bool,
    marked: bool = False,
    words: Mapping[int, str] | None = None,
) -> None:
    console.print(Text.assemble((scenario.name, "bold"), f"  {scenario.title}"), soft_wrap=True)
    console.print(Text(source, style="dim"), soft_wrap=True)
    console.print()
    for text in _rows(entries, everything=everything, marked=marked, words=words or {}):
        console.print(text, soft_wrap=True)


def _rows(
    entries: Iterable[Entry], *, everything: bool, marked: bool, words: Mapping[int, str]
) -> Iterator[Text]:
    step = 0
    for index, entry in enumerate(entries):
        line = entry.line
        step += "send" in line
        if everything or entry.mark != "=" or not _says_nothing(line):
            row = _command(line["send"], step) if "send" in line else _reaction(line)
            if entry.mark != "=":
                row.append(f"   {entry.ruling or '(no ruling yet)'}", style="bold")
            mark = "" if not marked else "  " if entry.mark == "=" else f"{entry.mark} "
            yield Text.assemble(mark, row, style=_STYLES[entry.mark])
            if index in words:
                yield Text(f"{'':29}in full: {clean(words[index])}")


def _command(command: Object, step: int) -> Text:
    name, what = sent(command)
    return Text.assemble((f"{step:4}  ", "dim"), (f"{name:14}", "bold cyan"), " ", what)


def _reaction(line: Object) -> Text:
    who, what = heard(line)
    if "end" in line:
        return Text.assemble(
            "\n", ("      ends ", "dim"), (what, "bold" if what == "settled" else "bold red")
        )
    style = "green" if is_ask(line) else "red" if "error" in line or "unresolved" in line else ""
    return Text.assemble("        ", (f"{who:20}", style), " ", what)


def _says_nothing(line: Object) -> bool:
    """A reply, or an answer, with nothing in it. (A tool that returns nothing is worth a line.)"""
    if "send" not in line:
        return line == {"reply": None}
    command = line["send"]
    empty = "value" not in command and "throw" not in command
    return bool(command["cmd"] == "answer" and empty and command["ask"]["fn"] != "execute")
