"""Where things are run as a user runs them: a new virtual environment, and the checkout that goes into it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import attrs

CHECKOUT = Path(__file__).parents[1]

_OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PI_PROFILE")
"""Variables of this process that would reach into the environment."""


@attrs.frozen
class Environment:
    """A virtual environment below `folder`."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Environment:
        """A new one, with pip and nothing else."""
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
        return cls(folder)

    def run(self, command: str, *, cwd: Path, code: int = 0) -> str:
        """Run a line of shell in this environment; what it said on both channels. It has to end with `code`."""
        variables = {name: value for name, value in os.environ.items() if name not in _OURS}
        variables["PATH"] = os.pathsep.join([str(self.folder / "bin"), variables.get("PATH", os.defpath)])
        done = subprocess.run(
            ["sh", "-c", command], cwd=cwd, env=variables, timeout=600, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == code, f"{command}\nended with {done.returncode}:\n{done.stdout[-4000:]}"
        return done.stdout
