"""Mutants of a transport in which one decision of its dialect is as another release has it."""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs

from pi_trio.models import dialect as dialects

from .planting import replaced
from .transported import TRANSPORTED, TransportMutant


def in_dialects(clause: str, name: str, release: str | None = None, **fields: Any) -> None:
    """Enter a mutant by its name: `fields` of the dialect are as they are elsewhere."""
    (field,) = fields

    def make(original: Any) -> Any:
        return lambda release_: attrs.evolve(original(release_), **fields)

    TRANSPORTED.append(
        TransportMutant(
            name=name,
            clauses=(clause,),
            title=f"`{field}` of the dialect is `{fields[field]}`",
            kind="transport",
            release=release,
            plant=partial(replaced, dialects, "dialect_of", make),
        )
    )
