"""`pi-trio explain-run`: a run that a person can follow."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.ruled import golden_path, propose
from pi_trio.conformance.vectors import Recording, Vectors

from .conftest import RUNTIME, Finished

PiTrio = Callable[..., Finished]


def test_a_run_reads_from_top_to_bottom(pi_trio: PiTrio) -> None:
    code, out, err = pi_trio("explain-run", "tools_parallel_reverse")
    assert (code, err) == (0, "")
    assert out.startswith("tools_parallel_reverse  ")
    assert "runtime, in this process: pi_trio" in out
    order = ["prompt p1", " agent_start", "execute t1", "execute t2", "execute t3", "tool_execution_end t3"]
    order += ["tool_execution_end t2", "tool_execution_end t1", "agent_end", "settled\n", "ends settled"]
    places = [out.index(word) for word in order]
    assert places == sorted(places)


def test_the_sources_agree(pi_trio: PiTrio) -> None:
    bodies = []
    for source in ([], ["--recorded"], ["--exec", RUNTIME]):
        code, out, _ = pi_trio("explain-run", "text_plain", *source)
        assert code == 0
        bodies.append(out[out.index("   1  create") :])
    assert bodies[0] == bodies[1] == bodies[2]


def test_the_runtime_is_shown_as_a_mixture(pi_trio: PiTrio) -> None:
    """`pi-trio fit` names this command where a field of a mixture is unclear."""
    code, out, _ = pi_trio("explain-run", "tool_single", "--profile", "pi-0.85.0,identity=pi-1.6.0")
    assert code == 0
    assert "profile pi-0.85.0,identity=pi-1.6.0\n" in out


def test_the_raw_trace(pi_trio: PiTrio, traces) -> None:
    _, out, _ = pi_trio("explain-run", "text_plain", "--jsonl")
    assert [json.loads(line) for line in out.splitlines()] == list(traces["text_plain"].lines)


def test_all_shows_more(pi_trio: PiTrio) -> None:
    short, whole = (pi_trio("explain-run", "tool_single", *extra)[1] for extra in ([], ["--all"]))
    assert set(short.splitlines()) < set(whole.splitlines())


def test_a_scenario_may_come_from_a_file(pi_trio: PiTrio, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    steps = [{"cmd": "prompt", "op": "p1", "input": "hello"}]
    file.write_text(
        json.dumps({"name": "mine", "title": "Mine.", "topic": "t", "create": {}, "steps": steps})
    )
    code, out, _ = pi_trio("explain-run", str(file))
    assert code == 0
    assert 'prompt p1      "hello"' in out
    assert "ends open" in out


@pytest.mark.parametrize(
    ("text", "tells"), [("{", "expected"), ('{"name": "x"}', "title is missing"), (None, "No such file")]
)
def test_a_file_without_a_scenario_is_told(
    pi_trio: PiTrio, tmp_path: Path, text: str | None, tells: str
) -> None:
    file = tmp_path / "mine.json"
    if text is not None:
        file.write_text(text)
    code, _, err = pi_trio("explain-run", str(file))
    assert code == 2
    assert str(file) in err
    assert tells in err


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["no_such"], "no scenario is called no_such"),
        (["text_*"], " scenarios: name one, such as text_"),
        (["abort_when_idle", "--recorded"], "is not recorded"),
        (["text_plain", "--ruled"], "has no golden trace"),
        (["text_plain", "--ruled", "--cancelling"], "they change nothing in it"),
        (["text_plain", "--recorded", "--cancelling"], "no release has aborts that cancel"),
        (
            ["text_plain", "--recorded", "--subject", "pi@/tmp"],
            "--subject pi@/tmp: there are files of pi@0.80.2, ",
        ),
        (
            ["text_plain", "--ruled", "--subject", "pi@9.9.9"],
            "--subject pi@9.9.9: there are files of pi@0.80.2, ",
        ),
        (["tools_paralel_reverse"], "did you mean tools_parallel_reverse"),
        (["D-02"], "D-02 is no scenario; `pi-trio explain D-02` says"),
        (["S-11"], "S-11 is no scenario; `pi-trio explain S-11` says"),
        (["text_plain", "--profile", "all"], "--profile all goes with `pi-trio conform` alone"),
    ],
)
def test_wrong_usage_is_told(pi_trio: PiTrio, arguments: list[str], tells: str) -> None:
    code, _, err = pi_trio("explain-run", *arguments)
    assert code == 2
    assert tells in err


def test_the_mode_in_which_aborts_cancel_is_shown_too(pi_trio: PiTrio) -> None:
    name = "abort_and_update"
    assert pi_trio("vectors", "cancel", name)[0] == 0
    code, _, err = pi_trio("explain-run", name, "--ruled")
    assert code == 2
    assert "add --cancelling" in err
    code, out, _ = pi_trio("explain-run", name, "--ruled", "--cancelling")
    assert code == 0
    assert [line for line in out.splitlines() if line.startswith("+") and line.endswith("D-10")]
    sides = "- the runtime as pi 1.6.0, where an abort is advice   + the same, where it cancels"
    assert out.splitlines()[1] == sides
    own, usual = (pi_trio("explain-run", name, *how)[1] for how in (("--cancelling",), ()))
    assert own != usual


def test_a_crash_is_shown_with_what_came_before(pi_trio: PiTrio, peer) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
    program = peer([None, [{"say": event}, {"stderr": "ouch"}, {"exit": 3}]])
    code, out, err = pi_trio("explain-run", "text_plain", "--exec", program)
    assert code == 1
    assert "agent_start" in out
    assert "ends crash" in out
    due = [line[2:] for line in out.splitlines() if line.startswith("- ")][1:]
    assert due  # what was to come in that step, and no command behind it
    assert not [line for line in due if line.lstrip()[0].isdigit()]
    assert "it exited with code 3" in err
    assert "ouch" in err


def older(release: str) -> str:
    """The runtime as a program that is the given release whatever it is started as."""
    script = f"from pi_trio.cli import main; main(['subject', '--profile', 'pi-{release}'])"
    return shlex.join([sys.executable, "-c", script])


@pytest.mark.parametrize("recorded", [True, False])
def test_where_a_subject_departs_it_is_shown_with_what_was_expected(
    pi_trio: PiTrio, spec: Vectors, recorded: bool
) -> None:
    """As a judgement tells of it, which sends people here. What nobody recorded is held to the runtime alone."""
    if not recorded:
        spec.path("1.6.0", "text_plain").unlink()
    code, out, _ = pi_trio("explain-run", "text_plain", "--exec", older("1.0.3"))
    assert code == 0
    _, _, sides, _, *rows = out.splitlines()
    assert sides == "- expected: the runtime as pi-1.6.0   + got"
    at = next(index for index, row in enumerate(rows) if "streamFn" in row)
    assert [row[0] for row in rows[at : at + 2]] == ["-", "+"]
    assert rows[at][1:] == rows[at + 1][1:]
    assert re.fullmatch(r" +at args\.options\.identity:   - {.*}   \+ \(absent\)", rows[at + 2])


def test_what_a_ruling_allows_is_told_where_it_differs(
    pi_trio: PiTrio, spec: Vectors, traces_as: dict[str, dict[str, Run]]
) -> None:
    said, own = (traces_as[release]["text_plain"] for release in ("1.0.3", "1.6.0"))
    spec.write(Recording(scenario=own.scenario, release="1.6.0", lines=said.lines))
    golden = propose("text_plain", "1.6.0", said.lines, own.lines, "D-99")
    assert golden is not None
    golden.write(golden_path(spec, "1.6.0", "text_plain"))
    _, out, _ = pi_trio("explain-run", "text_plain", "--exec", older("1.0.3"))
    assert "profile pi-1.6.0; as pi 1.6.0, not as the runtime\n" in out
    assert "\n- " in out


def test_a_subject_that_does_not_start_is_told(pi_trio: PiTrio, peer) -> None:
    code, _, err = pi_trio(
        "explain-run", "text_plain", "--exec", peer(opening=[{"stderr": "why"}, {"exit": 3}])
    )
    assert code == 3
    assert "why" in err


@pytest.mark.parametrize("how", [(), ("--hurried",)])
def test_a_subject_that_cannot_be_driven_without_a_guide_is_shown_whole(
    pi_trio: PiTrio, how: tuple[str, ...]
) -> None:
    """Its order is partial, and it may reply before it has reacted: the reference says what to wait for."""
    place = "tests.conformance.subjects_in_python.threaded"
    root = str(Path(__file__).parent.parent.parent)
    script = f"import sys; sys.path.insert(0, {root!r}); from {place} import main; main()"
    program = shlex.join([sys.executable, "-S", "-c", script, *how])
    code, out, _ = pi_trio("explain-run", "tools_parallel_reverse", "--exec", program)
    assert code == 0
    reference = pi_trio("explain-run", "tools_parallel_reverse")[1]
    assert out.splitlines()[2:] == reference.splitlines()[2:]


def test_what_an_error_says_is_shown_in_full_where_the_trace_leaves_it_out(pi_trio: PiTrio, peer) -> None:
    """Its wording is the host language's, so it is not compared; but whoever mends the driver needs it."""
    program = peer([[{"say": {"re": "$id", "error": "driver: no\u001b tool a"}}]])
    _, out, _ = pi_trio("explain-run", "text_plain", "--exec", program)
    assert "in full: driver: no\N{REPLACEMENT CHARACTER} tool a" in out
