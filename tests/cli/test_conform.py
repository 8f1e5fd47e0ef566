"""`pi-trio conform`: verdicts, summary and exit codes, with real programs as subjects."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pi_trio._version import __version__
from pi_trio.cli import main
from pi_trio.conformance.baseline import Baseline
from pi_trio.conformance.fitting import Reference
from pi_trio.conformance.protocol import REQUIRED_COMMANDS
from pi_trio.conformance.ruled import golden_path, propose
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.twins import with_twins
from pi_trio.conformance.vectors import Recording, Vectors
from pi_trio.profile import PROFILES

from .conftest import NAMES, RUNTIME, Finished

PiTrio = Callable[..., Finished]


def summary(out: str) -> str:
    return out.rstrip().rsplit("\n", 1)[-1]


def test_the_runtime_is_judged_in_both_ways(pi_trio: PiTrio) -> None:
    code, out, err = pi_trio("conform", scenarios=NAMES)
    assert (code, summary(out), err) == (0, "3 passed, 0 non-strict, 0 not offered, 0 failed", "")
    assert "runtime, in this process: pi_trio" in out
    assert "runtime, over stdio: pi_trio" in out
    assert pi_trio("conform", "--subject", "reference", scenarios=NAMES)[0] == 0


@pytest.mark.parametrize("who", [(), ("--exec", RUNTIME)])
def test_all_profiles_are_judged_one_after_the_other(
    who: tuple[str, ...], pi_trio: PiTrio, tmp_path: Path
) -> None:
    """Each time the subject is started as that release."""
    file = tmp_path / "report.json"
    code, out, _ = pi_trio("conform", *who, "--profile", "all", "--json", str(file), scenarios=NAMES)
    assert code == 0
    for name in PROFILES:
        assert f"pi_trio {__version__}, profile {name}" in out
        assert f"{name}{' ' * (9 - len(name))}  3 passed, 0 non-strict, 0 not offered, 0 failed\n" in out
    documents = json.loads(file.read_text())["profiles"]
    assert [document["profile"] for document in documents] == list(PROFILES)
    assert all(document["summary"]["passed"] == 3 for document in documents)


def test_one_release_that_fails_fails_all(pi_trio: PiTrio, spec: Vectors) -> None:
    spec.path("0.85.0", "tool_single").unlink()
    code, out, _ = pi_trio("conform", "--profile", "all", scenarios=NAMES)
    assert code == 4
    assert out.endswith("pi-1.6.0   3 passed, 0 non-strict, 0 not offered, 0 failed\n")
    assert "pi-0.85.0  2 passed, 0 non-strict, 0 not offered, 0 failed, 1 tester faults\n" in out


def test_a_profile_of_several_releases(pi_trio: PiTrio) -> None:
    """The subject is started as the first; here it behaves so too, and the difference shows."""
    names = ("tools_parallel_reverse",)
    as_it_is = ("conform", "--exec", RUNTIME, "--profile", "pi-1.6.0,announce_tool_changes=pi-0.85.0")
    code, out, _ = pi_trio(*as_it_is, scenarios=names)
    assert (code, summary(out)) == (0, "1 passed, 0 non-strict, 0 not offered, 0 failed")
    otherwise = ("conform", "--exec", RUNTIME, "--profile", "pi-1.6.0,durations=pi-0.85.0")
    code, out, _ = pi_trio(*otherwise, scenarios=names)
    assert (code, summary(out)) == (1, "0 passed, 0 non-strict, 0 not offered, 1 failed")
    assert "profile pi-1.6.0\n" in out
    assert "explain-run tools_parallel_reverse --exec" in out
    assert "--profile pi-1.6.0,durations=pi-0.85.0\n" in out


def test_the_runtime_is_asked_once_what_explains_a_failure(
    pi_trio: PiTrio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fields are found, and their clauses named, by the same runs."""
    made: list[Reference] = []
    init = Reference.__init__

    def counted(self: Reference, *patience: float) -> None:
        made.append(self)
        init(self, *patience)

    monkeypatch.setattr(Reference, "__init__", counted)
    otherwise = ("conform", "--exec", RUNTIME, "--profile", "pi-1.6.0,durations=pi-0.85.0")
    assert "durations" in pi_trio(*otherwise, scenarios=NAMES)[1]
    assert len(made) == 1


def test_to_agree_with_oneself_is_not_enough(pi_trio: PiTrio, spec: Vectors) -> None:
    """Where the release did otherwise, the runtime fails, although both its legs agree."""
    recording = spec.read("1.6.0", "text_plain")
    assert recording is not None
    lines = [line for line in recording.lines if line.get("event", {}).get("type") != "turn_start"]
    assert len(lines) == len(recording.lines) - 1
    spec.write(Recording(scenario=recording.scenario, release="1.6.0", lines=tuple(lines)))
    code, out, _ = pi_trio("conform", scenarios=NAMES)
    assert (code, summary(out)) == (1, "2 passed, 0 non-strict, 0 not offered, 1 failed")
    assert "FAIL text_plain" in out
    assert "step 2: prompt p1" in out
    assert "same      L agent_start" in out
    assert "expected  L message_start" in out
    assert "got       L turn_start" in out
    assert "see it whole: pi-trio explain-run text_plain\n" in out
    assert out.count("FAIL text_plain") == 1


def test_a_scenario_without_a_recording_is_a_fault_of_the_tester(pi_trio: PiTrio, spec: Vectors) -> None:
    spec.path("1.6.0", "text_plain").unlink()
    code, out, _ = pi_trio("conform", scenarios=NAMES)
    assert code == 4
    assert "HARNESS text_plain" in out
    assert f"run `pi-trio vectors record --release 1.6.0 text_plain --spec {spec.spec}`" in out
    assert summary(out) == "2 passed, 0 non-strict, 0 not offered, 0 failed, 1 tester faults"


def test_a_golden_trace_judges_the_runtime(pi_trio: PiTrio, spec: Vectors, traces) -> None:
    runtime = traces["text_plain"]
    release = tuple(line for line in runtime.lines if line.get("event", {}).get("type") != "turn_start")
    spec.write(Recording(scenario=runtime.scenario, release="1.6.0", lines=release))
    golden = propose("text_plain", "1.6.0", release, runtime.lines, "D-99")
    assert golden is not None
    golden.write(golden_path(spec, "1.6.0", "text_plain"))
    code, out, _ = pi_trio("conform", scenarios=NAMES)
    assert (code, summary(out)) == (0, "3 passed, 0 non-strict, 0 not offered, 0 failed")
    assert "(see `pi-trio explain D-99`): D-99 in 1\n" in out


def test_another_program_is_judged_by_the_runtime(pi_trio: PiTrio) -> None:
    code, out, _ = pi_trio("conform", "--exec", RUNTIME, scenarios=NAMES)
    assert (code, summary(out)) == (0, "3 passed, 0 non-strict, 0 not offered, 0 failed")


def test_empty_hooks_and_commands(pi_trio: PiTrio, peer) -> None:
    code, out, _ = pi_trio("conform", "--exec", peer(hello={"hooks": [], "commands": []}), scenarios=NAMES)
    assert code == 1
    assert f"missing required commands: {', '.join(REQUIRED_COMMANDS)}" in out
    assert "command create: 3 scenarios" in out
    assert "hook beforeToolCall: 2 scenarios" in out
    assert summary(out) == "0 passed, 0 non-strict, 3 not offered, 0 failed"


@pytest.mark.parametrize(
    ("act", "outcome", "tells"),
    [
        ({"deaf": True}, "HANG", "no reply to prompt within 0.3 seconds"),
        ({"stderr": "segfault\x1b[31m", "exit": 7}, "CRASH", "it exited with code 7"),
        ({"raw": "hello\n"}, "FAIL", "it breaks the protocol: not a JSON line"),
        ({"say": {"re": 99, "ok": None}}, "FAIL", "it replied to 99, the command was 2"),
        ({"say": {"re": "$id", "ok": None}}, "HANG", "an operation never settles"),
    ],
)
def test_a_subject_that_goes_wrong_is_the_subjects_failure(
    pi_trio: PiTrio, peer, act, outcome: str, tells: str
) -> None:
    program = peer([None, [act]])
    code, out, _ = pi_trio("conform", "--exec", program, "--patience", "0.3", scenarios=NAMES)
    assert (code, summary(out)) == (1, "0 passed, 0 non-strict, 0 not offered, 3 failed")
    assert out.count(f"{outcome} ") >= 3
    assert tells in out
    assert "\x1b" not in out
    assert "Traceback" not in out
    assert "see it whole: pi-trio explain-run text_plain --exec" in out


def test_a_subject_that_does_not_start(pi_trio: PiTrio, peer, tmp_path: Path) -> None:
    for program in (peer(opening=[{"stderr": "no such module"}, {"exit": 1}]), str(tmp_path / "nothing")):
        code, out, err = pi_trio("conform", "--exec", program, scenarios=NAMES)
        assert code == 3
        assert "did not start" in out + err


@pytest.mark.parametrize(("command", "name"), [("no-such-program --fast", "no-such-program"), ("''", "''")])
def test_what_is_no_program_is_told_before_anything_else(
    pi_trio: PiTrio, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    """What to expect of a subject is asked of the runtime, which takes seconds."""
    monkeypatch.setattr("pi_trio.conformance.expected.OfOthers.consult", None)
    code, _, err = pi_trio("conform", "--exec", command)
    assert (code, err) == (
        3,
        f"pi-trio: the subject did not start: {name} is no program that can be run\n",
    )


def test_a_folder_has_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    """Or what is recorded would go into the current one."""
    with pytest.raises(SystemExit) as caught:
        main(["vectors", "record", "text_plain", "--spec", ""])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("--spec: a name is needed\n")


@pytest.mark.parametrize(
    ("arguments", "tells"),
    [
        (["--scenario", "no_such_*"], "no scenario is called no_such_*"),
        (["--scenario", ""], "no scenario is called ''; there are "),
        (["--subject", "me"], "--subject is reference, pi@RELEASE or pi@FOLDER, not 'me'"),
        (["--subject", "pi@"], "--subject is reference"),
        (["--exec", "unclosed 'quote"], "No closing quotation"),
        (["--exec", ""], "the command line of a program is needed"),
        (["--profile", "pi-9"], "there is no profile 'pi-9'; known are: pi-0.80.2"),
        (["--profile", "pi-9", "--exec", "x"], "--profile pi-9: there is no profile 'pi-9'"),
        (["--profile", "pi-1.0.3,color=pi-1.6.0", "--exec", "x"], "a profile has no field 'color'"),
        (["--profile", "pi-1.0.3,identity=pi-1.6.0"], "no release behaves so"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], tells: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", *arguments]) == 2
    assert tells in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_patience_is_a_number_of_seconds(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["conform", f"--patience={seconds}"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("--patience: a number of seconds above 0 is needed\n")


def test_a_subject_and_a_program_exclude_each_other() -> None:
    with pytest.raises(SystemExit) as caught:
        main(["conform", "--subject", "reference", "--exec", "x"])
    assert caught.value.code == 2


def test_the_json_report_has_everything(pi_trio: PiTrio, peer, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    code, _, _ = pi_trio(
        "conform",
        "--exec",
        peer([None, [{"stderr": "ouch"}, {"exit": 7}]]),
        "--json",
        str(file),
        scenarios=NAMES,
    )
    report = json.loads(file.read_text())
    assert report["exitCode"] == code == 1
    assert report["summary"] == {
        "passed": 0, "nonStrict": 0, "notOffered": 0, "failed": 3, "known": 0, "hangs": 0, "crashes": 3, "harness": 0,
    }  # fmt: skip
    (leg,) = report["legs"]
    assert leg["hello"]["subject"] == "peer"
    assert [scenario["name"] for scenario in leg["scenarios"]] == list(NAMES)
    first = leg["scenarios"][0]
    assert (first["outcome"], first["stderr"]) == ("CRASH", "ouch")
    assert first["differences"][0]["got"] == [{"end": "crash"}]


def test_a_report_that_cannot_be_written_is_told(pi_trio: PiTrio, tmp_path: Path) -> None:
    """Before anything is run."""
    for place in (tmp_path, tmp_path / "no" / "report.json", tmp_path / ("x" * 300)):
        with pytest.raises(SystemExit) as caught:
            pi_trio("conform", "--json", str(place), scenarios=NAMES[:1])
        assert caught.value.code == 2


def test_every_scenario_is_listed_if_asked(pi_trio: PiTrio) -> None:
    _, out, _ = pi_trio("conform", "-v", scenarios=NAMES)
    for name in NAMES:
        assert out.count(f"PASS        {name}") == 2


def test_what_the_protocol_does_not_know_is_ignored_and_told_unless_strict(
    pi_trio: PiTrio, tmp_path: Path
) -> None:
    wrapper = tmp_path / "chatty.py"
    wrapper.write_text(CHATTY)
    program = f"{RUNTIME.split(' ', maxsplit=1)[0]} {wrapper}"
    code, out, _ = pi_trio("conform", "--exec", program, scenarios=NAMES[:1])
    assert code == 0
    assert "unknown to the protocol, and ignored: tell weather" in out
    assert pi_trio("conform", "--exec", program, "--strict", scenarios=NAMES[:1])[0] == 1


# Which scenarios.


def test_scenarios_can_be_listed(pi_trio: PiTrio) -> None:
    code, out, err = pi_trio("conform", "--list", scenarios=("text_pl*", "tool_single"))
    assert (code, err) == (0, "")
    assert [line.split()[:2] for line in out.splitlines()] == [
        ["text_plain", "run"],
        ["tool_single", "batch"],
    ]
    assert "One call: start, beforeToolCall, execute" in out
    whole = pi_trio("conform", "--list")[1].splitlines()
    assert len(whole) == len([*with_twins(all_scenarios())])


def test_a_list_of_nothing_is_wrong_usage(pi_trio: PiTrio) -> None:
    assert pi_trio("conform", "--list", scenarios=("nothing_*",))[0] == 2


# Known failures.


def known(*entries: tuple[str, str]) -> str:
    return "".join(f"[[known]]\nscenario = '{name}'\nreason = '{reason}'\n" for name, reason in entries)


@pytest.fixture
def fragile(tmp_path: Path) -> str:
    """The runtime as a program that dies when a tool returns."""
    wrapper = tmp_path / "fragile.py"
    wrapper.write_text(FRAGILE)
    return f"{RUNTIME.split(' ', maxsplit=1)[0]} {wrapper}"


FRAGILE = """
import json, subprocess, sys
inner = subprocess.Popen([sys.executable, "-m", "pi_trio.cli", "subject", *sys.argv[1:]],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
print(inner.stdout.readline(), end="", flush=True)
for command in sys.stdin:
    if json.loads(command).get("value", {}) not in ({}, "stream"):
        sys.exit("a tool has returned")
    inner.stdin.write(command)
    inner.stdin.flush()
    while True:
        line = inner.stdout.readline()
        print(line, end="", flush=True)
        if "re" in json.loads(line):
            break
"""


def test_a_known_failure_is_shown_and_does_not_fail_the_run(
    pi_trio: PiTrio, fragile: str, tmp_path: Path
) -> None:
    baseline = tmp_path / "known.toml"
    baseline.write_text(known(("tool*", "tools are for later")))
    file = tmp_path / "report.json"
    arguments = ("conform", "--exec", fragile, "--baseline", str(baseline))
    code, out, _ = pi_trio(*arguments, "--json", str(file), scenarios=NAMES)
    assert (code, summary(out)) == (0, "1 passed, 0 non-strict, 0 not offered, 0 failed, 2 known failures")
    assert "  tool_single: CRASH; tools are for later\n" in out
    report = json.loads(file.read_text())
    assert (report["summary"]["known"], report["summary"]["failed"]) == (2, 0)
    single = next(each for each in report["legs"][0]["scenarios"] if each["name"] == "tool_single")
    assert (single["outcome"], single["known"]) == ("CRASH", "tools are for later")
    assert single["differences"]


def test_a_stale_entry_fails_the_run_and_is_named(pi_trio: PiTrio, fragile: str, tmp_path: Path) -> None:
    baseline = tmp_path / "known.toml"
    baseline.write_text(known(("tool*", "later"), ("text_plain", "fixed long ago"), ("nothing", "renamed")))
    code, out, _ = pi_trio("conform", "--exec", fragile, "--baseline", str(baseline), scenarios=NAMES)
    assert code == 1
    assert "stale in the baseline: text_plain: it does not fail any more\n" in out
    assert "stale in the baseline: nothing: there is no such scenario\n" in out
    assert summary(out) == "1 passed, 0 non-strict, 0 not offered, 0 failed, 2 known failures"


def test_the_baseline_is_written_anew(pi_trio: PiTrio, fragile: str, tmp_path: Path) -> None:
    baseline = tmp_path / "known.toml"
    arguments = ("conform", "--exec", fragile, "--baseline", str(baseline))
    code, _, err = pi_trio(*arguments, "--update-baseline", scenarios=NAMES)
    assert (code, err) == (0, f"{baseline}: 2 entries\n")
    assert (
        baseline.read_text().count('reason = "CRASH: its stdout ended; it exited with code 1; say why"') == 2
    )
    code, _, err = pi_trio(*arguments, scenarios=NAMES)
    assert code == 2
    assert "2 reasons not given yet, of tool" in err
    baseline.write_text(
        known(("tool_single", "no tools yet"), ("text_plain", "fixed"), ("abort_*", "not run here"))
    )
    assert pi_trio(*arguments, "--update-baseline", scenarios=NAMES)[0] == 0
    assert [line for line in baseline.read_text().splitlines() if "scenario" in line] == [
        'scenario = "tool_single"', 'scenario = "abort_*"', 'scenario = "tools_parallel_reverse"',
    ]  # fmt: skip
    assert 'reason = "no tools yet"' in baseline.read_text()
    baseline.write_text(baseline.read_text().replace("say why", "no time yet"))
    assert pi_trio(*arguments, scenarios=NAMES)[0] == 0


def test_a_baseline_that_cannot_be_written_costs_no_report(
    pi_trio: PiTrio, fragile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Baseline, path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Baseline, "write", refuse)
    baseline, file = tmp_path / "known.toml", tmp_path / "report.json"
    arguments = ("--exec", fragile, "--baseline", str(baseline), "--update-baseline", "--json", str(file))
    code, out, err = pi_trio("conform", *arguments, scenarios=NAMES)
    assert (code, err) == (2, f"pi-trio: --baseline {baseline}: Permission denied\n")
    assert summary(out) == "1 passed, 0 non-strict, 0 not offered, 0 failed, 2 known failures"
    assert json.loads(file.read_text())["summary"]["known"] == 2


def test_for_a_baseline_without_a_folder_nobody_is_judged(
    pi_trio: PiTrio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("pi_trio.cli.judging.judge_subject")
    baseline = tmp_path / "no" / "known.toml"
    code, _, err = pi_trio("conform", "--baseline", str(baseline), "--update-baseline", scenarios=NAMES)
    assert (code, err) == (2, f"pi-trio: {baseline}: there is no folder {baseline.parent}\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--update-baseline"], "--update-baseline needs --baseline FILE"),
        (["--baseline", "no/such.toml"], "No such file"),
        (["--baseline", "no/such.toml", "--update-baseline", "--fail-fast"], "does not go with --fail-fast"),
        (["--baseline", "no/such.toml", "--update-baseline"], "there is no folder"),
        (["--ws", "http://localhost"], "begins with ws://"),
        (["--ws", "ws://"], "has a host"),
        (["--ws", "ws://localhost:0/"], "the port of a WebSocket is a number from 1 to 65535"),
        (["--ws", "ws://localhost:1/a b"], "without blanks"),
        (["--ws", "ws://local\nhost:1/"], "without blanks"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage(pi_trio: PiTrio, arguments: list[str], says: str) -> None:
    code, _, err = pi_trio("conform", *arguments, scenarios=NAMES[:1])
    assert code == 2
    assert says in err


def test_what_records_a_release_goes_into_the_folder_that_is_judged_by(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Into the installation's own vectors it would not only help nobody, but change what the tester judges by."""
    assert main(["conform", "--spec", str(tmp_path), "--profile", "pi-1.0.3"]) == 2
    err = capfd.readouterr().err
    assert f"`pi-trio vectors record --release 1.0.3 --spec {tmp_path}` makes them" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_the_number_of_processes_is_a_number(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["conform", f"--jobs={jobs}"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("--jobs: a number from 1 is needed\n")


# How it goes on.


def test_the_first_failure_can_end_it(pi_trio: PiTrio, peer) -> None:
    code, out, _ = pi_trio("conform", "--exec", peer([None, [{"exit": 7}]]), "--fail-fast", scenarios=NAMES)
    assert (code, summary(out)) == (1, "0 passed, 0 non-strict, 0 not offered, 1 failed")
    assert "stopped at the first failure; not run: 2\n" in out


@pytest.mark.parametrize("profiles", [("--profile", "all"), ()])
def test_the_first_failure_can_end_it_in_the_last_scenario(
    pi_trio: PiTrio, peer, profiles: tuple[str, ...]
) -> None:
    """Then no scenario is left out, and all the same nothing else is judged."""
    program = peer([None, [{"exit": 7}]])
    code, out, _ = pi_trio("conform", "--exec", program, "--fail-fast", *profiles, scenarios=NAMES[:1])
    assert code == 1
    assert out.count("1 failed") == 1


def test_several_processes_give_the_same_report(pi_trio: PiTrio, fragile: str) -> None:
    one, three = (
        pi_trio("conform", "--exec", fragile, "--jobs", jobs, scenarios=NAMES) for jobs in ("1", "3")
    )
    assert one == three
    assert summary(one[1]) == "1 passed, 0 non-strict, 0 not offered, 2 failed"


def test_the_wire_of_a_failure_is_shown_if_asked(pi_trio: PiTrio, peer) -> None:
    program = peer(
        [None, [{"say": {"tell": "weather", "sky": "\x1b[2J"}}, {"say": {"re": "$id", "ok": None}}]]
    )
    code, out, _ = pi_trio("conform", "--exec", program, "-v", scenarios=NAMES[:1])
    assert code == 1
    wire = out.split("  wire:\n", 1)[1].splitlines()
    assert wire[0].startswith('    > {"id":1,"cmd":"create",')
    assert wire[1] == '    < {"re":1,"ok":null}'
    assert wire[2].startswith('    > {"id":2,"cmd":"prompt",')
    assert wire[3] == '    < {"tell":"weather","sky":"\\u001b[2J"}'
    assert "wire:" not in pi_trio("conform", "--exec", program, scenarios=NAMES[:1])[1]


CHATTY = """
import json, subprocess, sys
inner = subprocess.Popen([sys.executable, "-m", "pi_trio.cli", "subject", *sys.argv[1:]],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
sys.stdout.write(inner.stdout.readline())
sys.stdout.flush()
for command in sys.stdin:
    inner.stdin.write(command)
    inner.stdin.flush()
    print(json.dumps({"tell": "weather", "sunny": True}))
    while True:
        line = inner.stdout.readline()
        sys.stdout.write(line)
        if "re" in json.loads(line):
            break
    sys.stdout.flush()
"""
