"""What the documents say is run: every command, every program, every link."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from pi_trio import AgentEvent, OpenRun
from pi_trio.conformance.verdict import Outcome
from pi_trio.models.environment_keys import KEY_VARIABLES

from .environments import CHECKOUT, Environment

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [CHECKOUT / "README.md", *CHECKOUT.glob("spec/**/*.md"), *CHECKOUT.glob("benchmarks/*.md")]


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


PROGRAM, LISTENER, PROVIDER, TOOLS, REAL, TEST = blocks("python")
COMMANDS = [line for block in blocks("sh") for line in block.splitlines()]
INSTALL, *REST = COMMANDS
OF_DEVELOPERS = ["python -m pip install '.[dev]'", "python -m pytest"]


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment in which the README's first command was given."""
    environment = Environment.make(tmp_path_factory.mktemp("newcomer") / "env")
    environment.run(INSTALL, cwd=CHECKOUT)
    return environment


def marked(command: str) -> pytest.ParameterSet:
    upstream = "upstream" in command or "pi@" in command
    return pytest.param(command, id=command, marks=pytest.mark.upstream if upstream else ())


@pytest.mark.network
@pytest.mark.parametrize("command", [marked(line) for line in REST if line not in OF_DEVELOPERS])
def test_a_command(newcomer, command):
    newcomer.run(command, cwd=CHECKOUT)


def test_the_commands_of_developers_are_what_ci_does():
    assert [line for line in COMMANDS if line in OF_DEVELOPERS] == OF_DEVELOPERS
    script = (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    assert "environment dev dev" in script
    assert '\nstage "tests" python -m pytest ' in script


def test_the_program_prints_what_is_shown():
    (shown,) = blocks("text")
    assert output(PROGRAM) == (shown, "")


def test_the_listener_prints_the_answer():
    assert output(LISTENER) == ("Once upon a time.", "")


def test_the_model_of_ones_own_answers():
    assert output(PROVIDER) == ("Pretty! Polly! \n", "")


def test_an_agent_is_made():
    assert output(f"{TOOLS}\nprint(len(agent.tools), agent.model.provider)") == ("4 unknown\n", "")


def test_the_real_model_is_asked_for_its_key(monkeypatch):
    for name in KEY_VARIABLES["anthropic"]:
        monkeypatch.delenv(name, raising=False)
    said, logged = output(REAL)
    assert said == "Provider is not configured: anthropic\n"
    assert f"set {' or '.join(KEY_VARIABLES['anthropic'])}" in logged


def output(program: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", program], text=True, capture_output=True, timeout=60, check=False
    )
    return done.stdout, done.stderr


def chat(change: Callable[[str], str], leave: Callable[[trio.CancelScope], None], last: int) -> int:
    """Play the program, whose reader leaves at its nth event; how many there were."""
    read = 0
    following = OpenRun.__anext__

    async def watched(run: OpenRun) -> AgentEvent:
        nonlocal read
        if read == last:
            leave(scope)
        event = await following(run)
        read += 1
        return event

    async def within(main: Callable[..., Awaitable[None]], text: str) -> None:
        with scope:
            await main(text)
        assert trio.lowlevel.current_statistics().tasks_living == tasks

    def run_within(main: Callable[..., Awaitable[None]], text: str) -> None:
        trio_run(within, main, text, clock=trio.testing.MockClock(autojump_threshold=0))

    scope, trio_run, names = trio.CancelScope(), trio.run, dict[str, Any]()
    tasks = trio.run(count_tasks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenRun, "__anext__", watched)
        patch.setattr(trio, "run", run_within)
        exec(compile(change(PROGRAM), "README.md", "exec"), names)
    agent = names["agent"]
    assert (agent.state.is_streaming, agent.state.pending_tool_calls, agent.signal) == (False, (), None)
    assert trio.run(agent.prompt, "again").stop_reason in {"stop", "error"}  # the script may be at its end
    return read


async def count_tasks() -> int:
    return trio.lowlevel.current_statistics().tasks_living


def stop(_: trio.CancelScope) -> None:
    raise StopAsyncIteration


@pytest.mark.parametrize("leave", [stop, trio.CancelScope.cancel])
@pytest.mark.parametrize("change", [str, lambda program: program.replace('"pear": 0.5, ', "")])
def test_the_reader_in_the_program_may_leave_at_every_event(change, leave):
    """By the end of its loop or a cancelled scope; also where a tool raises."""
    events = chat(change, leave, -1)
    assert events > 30
    for last in range(events):
        assert chat(change, leave, last) == last


def test_the_test_in_it_passes():
    names: dict[str, Any] = {}
    exec(TEST, names)
    names["test_an_abort_ends_the_search"]()


def test_every_verdict_is_explained():
    assert set(re.findall(r"^\| ([A-Z -]+) \|", README, re.MULTILINE)) == {
        outcome.value for outcome in Outcome
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_links_lead_somewhere(document):
    links = re.findall(r"\]\(([^)]*)\)", document.read_text(encoding="utf-8"))
    for link in links:
        target, _, anchor = link.partition("#")
        if target.startswith("https:"):
            continue
        place = document.parent / target if target else document
        assert place.exists(), link
        assert not anchor or anchor in anchors(place), link


def anchors(document: Path) -> set[str]:
    """The anchors that a forge makes of a document's headings."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
