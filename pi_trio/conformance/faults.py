"""What can go wrong with a subject, as errors of one family.

Whatever a subject does (send rubbish, die, say nothing for ever), the tester learns of it as a `SubjectFault`
and goes on to judge the other scenarios; a traceback is never the subject's doing. Which fault it was decides
how the scenario's trace ends and which verdict it gets.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pi_trio.errors import PiTrioError


class SubjectFault(PiTrioError):  # noqa: N818  (a fault is somebody else's, an error would be ours)
    """A subject broke off a scenario.

    Attributes:
        message: what happened, in one line.
        stderr: the end of what the subject wrote there, or the traceback of a subject that runs in this
            process.
        received: the messages of the unfinished step that came before it.
    """

    end: ClassVar[str] = "fault"
    """How the trace of a scenario ends that met this fault."""

    def __init__(self, message: str, *, stderr: str = "", received: tuple[dict[str, Any], ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.stderr = stderr
        self.received = received


class ProtocolFault(SubjectFault):
    """The subject said something that the driver protocol does not allow."""


class SubjectDied(SubjectFault):
    """The subject ended, or failed in itself, while it owed a reply."""

    end = "crash"


class SubjectSilent(SubjectFault):
    """The subject gave no reply within the tester's patience."""

    end = "silent"


class SubjectLate(SubjectFault):
    """A subject without quiescence did not react to a command as expected, within the tester's patience."""

    end = "late"


class SubjectMissed(SubjectLate):
    """It was waited for through the whole patience, and did not say all that was expected."""


class SubjectMute(SubjectMissed):
    """And it has said nothing at all in the whole scenario, but for its replies."""


class SubjectEndless(SubjectFault):
    """The subject never comes to rest: each answer leads to another ask, past every sensible number."""

    end = "endless"


class SubjectUnstartable(SubjectFault):
    """The subject never came as far as a valid `hello`."""

    end = "crash"
