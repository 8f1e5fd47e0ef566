"""A trial is fair: who breaks nothing is not named, who breaks something is named, and nothing of it stays."""

from __future__ import annotations

import pytest

from pi_trio.agent import loop
from pi_trio.agent.queues import MessageQueue
from pi_trio.conformance.mutants.catalogue import all_mutants
from pi_trio.conformance.mutants.hosts import BEST, HOSTS, Host
from pi_trio.conformance.mutants.planting import PLANTED, replaced
from pi_trio.conformance.mutants.trial import PATIENCE, Court
from pi_trio.conformance.subjects.choice import runtime_inside
from pi_trio.conformance.twins import with_twins
from pi_trio.conformance.verdict import Outcome


@pytest.fixture(scope="module")
def court() -> Court:
    return Court()


every_host = pytest.mark.parametrize("host", [pytest.param(host, id=host.name) for host in HOSTS])


@every_host
def test_the_runtime_itself_is_not_named(court: Court, host: Host) -> None:
    scenarios = tuple(with_twins(court.scenarios[::9]))
    judged = court.judge(runtime_inside("pi-1.6.0", PATIENCE), "pi-1.6.0", host, scenarios)
    assert judged.named == ()
    outcomes = {verdict.outcome for verdict in judged.leg.verdicts}
    assert outcomes <= {Outcome.PASS, Outcome.NOT_OFFERED}
    assert Outcome.PASS in outcomes
    assert len(judged.holding) > 50


@every_host
def test_who_says_too_little_is_named_by_every_host(court: Court, host: Host) -> None:
    trial = court.try_mutant(all_mutants()["turn end has no results"], host)
    assert trial.killed
    assert trial.proves == ("TURN-05",)


def test_what_a_host_does_not_show_is_not_seen(court: Court) -> None:
    mutant = all_mutants()["listeners are not awaited"]
    seen = {host.name: court.try_mutant(mutant, host).killed for host in HOSTS}
    assert seen["total"]
    assert not seen["sync"]


@pytest.mark.parametrize(
    "name", ["a poll takes all", "no second poll", "second_steering_poll of 1.6.0 as 0.80.2"]
)
def test_nothing_of_a_mutant_stays(court: Court, name: str) -> None:
    before = {each.mutant.name: getattr(each.owner, each.attribute) for each in PLANTED}
    peek = MessageQueue.peek
    assert court.try_mutant(all_mutants()[name], BEST).killed
    assert {each.mutant.name: getattr(each.owner, each.attribute) for each in PLANTED} == before
    assert MessageQueue.peek is peek


def test_what_is_replaced_comes_back_also_where_it_was_inherited() -> None:
    class Base:
        name = "base"

    class Derived(Base):
        pass

    with replaced(Derived, "name", lambda original: f"not {original}"):
        assert Derived.name == "not base"
    assert "name" not in vars(Derived)
    turn = loop._turn
    with pytest.raises(ZeroDivisionError), replaced(loop, "_turn", lambda _: None):
        assert loop._turn is None
        raise ZeroDivisionError
    assert loop._turn is turn


def test_another_clause_is_not_enough(court: Court) -> None:
    """A mutant is killed by its own clauses alone."""
    trial = court.try_mutant(all_mutants()["results are not sent"], BEST)
    assert trial.proves == ("TURN-23",)
