"""Real Pi for the tests: taken from the user's cache, and installed there when it is not there yet.

The first run needs the network. Where Pi cannot be had these tests fail and say why: a skip would look like a
pass.
"""

from __future__ import annotations

from functools import partial

import pytest
import trio

from pi_trio.conformance.subjects.pi_releases import PiInstall, ensure_pi, known_releases

NEWEST = "1.6.0"


def get(release: str) -> PiInstall:
    return trio.run(partial(ensure_pi, release, report=print))


@pytest.fixture(scope="session")
def pi_install() -> PiInstall:
    """The newest release."""
    return get(NEWEST)


@pytest.fixture(scope="session", params=known_releases())
def any_pi(request: pytest.FixtureRequest) -> PiInstall:
    """Each release in turn."""
    return get(request.param)
