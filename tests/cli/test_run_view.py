"""What a person sees of a run."""

from __future__ import annotations

import io

import pytest

from pi_trio import Agent, ScriptedProvider, ToolContext, tool
from pi_trio.cli.demonstration import Demonstration
from pi_trio.cli.run_view import TextView, visible
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.scripted import DEFAULT_MODEL, assistant, thinking, tool_call
from pi_trio.models.stream import ResponseStream


class Screen(io.StringIO):
    """A terminal, or a file."""

    def __init__(self, tty, log=None):
        super().__init__()
        self._tty = tty
        self._log = log

    def isatty(self):
        return self._tty

    def write(self, text):
        if self._log is not None:
            self._log.append(text)
        return super().write(text)


@tool
async def count(upto: int) -> str:
    """Count."""
    return "\n".join(map(str, range(upto)))


async def watched(agent, prompt="Hi", *, tty=False):
    """What is printed of a run, on both streams, and all of it in the order in which it came."""
    log = []
    out, err = Screen(tty, log), Screen(tty, log)
    view = TextView(out, err)
    async with agent.open_prompt(prompt) as run:
        async for event in run:
            view.show(event)
    view.end()
    return out.getvalue(), err.getvalue(), "".join(log)


def agent_of(*responses, tools=()):
    provider = ScriptedProvider(responses, token_size=(1, 1))
    return Agent(model=provider.models[0], stream_fn=provider.stream, tools=tools)


async def test_answers_and_calls():
    agent = agent_of(
        assistant("I count.", tool_call("count", {"upto": 3})), assistant("Three."), tools=[count]
    )
    assert await watched(agent) == (
        "I count.\nThree.\n",
        '→ count {"upto":3}\n✓ count 0 (+2 lines)\n',
        'I count.\n→ count {"upto":3}\n✓ count 0 (+2 lines)\nThree.\n',
    )


@tool
async def run_command(lines: int) -> str:
    """Fail behind so many lines."""
    raise ValueError("\n".join([*map(str, range(lines)), "", "Command exited with code 3"]))


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (0, ["✗ run_command Command exited with code 3"]),
        (1, ["✗ run_command 0", "  Command exited with code 3"]),
        (9, ["✗ run_command 0", *(f"  {n}" for n in range(1, 9)), "  Command exited with code 3"]),
        (
            10,
            ["✗ run_command 0", "  (+2 lines)", *(f"  {n}" for n in range(3, 10)), "  Command exited with code 3"],
        ),
        (99, ["✗ run_command 0", "  (+91 lines)", *(f"  {n}" for n in range(92, 99)), "  Command exited with code 3"]),
    ],
)  # fmt: skip
async def test_a_failed_call_shows_how_it_has_ended(lines, shown):
    agent = agent_of(
        assistant(tool_call("run_command", {"lines": lines})), assistant("Well."), tools=[run_command]
    )
    _, err, _ = await watched(agent)
    assert err.splitlines()[1:] == shown
    assert len(shown) <= 10


async def test_a_call_that_fails_and_one_that_is_long():
    agent = agent_of(
        assistant(tool_call("missing", {"text": "x" * 200}), tool_call("count", {"upto": 0})),
        assistant("Well."),
        tools=[count],
    )
    _, err, _ = await watched(agent)
    lines = err.splitlines()
    assert lines[0].startswith('→ missing {"text":"xxx')
    assert lines[0].endswith("…")
    assert lines[1] == "✗ missing Tool missing not found"
    assert "✓ count" in lines


async def test_progress_is_shown_where_it_changes():
    @tool
    async def work(context: ToolContext) -> str:
        """Work."""
        for line in ("one", "one", "one\ntwo\n", ""):
            await context.progress(line)
        return "done"

    agent = agent_of(assistant(tool_call("work")), assistant("So."), tools=[work])
    _, err, _ = await watched(agent)
    assert err == "→ work {}\n  one\n  two\n✓ work done\n"


async def test_thinking_is_for_terminals(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    response = assistant(thinking("Hm, well."), "Yes.")
    assert await watched(agent_of(response)) == ("Yes.\n", "", "Yes.\n")
    out, err, both = await watched(agent_of(response), tty=True)
    assert out == "Yes.\n"
    assert "Hm, " in err
    assert both.index("Hm") < both.index("\nYes")
    monkeypatch.setenv("NO_COLOR", "1")
    assert (await watched(agent_of(response), tty=True))[1] == ""


async def test_a_terminal_obeys_nothing_that_a_model_says():
    evil = "a\x1b]0;title\x07b\u202ec\r\n\td"
    out, _, _ = await watched(agent_of(assistant(evil)), tty=True)
    assert out == "a\ufffd]0;title\ufffdb\ufffdc\ufffd\n\td\n"
    out, _, _ = await watched(agent_of(assistant(evil)))
    assert out == f"{evil}\n"
    assert visible("👩\u200d💻 é") == "👩\u200d💻 é"


async def test_a_text_that_comes_whole():
    def ask(model, context, options):
        stream, builder = ResponseStream(), ResponseBuilder(model)
        for event in (
            builder.start(),
            builder.text_start(),
            builder.text_end(text="All at once."),
            builder.done("stop"),
        ):
            stream.push(event)
        return stream

    assert (await watched(Agent(model=DEFAULT_MODEL, stream_fn=ask)))[0] == "All at once.\n"


# --- the scripted model -----------------------------------------------------------------------------------


def demonstrated(*tools):
    demonstration = Demonstration([each.name for each in tools])
    return Agent(model=demonstration.model, stream_fn=demonstration.stream, tools=tools)


@pytest.mark.parametrize("prompt", ["", " ", "Hello", "x" * 10_000, "\ud800", "{}"])
async def test_the_demonstration_answers_anything(prompt):
    result = await demonstrated().prompt(prompt)
    assert "I need no key" in result.text
    assert len(result.text) < 1000


async def test_the_demonstration_calls_what_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called = []

    def named(name):
        @tool(name=name)
        async def call(path: str = "", command: str = "", limit: int = 0) -> str:
            """Do it."""
            called.append(name)
            return f"from {name}"

        return call

    agent = demonstrated(*map(named, ("read", "write", "edit")))
    assert "I call none of these tools" in (await agent.prompt("Do something")).text
    assert not called
    (tmp_path / "notes.txt").touch()
    (tmp_path / "README.md").touch()
    agent = demonstrated(*map(named, ("read", "write", "edit", "bash")))
    result = await agent.prompt("Do something")
    assert called == ["read", "bash"]
    assert "from read" in result.text
    assert "from bash" in result.text
    assert "I call the tools that change nothing" in (await agent.prompt("And again")).messages[1].text
