"""JSON Schema (draft 2020-12) as Pi 1.6.0 reads it: which values a schema accepts, and why not the others.

A `SchemaDocument` is a web of `Schema` objects, one for each schema object, each with its rules; a rule is one
keyword (or a few that belong together) and answers both questions about it. `rule.py` says what a rule is, `schema.py`
puts them together, the other modules hold the rules by what they look at.
"""

from __future__ import annotations

from .rule import Fault, Path, Report, SchemaError
from .schema import Schema, SchemaDocument

__all__ = ["Fault", "Path", "Report", "Schema", "SchemaDocument", "SchemaError"]
