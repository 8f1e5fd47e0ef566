"""Which release a subject behaves as, field by field: the runtime as all kinds of mixtures is found out."""

from __future__ import annotations

import pytest

from pi_trio.conformance.fitting import Certainty
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.profile import FIELDS, PROFILES, get_profile

from ..test_subjects_in_python import subject
from .asking import MIXTURES, NAMES, deviating, explained, fitted


@pytest.mark.parametrize("name", [*NAMES, *MIXTURES])
def test_a_mixture_is_found(name: str) -> None:
    found = fitted(runtime_inside(name, 30))
    truth, result = get_profile(name), get_profile(found.profile)
    assert found.unclear() == ()
    assert {finding.field for finding in found.findings} == {*FIELDS}
    otherwise = {field for field in FIELDS if getattr(truth, field) != getattr(result, field)}
    assert otherwise <= {finding.field for finding in found.findings if finding.told is Certainty.UNSHOWN}
    assert found.profile.count(",") <= name.count(",")


def test_the_profile_starts_from_the_release_that_it_was_driven_as() -> None:
    """Who does as it is told by its command line would do something else as the release that it is most like."""
    found = fitted(deviating("pi-0.85.0", profile="pi-1.6.0"), "text_", "tool_")
    assert (found.nearest, found.base) == ("pi-0.85.0", "pi-1.6.0")
    assert found.profile.startswith("pi-1.6.0,")
    result = get_profile(found.profile)
    shown = [finding for finding in found.findings if finding.told is Certainty.SHOWN]
    assert len(shown) > 5
    for finding in shown:
        values = [getattr(PROFILES[name], finding.field) for name in finding.releases]
        assert getattr(result, finding.field) in values
    explanation, _ = explained("pi-1.6.0", "pi-0.85.0", said={"profile": "pi-1.6.0"})
    assert explanation.profile.startswith("pi-1.6.0,")


def test_who_says_nothing_of_quiescence_is_exact_and_driven_once() -> None:
    silent, exact = (
        fitted(deviating("pi-1.6.0", quiescence=None), "text_"),
        fitted(deviating("pi-1.6.0"), "text_"),
    )
    assert silent == exact


@pytest.mark.parametrize("arguments", [(), ("--hurried",)])
def test_who_has_no_quiescence_is_fitted_too(arguments: tuple[str, ...]) -> None:
    """Driven by the trace of a wrong value it comes too late, which is an answer, and no break."""
    found = fitted(subject("threaded", *arguments), "text_", "tools_parallel")
    assert (found.profile, found.broken, found.unclear()) == ("pi-1.6.0", {}, ())
    assert [finding.field for finding in found.findings if finding.told is Certainty.SHOWN]
