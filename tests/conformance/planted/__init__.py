"""Faults of real ports, planted in the runtime: each is one function that is right but for that fault."""

from __future__ import annotations

from . import batch, call, response, run  # noqa: F401 - they enter their faults
from .fault import FAULTS, Fault

__all__ = ["FAULTS", "Fault"]
