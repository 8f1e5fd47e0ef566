"""Tools: what the model may call, and how its arguments become the ones that a tool gets."""

from __future__ import annotations
