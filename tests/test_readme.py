"""What the documents say is run: every command, every program, every link."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pi_trio.conformance.verdict import Outcome

from .environments import CHECKOUT, Environment

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [CHECKOUT / "README.md", *CHECKOUT.glob("spec/*.md"), *CHECKOUT.glob("benchmarks/*.md")]


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


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
    (program,), (shown,) = blocks("python"), blocks("text")
    done = subprocess.run(
        [sys.executable, "-c", program], text=True, capture_output=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == (shown, "")


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


def test_the_benchmark_prints_the_table_that_is_shown():
    text = (CHECKOUT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    (command,) = blocks("sh", text)
    done = subprocess.run(
        f"{command} --deltas 20 --rounds 1".replace("python", sys.executable, 1).split(),
        cwd=CHECKOUT, text=True, capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert table_frame(done.stdout) == table_frame(text)


def table_frame(text: str) -> list[str]:
    """The head of a table, and the first cells of its rows."""
    head, _, *rows = [line for line in text.splitlines() if line.startswith("|")]
    return [head, *(row.split("|")[1] for row in rows)]
