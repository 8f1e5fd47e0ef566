"""The argument rules of Pi up to 1.0.3: coercion of its own, then a check that TypeBox makes.

TypeBox follows JSON Schema where it can, and its own mind elsewhere: a keyword with a malformed value is as good as
absent, an unknown `type` fits everything, lengths count what a reader sees as one character. `rules.py` puts the parts
together; `dialect.py` says what the releases do differently; `document.py` compiles a schema into rules, which the
other modules hold by what they look at.
"""

from __future__ import annotations

from .dialect import TYPEBOX, TYPEBOX_0_80, TYPEBOX_0_85, Dialect
from .rules import UNEXPLAINED, TypeBoxRules

__all__ = ["TYPEBOX", "TYPEBOX_0_80", "TYPEBOX_0_85", "UNEXPLAINED", "Dialect", "TypeBoxRules"]
