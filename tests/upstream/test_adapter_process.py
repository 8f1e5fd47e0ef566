"""The adapter for Node as a process: how it starts, how it reads its input, and that it lives on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio

from pi_trio.conformance.subjects.pi_releases import PiInstall, command_of

from .prompting import calling, prompted, timeless
from .talk import MODEL, Message, call, result, talking

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.upstream


async def test_lines_that_are_no_commands_are_passed_over(pi_install):
    async with talking(pi_install) as pi:
        await pi.write(
            '\n{"cmd": "prompt"\nnull\n[]\n7\n{"cmd": "sync"}\n   \n{"id": "last", "cmd": "sync"}\n'
        )
        assert await pi.hear() == {"re": "last", "ok": None}


async def test_how_the_input_is_cut_does_not_matter(pi_install):
    async with talking(pi_install) as pi:
        commands: list[Message] = [
            {"cmd": "create", "initialState": {"model": MODEL}, "listeners": ["L"]},
            {"cmd": "prompt", "op": "p", "input": "ü\u2028🙂"},
            *({"cmd": "answer", "ask": f"c{number}"} for number in (1, 2)),
        ]
        lines = "".join(json.dumps({"id": n, **c}, ensure_ascii=False) + "\n" for n, c in enumerate(commands))
        pi.said.clear()
        for byte in lines.encode():
            await pi.process.stdin.send_all(bytes([byte]))
        await pi.reply_of(3)
        in_bytes = timeless(pi.said)
        pi.said.clear()
        await pi.write(lines)
        await pi.reply_of(3)
        assert timeless(pi.said) == in_bytes
        assert pi.said[-1]["args"]["event"]["message"]["content"][0]["text"] == "ü\u2028🙂"
        # Each reply comes before what the next line causes, although all lines were there.
        assert [message.get("re", "-") for message in pi.said] == [0, "-", 1, "-", 2, "-"]


async def test_the_package_itself_may_be_named(pi_install):
    package = pi_install.folder / "node_modules/@earendil-works/pi-agent-core"
    async with talking(attrs.evolve(pi_install, folder=package)) as pi:
        await prompted(pi)


async def ended(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False, **options)


async def test_the_profile_may_come_from_the_environment(pi_install, monkeypatch):
    monkeypatch.setenv("PI_PROFILE", "pi-1.0.3")
    command = command_of(pi_install)
    hello = json.loads((await ended(command[:-2])).stdout)
    assert (hello["version"], hello["profile"], "identity" in hello) == ("1.6.0", "pi-1.0.3", False)
    # What the command says comes first.
    assert json.loads((await ended(command)).stdout)["profile"] == "pi-1.6.0"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["{pi}", "--profile", "pi-9"], 'unknown profile "pi-9"; known are pi-0.80.2, '),
        (
            ["{nothing}", "--profile", "pi-1.6.0"],
            "neither has node_modules/@earendil-works/pi-agent-core nor is",
        ),
        ([], "usage: "),
        (["{pi}", "--loud"], "--loud"),
    ],
)
async def test_a_start_that_fails_says_why_on_stderr(pi_install: PiInstall, tmp_path, arguments, complaint):
    filled = [argument.format(pi=pi_install.folder, nothing=tmp_path) for argument in arguments]
    process = await ended([str(pi_install.node.path), str(pi_install.adapter), *filled])
    assert process.returncode == 1
    assert process.stdout == b""
    assert process.stderr.startswith(b"pi adapter: ")
    assert complaint in process.stderr.decode()


async def test_a_package_that_is_not_built_is_told(pi_install, tmp_path):
    package = tmp_path / "node_modules/@earendil-works/pi-agent-core"
    package.mkdir(parents=True)
    (package / "package.json").write_text(
        '{"name": "@earendil-works/pi-agent-core", "main": "dist/index.js"}'
    )
    (tmp_path / "node_modules/@earendil-works/pi-ai").mkdir()
    (tmp_path / "node_modules/@earendil-works/pi-ai/package.json").write_text("{}")
    process = await ended(command_of(attrs.evolve(pi_install, folder=tmp_path)))
    assert process.returncode == 1
    assert b"is not built" in process.stderr


async def test_the_process_survives_what_pi_leaves_unhandled(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"), call(2, "b"))
        mark = len(pi.said)
        await pi.do("update", ask={"fn": "execute", "key": "t1"}, value=result("half"))
        await pi.answer({"fn": "listener", "event": "tool_execution_update"}, throw="boom")
        assert pi.since(mark) == "tu1 (unhandled boom)"
        pi.open = [ask for ask in pi.open if ask["fn"] == "execute"]

        mark = len(pi.said)
        await pi.answer({"fn": "execute", "key": "t1"}, result("1"))
        await pi.settle()
        assert pi.since(mark) == "ms me TE AE (settled p1 True)"
        mark = len(pi.said)
        await pi.do("update", ask={"fn": "execute", "key": "t2"}, value=result("half"))
        assert pi.since(mark) == "(unhandled Agent listener invoked outside active run)"
        await prompted(pi)
