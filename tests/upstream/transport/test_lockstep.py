"""The transport against real pi-ai of three releases: the same bytes, the same events, messages and requests.

The first cases of a seed; many more are run by hand (`python -m tests.upstream.transport`). One Node process runs all
the cases of an api and a release, at the first test that asks for them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .bodies import body_cases, stated_cases
from .cases import Case, secured, trickled
from .compare import judge, shown
from .decisions import APIS, DECISIONS, RELEASES
from .faults import cases_of
from .lockstep import Outcome
from .running import Trusted, against_pi

pytestmark = pytest.mark.upstream

NEWEST = RELEASES[-1]

#: So many generated cases are run for each adapter in the newest release, and in each older one.
GENERATED = (140, 80)
BODIES = (100, 50)
TRICKLED = (30, 15)

each_release = pytest.mark.parametrize("release", RELEASES)
each_api = pytest.mark.parametrize("api", APIS)

#: For each decision on an api a case that needs it: found among the generated ones, and kept apart from their numbers.
WITNESSES: dict[str, dict[str, Case]] = json.loads(
    Path(__file__).with_name("witnesses.json").read_text(encoding="utf-8")
)

_outcomes: dict[tuple[str, str], dict[str, list[Outcome]]] = {}


async def outcomes_of(api: str, release: str, kind: str) -> list[Outcome]:
    """What became of the cases of a kind."""
    if (api, release) not in _outcomes:
        older = release != NEWEST
        # Each release has numbers of its own: the more different cases, the better.
        seed = RELEASES.index(release) + 1
        generated = cases_of(api, seed=10 + seed, count=TRICKLED[older] * 3)
        kinds = {
            "generated": list(cases_of(api, seed=seed, count=GENERATED[older])),
            "requests": [
                *list(stated_cases(api))[:: 3 if older else 1],
                *body_cases(api, seed=seed, count=BODIES[older]),
            ],
            "witnesses": list(WITNESSES[api].values()),
            "trickled": [held for held in map(trickled, generated) if held is not None][: TRICKLED[older]],
        }
        outcomes = iter(await against_pi([case for cases in kinds.values() for case in cases], release))
        _outcomes[api, release] = {name: [next(outcomes) for _ in cases] for name, cases in kinds.items()}
    return _outcomes[api, release][kind]


def check(outcomes: list[Outcome], release: str) -> None:
    """Fail, with the differing cases, unless all are equal or decided."""
    judged = judge(outcomes, release)
    if judged.differing:
        said = "\n".join(shown(outcome, found) for outcome, found in judged.differing[:5])
        pytest.fail(f"{len(judged.differing)} of {len(outcomes)} differ\n{said}", pytrace=False)


@each_release
@each_api
async def test_generated_cases(api: str, release: str) -> None:
    outcomes = await outcomes_of(api, release, "generated")
    check(outcomes, release)
    # What the cases are for must happen in them.
    calls = [call for outcome in outcomes for call in outcome.theirs["calls"]]
    ends = [call["message"]["stopReason"] for call in calls if "message" in call]
    assert min(ends.count("error"), ends.count("aborted"), ends.count("stop")) > len(outcomes) / 40
    assert sum(len(call["events"]) > 2 for call in calls) > len(outcomes) / 3


@each_release
@each_api
async def test_requests(api: str, release: str) -> None:
    outcomes = await outcomes_of(api, release, "requests")
    check(outcomes, release)
    assert sum(len(outcome.theirs["requests"]) == 1 for outcome in outcomes) > len(outcomes) * 0.8


@each_release
@each_api
async def test_partials_after_each_held_chunk(api: str, release: str) -> None:
    outcomes = await outcomes_of(api, release, "trickled")
    check(outcomes, release)
    holds = [hold for outcome in outcomes for call in outcome.theirs["calls"] for hold in call["holds"]]
    assert sum("partial" in hold for hold in holds) > len(outcomes)


@each_api
async def test_no_decision_is_stale(api: str) -> None:
    """Each has a witness, a case that needs it in some release; of each release the command line tells, with more."""
    needed: set[str] = set()
    for release in RELEASES:
        outcomes = await outcomes_of(api, release, "witnesses")
        check(outcomes, release)
        for name, outcome in zip(WITNESSES[api], outcomes, strict=True):
            needed |= {name} & judge([outcome], release).decided.keys()
    assert {each.id for each in DECISIONS if api in each.apis} == needed


@each_api
async def test_keys_are_in_the_requests_and_nowhere_else(api: str) -> None:
    outcomes = await outcomes_of(api, NEWEST, "generated")
    for outcome in outcomes:
        keys = [call["options"]["apiKey"] for call in outcome.case["calls"] if "apiKey" in call["options"]]
        told = json.dumps(outcome.ours.get("calls"))
        assert not any(key in told for key in keys), outcome.case["name"]
    assert (
        sum(any(part in str(outcome.ours["requests"]) for part in ("sk-", "ey")) for outcome in outcomes) > 10
    )


async def test_over_tls(trusted: Trusted) -> None:
    cases: list[Case] = [secured(case) for api in APIS for case in cases_of(api, seed=20, count=15)]
    outcomes = await against_pi(cases, NEWEST, trusted=trusted)
    check(outcomes, NEWEST)
    assert any(outcome.theirs["requests"] for outcome in outcomes)
