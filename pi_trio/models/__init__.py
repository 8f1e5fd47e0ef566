"""Models: what answers a request. The loop sees one thing only, a stream function (`stream.py`).

Who writes one says its responses with a `ResponseBuilder`. Who wants a real model takes the stream function of a
collection (`collection.py`; `builtin.py` has one of the common providers).
"""

from __future__ import annotations

from .builder import OutOfOrderError as OutOfOrderError
from .builder import ResponseBuilder as ResponseBuilder
