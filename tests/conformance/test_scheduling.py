"""The scheduler in somebody's hands: who is picked runs, the others stay runnable, and a trio that differs is told."""

from __future__ import annotations

import pytest
import trio
import trio._core._run as trio_run

from pi_trio.conformance import scheduling
from pi_trio.conformance.scheduling import SchedulingError, first_in_first_out, picked


async def two_steps_each(seen: list[int]) -> None:
    async def note(number: int) -> None:
        seen.append(number)
        await trio.lowlevel.checkpoint()
        seen.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(3):
            nursery.start_soon(note, number)


@pytest.mark.parametrize(
    ("pick", "order"),
    [
        (lambda ready: ready, [0, 1, 2, 0, 1, 2]),
        (lambda ready: ready[::-1], [2, 1, 0, 2, 1, 0]),
        (lambda ready: ready[:1], [0, 0, 1, 1, 2, 2]),
        (lambda ready: ready[-1:], [2, 2, 1, 1, 0, 0]),
    ],
    ids=["all", "all, the last first", "the first", "the last"],
)
def test_who_is_picked_runs(pick, order) -> None:
    seen: list[int] = []
    with picked(pick):
        trio.run(two_steps_each, seen)
    assert seen == order


@pytest.mark.parametrize("way", [first_in_first_out, lambda: picked(lambda ready: ready)])
def test_afterwards_all_is_as_before(way) -> None:
    before = (trio_run._r, trio_run._ALLOW_DETERMINISTIC_SCHEDULING)
    with pytest.raises(ZeroDivisionError), way():
        raise ZeroDivisionError
    assert (trio_run._r, trio_run._ALLOW_DETERMINISTIC_SCHEDULING) == before


def test_one_way_within_the_other() -> None:
    seen: list[int] = []
    with picked(lambda ready: ready[-1:]):
        with first_in_first_out():
            trio.run(two_steps_each, seen)
        trio.run(two_steps_each, seen)
    assert seen == [0, 1, 2, 0, 1, 2, 2, 2, 1, 1, 0, 0]


@pytest.mark.parametrize("missing", ["_r", "_ALLOW_DETERMINISTIC_SCHEDULING", "GLOBAL_RUN_CONTEXT"])
def test_a_trio_without_what_is_needed_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        def __getattr__(self, name: str) -> object:
            if name == missing:
                raise AttributeError(name)
            return getattr(trio_run, name)

        def __setattr__(self, name: str, value: object) -> None:
            setattr(trio_run, name, value)

    monkeypatch.setattr(scheduling, "_trio_run", Other())
    monkeypatch.setattr(scheduling, "_one_by_one", [])
    with pytest.raises(SchedulingError, match=f"has no {missing}"), picked(lambda ready: ready):
        pass


def test_a_trio_that_runs_whom_it_likes_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling._AsPicked, "shuffle", lambda self, ready: None)
    monkeypatch.setattr(scheduling, "_one_by_one", [])
    with (
        pytest.raises(SchedulingError, match="does not run the tasks that are picked"),
        picked(lambda ready: ready),
    ):
        pass
