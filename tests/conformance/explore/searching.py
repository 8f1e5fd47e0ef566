"""A search as the tests need it: on the runtime in this process, from a fixed number."""

from __future__ import annotations

from pi_trio.conformance.causes import force
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.driver.serve import hello
from pi_trio.conformance.explore.conversation import House
from pi_trio.conformance.explore.guest import quiet_house
from pi_trio.conformance.explore.outcome import Outcome
from pi_trio.conformance.explore.search import search
from pi_trio.profile import get_profile

CLAUSES = Clauses.shipped()


def house(profile: str = "pi-1.6.0") -> House:
    """A house in which the runtime is held to all clauses."""
    return House(profile=profile, force=force(CLAUSES, profile), hello=hello(get_profile(profile)))


def explored(conversations: int, profile: str = "pi-1.6.0", *, start: int = 1, **how) -> Outcome:
    """What came of a search."""
    with quiet_house():
        return search(house(profile), None, conversations=conversations, start=start, **how)
