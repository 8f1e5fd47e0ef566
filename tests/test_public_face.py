"""`import pi_trio`: every public name is where the face says, nothing is imported before it is used."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import pi_trio

HEAVY = ("hypothesis", "rich", "httpx", "jsonschema", "pytest", "cattrs", "trio", "attrs", "pi_trio.agent")


def declared() -> dict[str, str]:
    """The names that the face imports for type checkers, and the module of each."""
    tree = ast.parse(Path(pi_trio.__file__).read_text())
    (block,) = [
        node for node in tree.body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]  # fmt: skip
    names: dict[str, str] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, "re-exported as itself, or type checkers do not see it"
            names[alias.name] = "." * node.level + (node.module or "")
    return names


def test_the_lazy_names_are_those_that_type_checkers_see() -> None:
    assert declared() == pi_trio._HOME_OF


@pytest.mark.parametrize("name", sorted(pi_trio._HOME_OF))
def test_a_name_resolves_to_what_its_home_defines(name: str) -> None:
    value = getattr(pi_trio, name)
    home = "pi_trio" + pi_trio._HOME_OF[name]
    assert value is getattr(sys.modules[home], name)
    # Aliases of types have no module of their own; everything else lives where the face says.
    assert getattr(value, "__module__", home) in {home, "types", "typing", "collections.abc"}


def test_all_and_dir_list_the_names() -> None:
    assert set(pi_trio.__all__) == {"__version__", *pi_trio._HOME_OF}
    assert len(pi_trio.__all__) == len(set(pi_trio.__all__))
    assert set(pi_trio.__all__) <= set(dir(pi_trio))
    assert dir(pi_trio) == sorted(dir(pi_trio))


def test_another_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'pi_trio' has no attribute 'agents_of_chaos'"):
        _ = pi_trio.agents_of_chaos  # type: ignore[attr-defined]


def test_a_name_is_looked_up_once() -> None:
    value = pi_trio.UserMessage
    assert vars(pi_trio)["UserMessage"] is value


def run(program: str) -> dict[str, object]:
    answer = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return dict(json.loads(answer.stdout))


def test_importing_the_package_imports_nothing_else() -> None:
    seen = run(
        "import json, sys, time; begun = time.perf_counter(); import pi_trio; took = time.perf_counter() - begun;"
        "print(json.dumps({'modules': sorted(sys.modules), 'seconds': took}))"
    )
    modules = seen["modules"]
    assert isinstance(modules, list)
    assert [name for name in modules if name.split(".")[0] in HEAVY or name.startswith("pi_trio.agent")] == []
    assert [name for name in modules if name.startswith("pi_trio")] == ["pi_trio", "pi_trio._version"]
    assert isinstance(seen["seconds"], float)
    assert seen["seconds"] < 0.2  # it is about a millisecond; far more means that something is imported


def test_an_agent_imports_no_tester() -> None:
    seen = run(
        "import json, sys, pi_trio; pi_trio.Agent; pi_trio.open_agent_loop; pi_trio.run_tool_call;"
        "print(json.dumps({'modules': sorted(sys.modules)}))"
    )
    modules = seen["modules"]
    assert isinstance(modules, list)
    unwanted = (
        "hypothesis",
        "rich",
        "httpx",
        "jsonschema",
        "pytest",
        "_pytest",
        "pi_trio.conformance",
        "pi_trio.cli",
    )
    assert [name for name in modules if name.startswith(unwanted)] == []
