"""The runtime as a subject with one fault: the first `turn_start` of a run comes behind the first message.

Run it as a program; it speaks the driver protocol on stdin and stdout. One fault in the code is to be one cause in the
report, however many scenarios it shows in.
"""

from __future__ import annotations

from typing import Any

from pi_trio.agent import active, loop, lowlevel
from pi_trio.agent.run import Run
from pi_trio.cli import main
from pi_trio.events import AgentEvent, MessageEnd, TurnStart

_emit = Run.emit
_run_loop = loop.run_loop
_late: dict[Run, TurnStart | None] = {}


async def run_loop(state: Any, opening: Any, prompts: Any) -> None:
    """As it is, but a run that begins with messages says its first turn's start late."""
    if prompts:
        _late[state.run] = None
    await _run_loop(state, opening, prompts)


async def emit(run: Run, event: AgentEvent, *rest: Any) -> None:
    """As it is, but the late start waits until a message has been said."""
    closing = run._closing  # type: ignore[attr-defined]
    if run in _late and isinstance(event, TurnStart) and _late[run] is None and not closing:
        _late[run] = event
        return
    try:
        await _emit(run, event, *rest)
    except BaseException:  # the closing events of a failed run are right
        _late.pop(run, None)
        raise
    if isinstance(event, MessageEnd) and (held := _late.pop(run, None)) is not None:
        await _emit(run, held)


if __name__ == "__main__":
    Run.emit = emit  # type: ignore[assignment,method-assign]
    active.run_loop = lowlevel.run_loop = run_loop  # type: ignore[attr-defined]
    raise SystemExit(main(["subject"]))
