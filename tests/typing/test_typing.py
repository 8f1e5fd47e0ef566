"""What mypy and pyright say of code that uses this package: nothing where it is right, and something where it is wrong.

A line of `wrong_*.py` that must be refused ends with `# E: reason`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHECKOUT = HERE.parents[1]
SOURCES = sorted(HERE.glob("right_*.py")) + sorted(HERE.glob("wrong_*.py"))


def wanted() -> set[tuple[str, int]]:
    """File and number of the lines that must be refused."""
    return {
        (source.name, number)
        for source in SOURCES
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), start=1)
        if "# E: " in line
    }


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    """The sources without the line that keeps the checks of the whole checkout away from them."""
    for source in SOURCES:
        text = source.read_text(encoding="utf-8").replace("# mypy: ignore-errors\n", "\n")
        (tmp_path / source.name).write_text(text, encoding="utf-8")
    return tmp_path


def check(*command: str) -> str:
    environment = {**os.environ, "MYPYPATH": str(CHECKOUT)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=CHECKOUT, env=environment, text=True, capture_output=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def of_dev(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(name) is None, reason=f"{name} comes with the extra dev")


def compare(found: dict[tuple[str, int], str]) -> None:
    assert len(wanted()) > 20
    refused_for_nothing = {place: text for place, text in found.items() if place not in wanted()}
    assert refused_for_nothing == {}
    assert wanted() - found.keys() == set()


@of_dev("mypy")
def test_mypy(copies: Path) -> None:
    said = check(
        "mypy", "--config-file", "pyproject.toml", "--no-error-summary", "--hide-error-context", str(copies)
    )
    errors = re.finditer(r"^.*?([^/\n]+\.py):(\d+): error: (.*)$", said, re.MULTILINE)
    compare({(file, int(line)): text for file, line, text in (error.groups() for error in errors)})


@of_dev("pyright")
def test_pyright(copies: Path) -> None:
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(CHECKOUT)], "pythonVersion": "3.11"}
    off = (
        "UnusedExpression",
        "UnusedVariable",
        "UnknownMemberType",
        "UnknownVariableType",
        "UnknownArgumentType",
    )
    settings |= {f"report{rule}": "none" for rule in off}
    (copies / "pyrightconfig.json").write_text(json.dumps(settings))
    said = json.loads(check("pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(copies)))
    errors = [one for one in said["generalDiagnostics"] if one["severity"] == "error"]
    compare({(Path(one["file"]).name, one["range"]["start"]["line"] + 1): one["message"] for one in errors})
