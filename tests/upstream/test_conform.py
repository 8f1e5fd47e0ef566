"""Real Pi against the runtime and against its own recordings, by the commands that a user has."""

from __future__ import annotations

import pytest

from pi_trio.cli import main
from pi_trio.conformance.ruled import golden_names
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.vectors import Vectors

pytestmark = pytest.mark.upstream


def test_the_release_differs_from_the_runtime_only_where_rulings_say_so(
    pi_install, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(["conform", "--subject", f"pi@{pi_install.release}"])
    shown = capfd.readouterr().out
    ruled = len(golden_names(Vectors.shipped(), pi_install.release))
    everything = len(all_scenarios())
    assert shown.endswith(f"\n{everything - ruled} passed, {ruled} non-strict, 0 not offered, 0 failed\n")
    assert code == 0


def test_the_release_still_does_what_was_recorded(pi_install, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["vectors", "verify", "--release", pi_install.release])
    assert capfd.readouterr().out.endswith(", 0 differ\n")
    assert code == 0


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
