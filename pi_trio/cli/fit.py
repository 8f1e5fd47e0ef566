"""`pi-trio fit`: tells for each field of the profile which releases a subject behaves as.

What comes out last is the profile to judge it by: a release, and the fields in which the subject is as another one.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Final

import trio

from pi_trio.conformance.fitting import Fitted, Rulings, fit
from pi_trio.conformance.keeper import open_keeper
from pi_trio.conformance.protocol import Object, missing_commands
from pi_trio.conformance.report.fitted import fitted_document, show_fitted
from pi_trio.conformance.report.prose import count
from pi_trio.conformance.report.terminal import Tick, make_console
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.verdict import ExitCode
from pi_trio.profile import FIELDS

from .candidates import DEFAULT_PROFILE, one_subject, subject_arguments, whole_command
from .material import spec_argument, vectors_of
from .pace import progress
from .places import json_argument, write_json
from .refusing import refusing
from .usage import verbose_argument

_MORE: Final = """\
A port follows a commit of Pi, not a release: in one thing it does as an older one, in
another as a newer. For each field of the profile the subject is driven through a few
scenarios in which the releases differ, and has the value whose trace it shows. The last
line is the profile to judge it by, as `pi-trio conform --profile` takes it. If it says
“not sure”, judge by the release first, and mend what is broken: what fails for another
reason can tell little of a field.

Where the subject does as none of the releases, the nearest is named if several
scenarios agree on it: a guess, marked with “?”. Otherwise the field is unclear, with a
scenario to look at. It is a guess, too, where the subject does as another release than
its own only by leaving something out: so does who is not complete yet. The profile
starts from the release that the subject says it is; one that heeds --profile is asked
once as each release that it is to be judged as.

columns: the field; the releases as which the subject behaves; the value that they have;
what the release has from which the profile starts; the last scenario that told, or why
nothing is known. spec/profiles.md says what each field decides.

examples:
  pi-trio fit --exec 'node my-adapter.js'     your implementation
  pi-trio fit --subject pi@0.85.0             a release of Pi
  pi-trio fit --profile pi-0.85.0,identity=pi-1.6.0            the runtime as a mixture

exit codes:
  0 every field that can show has been told   2 wrong usage           4 fault of the tester
  1 some field is unclear or a guess, none    3 the subject did       130 interrupted
    was told, or a required command is          not start
    missing; with a guess the profile may
    be another, so no script should go on
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.epilog = _MORE
    subject_arguments(parser)
    spec_argument(parser)
    json_argument(parser, "what was found")
    verbose_argument(parser)


@refusing
def run(options: argparse.Namespace) -> int:
    """Ask, print, and return the exit code."""
    with first_in_first_out():
        label, hello, fitted = trio.run(_fit, options)
    whole = partial(whole_command, options, options.profile or DEFAULT_PROFILE)
    show_fitted(make_console(), label, hello, fitted, whole=whole)
    doubts = fitted.unclear() or fitted.guesses() or missing_commands(hello)
    code = ExitCode.CONFORMANT if fitted.tells and not doubts else ExitCode.NOT_CONFORMANT
    if options.json is not None:
        write_json(options.json, {**fitted_document(label, hello, fitted), "exitCode": int(code)})
    return code


async def _fit(options: argparse.Namespace) -> tuple[str, Object, Fitted]:
    rulings = Rulings(vectors_of(options))
    _, subject = await one_subject(options)
    async with open_keeper(subject.opener) as keeper:
        await keeper.start()
        with progress(make_console(stderr=True), f"{subject.label}, fields told") as tick:
            telling = _Telling(tick)
            fitted = await fit(
                keeper, all_scenarios(), rulings, progress=telling.field, driven=telling.scenario
            )
        return subject.label, keeper.hello, fitted


class _Telling:
    """How far a fit has come: by its fields, of which the first take long, and by what was played for them."""

    def __init__(self, tick: Tick) -> None:
        self._tick, self._played = tick, 0

    def field(self, name: str) -> None:
        """A field has been told."""
        self._tick(name, len(FIELDS), also=self._so_far())

    def scenario(self, name: str) -> None:
        """A scenario has been played."""
        self._played += 1
        self._tick(name, len(FIELDS), step=0, also=self._so_far())

    def _so_far(self) -> str:
        return f"{count(self._played, 'scenario')} played"
