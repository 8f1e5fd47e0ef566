"""What happens once: who waits for it, and until when."""

from __future__ import annotations

import trio
import trio.testing

from pi_trio.happening import Happening


async def test_who_waits_goes_on_when_it_happens():
    happening, log = Happening(), list[int]()

    async def wait(number: int) -> None:
        await happening.wait()
        log.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(wait, number)
        await trio.testing.wait_all_tasks_blocked()
        assert not happening.is_set()
        assert log == []
        happening.set()
        assert happening.is_set()
    assert sorted(log) == [0, 1, 2, 3, 4]


async def test_what_has_happened_is_not_waited_for_but_passes_a_checkpoint():
    happening = Happening()
    happening.set()
    happening.set()
    with trio.testing.assert_checkpoints():
        await happening.wait()


async def test_who_is_cancelled_waits_no_more():
    happening = Happening()
    with trio.move_on_after(0) as scope:
        await happening.wait()
    assert scope.cancelled_caught
    happening.set()
    await happening.wait()
