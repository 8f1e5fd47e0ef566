"""The built-in tools in an agent: what the model is told."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pi_trio import Agent, ScriptedProvider
from pi_trio.builtin import builtin_tools, read_tool
from pi_trio.models.scripted import assistant, tool_call

from .calling import call_tool


def agent_of(tmp_path, *answers: Any, **options: Any) -> Agent:
    provider = ScriptedProvider(list(answers))
    return Agent(
        model=provider.models[0], stream_fn=provider.stream, tools=builtin_tools(tmp_path), **options
    )


async def results(agent: Agent) -> list[tuple[Any, ...]]:
    """What came of the calls of a run: each tool's name, its text, and whether it failed."""
    run = await agent.prompt("go")
    return [(one.tool_name, one.text, one.is_error) for one in run.messages if one.role == "toolResult"]


async def test_files_are_made_read_and_changed(tmp_path):
    agent = agent_of(
        tmp_path,
        assistant(tool_call("write", {"path": "a/b.txt", "content": "one\ntwo\n"})),
        assistant(
            tool_call("edit", {"path": "a/b.txt", "oldText": "one", "newText": "1"}),
            tool_call("edit", {"path": "a/b.txt", "edits": '[{"oldText": "two", "newText": "2"}]'}),
        ),
        assistant(
            tool_call("read", {"path": "a/b.txt", "limit": "1"}), tool_call("bash", {"command": "cat a/*"})
        ),
        assistant("done"),
    )
    assert await results(agent) == [
        ("write", "Successfully wrote to a/b.txt", False),
        ("edit", "Successfully replaced 1 block(s) in a/b.txt.", False),
        ("edit", "Successfully replaced 1 block(s) in a/b.txt.", False),
        ("read", "1\n\n[2 more lines in file. Use offset=2 to continue.]", False),
        ("bash", "1\n2\n", False),
    ]


async def test_what_fails_is_told_the_model(tmp_path, caplog):
    agent = agent_of(
        tmp_path,
        assistant(
            tool_call("read", {"path": "none"}),
            tool_call("bash", {"command": "exit 3"}),
            tool_call("edit", {}),
        ),
        assistant("done"),
    )
    with caplog.at_level(logging.CRITICAL, logger="pi_trio"):
        (_, missing, _), (_, failed, _), (_, refused, _) = told = await results(agent)
    assert all(is_error for *_, is_error in told)
    assert missing == f"ENOENT: no such file or directory, access '{tmp_path}/none'"
    assert failed == "(no output)\n\nCommand exited with code 3"
    assert refused.startswith('Validation failed for tool "edit":')


@pytest.mark.parametrize("abort_mode", ["cancel", "signal"])
async def test_an_abort_keeps_what_a_command_has_said(tmp_path, abort_mode, caplog):
    agent = agent_of(
        tmp_path,
        assistant(tool_call("bash", {"command": "echo before; sleep 60"})),
        assistant("not said"),
        abort_mode=abort_mode,
    )

    def listen(event: Any, signal: Any) -> None:
        if event.type == "tool_execution_update" and event.partial_result.text == "before\n":
            agent.abort()

    agent.subscribe(listen)
    with caplog.at_level(logging.CRITICAL, logger="pi_trio"):
        assert await results(agent) == [("bash", "before\n\n\nCommand aborted", True)]


async def test_the_folder_is_the_one_of_when_the_tool_was_made(tmp_path, monkeypatch):
    (tmp_path / "f").write_text("found")
    monkeypatch.chdir(tmp_path)
    tool = read_tool()
    monkeypatch.chdir("/")
    assert (await call_tool(tool, {"path": "f"})).text == "found"
