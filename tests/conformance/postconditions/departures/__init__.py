"""What a trace of the runtime becomes if what closes a run is told otherwise: each departure is one function.

They are what an implementation may do wrong behind the command that enters a ruling, where it need not do as the
runtime does, nor as the release.
"""

from __future__ import annotations

from . import beside, calls, failures, listening  # noqa: F401 - they enter their departures
from .departure import DEPARTURES, Departure

__all__ = ["DEPARTURES", "Departure"]
