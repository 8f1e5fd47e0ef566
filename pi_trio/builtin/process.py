"""A command in a process group of its own, which ends with the call.

**Who ends it**: an abort, a cancellation, a timeout, or an error kills the whole group, at once and without asking.
What the command had said until then is still heard. A command that ends by itself is waited for, and so are processes
that it left in the background, as long as they write to its output: until nothing has come for a tenth of a second.
Then what is left of the group is killed, unless it is to stay. (A process that has left the group, by setsid, is out of
reach.)

Standard output and standard error are one pipe, so that what is said keeps its order; standard input is empty.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal, TypeAlias

import attrs
import trio

from .failure import BuiltinToolError, code_of

#: How long a background process may be silent, in seconds, before it is not listened to any more.
GRACE: Final = 0.1
_MOST_AT_ONCE: Final = 64 * 1024
#: What ends a command that does not end by itself.
Ender: TypeAlias = Literal["timeout", "cancellation"]
#: The groups of the commands that run now, by the number of their first process.
_groups: Final[set[int]] = set()
#: Where Node names the program that it cannot start.
_ABOUT_THE_PROGRAM: Final = ("EACCES", "EAGAIN", "EMFILE", "ENFILE", "ENOENT")


@attrs.frozen(kw_only=True)
class Ended:
    """How a command has ended.

    Attributes:
        returncode: its exit code, or a signal's number with a minus sign.
        ended_by: what has ended it, if not itself.
        shell_seconds: when the shell ended, from the start; None where that was after what has ended the command.
    """

    returncode: int
    ended_by: Ender | None
    shell_seconds: float | None


def kill_groups() -> None:
    """Kill all commands that run, for a process that ends without ending its calls. A signal's handler may do it."""
    for group in tuple(_groups):
        _kill_group(group)


@trio.lowlevel.enable_ki_protection  # a process that nobody waits for would stay; Ctrl-C comes as a cancellation
async def run_command(
    command: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    seconds: float,
    hear: Callable[[bytes], Awaitable[None]],
    pending: Callable[[], float],
    keep_background: bool,
) -> Ended:
    """Run a command to its end.

    Args:
        seconds: how long it may take at most; infinity is no limit.
        hear: gets what the command says, piece by piece; the command waits for it.
        pending: called before each wait: does what is due, and says at what time (trio's clock) it is to be called
            again, at the latest.
        keep_background: leave processes in the background alone.

    Raises:
        BuiltinToolError: it cannot be started.
        BaseException: what `hear` and `pending` raise.

    A cancellation ends the command, and this returns with `ended_by="cancellation"`: the next checkpoint raises
    Cancelled.
    """
    process = await _started(command, cwd, env)
    _groups.add(process.pid)
    try:
        return await _ended(process, _Running(process, hear, pending), seconds, keep_background)
    finally:
        _groups.discard(process.pid)


@trio.lowlevel.enable_ki_protection
async def _ended(process: trio.Process, running: _Running, seconds: float, keep_background: bool) -> Ended:
    error: BaseException | None = None
    ended_by: Ender | None = None
    shell_seconds: float | None = None
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(running.watch)
            try:
                with trio.move_on_after(seconds) as limit:
                    await running.listen()
                if limit.cancelled_caught:
                    ended_by = "timeout"
            except trio.Cancelled:
                ended_by = "cancellation"
            except BaseException as caught:  # raised when the process is gone
                error = caught
            scope.shield = True
            shell_seconds = running.shell_seconds
            if ended_by is not None or error is not None or not keep_background:
                running.kill()
            if ended_by is not None:
                try:
                    await running.hear_the_rest()
                except BaseException as caught:
                    error = caught
            await running.close()
    if error is not None:
        raise error
    assert process.returncode is not None
    return Ended(returncode=process.returncode, ended_by=ended_by, shell_seconds=shell_seconds)


async def _started(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> trio.Process:
    try:
        return await trio.lowlevel.open_process(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    except OSError as error:
        code = code_of(error)
        which = f"{command[0]} " if code in _ABOUT_THE_PROGRAM else ""
        raise BuiltinToolError(f"spawn {which}{code}") from error


class _Running:
    def __init__(
        self, process: trio.Process, hear: Callable[[bytes], Awaitable[None]], pending: Callable[[], float]
    ) -> None:
        assert process.stdout is not None
        self._process = process
        self._stream = process.stdout
        self._hear = hear
        self._pending = pending
        self._begun = trio.current_time()
        self._exited = trio.Event()
        self._silent_at = math.inf
        self._wait = trio.CancelScope()
        self.shell_seconds: float | None = None

    @trio.lowlevel.enable_ki_protection
    async def watch(self) -> None:
        """Wait until the shell is gone. It is killed before anybody stops waiting for it."""
        with trio.CancelScope(shield=True):
            await self._process.wait()
        now = trio.current_time()
        self.shell_seconds = now - self._begun
        self._silent_at = now + GRACE
        self._wait.deadline = min(self._wait.deadline, self._silent_at)
        self._exited.set()

    async def listen(self) -> None:
        """Hear all that is said, until the shell is gone and nobody says anything more."""
        while True:
            until = min(self._silent_at, self._pending())
            data: bytes | bytearray | None = None
            with trio.CancelScope(deadline=until) as self._wait:
                data = await self._stream.receive_some(_MOST_AT_ONCE)
            if data is None:
                if trio.current_time() >= self._silent_at:
                    return
            elif not data:
                break
            else:
                await self._hear(bytes(data))
                if self._exited.is_set():
                    self._silent_at = trio.current_time() + GRACE
        # The output is closed, and the shell may work on.
        while not self._exited.is_set():
            with trio.CancelScope(deadline=self._pending()):
                await self._exited.wait()

    async def hear_the_rest(self) -> None:
        """After `kill`: hear what was said before. Those out of reach are not listened to for long."""
        await self._exited.wait()
        with trio.move_on_after(GRACE):
            await self.listen()

    def kill(self) -> None:
        """Kill all that is left of the group."""
        _kill_group(self._process.pid)

    async def close(self) -> None:
        await trio.aclose_forcefully(self._stream)


def _kill_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it is gone, or nothing but its dead shell is left
        os.killpg(group, signal.SIGKILL)
