"""How laws are tested: always by the same examples, and for as long as it takes."""

from __future__ import annotations

from hypothesis import settings

law = settings(derandomize=True, deadline=None, max_examples=300)
