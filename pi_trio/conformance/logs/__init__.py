"""Recorded logs: what somebody's agent said some other day, judged by the clauses.

A log is a file of JSON lines, or what comes down a pipe. It may hold agent events, what Pi prints in its JSON mode,
traces of this tester, the wire between a tester and a subject, or what providers say; which of these it is, each line
says for itself.
`lines` reads, `session` and `wire` know what stands around the events, and `log` brings them to the monitors.
"""

from __future__ import annotations

from .basis import Basis as Basis
from .left_out import BARE as BARE
from .left_out import WITHOUT_QUIESCENCE as WITHOUT_QUIESCENCE
from .lines import LONGEST as LONGEST
from .lines import MEGABYTE as MEGABYTE
from .lines import UnreadableError as UnreadableError
from .lines import keys_given_twice as keys_given_twice
from .lines import open_log as open_log
from .log import LogCheck as LogCheck
from .outcome import Checked as Checked
from .outcome import Remark as Remark
