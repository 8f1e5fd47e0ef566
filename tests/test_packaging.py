"""What is built: from a checkout an sdist, from that a wheel, and from that a new environment that works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import pi_trio

from .environments import CHECKOUT, Environment

VERSION = pi_trio.__version__


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with an sdist, and the wheel that was made from it alone."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(CHECKOUT)]
    done = subprocess.run(command, text=True, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"pi_trio-{VERSION}-py3-none-any.whl"


def files_below(folder: Path) -> set[str]:
    ours = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in ours}


@pytest.mark.network
def test_the_wheel_holds_the_package_and_the_spec_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith(f"pi_trio-{VERSION}.dist-info/")}
        package = {f"pi_trio/{name}" for name in files_below(CHECKOUT / "pi_trio")}
        spec = {f"pi_trio/_spec/{name}" for name in files_below(CHECKOUT / "spec")}
        assert names == package | spec
        assert {"pi_trio/py.typed", "pi_trio/conformance/adapters/pi.mjs"} <= package
        assert archive.read("pi_trio/_spec/README.md") == (CHECKOUT / "spec" / "README.md").read_bytes()


@pytest.mark.network
def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        said = Parser().parsestr(archive.read(f"pi_trio-{VERSION}.dist-info/METADATA").decode())
    assert (said["Name"], said["Version"], said["License-Expression"]) == ("pi_trio", VERSION, "MIT")
    assert set(said.get_all("Provides-Extra", [])) == {
        "conformance",
        "models",
        "tools",
        "upstream",
        "test",
        "dev",
    }
    plain = [need for need in said.get_all("Requires-Dist", []) if "extra ==" not in need]
    names = {re.split(r"[^\w-]", need, maxsplit=1)[0].replace("-", "_") for need in plain}
    assert names == {"attrs", "can_ada", "cattrs", "outcome", "regress", "trio"}
    assert said.get_payload() == (CHECKOUT / "README.md").read_text(encoding="utf-8")


@pytest.mark.network
def test_the_sdist_can_be_tested(built):
    with tarfile.open(built / f"pi_trio-{VERSION}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", ".ci/run", "tests/test_packaging.py", "spec/README.md"} <= names
    assert {f"tests/{name}" for name in files_below(CHECKOUT / "tests")} <= names


@pytest.mark.network
def test_a_new_environment(wheel, tmp_path):
    """First with the runtime alone, which says what the tester needs; then with that."""
    environment = Environment.make(tmp_path / "env")
    environment.run(f"python -m pip install '{wheel}'", cwd=tmp_path)
    assert environment.run("pi-trio --version", cwd=tmp_path) == f"pi_trio {VERSION}\n"
    environment.run("python -c 'from pi_trio import *'", cwd=tmp_path)
    said = environment.run("pi-trio conform", cwd=tmp_path, code=2)
    assert "pip install 'pi_trio[conformance]'" in said
    environment.run(f"python -m pip install '{wheel}[conformance]'", cwd=tmp_path)
    environment.run("python -m pip check", cwd=tmp_path)
    said = environment.run("pi-trio conform --scenario text_plain", cwd=tmp_path)
    assert re.search(r"^1 passed, 0 non-strict, 0 not offered, 0 failed$", said, re.MULTILINE)


LOCKS = sorted(CHECKOUT.glob("pi_trio/conformance/adapters/*/package-lock.json"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.parent.name)
def test_a_lock_names_what_and_not_where(lock):
    text = lock.read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert not any("resolved" in package for package in packages.values())
    # A funding address tells where to give, not where to take from.
    assert "://" not in json.dumps([{**package, "funding": None} for package in packages.values()])
    assert all("integrity" in package for name, package in packages.items() if name)


def test_there_are_locks():
    assert any(lock.parent.name == "pi-1.6.0" for lock in LOCKS)
