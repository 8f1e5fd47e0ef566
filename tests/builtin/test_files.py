"""Files that could make a tool wait for ever, fill the memory, or do what nobody asked for."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from pi_trio.abort import AbortController
from pi_trio.builtin import files, read
from pi_trio.builtin.failure import BuiltinToolError, text_of

from .calling import call

ARGS = {"read": {}, "write": {"content": "x"}, "edit": {"edits": [{"oldText": "a", "newText": "b"}]}}


@pytest.fixture(params=["fifo", "socket", "zero", "terminal", "link"])
def odd_file(request, tmp_path):
    """Something of which reading or opening would not end."""
    place = tmp_path / "odd"
    match request.param:
        case "fifo":
            os.mkfifo(place)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(place))
        case "zero":
            place = "/dev/zero"
        case "terminal":
            place = "/dev/tty"
        case "link":
            os.symlink("/dev/zero", place)
    return str(place)


@pytest.mark.parametrize("tool", ARGS)
async def test_what_is_no_regular_file_is_refused(tool, odd_file, tmp_path):
    called = await call(tool, {"path": odd_file, **ARGS[tool]}, tmp_path)
    assert called.text == f"{odd_file} is not a regular file"


@pytest.mark.parametrize("tool", ARGS)
async def test_a_nul_in_a_path_is_refused(tool, tmp_path):
    called = await call(tool, {"path": "a\0b", **ARGS[tool]}, tmp_path)
    assert called.text == "There is a NUL in the path 'a\\x00b'"


async def test_a_file_below_proc_is_read_to_its_end(tmp_path):
    called = await call("read", {"path": "/proc/self/status"}, tmp_path)
    assert f"Pid:\t{os.getpid()}\n" in called.text


@pytest.fixture
def large_file(tmp_path):
    """A file with more in it than a call may keep."""
    place = tmp_path / "large"
    with place.open("wb") as file:
        file.truncate(48 << 20)
        file.seek(0)
        file.write(b"first\nsecond\n")
    return place


@contextmanager
def little_memory():
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ({"limit": -1}, "first\nsecond\n\n[4 more lines in file. Use offset=0 to continue.]"),
        (
            {"offset": 2.5},
            "second\n\n[Showing lines 2.5-2.5 of 3 (50.0KB limit). Use offset=3.5 to continue.]",
        ),
        ({"offset": 2, "limit": 0.5}, "\n\n[1.5 more lines in file. Use offset=2.5 to continue.]"),
        ({"limit": -(10**400)}, "\n\n[Infinity more lines in file. Use offset=-Infinity to continue.]"),
        ({"offset": 10**400}, "Offset Infinity is beyond end of file (3 lines total)"),
    ],
)
async def test_little_of_a_large_file_is_kept_whatever_is_asked_for(chosen, text, large_file, tmp_path):
    with little_memory():
        called = await call("read", {"path": "large", **chosen}, tmp_path)
    assert called.text == text


async def test_a_file_that_is_too_large_is_not_edited(large_file, tmp_path):
    with little_memory():
        called = await call("edit", {"path": "large", **ARGS["edit"]}, tmp_path)
    assert called.text == "large is too large to edit: 48.0MB, of 32.0MB at most. Use bash, as with sed -i."
    assert large_file.stat().st_size == 48 << 20


async def test_nor_is_one_that_does_not_say_how_large_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("pi_trio.builtin.edit._LARGEST", 3)
    monkeypatch.setattr("pi_trio.builtin.edit.pieces", lambda *_: iter([b"aa", b"bb", b"cc"]))
    (tmp_path / "f").touch()
    called = await call("edit", {"path": "f", **ARGS["edit"]}, tmp_path)
    assert called.text == "f is too large to edit: 4B, of 3B at most. Use bash, as with sed -i."


async def test_folders_that_cannot_be_made(tmp_path):
    """Where Pi tries for ever."""
    called = await call("write", {"path": "/proc/no/such/file", "content": "x"}, tmp_path)
    assert called.text == "ENOENT: no such file or directory, mkdir '/proc/no'"


async def test_writing_keeps_mode_and_links(tmp_path):
    (tmp_path / "f").write_text("a")
    (tmp_path / "f").chmod(0o751)
    os.link(tmp_path / "f", tmp_path / "twin")
    await call("write", {"path": "f", "content": "b"}, tmp_path)
    await call("edit", {"path": "f", "edits": [{"oldText": "b", "newText": "c"}]}, tmp_path)
    assert (tmp_path / "twin").read_text() == "c"
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o751


@pytest.fixture
def somebody():
    """The test is run by a user who may not do everything, in a folder of theirs. Root becomes one for the while."""
    folder = Path(tempfile.mkdtemp())
    nobody = 65534
    if os.geteuid() == 0:
        os.chown(folder, nobody, -1)
        os.setresuid(nobody, nobody, 0)
    yield folder
    if os.getresuid()[2] == 0:
        os.setresuid(0, 0, 0)
    for place in folder.rglob("*"):
        place.chmod(0o700)
    shutil.rmtree(folder)


async def test_what_the_user_may_not_do(somebody):
    place, folder = somebody / "f", somebody / "d"
    place.write_text("a")
    place.chmod(0)
    folder.mkdir(0o500)
    denied = "EACCES: permission denied"
    told = [(await call(tool, {"path": "f", **args}, somebody)).text for tool, args in ARGS.items()]
    assert told == [
        f"{denied}, access '{place}'",
        f"{denied}, open '{place}'",
        "Could not edit file: f. Error code: EACCES.",
    ]
    for path, what in (("d/new", "open"), ("d/new/f", "mkdir")):
        called = await call("write", {"path": path, "content": "x"}, somebody)
        assert called.text == f"{denied}, {what} '{folder}/new'"
    folder.chmod(0)
    told = [(await call(tool, {"path": "d/f", **args}, somebody)).text for tool, args in ARGS.items()]
    assert told == [f"{denied}, {what} '{folder}/f'" for what in ("access", "realpath", "realpath")]
    assert (await call("bash", {"command": "echo x"}, folder)).text == "spawn /bin/bash EACCES"


def test_access_that_is_denied(monkeypatch, tmp_path):
    (tmp_path / "f").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError) as caught:
        files.check_access(str(tmp_path / "f"), os.R_OK)
    assert text_of(caught.value, "access", "/f") == "EACCES: permission denied, access '/f'"


@pytest.mark.parametrize("abort", [True, False])
async def test_reading_ends_soon_after_an_abort_and_a_cancellation(abort, tmp_path, monkeypatch):
    """It is told so between two pieces of a file that has no end."""
    begun = threading.Event()
    asked = []

    def endless(descriptor, check):
        while True:
            begun.set()
            asked.append(1)
            check()
            yield b"line\n"

    monkeypatch.setattr(read, "pieces", endless)
    (tmp_path / "f").write_text("x")
    controller = AbortController()

    async def end():
        await trio.to_thread.run_sync(begun.wait)
        if abort:
            controller.abort()
        else:
            nursery.cancel_scope.cancel()

    called = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(end)
        called = await call("read", {"path": "f"}, tmp_path, signal=controller.signal)
    assert asked
    assert called is None if not abort else called.text == "Operation aborted"


@pytest.mark.parametrize("tool", ["write", "edit"])
async def test_a_change_that_was_aborted_before_it_was_made_is_not_made(tool, tmp_path, monkeypatch):
    (tmp_path / "f").write_text("a")
    controller = AbortController()
    for module in ("write", "edit"):
        monkeypatch.setattr(f"pi_trio.builtin.{module}.write_whole", pytest.fail)
    seen = files.check_access
    monkeypatch.setattr(
        "pi_trio.builtin.edit.check_access",
        lambda *args: (trio.from_thread.run_sync(controller.abort), seen(*args)),
    )
    monkeypatch.setattr(
        "pi_trio.builtin.write.make_folder", lambda path: trio.from_thread.run_sync(controller.abort)
    )
    called = await call(tool, {"path": "f", **ARGS[tool]}, tmp_path, signal=controller.signal)
    assert called.text == "Operation aborted"
    assert (tmp_path / "f").read_text() == "a"


async def test_a_write_that_has_begun_is_not_torn(tmp_path, monkeypatch):
    """The call is cancelled while the file is written: it is whole when the call has ended."""
    write, begun = os.write, threading.Event()

    def slow(descriptor, data):
        begun.set()
        return write(descriptor, bytes(data[:1000]))

    monkeypatch.setattr(files.os, "write", slow)

    async with trio.open_nursery() as nursery:

        async def cancel():
            await trio.to_thread.run_sync(begun.wait)
            nursery.cancel_scope.cancel()

        nursery.start_soon(cancel)
        await call("write", {"path": "f", "content": "x" * 50_000}, tmp_path)
    assert (tmp_path / "f").stat().st_size == 50_000


def test_a_system_call_with_another_number():
    assert text_of(OSError(9999, ""), "read") == "E9999: unknown error 9999, read"
    with pytest.raises(BuiltinToolError), files.told_as("open", "/x"):
        raise BuiltinToolError("as it is")


def test_a_file_is_read_as_it_was_piece_by_piece(tmp_path):
    """Whoever appends to it while it is read does not keep the reader."""
    place = tmp_path / "f"
    place.write_bytes(b"x" * 1_000_000)
    asked = []

    def check():
        asked.append(1)
        with place.open("ab") as file:
            file.write(b"more")

    with files.reading(str(place)) as descriptor:
        assert sum(map(len, files.pieces(descriptor, check))) == 1_000_000
    assert len(asked) >= 4
