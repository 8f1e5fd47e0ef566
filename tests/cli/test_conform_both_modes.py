"""`pi-trio conform` judges who offers both modes of the abort in both, as programs that do so, or only say so."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pi_trio.cli import main
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.twins import twin_name, with_twins

from .conftest import RUNTIME

NAMES = ("text_plain", "abort_when_idle", "abort_in_stream", "abort_tools_ignored")
"""Without an abort, with one that changes nothing, and two in which the mode shows."""

TWINS = tuple(map(twin_name, NAMES[1:]))
IDLE, *SHOWING = TWINS

OF_BOTH = ("ABORT-21", "ABORT-24")
"""What the two are evidence of: a cut tool, and a cut stream."""

WRAPPER = """
import json, subprocess, sys
inner = subprocess.Popen([sys.executable, "-m", "pi_trio.cli", "subject", *sys.argv[1:]],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
hello, mode = {hello!r}, {mode!r}
said = json.loads(inner.stdout.readline())
print(json.dumps({{**said, "features": {{**said["features"], **hello}}}}), flush=True)
for line in sys.stdin:
    command = json.loads(line)
    if command["cmd"] == "create":
        command["options"] = {{**command.get("options", {{}}), "abortMode": mode}}
    inner.stdin.write(json.dumps(command) + "\\n")
    inner.stdin.flush()
    while True:
        line = inner.stdout.readline()
        print(line, end="", flush=True)
        if "re" in json.loads(line):
            break
"""
"""The runtime, but its aborts are of one mode, whatever is asked; `hello` is what it says of itself."""


@pytest.fixture
def in_one_mode(tmp_path: Path) -> Callable[[str, str], str]:
    def make(says: str, mode: str) -> str:
        file = tmp_path / f"{says}-{mode}.py"
        file.write_text(WRAPPER.format(hello={"abort": says}, mode=mode))
        return shlex.join([sys.executable, str(file)])

    return make


@pytest.fixture
def judged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, Any]]:
    """Runs `conform` on the shipped vectors: the exit code, what it prints, and its report."""

    def judge(*arguments: str, names: tuple[str, ...] = NAMES) -> tuple[int, str, Any]:
        file = tmp_path / "report.json"
        chosen = [word for name in names for word in ("--scenario", name)]
        code = main(["conform", *arguments, *chosen, "--json", str(file)])
        return code, capfd.readouterr().out, json.loads(file.read_text())

    return judge


def outcomes(report: Any) -> dict[str, str]:
    return {each["name"]: each["outcome"] for leg in report["legs"] for each in leg["scenarios"]}


def standings(report: Any) -> dict[str, str]:
    return {each["id"]: each["standing"] for each in report["clauses"] if each["id"] in OF_BOTH}


@pytest.mark.parametrize("who", [(), ("--exec", RUNTIME), ("--exec", RUNTIME, "--profile", "pi-0.80.2")])
def test_who_does_what_it_says_is_right_in_both(who: tuple[str, ...], judged) -> None:
    code, out, report = judged(*who)
    assert (code, report["summary"]["passed"]) == (0, len(NAMES) + len(TWINS))
    assert outcomes(report) == dict.fromkeys([*NAMES, *TWINS], "PASS")
    assert standings(report) == dict.fromkeys(OF_BOTH, "HOLDS")
    assert "3 scenarios once more, with aborts that cancel: NAME (cancel)\n" in out
    assert out.endswith("7 passed, 0 non-strict, 0 not offered, 0 failed\n")


def test_who_is_told_to_cancel_and_does_not_fails(in_one_mode, judged) -> None:
    program = in_one_mode("both", "signal")
    code, out, report = judged("--exec", program)
    assert code == 1
    assert outcomes(report) == {
        **dict.fromkeys([*NAMES, *TWINS], "PASS"), **dict.fromkeys(SHOWING, "FAIL")
    }  # fmt: skip
    broken = {each["id"]: each["causes"] for each in report["clauses"] if each["standing"] == "BROKEN"}
    assert {name for causes in broken.values() for cause in causes for name in cause["scenarios"]} == {
        *SHOWING
    }
    assert f"explain-run '{SHOWING[0]}' --exec" in out, "one of them is enough to look at"


def test_who_is_not_told_to_cancel_and_does_fails(in_one_mode, judged) -> None:
    code, _, report = judged("--exec", in_one_mode("both", "cancel"))
    assert code == 1
    assert outcomes(report) == {
        **dict.fromkeys([*NAMES, *TWINS], "PASS"), **dict.fromkeys(NAMES[2:], "FAIL")
    }  # fmt: skip


@pytest.mark.parametrize(
    ("mode", "says", "standing"), [("signal", "advisory", "NOT OFFERED"), ("cancel", "cancelling", "HOLDS")]
)
def test_who_offers_one_mode_is_judged_in_that_one(
    mode: str, says: str, standing: str, in_one_mode, judged
) -> None:
    code, out, report = judged("--exec", in_one_mode(says, mode))
    assert code == 0
    assert outcomes(report) == dict.fromkeys(NAMES, "PASS")
    assert standings(report) == dict.fromkeys(OF_BOTH, standing)
    assert "(cancel)" not in out


def test_a_baseline_may_know_of_the_one_mode_alone(in_one_mode, judged, tmp_path: Path) -> None:
    baseline = tmp_path / "known.toml"
    entry = "[[known]]\nscenario = '{}'\nreason = 'aborts cancel nothing yet'\n".format
    arguments = ("--exec", in_one_mode("both", "signal"), "--baseline", str(baseline))
    baseline.write_text(entry("abort_* (cancel)"))
    code, out, report = judged(*arguments)
    assert (code, report["summary"]["known"]) == (0, len(SHOWING))
    assert f"  {SHOWING[0]}: FAIL; aborts cancel nothing yet\n" in out
    baseline.write_text(entry("abort_* (cancel)") + entry(IDLE) + entry("text_plain (cancel)"))
    code, out, _ = judged(*arguments)
    assert code == 1
    assert f"stale in the baseline: {IDLE}: it does not fail any more\n" in out
    assert "stale in the baseline: text_plain (cancel): there is no such scenario\n" in out
    baseline.unlink()
    assert judged(*arguments, "--update-baseline")[0] == 0
    assert [line for line in baseline.read_text().splitlines() if "scenario" in line] == [
        f'scenario = "{name}"' for name in SHOWING
    ]


def test_the_name_with_the_mode_chooses_that_one_alone(judged) -> None:
    code, _, report = judged("--exec", RUNTIME, names=("abort_when_i* (cancel)",))
    assert (code, [*outcomes(report)]) == (0, [IDLE])


def test_what_is_asked_for_alone_and_not_offered_is_shown_so(in_one_mode, judged) -> None:
    code, out, report = judged("--exec", in_one_mode("advisory", "signal"), names=TWINS)
    assert (code, outcomes(report)) == (1, dict.fromkeys(TWINS, "NOT OFFERED"))
    assert "feature abort: both: 3 scenarios" in out


def test_a_mode_that_does_not_exist_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    for arguments in (["conform", "--scenario"], ["explain-run"]):
        assert main([*arguments, "text_plain (cancel)"]) == 2
        assert "there is no abort in text_plain" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("mode", "failing", "clause", "tells"),
    [
        ("cancel", "{}", "ABORT-01", "aborts cancel where they are to be advice: abortMode is not heeded"),
        ("signal", "{} (cancel)", None, 'aborts are advice where abortMode is "cancel": it is not heeded'),
    ],
)
def test_a_mode_that_is_not_heeded_is_one_cause_of_one_clause(
    mode: str, failing: str, clause: str | None, tells: str, in_one_mode, judged
) -> None:
    """Streams, tools, hooks and queues all differ, each by clauses of its own."""
    names = ("abort_in_stream", "abort_tools_ignored", "abort_in_finish_turn", "abort_before_injection",
             "abort_at_last_turn_end_with_queues", "abort_before_streamfn", "loop_abort_at_once")  # fmt: skip
    _, out, report = judged("--exec", in_one_mode("both", mode), names=names)
    wrong = {failing.format(name) for name in names}
    assert {name for name, outcome in outcomes(report).items() if outcome == "FAIL"} == wrong
    (broken,) = [each for each in report["clauses"] if each["standing"] == "BROKEN"]
    (cause,) = broken["causes"]
    assert (cause["said"], {*cause["scenarios"]}) == (tells, wrong)
    assert broken["id"] == clause or (clause is None and broken["ruling"] == "D-10")
    assert tells in out


def test_the_list_has_both(capfd: pytest.CaptureFixture[str]) -> None:
    main(["conform", "--list"])
    listed = capfd.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in listed] == [each.name for each in with_twins(all_scenarios())]


def test_one_is_shown_by_its_name(capfd: pytest.CaptureFixture[str]) -> None:
    shown = []
    for arguments in ([SHOWING[0]], [NAMES[2], "--cancelling"], [SHOWING[0], "--ruled"]):
        assert main(["explain-run", *arguments]) == 0
        shown.append(capfd.readouterr().out)
    assert shown[0] == shown[1]
    assert "withdrawn" in shown[0]
    assert "D-10" in shown[2]
