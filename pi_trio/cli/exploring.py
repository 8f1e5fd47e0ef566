"""What `fuzz` and `replay` share: a house in which conversations are held, and the subject on which they are played."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from contextlib import contextmanager

import attrs
import trio

from pi_trio.conformance.causes import force
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.explore.conversation import House
from pi_trio.conformance.explore.guest import quiet_house
from pi_trio.conformance.explore.remote import Lockstep, Player, beside
from pi_trio.conformance.report.prose import clean
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.profile import get_profile

from .candidates import one_subject


@attrs.frozen
class Explored:
    """The house, what compares with the subject (None: the subject is the runtime), and who that is."""

    house: House
    lockstep: Lockstep | None
    label: str


@contextmanager
def exploring(options: argparse.Namespace) -> Generator[Explored]:
    """Open the subject that the options name, and the runtime as what it is judged as.

    Raises:
        SubjectUnavailable, SubjectUnstartable: it cannot be had, or does not start.
        UsageError: there is no such subject, or no such profile.
    """
    with first_in_first_out():
        profile, candidate = trio.run(one_subject, options)
    house = House(profile=profile, force=force(Clauses.shipped(), profile), hello=hello(get_profile(profile)))
    with quiet_house():
        if not candidate.by_runtime:
            yield Explored(house, None, f"{candidate.label}, as {profile}")
            return
        with Player(candidate.opener) as player:
            yield Explored(house, beside(house, player), clean(f"{candidate.label}, as {profile}"))


def subject_words(options: argparse.Namespace) -> list[str]:
    """The options that name the subject, as they are typed."""
    given = {
        "--subject": options.subject,
        "--exec": options.command,
        "--ws": options.ws,
        "--profile": options.profile,
    }
    return [word for name, value in given.items() if value is not None for word in (name, value)]


def named(options: argparse.Namespace) -> str:
    """The subject in one word or two."""
    return clean(options.command or options.ws or options.subject or "the runtime")
