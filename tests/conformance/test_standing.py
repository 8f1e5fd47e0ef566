"""What a judgement says of each clause, given verdicts and breaches."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from pi_trio.conformance.clauses import Clause
from pi_trio.conformance.standing import Breach, Seen, Standing, group_standings, standings
from pi_trio.conformance.verdict import Outcome, Verdict

MUST = Clause(
    id="TURN-01", title="A turn begins", rule="So it is.", level="MUST", releases=("1.6.0",), group="events",
    why="So.", evidence=("text", "tool"),
)  # fmt: skip
RULING = attrs.evolve(MUST, id="FAIL-13", level="RULING", ruling="D-01", group="containment")


def verdict(name: str, outcome: Outcome, **more: Any) -> Verdict:
    return attrs.evolve(Verdict(name=name, title=name, topic="run", outcome=outcome), **more)


def breach(scenario: str, cause: str = "late", **more: Any) -> Breach:
    return attrs.evolve(
        Breach(clause=MUST.id, scenario=scenario, cause=cause, said=f"{cause} in {scenario}"), **more
    )


def standing(clause: Clause, seen: Seen) -> Standing:
    (found,) = standings([clause], seen)
    return found.standing


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((Outcome.PASS, Outcome.FAIL), Standing.HOLDS),
        ((Outcome.NON_STRICT, Outcome.FAIL), Standing.HOLDS),
        ((Outcome.FAIL, Outcome.FAIL), Standing.NOT_REACHED),
        ((Outcome.FAIL, Outcome.NOT_OFFERED), Standing.NOT_REACHED),
        ((Outcome.NOT_OFFERED, Outcome.NOT_OFFERED), Standing.NOT_OFFERED),
        ((Outcome.CRASH, Outcome.HANG), Standing.NOT_REACHED),
    ],
)
def test_what_was_not_seen_is_never_kept(outcomes: tuple[Outcome, Outcome], expected: Standing) -> None:
    verdicts = [verdict(name, each) for name, each in zip(MUST.evidence, outcomes, strict=True)]
    assert standing(MUST, Seen(verdicts=verdicts)) is expected


def test_nothing_was_played() -> None:
    assert standing(MUST, Seen()) is Standing.NOT_REACHED


def test_a_monitor_that_saw_it_kept_is_enough() -> None:
    verdicts = [verdict("text", Outcome.FAIL), verdict("another", Outcome.PASS)]
    seen = Seen(verdicts=verdicts, reached=frozenset({MUST.id}))
    assert standing(MUST, seen) is Standing.HOLDS


def test_who_has_nothing_right_keeps_nothing() -> None:
    """What monitors see kept is kept by whoever says what somebody else has said."""
    verdicts = [verdict("text", Outcome.FAIL), verdict("another", Outcome.NOT_OFFERED)]
    seen = Seen(verdicts=verdicts, reached=frozenset({MUST.id}))
    assert standing(MUST, seen) is Standing.NOT_REACHED


def test_a_ruling_that_a_monitor_saw_not_kept_is_non_strict() -> None:
    seen = Seen(verdicts=[verdict("text", Outcome.PASS)], as_pi=frozenset({RULING.id}))
    assert standing(RULING, seen) is Standing.NON_STRICT
    assert standing(MUST, attrs.evolve(seen, as_pi=frozenset({MUST.id}))) is Standing.HOLDS


def test_one_breach_breaks_it_whatever_was_passed() -> None:
    verdicts = [verdict("text", Outcome.PASS), verdict("tool", Outcome.FAIL)]
    seen = Seen(verdicts=verdicts, breaches=[breach("tool")], reached=frozenset({MUST.id}))
    assert standing(MUST, seen) is Standing.BROKEN


def test_a_failure_that_is_another_clauses_shows_this_one_all_the_same() -> None:
    seen = Seen(
        verdicts=[verdict("text", Outcome.FAIL)], explained={"text": verdict("text", Outcome.NON_STRICT)}
    )
    assert standing(MUST, seen) is Standing.HOLDS


def test_a_failure_that_is_otherwise_as_the_release_keeps_no_ruling() -> None:
    again = verdict("text", Outcome.NON_STRICT, rulings=("D-01",))
    failed = Seen(verdicts=[verdict("text", Outcome.FAIL)])
    assert standing(RULING, attrs.evolve(failed, explained={"text": again})) is Standing.NON_STRICT
    other = attrs.evolve(again, rulings=("D-02",))
    assert standing(RULING, attrs.evolve(failed, explained={"text": other})) is Standing.NOT_REACHED
    strict = attrs.evolve(again, outcome=Outcome.PASS)
    assert standing(RULING, attrs.evolve(failed, explained={"text": strict})) is Standing.HOLDS


def test_only_what_cancels_shows_what_cancelling_promises() -> None:
    clause = attrs.evolve(RULING, id="ABORT-20", ruling="D-10", group="abort")
    seen = Seen(verdicts=[verdict("text", Outcome.PASS)])
    assert standing(clause, seen) is Standing.NOT_REACHED
    assert standing(clause, attrs.evolve(seen, cancelled=frozenset({"text"}))) is Standing.HOLDS
    unable = attrs.evolve(seen, cancels=False)
    (found,) = standings([clause], unable)
    assert (found.standing, found.missing) == (Standing.NOT_OFFERED, ("feature abort: cancelling",))
    assert standing(clause, attrs.evolve(unable, verdicts=[])) is Standing.NOT_REACHED
    assert standing(RULING, unable) is Standing.HOLDS
    both = Seen(
        verdicts=[verdict("text", Outcome.PASS), verdict("text (cancel)", Outcome.PASS)],
        cancelled=frozenset({"text (cancel)"}),
    )
    (found,) = standings([clause], both)
    assert (found.standing, found.shown_by) == (Standing.HOLDS, ("text (cancel)",))
    lacking = Seen(verdicts=[verdict("text", Outcome.NOT_OFFERED)])
    assert standing(clause, lacking) is Standing.NOT_OFFERED


def test_doing_as_the_release_keeps_no_ruling() -> None:
    ruled = verdict("text", Outcome.NON_STRICT, rulings=("D-01",))
    assert standing(RULING, Seen(verdicts=[ruled])) is Standing.NON_STRICT
    assert standing(RULING, Seen(verdicts=[verdict("text", Outcome.PASS)])) is Standing.HOLDS
    other = attrs.evolve(ruled, rulings=("D-02",))
    assert standing(RULING, Seen(verdicts=[other])) is Standing.NOT_REACHED


def test_it_is_known_only_if_the_baseline_says_so_of_all() -> None:
    known = breach("text", known="no turns yet")
    assert standing(MUST, Seen(breaches=[known])) is Standing.KNOWN
    assert standing(MUST, Seen(breaches=[known, breach("tool")])) is Standing.BROKEN


def test_the_same_fault_in_many_scenarios_is_one_cause() -> None:
    breaches = [breach(f"s{number}") for number in range(100)]
    (found,) = standings([MUST], Seen(breaches=breaches))
    (cause,) = found.causes
    assert len(cause.scenarios) == 100
    assert cause.first.said == "late in s0"


def test_what_shows_only_beside_another_cause_is_none_of_its_own() -> None:
    breaches = [
        breach("a"),
        breach("b"),
        breach("b", cause="late for a listener"),
        breach("c", cause="twice"),
    ]
    (found,) = standings([MUST], Seen(breaches=breaches))
    assert [(cause.first.cause, cause.scenarios) for cause in found.causes] == [
        ("late", ("a", "b")),
        ("twice", ("c",)),
    ]


def test_groups_count_what_must_hold_apart_from_rulings_and_all_of_it() -> None:
    verdicts = standings(
        [MUST, RULING], Seen(verdicts=[verdict("text", Outcome.PASS)], breaches=[breach("tool")])
    )
    musts, rulings = group_standings(verdicts)
    assert (musts.level, musts.group, musts.number, musts.counts[Standing.BROKEN]) == ("MUST", "events", 1, 1)
    assert (rulings.level, rulings.group, rulings.counts[Standing.HOLDS]) == ("RULING", "containment", 1)
    for row in (musts, rulings):
        assert sum(row.counts.values()) == row.number


def test_a_cause_says_how_it_looks_in_each_place() -> None:
    """The text of the first scenario would be wrong of the others."""
    breaches = [
        breach("a", said="no end: an answer is open"),
        breach("b", said="no end: a turn is open"),
        breach("c", said="no end: a turn is open"),
        breach("c", said="no end: an answer is open"),
    ]
    (found,) = standings([MUST], Seen(breaches=breaches))
    (cause,) = found.causes
    assert [(first.said, names) for first, names in cause.ways] == [
        ("no end: a turn is open", ("b", "c")),
        ("no end: an answer is open", ("a",)),
    ]
    assert sorted(cause.scenarios) == ["a", "b", "c"]
