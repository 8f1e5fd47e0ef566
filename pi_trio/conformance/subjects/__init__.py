"""Who can be judged, and how each one is started.

A subject is anything that speaks the driver protocol: the runtime of this package, a process that the user
names, or a real Pi release. What stands here is the one error that says why there is no subject.
"""

from __future__ import annotations

from pi_trio.errors import PiTrioError


class SubjectUnavailable(PiTrioError):  # noqa: N818 - it says what is the case, and nobody is at fault
    """A subject cannot be had, so nothing can be judged. Its text is one line that says what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
