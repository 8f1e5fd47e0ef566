"""Real Pi's adapter finds asks by address too: told so, it does what was recorded."""

from __future__ import annotations

from functools import partial

import pytest
import trio

from pi_trio.conformance.compare import fingerprint
from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.subjects.pi_releases import command_of
from pi_trio.conformance.subjects.process import open_process_subject
from pi_trio.conformance.vectors import Vectors

from ..conformance.by_address import by_address

pytestmark = pytest.mark.upstream


def test_every_command_on_an_ask_may_name_it_by_address(pi_install) -> None:
    scenarios = [each for at, each in enumerate(all_scenarios()) if at % 6 == 0 or "same_tick" in each.name]
    profile = f"pi-{pi_install.release}"
    opener = partial(open_process_subject, command_of(pi_install, profile), profile=profile)
    for name, run in trio.run(consult_runtime, by_address(opener), scenarios).items():
        recording = Vectors.shipped().read(pi_install.release, name)
        if recording is None:  # the release cannot play it
            continue
        assert isinstance(run, Run)
        assert fingerprint(run.lines) == fingerprint(recording.lines), name
