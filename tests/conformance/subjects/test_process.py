"""A subject in a process of its own: whatever it does comes out as a fault of one type, within bounds."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from pi_trio.conformance.faults import (
    ProtocolFault,
    SubjectDied,
    SubjectFault,
    SubjectSilent,
    SubjectUnstartable,
)
from pi_trio.conformance.protocol import Limits
from pi_trio.conformance.subjects.process import open_process_subject

HELLO = {
    "tell": "hello",
    "protocol": 1,
    "subject": "s",
    "version": "1",
    "profile": "p",
    "hooks": [],
    "commands": [],
}
REPLY = {"say": {"re": "$id", "ok": None}}


async def request(peer, cmd: str = "create", **options):
    async with peer.opener(**options)() as subject:
        return await subject.request({"id": 1, "cmd": cmd})


async def fault_of(peer, kind: type[SubjectFault], **options) -> SubjectFault:
    with pytest.raises(kind) as caught:
        await request(peer, **options)
    assert type(caught.value) is kind
    return caught.value


async def test_messages_come_in_order_and_the_reply_last(peer) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
    messages = await request(peer([[{"say": event}, {"say": event}, REPLY]]))
    assert messages == [event, event, {"re": 1, "ok": None}]


async def test_the_hello_is_kept(peer) -> None:
    async with peer(hello={"subject": "somebody"}).opener()() as subject:
        assert subject.hello["subject"] == "somebody"


async def test_the_profile_is_in_the_environment() -> None:
    script = "import os,sys; sys.stderr.write(os.environ['PI_PROFILE'])"
    with pytest.raises(SubjectUnstartable) as caught:
        async with open_process_subject([sys.executable, "-c", script], profile="pi-9.9.9"):
            pass
    assert caught.value.stderr == "pi-9.9.9"


async def test_a_subject_that_says_nothing_is_given_up(peer) -> None:
    with trio.fail_after(4):
        fault = await fault_of(peer([[{"stderr": "thinking"}, {"deaf": True}]]), SubjectSilent, patience=0.3)
    assert fault.message == "no reply to create within 0.3 seconds"
    assert fault.stderr == "thinking"


async def test_what_came_before_the_silence_is_kept(peer) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
    fault = await fault_of(peer([[{"say": event}, {"deaf": True}]]), SubjectSilent, patience=0.3)
    assert fault.received == (event,)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("Hello, world\n", "not a JSON line"),
        ("[1]\n", "a message is an object"),
        ("\n", "not a JSON line"),
        ('{"hi": 1}\n', "one of re, ask and tell"),
        ('{"re": "1", "ok": null}\n', "re is not an integer"),
        ('{"re": 1}\n', "either ok or error"),
        ('{"ask": "a", "fn": "execute"}\n', "args is missing"),
        (
            '{"ask": "a", "fn": "listener", "key": "L", "args": {"event": 5}}\n',
            "an event is an object with a type",
        ),
        ('{"tell": "settled", "op": "p1"}\n', "ok is missing"),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "\n", "not a JSON line"),
        ("[" * 100_000 + "\n", "not a JSON line"),
    ],
)
async def test_rubbish_is_quoted(peer, line: str, says: str) -> None:
    fault = await fault_of(peer([[{"raw": line}]]), ProtocolFault)
    assert says in fault.message
    assert len(fault.message) < 400


async def test_rubbish_cannot_reach_the_terminal(peer) -> None:
    fault = await fault_of(peer([[{"raw": "\x1b[2J\n"}]]), ProtocolFault)
    assert fault.message.isprintable()


async def test_a_death_tells_the_exit_code_and_the_last_words(peer) -> None:
    fault = await fault_of(peer([[{"stderr": "out of luck"}, {"exit": 7}]]), SubjectDied)
    assert fault.message == "its stdout ended; it exited with code 7"
    assert fault.stderr == "out of luck"


async def test_a_death_by_signal_names_it(peer) -> None:
    fault = await fault_of(peer([[{"kill": True}]]), SubjectDied)
    assert "killed by signal 9" in fault.message


async def test_a_death_in_the_middle_of_a_line_shows_the_line(peer) -> None:
    fault = await fault_of(peer([[{"raw": '{"re": '}, {"exit": 0}]]), SubjectDied)
    assert """in the middle of a line ('{"re": ')""" in fault.message


async def test_a_death_is_seen_although_another_process_holds_the_pipes(peer, tmp_path: Path) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
    heir = tmp_path / "heir"
    deeds = [{"spawn": str(heir)}, {"say": event, "times": 500}, {"stderr": "bye"}, {"exit": 3}]
    try:
        with trio.fail_after(60):
            fault = await fault_of(peer([deeds]), SubjectDied, patience=1000)
    finally:
        os.kill(int(heir.read_text()), signal.SIGKILL)
    assert fault.message == "its stdout ended; it exited with code 3"
    assert fault.received == (event,) * 500
    assert fault.stderr == "bye"


async def test_a_death_between_two_commands_is_seen_at_the_next(peer) -> None:
    async with peer([[REPLY, {"exit": 0}]]).opener()() as subject:
        await subject.request({"id": 1, "cmd": "create"})
        with pytest.raises(SubjectDied, match="exited with code 0"):
            await subject.request({"id": 2, "cmd": "sync"})


async def test_floods_are_cut_off(peer) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
    flood = peer([[{"say": event, "times": 1000}, REPLY]])
    fault = await fault_of(flood, ProtocolFault, limits=Limits(messages=999))
    assert fault.message == "more than 999 messages in answer to create"
    assert len(await request(flood, limits=Limits(messages=1000))) == 1001


async def test_many_small_floods_are_one(peer) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start"}}
    trickle = peer([[REPLY], *[[{"say": event, "times": 10}, REPLY]] * 3])
    for limits, told in (
        (Limits(total_messages=25), "more than 25 messages for one agent"),
        (Limits(reply=600), "more than 600 bytes in answer to one command"),
    ):
        async with trickle.opener(limits=limits)() as subject:
            await subject.request({"id": 1, "cmd": "create"})
            with pytest.raises(ProtocolFault, match=told):
                for number in range(2, 5):
                    await subject.request({"id": number, "cmd": "sync"})
    async with trickle.opener(limits=Limits(total_messages=25))() as subject:
        for number in range(1, 11):  # a new agent may say as much again
            await subject.request({"id": number, "cmd": "create" if number % 3 == 1 else "sync"})


async def test_long_lines_are_cut_off(peer) -> None:
    endless = peer([[{"raw": "x" * 5000}, {"deaf": True}]])
    fault = await fault_of(endless, ProtocolFault, limits=Limits(line=4000))
    assert fault.message == "a line is longer than 4000 bytes"


async def test_all_output_for_one_agent_is_bounded(peer) -> None:
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start", "pad": "x" * 1000}}
    fault = await fault_of(
        peer([[{"say": event, "times": 20}, REPLY]]), ProtocolFault, limits=Limits(total=10_000)
    )
    assert fault.message == "more than 10000 bytes for one agent"


async def test_values_are_counted_because_they_take_more_room_than_their_text(peer) -> None:
    small = peer([[{"raw": '{"tell":"x","a":[' + ",".join(["{}"] * 1000) + "]}\n"}, REPLY]])
    fault = await fault_of(small, ProtocolFault, limits=Limits(values=1500))
    assert fault.message == "more than 1500 values for one agent"


async def test_only_the_end_of_stderr_is_kept(peer) -> None:
    fault = await fault_of(peer([[{"stderr": "x" * 200_000 + "the end"}, {"exit": 1}]]), SubjectDied)
    assert fault.stderr.startswith("… x")
    assert fault.stderr.endswith("the end")
    assert len(fault.stderr) < 40_000


@pytest.mark.parametrize(
    ("hello", "says"),
    [
        ({"protocol": 2}, "it speaks protocol 2, this tester speaks 1"),
        ({"protocol": None}, "protocol is missing"),
        ({"commands": None}, "commands is missing"),
        ({"hooks": "all"}, "hooks is not a list"),
        ({"hooks": [1]}, "hooks is a list of names"),
        ({"quiescence": "soon"}, "quiescence is one of exact, none"),
        ({"features": []}, "features is not an object"),
        ({"tell": "hi"}, "the first message is not a hello"),
    ],
)
async def test_a_wrong_hello_is_refused(peer, hello, says: str) -> None:
    fault = await fault_of(peer(hello=hello), SubjectUnstartable)
    assert says in fault.message
    assert fault.message.count("{") <= 1  # it is quoted once, if at all


async def test_a_death_before_the_hello_is_told(peer) -> None:
    fault = await fault_of(peer(opening=[{"stderr": "no such module"}, {"exit": 1}]), SubjectUnstartable)
    assert fault.message == "no valid hello: its stdout ended; it exited with code 1"
    assert fault.stderr == "no such module"


async def test_a_hello_that_does_not_come_is_not_waited_for(peer) -> None:
    fault = await fault_of(peer(opening=[{"deaf": True}]), SubjectUnstartable, hello_within=0.3)
    assert fault.message == "no hello within 0.3 seconds"


async def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SubjectUnstartable, match="No such file"):
        async with open_process_subject([str(tmp_path / "nothing")], profile="pi-1.6.0"):
            pass


async def test_who_closes_its_stdout_has_died_however_little_patience_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pi_trio.conformance.subjects.process._PARTING", 1.0)
    script = f"echo '{json.dumps(HELLO)}'; exec >&-; read line; exec sleep 1000"
    with pytest.raises(SubjectDied, match="its stdout ended; it still runs"):
        async with open_process_subject(["sh", "-c", script], profile="pi-1.6.0", patience=0.5) as subject:
            await subject.request({"id": 1, "cmd": "create"})


async def test_the_error_of_the_block_comes_out_as_it_is(peer) -> None:
    with pytest.raises(ZeroDivisionError):
        async with peer().opener()():
            raise ZeroDivisionError


async def test_a_deaf_child_and_its_children_are_ended(peer, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"sleep 1000 & echo $! > {note}; exec {peer([[{'deaf': True}]]).command_line}"
    with pytest.raises(SubjectSilent):
        async with open_process_subject(["sh", "-c", script], profile="pi-1.6.0", patience=0.3) as subject:
            await subject.request({"id": 1, "cmd": "create"})
    grandchild = int(note.read_text())
    with trio.fail_after(5):
        while _runs(grandchild):
            await trio.lowlevel.checkpoint()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("first", [REPLY, {"exit": 0}], ids=["ended", "dies"])
async def test_what_the_child_has_started_is_killed_once(
    peer, monkeypatch: pytest.MonkeyPatch, first: object
) -> None:
    """When nothing is left of it, another may have its number."""
    killed: list[int] = []
    kill = os.killpg

    def noted(number: int, sign: int) -> None:
        killed.append(number)
        kill(number, sign)

    monkeypatch.setattr(os, "killpg", noted)
    with suppress(SubjectDied):
        async with peer([[first]]).opener()() as subject:
            await subject.request({"id": 1, "cmd": "create"})
    assert len(killed) == 1


async def test_cancelling_ends_the_child(peer) -> None:
    with trio.move_on_after(0.3) as scope:
        async with peer([[{"deaf": True}]]).opener(patience=1000)() as subject:
            pid = subject._process.pid
            await subject.request({"id": 1, "cmd": "create"})
    assert scope.cancelled_caught
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
