"""Runs a program that is no subject (Node, to say what it is, or npm) and listens to one of its outputs.

With one output there is only one thing to wait for, so there is no nursery in here, and what ends the wait (a
KeyboardInterrupt above all) comes out as it is.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Literal

import trio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


async def run_child(
    command: Sequence[str],
    *,
    output: Literal["stdout", "stderr"],
    hear: Callable[[bytes], None],
    cwd: Path | None = None,
    grace: float = 0,
) -> int:
    """Runs a program to its end, and returns its status (negative: the signal that ended it).

    Args:
        command: program and arguments. Its stdin is empty.
        output: which output to listen to; the other one is discarded.
        hear: called with each piece of it as it comes.
        cwd: the folder to run in.
        grace: seconds that it has to end, when this is cancelled or interrupted, before it is killed.

    Raises:
        OSError: the program cannot be started.

    However this is left, the program has ended by then.
    """
    process = await trio.lowlevel.open_process(
        list(command),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if output == "stdout" else subprocess.DEVNULL,
        stderr=subprocess.PIPE if output == "stderr" else subprocess.DEVNULL,
    )
    stream = process.stdout or process.stderr
    assert stream is not None
    try:
        async with stream:
            async for chunk in stream:
                hear(bytes(chunk))
        return await process.wait()
    finally:
        await _end(process, grace)


async def _end(process: trio.Process, grace: float) -> None:
    """Sees to it that the process has ended, whatever interrupts this."""
    try:
        if process.returncode is None and grace:
            process.terminate()
            with trio.move_on_after(grace, shield=True):
                await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
