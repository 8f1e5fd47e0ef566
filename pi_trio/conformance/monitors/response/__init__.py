"""The monitor of responses: judges the events that a provider's stream gives, as `pi-trio check` and the replay do.

`order` holds what may follow what, as tables; `content` what the events and the last message must carry; `monitor`
follows a log of responses, one behind the other.
"""

from __future__ import annotations

from .monitor import ResponseMonitor as ResponseMonitor
from .monitor import judge_response as judge_response
from .monitor import judge_responses as judge_responses
from .order import JUDGED as JUDGED
from .order import STREAM_EVENTS as STREAM_EVENTS
