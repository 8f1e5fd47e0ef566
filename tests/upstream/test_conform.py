"""Real Pi against the runtime and against its own recordings, by the commands that a user has."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import trio

from pi_trio.cli import main
from pi_trio.conformance.clauses import Clauses
from pi_trio.conformance.expected import lacking
from pi_trio.conformance.keeper import Opener, open_keeper
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.ruled import golden_names
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.subjects.pi_releases import PiInstall, command_of
from pi_trio.conformance.subjects.process import open_process_subject
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PROFILES

from ..conformance.changed_clauses import changed_clauses

pytestmark = pytest.mark.upstream


def test_the_release_differs_from_the_runtime_only_where_rulings_say_so(
    any_pi: PiInstall, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["conform", "--subject", f"pi@{any_pi.release}"])
    shown = capfd.readouterr().out
    vectors = Vectors.shipped()
    recorded, ruled = len(vectors.names(any_pi.release)), len(golden_names(vectors, any_pi.release))
    lacks = len(all_scenarios()) - recorded
    assert shown.endswith(f"\n{recorded - ruled} passed, {ruled} non-strict, {lacks} not offered, 0 failed\n")
    assert code == 0


def test_the_release_still_does_what_was_recorded(
    any_pi: PiInstall, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["vectors", "verify", "--release", any_pi.release])
    assert capfd.readouterr().out.endswith(", 0 differ\n")
    assert code == 0


def test_what_a_release_offers_is_what_the_runtime_offers_as_it(any_pi: PiInstall) -> None:
    """So the scenarios that a release lacks are known without it."""
    profile = f"pi-{any_pi.release}"

    async def introduce(opener: Opener) -> Object:
        async with open_keeper(opener) as keeper:
            await keeper.start()
            return keeper.hello

    release = trio.run(introduce, partial(open_process_subject, command_of(any_pi, profile), profile=profile))
    with first_in_first_out():
        runtime = trio.run(introduce, runtime_inside(profile, 30))
    for scenario in all_scenarios():
        assert lacking(scenario, release) == lacking(scenario, runtime), scenario.name


def test_a_recording_is_the_shipped_file_byte_for_byte(pi_install, tmp_path) -> None:
    names = ["text_plain", "tools_parallel_reverse"]
    assert main(["vectors", "record", *names, "--release", pi_install.release, "--spec", str(tmp_path)]) == 0
    for name in names:
        fresh = Vectors(tmp_path).path(pi_install.release, name)
        assert fresh.read_bytes() == Vectors.shipped().path(pi_install.release, name).read_bytes()


def test_verify_finds_what_differs(pi_install, tmp_path, capfd: pytest.CaptureFixture[str]) -> None:
    spec = ["--release", pi_install.release, "--spec", str(tmp_path)]
    assert main(["vectors", "record", "text_plain", *spec]) == 0
    assert main(["vectors", "verify", "text_plain", *spec]) == 0
    path = Vectors(tmp_path).path(pi_install.release, "text_plain")
    path.write_text(path.read_text().replace('"agent_start"', '"turn_start"', 1))
    assert main(["vectors", "verify", "text_plain", "tool_single", *spec]) == 1
    shown = capfd.readouterr().out
    assert "text_plain: step 2: recorded L turn_start; now L agent_start; 1 places differ" in shown
    assert "tool_single: not recorded yet" in shown


@pytest.mark.parametrize("other", [profile.release for profile in PROFILES.values()])
def test_as_another_release_the_clauses_that_changed_are_named_and_no_others(
    any_pi: PiInstall, other: str, tmp_path: Path
) -> None:
    """Driven through the evidence of what changed, and through some of all scenarios."""
    clauses, release, file = Clauses.shipped(), any_pi.release, tmp_path / "report.json"
    there = {clause.id for clause in clauses.in_force(f"pi-{release}")}
    here = [each for each in clauses.in_force(f"pi-{other}") if not each.of_transport]
    evidence = {name for each in here if each.id not in there for name in each.evidence}
    names = evidence | {scenario.name for scenario in all_scenarios()[::6]}
    chosen = [word for name in sorted(names) for word in ("--scenario", name)]
    code = main(
        ["conform", "--subject", f"pi@{release}", "--profile", f"pi-{other}", "--json", str(file), *chosen]
    )
    report = json.loads(file.read_text())
    verdicts = {each["id"]: each for each in report["clauses"]}
    broken = {name for name, each in verdicts.items() if each["standing"] == "BROKEN"}
    assert broken == changed_clauses(clauses, release, other, verdicts)
    assert code == (release != other)
    if release != other:
        assert report["explained"]["nearerTo"] == f"pi-{release}"
        for concern in report["explained"]["fields"]:
            assert f"pi-{release}" in concern["profiles"]
            assert f"pi-{other}" not in concern["profiles"]
