"""The tests' own way with Ctrl-C: it arrives where SIGINT is ignored, and one that comes in a group ends the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from .environments import CHECKOUT

STRUCK = """
import signal
import pytest

def test_struck():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
"""

IN_A_GROUP = """
def test_interrupted():
    raise BaseExceptionGroup("a nursery's", [BaseExceptionGroup("", [KeyboardInterrupt()])])

def test_behind_it():
    pass
"""


def run_in_background(folder: Path, test: str) -> subprocess.CompletedProcess[str]:
    """Run a test under this folder's conftest as a script does behind an `&`: with SIGINT ignored."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(test)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what a child is born with
    try:
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", str(folder)],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTEST_ADDOPTS": ""},
            text=True, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_arrives_where_it_was_ignored(tmp_path: Path) -> None:
    done = run_in_background(tmp_path, STRUCK)
    assert done.returncode == 0, done.stdout


def test_ctrl_c_in_a_group_ends_the_run(tmp_path: Path) -> None:
    done = run_in_background(tmp_path, IN_A_GROUP)
    assert done.returncode == 2, done.stdout
    assert "Ctrl-C in test_it.py::test_interrupted" in done.stdout
    assert "1 failed in" in done.stdout
