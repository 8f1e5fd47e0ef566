"""What a log may be in which there is nothing to judge, and what to give instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pi_trio.conformance.logs import Checked

_WHOLE: Final = "give both sides of the wire in one log, as they went"

_ADVICE: Final[tuple[tuple[Callable[[Checked], object], str], ...]] = (
    (
        lambda log: log.skipped["message"] or log.skipped["model_change"],
        "this is the file of a session, which keeps messages; `pi --mode json` prints events",
    ),
    (
        lambda log: log.sides["tester"] and not log.sides["subject"],
        f"these are the commands of a tester alone, and what the subject says is what is judged: {_WHOLE}",
    ),
    (
        lambda log: log.sides["subject"] and not log.sides["tester"],
        f"this is what a subject says alone, and no listener hears anything in it: {_WHOLE}",
    ),
    (
        lambda log: log.sides["tester"],
        "no agent that is created here is asked for anything, and no listener hears anything",
    ),
    (
        lambda log: log.lines,
        'a log has an event in each line, such as {"type":"agent_start"}, or is a trace of pi-trio',
    ),
    (lambda log: log.remarks["unreadable"], "not even its beginning can be read"),
)
"""What a log is, told by what it has, and what is said of it; the first that fits."""


def advice(log: Checked) -> str:
    """What to say of a log that has nothing to judge."""
    return next((said for fits, said in _ADVICE if fits(log)), "there is no line in it")
