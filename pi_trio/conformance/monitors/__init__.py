"""Monitors: a second opinion, written from the clauses and not from the runtime.

They follow what was said, event by event or line by line, and tell which clauses were kept, which were broken, and
what would have been allowed next. All rules of order are tables in `order`; `content` holds what events must carry,
and `recovery` how to go on behind a fault, so that it is one finding and the rest is still judged. Nothing here knows
who is judged, and nothing imports the runtime.

`EventMonitor` needs nothing but events, as `pi-trio check` has them. `TraceMonitor` follows a trace of the driver
protocol, with one monitor of events for each listener. `response` follows what providers say, and not agents.
"""

from __future__ import annotations

from .bursts import Bursts as Bursts
from .docket import Monitor as Monitor
from .events import EventMonitor as EventMonitor
from .finding import Allowed as Allowed
from .finding import Finding as Finding
from .finding import Force as Force
from .finding import Judgement as Judgement
from .finding import Releases as Releases
from .judged import HELD_ONLY as HELD_ONLY
from .judged import JUDGED as JUDGED
from .judging import judge_events as judge_events
from .judging import judge_trace as judge_trace
from .order import TRANSITIONS as TRANSITIONS
from .order import Transition as Transition
from .trace import TraceMonitor as TraceMonitor
