"""A trace as a sequence that a person can read from top to bottom: numbered commands, and under each what followed.

A listener or hook that a rule answers with nothing is answered at once, and that answer says nothing; so it is not
shown unless everything is wanted. The numbers stay those of the trace. A golden trace is shown with both sides: what
only the runtime says is marked `+`, what only the release says `-`, each with its ruling. Where two sides read the same
in short, the path at which they part stands beneath.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs
from rich.console import Console
from rich.text import Text

from pi_trio.conformance.compare import opcodes
from pi_trio.conformance.lines import is_ask
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import Entry, Golden
from pi_trio.conformance.scenario import Scenario

from .parted import alike, parted
from .prose import clean, heard, plain, sent

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
    """Print a golden trace. Lines that differ are shown, unless they say nothing.

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
    entries = [
        entry if entry.mark == "=" or entry.ruling else attrs.evolve(entry, ruling="(no ruling yet)")
        for entry in golden.entries
    ]
    _show(console, scenario, source, entries, everything=everything, marked=True)


def show_compared(
    console: Console,
    scenario: Scenario,
    expected: Sequence[Object],
    got: Sequence[Object],
    source: str,
    *,
    whose: str,
    everything: bool,
    words: Mapping[int, str] | None = None,
) -> None:
    """Print a trace beside the one that was expected.

    Args:
        source: whose trace it is; `whose` says it of the expected one.
        words: as in `show_sequence`.
    """
    entries: list[Entry] = []
    at: dict[int, int] = {}
    for tag, first, last, start, stop in opcodes(expected, got):
        if tag != "equal":
            entries += [Entry("-", line) for line in _due(expected[first:last], over=stop == len(got))]
        at |= {index: len(entries) + index - start for index in range(start, stop)}
        entries += [Entry("=" if tag == "equal" else "+", line) for line in got[start:stop]]
    source = f"{source}\n- expected: {whose}   + got"
    placed = {at[index]: text for index, text in (words or {}).items()}
    _show(console, scenario, source, entries, everything=everything, marked=True, words=placed, near=True)


def _due(lines: Sequence[Object], *, over: bool) -> Sequence[Object]:
    """What was to come; where it is over for the subject, no more than what was to come before the next command."""
    following = next((index for index, line in enumerate(lines) if "send" in line), len(lines))
    return lines[:following] if over else lines


def _show(
    console: Console,
    scenario: Scenario,
    source: str,
    entries: Sequence[Entry],
    *,
    everything: bool,
    marked: bool = False,
    near: bool = False,
    words: Mapping[int, str] | None = None,
) -> None:
    console.print(Text.assemble((scenario.name, "bold"), f"  {scenario.title}"), soft_wrap=True)
    console.print(Text(source, style="dim"), soft_wrap=True)
    console.print()
    for text in _rows(entries, everything=everything, marked=marked, near=near, words=words or {}):
        console.print(text, soft_wrap=True)


def _rows(
    entries: Sequence[Entry], *, everything: bool, marked: bool, near: bool, words: Mapping[int, str]
) -> Iterator[Text]:
    step = 0
    others = _others(entries, near=near)
    for index, entry in enumerate(entries):
        line = entry.line
        step += "send" in line
        if everything or not _says_nothing(line):
            row = _command(line["send"], step) if "send" in line else _reaction(line)
            if entry.ruling:
                row.append(f"   {entry.ruling}", style="bold")
            if "end" in line and "end" not in entries[index - 1].line:
                yield Text()
            mark = "" if not marked else "  " if entry.mark == "=" else f"{entry.mark} "
            yield Text.assemble(mark, row, style=_STYLES[entry.mark])
            if index in others and (found := parted(others[index], line)):
                path, left, right = found
                yield Text(f"{'':31}at {path}:   - {left}   + {right}")
            if index in words:
                yield Text(f"{'':29}in full: {clean(words[index])}")


def _others(entries: Sequence[Entry], *, near: bool) -> dict[int, Object]:
    """For the index of a line that only the one side says, that of the other side in the same place that reads the
    same; or, where nothing does and `near` is wanted, one that is about the same thing.
    """
    found: dict[int, Object] = {}
    left: list[Object] = []
    for index, entry in enumerate(entries):
        if entry.mark == "-":
            left.append(entry.line)
        elif entry.mark == "=":
            left.clear()
        else:
            same = [line for line in left if plain(line) == plain(entry.line)]
            same += [line for line in left if near and alike(line, entry.line)]
            if same:
                left.remove(same[0])
                found[index] = same[0]
    return found


def _command(command: Object, step: int) -> Text:
    name, what = sent(command)
    return Text.assemble((f"{step:4}  ", "dim"), (f"{name:14}", "bold cyan"), " ", what)


def _reaction(line: Object) -> Text:
    who, what = heard(line)
    if "end" in line:
        return Text.assemble(("      ends ", "dim"), (what, "bold" if what == "settled" else "bold red"))
    style = "green" if is_ask(line) else "red" if "error" in line or "unresolved" in line else ""
    return Text.assemble("        ", (f"{who:20}", style), " ", what)


def _says_nothing(line: Object) -> bool:
    """A reply, or an answer, with nothing in it. (A tool that returns nothing is worth a line.)"""
    if "send" not in line:
        return line == {"reply": None}
    command = line["send"]
    empty = "value" not in command and "throw" not in command
    return bool(command["cmd"] == "answer" and empty and command["ask"]["fn"] != "execute")
