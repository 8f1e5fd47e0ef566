"""What is known of one field, and how well."""

from __future__ import annotations

import enum

import attrs


class Certainty(enum.StrEnum):
    """How well something is known of a field."""

    SHOWN = "shown"
    """The subject's trace is that of the value."""
    LEFT_OUT = "left out"
    """The subject's trace is that of the value, but only because it leaves out what others say; and the release that it
    says it has does say it. So it may be as the value, or not complete yet.
    """
    NEAREST = "nearest"
    """The subject deviates otherwise too; its traces are nearest to those of the value."""
    UNCLEAR = "unclear"
    """It could show, but the subject does as none of the releases."""
    NOT_OFFERED = "not offered"
    """The subject lacks what the field's scenarios need."""
    UNSHOWN = "no scenario shows it"
    """Whatever the field says, the traces are the same, as the other fields are."""

    @property
    def is_guess(self) -> bool:
        """Whether a value is named that the subject need not have."""
        return self in (Certainty.LEFT_OUT, Certainty.NEAREST)


@attrs.frozen(kw_only=True)
class Finding:
    """What is known of one field.

    Attributes:
        releases: the profiles whose value the subject may have.
        scenarios: those that told, or, if nothing did, where to look.
        missing: what it would have to offer.
        broken: scenarios that the subject broke off, if that is why nothing is known.
    """

    field: str
    told: Certainty
    releases: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def matters(self) -> bool:
        """Whether a profile has to follow it."""
        return self.told is Certainty.SHOWN or self.told.is_guess
