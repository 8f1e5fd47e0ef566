"""What the releases up to 1.0.3 do differently, as data: one field for each decision, read at one place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from ..formats import FORMATS
from .lengths import Lengths
from .older_formats import FORMATS_0_80, FORMATS_0_85


@attrs.frozen(kw_only=True)
class Dialect:
    """The argument rules of one release, as far as they are its own."""

    #: Nulls of optional members that do not take null are dropped (0.85.0).
    drops_optional_nulls: bool
    #: A union leaves a value alone that one of its branches takes as it is (0.85.0); before, branches coerce first.
    unions_keep_what_fits: bool
    #: The keywords about one type pass over values of other types also where `type` is a list (0.85.0).
    passes_over_other_types: bool
    #: Below zero, a remainder may be a little too small as well as a little too large (0.85.0).
    negative_multiples: bool
    #: `contains` counts for `unevaluatedItems` (1.0.3).
    contains_evaluates: bool
    #: Which keys are additional is decided with patterns under the `u` flag (1.0.3); before, without it.
    unicode_keys: bool
    #: The faults of additional members and of member names are told, not only that there are some (1.0.3).
    tells_faults_of_others: bool
    #: References are resolved with more order (1.0.3); see `references.py`.
    strict_references: bool
    #: How texts are measured (characters throughout since 0.85.0).
    lengths: Lengths
    #: The formats that are checked. Most were rewritten for 1.0.3.
    formats: Mapping[str, Callable[[str], bool]]


#: Pi 1.0.3, with TypeBox 1.3.27.
TYPEBOX: Final = Dialect(
    drops_optional_nulls=True,
    unions_keep_what_fits=True,
    passes_over_other_types=True,
    negative_multiples=True,
    contains_evaluates=True,
    unicode_keys=True,
    tells_faults_of_others=True,
    strict_references=True,
    lengths=Lengths(),
    formats=FORMATS,
)

#: Pi 0.85.0, with TypeBox 1.3.7.
TYPEBOX_0_85: Final = attrs.evolve(
    TYPEBOX,
    contains_evaluates=False,
    unicode_keys=False,
    tells_faults_of_others=False,
    strict_references=False,
    formats=FORMATS_0_85,
)

#: Pi 0.80.2, with TypeBox 1.1.38.
TYPEBOX_0_80: Final = attrs.evolve(
    TYPEBOX_0_85,
    drops_optional_nulls=False,
    unions_keep_what_fits=False,
    passes_over_other_types=False,
    negative_multiples=False,
    lengths=Lengths(by_suspicion=True),
    formats=FORMATS_0_80,
)
