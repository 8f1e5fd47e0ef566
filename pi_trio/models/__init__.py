"""Models: what answers a request. The loop sees one thing only, a stream function (`stream.py`)."""

from __future__ import annotations
