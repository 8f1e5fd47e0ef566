"""What the runtime may import, seen from outside: it works where nothing is installed but what it needs."""

from __future__ import annotations

import subprocess
import sys
import tomllib

from .environments import CHECKOUT

IMPORT_ALL = """
import sys
from importlib import import_module
from pkgutil import walk_packages

for name in sys.argv[1:]:
    sys.modules[name] = None  # importing it raises

import pi_trio

apart = (
    "pi_trio.conformance", "pi_trio.cli", "pi_trio.tools.decorator.",
    "pi_trio.models.proxy.connection", "pi_trio.models.proxy.server",
)
names = [module.name for module in walk_packages(pi_trio.__path__, "pi_trio.") if not module.name.startswith(apart)]
for name in names:
    import_module(name)
for name in pi_trio.__all__:
    getattr(pi_trio, name)
print(len(names))
"""


def test_the_runtime_needs_nothing_that_an_extra_brings():
    """Importing hypothesis would even change in which order trio runs the tasks of an application."""
    tools = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (contract,) = [
        one for one in tools["importlinter"]["contracts"] if "rich" in one.get("forbidden_modules", ())
    ]
    command = [sys.executable, "-c", IMPORT_ALL, *contract["forbidden_modules"]]
    done = subprocess.run(command, cwd=CHECKOUT, text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


def test_importing_the_package_costs_next_to_nothing():
    code = "import sys; before = set(sys.modules); import pi_trio; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, text=True, capture_output=True, timeout=60, check=True
    )
    assert not {"trio", "attrs", "cattrs"} & set(done.stdout.split())
