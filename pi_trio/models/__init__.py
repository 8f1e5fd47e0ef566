"""Models: what answers a request. The loop sees one thing only, a stream function (`stream.py`).

Who writes one says its responses with a `ResponseBuilder`.
"""

from __future__ import annotations

from .builder import OutOfOrderError as OutOfOrderError
from .builder import ResponseBuilder as ResponseBuilder
