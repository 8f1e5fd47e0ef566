"""Which scenarios, and which twins, a name or a pattern means."""

from __future__ import annotations

import pytest

from pi_trio.cli.selection import select, select_one, select_with_twins
from pi_trio.cli.usage import UsageError
from pi_trio.conformance.mirror import aborts
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.twins import Twin, with_twins

EVERY = [each.name for each in with_twins(all_scenarios())]
TWINS = [f"{each.name} (cancel)" for each in all_scenarios() if aborts(each)]


@pytest.mark.parametrize(
    ("globs", "meant"),
    [
        ([], EVERY),
        (["*"], EVERY),
        (["text_plain"], ["text_plain"]),
        (["abort_in_stream"], ["abort_in_stream", "abort_in_stream (cancel)"]),
        (["abort_in_stream (cancel)"], ["abort_in_stream (cancel)"]),
        (["abort_when_i* (cancel)", "text_plain"], ["text_plain", "abort_when_idle (cancel)"]),
        (["*(cancel)"], TWINS),
        (["* (cancel)"], TWINS),
    ],
)
def test_who_names_a_scenario_means_its_twin_too_and_who_names_a_twin_that_one_alone(
    globs: list[str], meant: list[str]
) -> None:
    assert sorted(each.name for each in select_with_twins(globs)) == sorted(meant)


def test_where_nothing_is_known_of_twins_there_are_none() -> None:
    assert [each.name for each in select([])] == [each.name for each in all_scenarios()]
    with pytest.raises(
        UsageError, match=r"there is no abort_in_stream .cancel. here: nothing is recorded under it"
    ):
        select(["abort_in_stream (cancel)"])


@pytest.mark.parametrize("choose", [select_with_twins, lambda globs: select_one(globs[-1])])
@pytest.mark.parametrize(
    ("name", "tells"),
    [
        ("text_plain (cancel)", "there is no text_plain .cancel. here: there is no abort in text_plain"),
        (
            "abort_in_strem (cancel)",
            "no scenario is called abort_in_strem .cancel.; .* did you mean abort_in_stream",
        ),
        ("nothing_*", "no scenario is called nothing_"),
        ("", "no scenario is called ''"),
    ],
)
def test_each_name_has_to_match_something(choose, name: str, tells: str) -> None:
    with pytest.raises(UsageError, match=tells):
        choose(["text_plain", name])


def test_one_is_the_written_one_if_a_pattern_matches_its_twin_too() -> None:
    assert select_one("abort_when_i*").name == "abort_when_idle"
    assert isinstance(select_one("abort_when_i* (cancel)"), Twin)
    with pytest.raises(UsageError, match=r"abort_. are .* scenarios: name one"):
        select_one("abort_*")
