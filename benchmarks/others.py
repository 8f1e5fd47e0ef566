"""The others: real Pi on Node, and packages for Python, each in an environment of its own that is made on first use.

Versions are fixed, because their interfaces move. Environments lie in the cache folder of `pi_trio` and may be deleted
at any time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.measuring import CannotRunError, Subject, python_module
from benchmarks.workloads import ITEMS_A_READ, PIECE, Manner, Workload

if TYPE_CHECKING:
    from collections.abc import Sequence

Report = Callable[[str], None]

PI: Final = "1.6.0"
PACKAGES: Final = {
    "pi_ai_python_agent": "pi-ai-python==1.7.0",
    "pydantic_ai_agent": "pydantic-ai-slim==2.68.0",
    "openai_agents_run": "openai-agents==0.24.0",
}
"""The program that runs a package, and the package."""


def others(report: Report) -> list[Subject]:
    """All that can be had; what cannot is reported."""
    found: list[Subject] = []
    for name, make in [("pi", _pi), *((program, _package(program)) for program in PACKAGES)]:
        try:
            found.append(make(report))
        except CannotRunError as error:
            report(f"left out: {name}: {error}")
    return found


def _pi(report: Report) -> Subject:
    try:
        import trio

        from pi_trio.conformance.subjects import SubjectUnavailable
        from pi_trio.conformance.subjects.pi_releases import ensure_pi
    except ImportError as error:
        raise CannotRunError(f"needs the extra `conformance` ({error})") from None

    async def install() -> tuple[Path, Path]:
        pi = await ensure_pi(PI, report=report)
        return pi.node.path, pi.folder

    try:
        node, folder = trio.run(install)
    except SubjectUnavailable as error:
        raise CannotRunError(str(error)) from None
    program = Path(__file__).parent / "subjects" / "pi.mjs"

    def command(workload: Workload, manner: Manner, times: int) -> Sequence[str]:
        numbers = {
            "deltas": workload.deltas,
            "turns": workload.turns,
            "calls": workload.calls,
            "updates": workload.updates,
            "subscribers": workload.subscribers,
            "piece": PIECE,
            "itemsARead": ITEMS_A_READ,
        }
        return [str(node), str(program), str(folder), json.dumps(numbers), manner, str(times)]

    return Subject(command, {f"Pi {PI} on Node, first run": 0, f"Pi {PI} on Node, sixth run": 5})


def _package(program: str) -> Callable[[Report], Subject]:
    def make(report: Report) -> Subject:
        requirement = PACKAGES[program]
        python = _environment(requirement, report)

        def command(workload: Workload, manner: Manner, times: int) -> Sequence[str]:
            words = (workload.name, manner, str(workload.size), str(times))
            return [*python_module(program, python), *words]

        return Subject(command, {requirement.replace("==", " "): 0}, says_all=program == "pi_ai_python_agent")

    return make


def _environment(requirement: str, report: Report) -> Path:
    """The Python of an environment with this package."""
    try:
        from pi_trio.conformance.subjects.pi_releases import cache_folder
    except ImportError as error:
        raise CannotRunError(f"needs the extra `conformance` ({error})") from None
    folder = cache_folder() / "benchmarks" / requirement
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        report(f"installing {requirement}")
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            raise CannotRunError((done.stderr.strip().splitlines() or ["pip failed"])[-1])
        (folder / "complete").touch()
    return python
