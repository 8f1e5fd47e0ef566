"""One change of a file at a time, in the order in which they came."""

from __future__ import annotations

import os
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from pi_trio.builtin import BuiltinToolError, MutationQueue, current_mutation_queue

from .calling import call


class Line:
    """People who take their turns, and what happened to them."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.queue = MutationQueue()
        self.told: list[str] = []
        self.leave: dict[str, trio.Event] = {}
        self.nursery = nursery

    async def take_turn(self, name: str, path: str) -> None:
        async with self.queue.turn(path):
            self.told.append(f"{name} comes")
            await self.leave[name].wait()
            self.told.append(f"{name} goes")

    async def come(self, name: str, path: object, scope: trio.CancelScope | None = None) -> None:
        """Stand in the line. Returns when there is nothing to do but to wait."""
        self.leave[name] = trio.Event()

        async def stand() -> None:
            with scope or trio.CancelScope():
                await self.take_turn(name, str(path))

        self.nursery.start_soon(stand)
        # The file's name is found out in a thread.
        places = -1
        while (
            places != (places := sum(map(len, self.queue._lines.values()))) or self.queue._register.locked()
        ):
            await wait_all_tasks_blocked(0.01)

    async def let_go(self, name: str) -> None:
        self.leave[name].set()
        await wait_all_tasks_blocked()


async def test_turns_come_in_order_and_other_files_do_not_wait(nursery, tmp_path):
    line = Line(nursery)
    for name, file in (("a", "f"), ("b", "f"), ("c", "g"), ("d", "f")):
        await line.come(name, tmp_path / file)
    assert line.told == ["a comes", "c comes"]
    for name in "abdc":
        await line.let_go(name)
    assert line.told[2:] == ["a goes", "b comes", "b goes", "d comes", "d goes", "c goes"]
    assert len(line.queue) == 0


async def test_links_lead_to_the_same_line(nursery, tmp_path):
    (tmp_path / "f").touch()
    (tmp_path / "folder").mkdir()
    os.symlink("f", tmp_path / "link")
    os.symlink(tmp_path, tmp_path / "folder" / "up")
    line = Line(nursery)
    await line.come("a", tmp_path / "f")
    await line.come("b", tmp_path / "link")
    await line.come("c", tmp_path / "folder" / "up" / "f")
    assert line.told == ["a comes"]
    for name in "abc":
        await line.let_go(name)
    assert line.told[-1] == "c goes"


@pytest.mark.parametrize("leaves", ["b", "a"])
async def test_who_is_cancelled_leaves_the_line_whole(nursery, tmp_path, leaves):
    line = Line(nursery)
    scopes = {name: trio.CancelScope() for name in "abc"}
    for name in "abc":
        await line.come(name, tmp_path / "f", scopes[name])
    scopes[leaves].cancel()
    await wait_all_tasks_blocked()
    rest = [name for name in "abc" if name != leaves]
    for name in rest:
        await line.let_go(name)
    assert line.told[-1] == "c goes"
    assert f"{leaves} goes" not in line.told
    assert len(line.queue) == 0


async def test_who_finds_no_name_does_not_hold_others_up(tmp_path):
    os.symlink("loop", tmp_path / "loop")
    queue = MutationQueue()
    with pytest.raises(BuiltinToolError, match=r"^ELOOP: too many symbolic links encountered, realpath '"):
        async with queue.turn(str(tmp_path / "loop")):
            pass
    async with queue.turn(str(tmp_path / "f")):
        assert len(queue) == 1
    assert len(queue) == 0


async def test_who_fails_in_their_turn_lets_the_next_one_in(tmp_path):
    queue = MutationQueue()
    with pytest.raises(ValueError, match="mine"):
        async with queue.turn(str(tmp_path / "f")):
            raise ValueError("mine")
    async with queue.turn(str(tmp_path / "f")):
        pass


async def test_edits_of_one_file_in_several_calls_are_all_made(tmp_path):
    (tmp_path / "f").write_text("".join(f"<{number}>\n" for number in range(20)))
    os.symlink("f", tmp_path / "l")
    async with trio.open_nursery() as nursery:
        for number in range(20):
            edit = {"oldText": f"<{number}>", "newText": f"[{number}]"}
            args = {"path": "fl"[number % 2], "edits": [edit]}
            nursery.start_soon(partial(call, "edit", args, tmp_path))
    assert (tmp_path / "f").read_text() == "".join(f"[{number}]\n" for number in range(20))
    assert len(current_mutation_queue()) == 0
