"""The command line as such: help, version, exit codes, and what happens when something is missing or goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import pi_trio.cli
from pi_trio._version import __version__
from pi_trio.cli import COMMANDS, main


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)
    assert "exit codes" in shown


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"pi_trio {__version__}\n"


@pytest.mark.parametrize("arguments", [["conforn"], ["--nonsense"], ["conform", "--nonsense"], ["vectors"]])
def test_wrong_usage(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: pi-trio {name} ")
    command = import_module(f"pi_trio.cli.{COMMANDS[name][0]}")
    assert callable(command.run)


def test_commands_are_imported_when_they_are_called() -> None:
    heavy = ("rich", "trio", "attrs")
    script = f"import sys, pi_trio.cli as c; c.main([]); print([m for m in {heavy} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.endswith("[]\n")


@pytest.mark.parametrize(
    ("missing", "arguments"),
    [
        *((each, ["conform", "--subject", "pi@1.6.0"]) for each in ("rich", "filelock", "platformdirs")),
        ("hypothesis", ["fuzz", "--minutes", "1"]),
    ],
)
def test_a_missing_extra_is_named_in_one_line(missing: str, arguments: list[str]) -> None:
    script = (
        f"import sys; sys.modules[{missing!r}] = None; import pi_trio.cli as c; sys.exit(c.main({arguments}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"pi-trio {arguments[0]} needs more than the runtime does: pip install 'pi_trio[conformance]'\n"
    )


@pytest.mark.parametrize("group", [False, True])
def test_an_interrupt_is_a_code_and_no_traceback(
    group: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt = KeyboardInterrupt()

    def run(*_: object) -> int:
        raise BaseExceptionGroup("nursery", [interrupt]) if group else interrupt

    monkeypatch.setattr(pi_trio.cli, "_run", run)
    assert main(["conform"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_a_fault_of_its_own_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pi_trio.cli.conform

    def fail(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr(pi_trio.cli.conform, "select_with_twins", fail)
    assert main(["conform"]) == 4
    assert capsys.readouterr().err == (
        "pi-trio: a fault of pi-trio itself: ValueError: a bug; --verbose shows the traceback\n"
    )
    assert main(["conform", "--verbose"]) == 4
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize("command", [["list"], ["check", "-"], ["check", "-v", "-"]])
def test_where_nothing_can_be_written_that_is_said(command: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pi_trio.cli", *command],
            input='{"type":"agent_start"}\n', stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 4
    assert done.stderr == "pi-trio: what there is to say cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="a shell there cannot close it")
def test_who_has_no_standard_output_has_an_exit_code() -> None:
    script = f"'{sys.executable}' -m pi_trio.cli check - >&-"
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        input='{"type":"agent_start"}\n', stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def runs(pid: int) -> bool:
    """Whether there is such a process, and not only what is left of it until somebody asks."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in ("Z", "X")


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", COMMANDS)
def test_who_is_told_to_end_at_the_first_moment_ends_so_however_often(
    name: str, told: signal.Signals
) -> None:
    """The command's own module is not even imported, and the last word is not said, when it is told."""
    script = (
        "import builtins, signal, sys\n"
        "import pi_trio.cli as cli\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"def told(*_, **__): signal.raise_signal({told.value})\n"
        "said = print\n"
        "def print(*words, **how): said(*words, **how); told()\n"
        "builtins.print = print\n"
        "cli.import_module = told\n"
        "code = cli.main()\n"
        "told()\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, name], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "arguments", [["explain-run", "no_such"], ["--version"], ["conform", "--list"]], ids=" ".join
)
def test_who_is_told_behind_the_last_word_has_done_all(arguments: list[str], told: signal.Signals) -> None:
    """While the interpreter shuts down: nobody could say any more that something was interrupted."""
    script = (
        "import signal, sys\n"
        "import pi_trio.cli as cli\n"
        "class Late:\n"
        f"    def __del__(self, told=signal.raise_signal): told({told.value})\n"
        "sys.late = Late()\n"
        "try:\n"
        "    code = cli.main()\n"
        "except SystemExit as end:\n"
        "    code = end.code\n"
        f"signal.raise_signal({told.value})\n"
        "sys.exit(code)\n"
    )
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if "no_such" in arguments else 0), done.stderr


def test_signals_are_as_before_for_who_calls_it() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert main(["explain-run", "no_such"]) == 2
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["conform", "--spec", "x" * 300],
        ["conform", "--baseline", "x" * 300],
        ["conform", "--baseline", "x" * 300, "--update-baseline"],
        ["conform", "--spec", "/dev/null"],
        ["explain-run", "text_plain", "--recorded", "--spec", "x" * 300],
        ["explain-run", f"{'x' * 300}.json"],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_a_file_that_cannot_be_is_told_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("pi-trio: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    "arguments",
    [["explain-run", "text_plain"], ["conform", "--scenario", "text_plain"], ["fit"]],
    ids=" ".join,
)
def test_who_is_told_to_end_ends_the_subject_too(
    arguments: list[str], told: signal.Signals, peer, tmp_path
) -> None:
    note = tmp_path / "pid"
    script = f"echo $$ > {note}; exec {peer([[{'stderr': 'x', 'deaf': True}]])}"
    wrapper = tmp_path / "subject.sh"
    wrapper.write_text(script)
    command = [sys.executable, "-m", "pi_trio.cli", *arguments, "--exec", f"sh {wrapper}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tester:
        while not note.exists() or not note.read_text().strip():
            assert tester.poll() is None
        tester.send_signal(told)
        _, err = tester.communicate(timeout=20)
    assert tester.returncode == 130
    assert err == "interrupted\n"
    given_up = time.monotonic() + 20
    while runs(int(note.read_text())):  # it was killed, and ends when the system comes to it
        assert time.monotonic() < given_up, "the subject has outlived its tester"


@pytest.mark.parametrize("port", ["x", "-1", "65536", "1.5"])
def test_a_port_is_a_number(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["subject", f"--listen={port}"])
    assert caught.value.code == 2
    assert capsys.readouterr().err.endswith("a port is a number from 0 to 65535\n")
