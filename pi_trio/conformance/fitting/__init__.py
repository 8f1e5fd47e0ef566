"""Which release an implementation behaves as, field by field of `Profile`.

Ports follow commits of Pi, not its releases. The runtime can behave as any release, and as any mixture of them, so it
shows for each field which scenarios tell its values apart; a subject is driven through some of those, and behaves as
the value whose trace it shows. `fit` does this for every field, and ends with the profile to judge the subject by.
`fields_concerned` goes the other way: given what failed, which fields would explain it.
"""

from __future__ import annotations

from .choices import Choice
from .concerned import Concern, Explanation, fields_concerned
from .descent import Fitted, fit
from .finding import Certainty, Finding
from .reference import Reference
from .rulings import Rulings
from .trace import Trace

__all__ = [
    "Certainty",
    "Choice",
    "Concern",
    "Explanation",
    "Finding",
    "Fitted",
    "Reference",
    "Rulings",
    "Trace",
    "fields_concerned",
    "fit",
]
