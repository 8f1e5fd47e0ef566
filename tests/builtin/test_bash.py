"""Commands: who ends them, what is left of them, and what is reported meanwhile. With real processes and real time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pi_trio.abort import AbortController
from pi_trio.builtin import BuiltinToolError, bash_tool, output, process
from pi_trio.builtin.bash import UPDATE_INTERVAL, _Call
from pi_trio.builtin.dialect import TOOLS_1_0_3, TOOLS_1_6_0
from pi_trio.builtin.output import Output

from .calling import Called, call, call_tool

#: A shell with a child and a grandchild in the background, which all would stay for long; their ids go to a file.
FAMILY = (
    "echo $$ >>pids; (echo $BASHPID >>pids; sleep 60 & echo $! >>pids; wait) & "
    "while [ $(wc -l <pids) != 3 ]; do :; done; "
)


def is_alive(pid: int) -> bool:
    """Whether a process runs. A zombie is one that nobody has waited for."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def taken(path: str | None) -> tuple[int, bytes]:
    """The mode and the content of a file that is removed."""
    assert path is not None
    place = Path(path)
    content = place.stat().st_mode & 0o777, place.read_bytes()
    place.unlink()
    return content


async def come_true(condition: Callable[[], bool]) -> bool:
    """Whether it comes true, now or in a moment: what is done by other processes has no event."""
    with trio.move_on_after(20):
        while not condition():  # noqa: ASYNC110
            await trio.sleep(0.005)
    return condition()


async def all_gone(folder: Path) -> bool:
    """Whether the family of three is gone."""
    pids = [int(line) for line in (folder / "pids").read_text().split()]
    assert len(pids) == 3
    return await come_true(lambda: not any(map(is_alive, pids)))


@pytest.fixture(autouse=True)
def _nothing_is_left_open():
    folder = "/proc/self/fd" if sys.platform == "linux" else "/dev/fd"
    before = len(os.listdir(folder))
    yield
    assert len(os.listdir(folder)) == before


async def started(called: Called, text: str) -> None:
    assert await come_true(lambda: any(text in update.text for update in called.updates))


@pytest.mark.parametrize("how", ["abort", "timeout"])
async def test_the_whole_family_ends_and_what_was_said_is_kept(how, tmp_path):
    controller, called = AbortController(), Called()
    args = {"command": FAMILY + "echo ready; sleep 60", **({"timeout": 1.5} if how == "timeout" else {})}
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            partial(call_tool, bash_tool(tmp_path), args, signal=controller.signal, called=called)
        )
        if how == "abort":
            await started(called, "ready")
            controller.abort()
    ended = "Command aborted" if how == "abort" else "Command timed out after 1.5 seconds"
    assert called.error == f"ready\n\n\n{ended}"
    assert await all_gone(tmp_path)


async def test_a_cancellation_ends_the_family_and_is_raised(tmp_path):
    called = Called()
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                partial(
                    call_tool,
                    bash_tool(tmp_path),
                    {"command": FAMILY + "echo ready; sleep 60"},
                    called=called,
                )
            )
            await started(called, "ready")
            scope.cancel()
    assert scope.cancelled_caught
    assert (called.result, called.error) == (None, None)
    assert await all_gone(tmp_path)


async def test_an_abort_that_cancels_keeps_what_was_said(tmp_path):
    """As in an agent: the abort is raised, and the call's scope is cancelled."""
    controller, called = AbortController(), Called()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            partial(
                call_tool,
                bash_tool(tmp_path),
                {"command": "trap '' TERM; echo ready; sleep 60"},
                signal=controller.signal,
                called=called,
            )
        )
        await started(called, "ready")
        controller.abort()
        nursery.cancel_scope.cancel()
    assert called.error == "ready\n\n\nCommand aborted"


async def test_what_is_in_the_background_ends_with_the_call(tmp_path):
    called = await call("bash", {"command": FAMILY + "echo done"}, tmp_path)
    assert called.text == "done\n"
    assert await all_gone(tmp_path)


async def test_what_is_in_the_background_may_stay(tmp_path):
    called = await call("bash", {"command": "sleep 60 & echo $!"}, tmp_path, keep_background=True)
    pid = int(called.text)
    try:
        assert is_alive(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


async def test_what_is_in_the_background_is_heard_as_long_as_it_speaks(tmp_path, monkeypatch):
    made: list[process._Running] = []

    class Running(process._Running):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(process, "_Running", Running)
    monkeypatch.setattr(process, "GRACE", 30)
    command = "(while kill -0 $$ 2>/dev/null; do :; done; echo late) & echo now"
    called = await call("bash", {"command": command}, tmp_path)
    assert called.text == "now\nlate\n"
    (running,) = made
    assert running.shell_seconds is not None
    # What came after the shell was gone has put off the time from which nobody listens any more.
    assert running._silent_at > running._begun + running.shell_seconds + process.GRACE


NOISY = "(while printf .; do sleep 0.01; done) & exit 4"


@pytest.mark.parametrize("dialect", [TOOLS_1_6_0, TOOLS_1_0_3])
async def test_a_timeout_in_the_background(dialect, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "GRACE", 30)
    called = await call("bash", {"command": NOISY, "timeout": 1}, tmp_path, dialect=dialect)
    assert called.error is not None
    said, _, status = called.error.partition("\n\n")
    assert set(said) == {"."}
    begins = "Command timed out after 1 seconds"
    if dialect is TOOLS_1_6_0:
        assert status.startswith(f"{begins}. The shell exited with code 4 after 0")
        assert status.endswith(
            " seconds, but background processes it started kept writing output until the timeout."
        )
    else:
        assert status == begins


async def test_who_has_left_the_group_is_not_waited_for(tmp_path, monkeypatch):
    """It goes on writing to the output after everybody else was killed, and is never silent for so long."""
    monkeypatch.setattr(process, "GRACE", 1)
    pidfile = tmp_path / "pid"
    escaped = f"setsid sh -c 'echo $$ >{pidfile}; while echo x; do :; done'"
    command = f"{escaped} & while ! [ -s {pidfile} ]; do :; done; sleep 60"
    controller, called = AbortController(), Called()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            partial(
                call_tool, bash_tool(tmp_path), {"command": command}, signal=controller.signal, called=called
            )
        )
        await started(called, "x")
        controller.abort()
        nursery.cancel_scope.deadline = trio.current_time() + 20
    assert called.error is not None
    assert called.error.endswith("\n\nCommand aborted")
    if path := called.error.partition("Full output: ")[2].partition("]")[0]:
        taken(path)
    pid = int(pidfile.read_text())
    assert await come_true(lambda: not is_alive(pid))  # its output is closed: the next write ends it


async def test_a_report_that_fails_ends_the_command(tmp_path):
    class FaultError(Exception):
        pass

    def report(update: Any) -> None:
        if update.text:
            raise FaultError

    tool: Any = bash_tool(tmp_path)
    with pytest.raises(FaultError):
        await tool.execute("c", {"command": FAMILY + "echo x; sleep 60"}, AbortController().signal, report)
    assert await all_gone(tmp_path)


async def test_a_disk_that_is_full_ends_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(output.tempfile, "tempdir", str(tmp_path / "nothing"))
    called = await call("bash", {"command": FAMILY + "seq 100000; sleep 60"}, tmp_path)
    assert called.text == f"ENOENT: no such file or directory, open '{tmp_path / 'nothing'}'"
    assert await all_gone(tmp_path)


async def test_both_outputs_keep_their_order(tmp_path):
    called = await call("bash", {"command": "for i in 1 2 3; do echo $i; echo -$i >&2; done"}, tmp_path)
    assert called.text == "1\n-1\n2\n-2\n3\n-3\n"


async def test_the_file_with_all_of_it_is_the_users_alone(tmp_path):
    called = await call("bash", {"command": "seq 3000"}, tmp_path)
    assert called.result is not None
    said = "".join(f"{number}\n" for number in range(1, 3001))
    assert taken(called.result.details["fullOutputPath"]) == (0o600, said.encode())


async def test_options(tmp_path, monkeypatch):
    monkeypatch.setenv("PI_SESSION_ID", "secret")
    monkeypatch.setenv("MINE", "mine")
    told = "echo $PI_SESSION_ID $MINE $OTHER"
    assert (await call("bash", {"command": told}, tmp_path)).text == "mine\n"
    environment = {"OTHER": "other", "PI_SESSION_ID": "given"}
    assert (await call("bash", {"command": told}, tmp_path, env=environment)).text == "given other\n"
    prefixed = await call("bash", {"command": "echo $x"}, tmp_path, prefix="x=3")
    assert prefixed.text == "3\n"
    assert (await call("bash", {"command": "echo $0"}, tmp_path, shell="/bin/sh")).text == "/bin/sh\n"
    missing = await call("bash", {"command": "echo"}, tmp_path, shell="/no/such/shell")
    assert missing.text == "Custom shell path not found: /no/such/shell"


async def test_reports_come_ten_times_a_second_at_most(autojump_clock):
    reports: list[Any] = []
    told = _Call(lambda update: reports.append((trio.current_time(), update.text)), TOOLS_1_6_0, None)
    begun = trio.current_time()
    for step in range(25):
        await told.output.add(b"%d\n" % step)
        due = told.report_if_due()
        assert due in (float("inf"), reports[-1][0] + UPDATE_INTERVAL)
        await trio.sleep(0.03)
    assert reports[0] == (begun, "0\n")
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(reports)]
    assert min(gaps) > UPDATE_INTERVAL - 1e-9
    assert len(reports) == 7
    await told.output.add(b"end\n")
    told.report()
    told.report()  # there is nothing new
    assert len(reports) == 8
    assert reports[-1][1].endswith("24\nend\n")


@pytest.mark.parametrize("size", [1001, 65536])
async def test_output_is_the_same_whatever_the_pieces(size):
    said = ("é日本😀" * 30_000 + "\nlast\n").encode() + b"\xff"
    heard = Output()
    for place in range(50):
        await heard.add(said[place : place + 1])
    for place in range(50, len(said), size):
        await heard.add(said[place : place + size])
    await heard.finish()
    shown = heard.shown()
    assert (shown.content, shown.total_lines, shown.total_bytes) == ("last\n\ufffd", 3, len(said) + 2)
    text, truncated = await heard.whole(1000)
    assert truncated
    assert len(text) < 1000
    assert text.startswith("é日本😀")
    assert text.endswith("\nlast\n\ufffd")
    assert taken(heard.path)[1] == said


async def test_memory_does_not_grow_with_the_output():
    heard = Output()
    for _ in range(200):
        await heard.add(b"some line or other\n" * 1000)
    assert len(heard._tail) <= 4 * 51200
    assert not heard._raw
    await heard.finish()
    assert len(taken(heard.path)[1]) == 200 * 19_000


async def test_what_is_due_is_done_while_a_command_works_on_in_silence(tmp_path):
    asked = []

    def pending():
        asked.append(1)
        return trio.current_time() + 0.01

    ended = await process.run_command(
        ["/bin/bash", "-c", "exec >&- 2>&-; sleep 0.5; exit 3"],
        cwd=str(tmp_path),
        env={},
        seconds=60,
        hear=pytest.fail,
        pending=pending,
        keep_background=False,
    )
    assert (ended.returncode, ended.ended_by) == (3, None)
    assert len(asked) > 3


async def test_a_command_that_cannot_be_started_says_why(tmp_path):
    with pytest.raises(BuiltinToolError, match=rf"^spawn {tmp_path} EACCES$"):
        await process._started([str(tmp_path)], str(tmp_path), {})
    await wait_all_tasks_blocked()
