"""The document of the surprises is complete, and true to the rulings, scenarios and golden traces that it names."""

from __future__ import annotations

import re

import attrs
import pytest

from pi_trio.cli import main
from pi_trio.conformance.cancelling import read_cancel_golden
from pi_trio.conformance.ruled import read_golden
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import PROFILES

VECTORS = Vectors.shipped()
FOLDER = VECTORS.spec / "deviations"
RELEASES = [profile.release for profile in PROFILES.values()]
NEWEST = RELEASES[-1]
OF_THE_CANCELLING_MODE = "D-10"


@attrs.frozen
class Surprise:
    """One of the document, as it stands there."""

    id: str
    text: str
    releases: list[str]
    verdict: str
    scenarios: list[str]

    @property
    def rulings(self) -> list[str]:
        return re.findall(r"D-\d\d", self.verdict)


def surprises() -> list[Surprise]:
    text = (FOLDER / "surprises.md").read_text(encoding="utf-8")
    found: list[Surprise] = []
    for section in re.split(r"^## (?=S-)", text, flags=re.MULTILINE)[1:]:
        section = section.partition("\n## ")[0]
        story, releases, verdict, scenarios = re.split(
            r"^- (?:releases|verdict|scenarios): ", section, flags=re.MULTILINE
        )
        found.append(
            Surprise(
                id=story.split()[0],
                text=story.partition("\n")[2].strip(),
                releases=releases.strip().split(", "),
                verdict=" ".join(verdict.split()),
                scenarios=re.findall(r"`(\w+)`", scenarios),
            )
        )
    return found


ALL = surprises()
RULED = [surprise for surprise in ALL if surprise.rulings]

every_one = pytest.mark.parametrize("surprise", ALL, ids=lambda surprise: surprise.id)
every_ruled = pytest.mark.parametrize("surprise", RULED, ids=lambda surprise: surprise.id)


def shown(name: str, release: str) -> set[str]:
    """The rulings that make a line differ in that scenario, in either mode."""
    traces = (read_golden(VECTORS, release, name), read_cancel_golden(VECTORS, release, name))
    return {ruling for trace in traces if trace is not None for ruling in trace.rulings()}


def recorded(surprise: Surprise) -> list[tuple[str, str]]:
    """Its scenarios, each with a release in which it surprises and of which there are vectors."""
    return [
        (name, release)
        for name in surprise.scenarios
        for release in surprise.releases
        if VECTORS.read(release, name) is not None
    ]


def test_they_are_complete() -> None:
    assert [surprise.id for surprise in ALL] == [f"S-{number:02}" for number in range(1, 36)]


@every_one
def test_it_says_what_happens_and_in_which_releases(surprise: Surprise) -> None:
    assert surprise.text
    assert surprise.releases == [release for release in RELEASES if release in surprise.releases]
    assert surprise.releases


@every_one
def test_it_has_a_verdict(surprise: Surprise) -> None:
    ids = r"D-\d\d(?:, D-\d\d)*"
    assert re.match(rf"(?:as Pi|{ids})\.", surprise.verdict)


@every_one
def test_its_scenarios_exist(surprise: Surprise) -> None:
    names = {scenario.name for scenario in all_scenarios()}
    assert surprise.scenarios
    assert set(surprise.scenarios) <= names


@every_one
def test_releases_play_its_scenarios(surprise: Surprise) -> None:
    recordings = {release for release in surprise.releases if VECTORS.names(release)}
    assert {release for _, release in recorded(surprise)} == recordings


@every_ruled
def test_its_rulings_make_a_difference_in_each_of_its_scenarios(surprise: Surprise) -> None:
    rulings = set(surprise.rulings)
    always = rulings - {OF_THE_CANCELLING_MODE}  # which has golden traces of the newest release alone
    for name, release in recorded(surprise):
        if release != NEWEST and (name, NEWEST) in recorded(surprise) and not shown(name, NEWEST) & always:
            continue
        assert shown(name, release) & rulings, (name, release)


@every_ruled
def test_each_of_its_rulings_shows_in_a_scenario(surprise: Surprise) -> None:
    seen = {ruling for name, release in recorded(surprise) for ruling in shown(name, release)}
    assert set(surprise.rulings) <= seen


def test_the_cancelling_mode_alone_never_is_the_verdict() -> None:
    # It is chosen by who makes the agent, so what it changes is still as Pi otherwise.
    for surprise in RULED:
        assert surprise.rulings != [OF_THE_CANCELLING_MODE] or surprise.verdict.startswith("as Pi.")


def test_every_ruling_that_answers_none_is_named() -> None:
    text = (FOLDER / "surprises.md").read_text(encoding="utf-8")
    table = re.findall(r"^## (D-\d\d)", (FOLDER / "rulings.md").read_text(encoding="utf-8"), re.MULTILINE)
    answering = {ruling for surprise in ALL for ruling in surprise.rulings}
    others = re.findall(r"D-\d\d", text.partition("## Rulings without a surprise")[2])
    assert answering <= set(table)
    assert sorted(answering | set(others)) == table
    assert not answering & set(others)


RULINGS = (FOLDER / "rulings.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## (D-\d\d)[^#]*?^- example: `pi-trio (.*?)`$", RULINGS, re.MULTILINE)


def test_every_ruling_that_shows_has_an_example() -> None:
    unshown = re.findall(r"^## (D-\d\d)[^#]*?^- scenarios: none:", RULINGS, re.MULTILINE)
    every = re.findall(r"^## (D-\d\d)", RULINGS, re.MULTILINE)
    assert [ruling for ruling, _ in EXAMPLES] == [ruling for ruling in every if ruling not in unshown]


@pytest.mark.parametrize(("ruling", "command"), EXAMPLES)
def test_an_example_shows_its_ruling(ruling: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line[:1] in "+-" and line.endswith(ruling) for line in lines if line)
