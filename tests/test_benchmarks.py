"""The benchmarks: each still runs, does all of its work, and prints what its document shows. No figure is judged."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import trio

from benchmarks.subjects import bare_trio, pi_trio_agent
from benchmarks.workloads import MANNERS, WORKLOADS

from .environments import CHECKOUT

DOCUMENT = (CHECKOUT / "benchmarks" / "README.md").read_text(encoding="utf-8")


def run(*arguments):
    return subprocess.run(
        [sys.executable, "benchmarks/run.py", *arguments],
        cwd=CHECKOUT,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))
def test_the_agent_says_as_many_events_as_the_workload_counts(workload, manner):
    small = workload.of_size(3)
    assert pi_trio_agent.run(small, manner) == small.events == bare_trio.run(small, manner)


def test_every_item_yields_in_one_manner_and_few_in_the_other():
    async def steps(manner):
        count = 0

        class Steps(trio.abc.Instrument):
            def before_task_step(self, task):
                nonlocal count
                count += 1

        instrument = Steps()
        trio.lowlevel.add_instrument(instrument)
        await pi_trio_agent.work(WORKLOADS["W1"].of_size(640), manner)
        trio.lowlevel.remove_instrument(instrument)
        return count

    assert trio.run(steps, "each") > 2 * 640
    assert trio.run(steps, "reads") < 50


def test_all_parts_print_the_tables_that_the_document_shows():
    done = run("--quick", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    for heading in (
        "W1, each",
        "W1, reads",
        "W2, each",
        "W2, reads",
        "W3, each",
        "W3, reads",
        "Growth",
        "Layers",
        "Imports",
    ):
        assert rows(done.stdout, heading), heading
        assert rows(done.stdout, heading)[0] == rows(DOCUMENT, heading)[0]
    assert [row[0] for row in rows(done.stdout, "W1, each")] == ["", "bare trio", "pi_trio"]
    assert {row[0] for row in rows(DOCUMENT, "W1, each")} > {"bare trio", "pi_trio"}


def rows(text, heading):
    """The cells of the table below a heading."""
    _, _, below = text.partition(f"**{heading}**")
    table = re.search(r"^\|.*(?:\n\|.*)*", below, re.MULTILINE)
    lines = table[0].splitlines() if table else []
    return [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in lines if not line.startswith("| ---")
    ]


def test_only_what_is_asked_for():
    done = run("--quick", "--rounds", "1", "W1")
    assert re.findall(r"\*\*(.*?)\*\*", done.stdout) == ["W1, each", "W1, reads"]


@pytest.mark.parametrize("arguments", [["W9"], ["--rounds", "0"]])
def test_what_makes_no_sense_is_refused(arguments):
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("run.py: error: ")


def test_the_transport_prints_the_tables_that_the_document_shows():
    done = subprocess.run(
        [sys.executable, "benchmarks/transport.py", "--quick", "--rounds", "1"],
        cwd=CHECKOUT,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    headings = re.findall(r"^\*\*(\w+)", done.stdout, re.MULTILINE)
    assert len(headings) == 3
    for table in re.findall(r"^\*\*(.*)\*\*$", done.stdout, re.MULTILINE):
        told = rows(done.stdout, table)
        assert len(told) > 3
        assert f"| {' | '.join(told[0])} |" in DOCUMENT
