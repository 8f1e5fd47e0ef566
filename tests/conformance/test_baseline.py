"""A port's known failures: what an entry covers, when it is stale, and how the file is written anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.baseline import Baseline, BaselineError, Entry
from pi_trio.conformance.verdict import FAILURES, ExitCode, Leg, Outcome, Report, Verdict

NAMES = ("abort_idle", "abort_tools", "text_plain", "tool_single")
KNOWN = Baseline((Entry("abort_*", "no abort yet"), Entry("text_plain", "no words yet")))


def verdict(name: str, outcome: Outcome, reason: str = "") -> Verdict:
    return Verdict(name=name, title="", topic="t", outcome=outcome, reason=reason)


def report(**outcomes: Outcome) -> Report:
    verdicts = tuple(verdict(name, outcome) for name, outcome in outcomes.items())
    return Report(legs=(Leg(label="x", hello={"commands": []}, verdicts=verdicts),))


def held_to(baseline: Baseline, given: Report) -> Report:
    (leg,) = given.legs
    verdicts = tuple(map(baseline.mark, leg.verdicts))
    return Report(
        legs=(Leg(label="x", hello=leg.hello, verdicts=verdicts),), stale=baseline.stale(given, NAMES)
    )


@pytest.mark.parametrize("outcome", sorted(FAILURES))
def test_a_failure_that_is_covered_is_known(outcome: Outcome) -> None:
    marked = KNOWN.mark(verdict("abort_idle", outcome, "step 3"))
    assert (marked.outcome, marked.failed_as) == (Outcome.KNOWN, outcome)
    assert (marked.known, marked.reason) == ("no abort yet", "step 3")


@pytest.mark.parametrize("outcome", sorted(set(Outcome) - FAILURES))
def test_nothing_else_is_changed(outcome: Outcome) -> None:
    given = verdict("abort_idle", outcome)
    assert KNOWN.mark(given) is given
    assert KNOWN.mark(verdict("tool_single", Outcome.FAIL)).outcome is Outcome.FAIL


def test_names_are_compared_with_their_case() -> None:
    assert (
        Baseline((Entry("Abort_*", "x"),)).mark(verdict("abort_idle", Outcome.FAIL)).outcome is Outcome.FAIL
    )


@pytest.mark.parametrize(
    ("outcomes", "stale"),
    [
        ({"abort_idle": Outcome.FAIL, "abort_tools": Outcome.PASS, "text_plain": Outcome.HANG}, ()),
        (
            {"abort_idle": Outcome.PASS, "abort_tools": Outcome.NON_STRICT, "text_plain": Outcome.FAIL},
            ("abort_*: it does not fail any more",),
        ),
        ({"text_plain": Outcome.PASS}, ("text_plain: it does not fail any more",)),
        # Nothing of it was run, or nothing can be told.
        ({"tool_single": Outcome.PASS}, ()),
        ({"text_plain": Outcome.NOT_OFFERED}, ()),
        ({"text_plain": Outcome.HARNESS}, ()),
        ({"abort_idle": Outcome.PASS, "abort_tools": Outcome.HARNESS}, ()),
    ],
)
def test_an_entry_is_stale_when_nothing_of_it_fails(
    outcomes: dict[str, Outcome], stale: tuple[str, ...]
) -> None:
    assert KNOWN.stale(report(**outcomes), NAMES) == stale
    marked = held_to(KNOWN, report(**outcomes))
    assert KNOWN.stale(marked, NAMES) == stale


def test_an_entry_of_nothing_is_stale() -> None:
    baseline = Baseline((Entry("no_such_*", "x"),))
    assert baseline.stale(report(), NAMES) == ("no_such_*: there is no such scenario",)


def test_a_known_failure_does_not_fail_the_run_and_a_stale_entry_does() -> None:
    hello = {
        "commands": [
            "create",
            "prompt",
            "continue",
            "abort",
            "steer",
            "followUp",
            "answer",
            "push",
            "end",
            "state",
        ]
    }

    def code(**outcomes: Outcome) -> ExitCode:
        verdicts = tuple(KNOWN.mark(verdict(name, outcome)) for name, outcome in outcomes.items())
        run = Report(legs=(Leg(label="x", hello=hello, verdicts=verdicts),))
        return Report(legs=run.legs, stale=KNOWN.stale(run, NAMES)).exit_code()

    assert code(tool_single=Outcome.PASS, text_plain=Outcome.CRASH) is ExitCode.CONFORMANT
    assert code(tool_single=Outcome.FAIL, text_plain=Outcome.CRASH) is ExitCode.NOT_CONFORMANT
    assert code(tool_single=Outcome.PASS, text_plain=Outcome.PASS) is ExitCode.NOT_CONFORMANT
    assert code(text_plain=Outcome.CRASH) is ExitCode.NOT_CONFORMANT  # nothing passed


def test_an_update_keeps_reasons_drops_what_is_stale_and_adds_what_is_new() -> None:
    given = report(
        abort_idle=Outcome.FAIL, abort_tools=Outcome.HANG, text_plain=Outcome.PASS, tool_single=Outcome.CRASH
    )
    updated = KNOWN.updated(held_to(KNOWN, given), NAMES)
    assert updated.entries == (Entry("abort_*", "no abort yet"), Entry("tool_single", "CRASH: say why"))
    assert not updated.stale(given, NAMES)


def test_an_update_leaves_alone_what_was_not_run() -> None:
    assert KNOWN.updated(report(tool_single=Outcome.PASS), NAMES) == KNOWN


reasons = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(st.lists(st.builds(Entry, reasons, reasons), max_size=3))
def test_what_is_written_is_read(entries: list[Entry]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "known.toml"
        Baseline(tuple(entries)).write(path)
        assert Baseline.read(path).entries == tuple(entries)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[known]]\nscenario = 'a'\n", "entry 1 needs a scenario and a reason"),
        ("[[known]]\nscenario = 'a'\nreason = ' '\n", "entry 1 needs a scenario and a reason"),
        ("[[known]]\nscenario = 'a'\nreason = 'b'\nwhy = 1\n", "entry 1 needs a scenario and a reason"),
        ("[[known]]\nscenario = 1\nreason = 'b'\n", "entry 1 needs a scenario and a reason"),
        ("known = [1]\n", "entry 1 needs a scenario and a reason"),
        ("known = 'abort_*'\n", "a baseline has entries [[known]], and nothing else"),
        ("[[Known]]\n", "a baseline has entries [[known]], and nothing else"),
        ("abort_*\n", "known.toml: "),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(BaselineError) as caught:
        Baseline.read(path)
    assert says in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="No such file"):
        Baseline.read(tmp_path / "known.toml")
    (tmp_path / "known.toml").write_bytes(b"\xff")
    with pytest.raises(BaselineError, match="decode"):
        Baseline.read(tmp_path / "known.toml")
