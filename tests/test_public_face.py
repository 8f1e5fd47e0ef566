"""`import pi_trio`: every public name is where the face says, nothing is imported before it is used."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pi_trio
import pi_trio.testing

HEAVY = (
    "hypothesis",
    "pydantic",
    "rich",
    "httpx",
    "jsonschema",
    "pytest",
    "cattrs",
    "trio",
    "attrs",
    "pi_trio.agent",
)


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
    assert getattr(value, "__module__", home) in {home, "builtins", "types", "typing", "collections.abc"}


#: Types in the signatures of public things that nobody has to name.
INTERNAL = {
    "ActiveRun", "Definition", "PollMessages", "ScriptedStream", "Setting", "Step",
    "Told",
}  # fmt: skip


def own_types() -> set[str]:
    """The classes and aliases of the modules behind the face."""
    root = Path(pi_trio.__file__).parent
    folders = [root / name for name in ("agent", "models", "tools")]
    sources = [*root.glob("*.py"), *(source for folder in folders for source in folder.rglob("*.py"))]
    nodes = [node for source in sources for node in ast.parse(source.read_text()).body]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    return classes | {
        node.target.id
        for node in nodes
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if ast.unparse(node.annotation) == "TypeAlias"
    }


def hints_of(value: Any) -> Iterator[str]:
    """The hints in the public parts of a public thing, as they are written."""
    if inspect.isfunction(value):
        yield from map(str, inspect.get_annotations(value).values())
    for cls in value.__mro__ if inspect.isclass(value) else ():
        hints = inspect.get_annotations(cls)
        yield from (str(hint) for name, hint in hints.items() if not name.startswith("_"))
        for name, part in vars(cls).items():
            part = part.fget if isinstance(part, property) else getattr(part, "__func__", part)
            if inspect.isfunction(part) and (name in ("__init__", "__call__") or not name.startswith("_")):
                yield from map(str, inspect.get_annotations(part).values())


def test_the_types_in_public_signatures_are_public() -> None:
    hints = " ".join(hint for name in pi_trio._HOME_OF for hint in hints_of(getattr(pi_trio, name)))
    spoken_of = {*re.findall(r"(?<![.\w])[A-Z]\w+", hints)} & own_types()
    assert len(spoken_of) > 50
    assert spoken_of - pi_trio._HOME_OF.keys() == INTERNAL


def test_all_and_dir_list_the_names() -> None:
    assert set(pi_trio.__all__) == {"__version__", *pi_trio._HOME_OF}
    assert len(pi_trio.__all__) == len(set(pi_trio.__all__))
    assert set(pi_trio.__all__) <= set(dir(pi_trio))
    assert dir(pi_trio) == sorted(dir(pi_trio))


@pytest.mark.parametrize("package", [pi_trio, pi_trio.testing])
def test_no_module_has_the_name_of_a_public_thing(package: ModuleType) -> None:
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert modules & set(package.__all__) == set()


def test_the_face_for_tests_lists_its_names() -> None:
    everything: dict[str, object] = {}
    exec("from pi_trio.testing import *", everything)
    del everything["__builtins__"]
    assert {*everything} == set(pi_trio.testing.__all__)
    assert not any(isinstance(value, ModuleType) for value in everything.values())
    assert len(pi_trio.testing.__all__) == len(set(pi_trio.testing.__all__))


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
    seen = run("import json, sys, pi_trio; print(json.dumps({'modules': sorted(sys.modules)}))")
    modules = seen["modules"]
    assert isinstance(modules, list)
    assert [name for name in modules if name.split(".")[0] in HEAVY or name.startswith("pi_trio.agent")] == []
    assert [name for name in modules if name.startswith("pi_trio")] == ["pi_trio", "pi_trio._version"]


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
        "pydantic",
        "jsonschema",
        "pytest",
        "_pytest",
        "pi_trio.conformance",
        "pi_trio.cli",
    )
    assert [name for name in modules if name.startswith(unwanted)] == []


def test_the_module_for_tests_needs_no_import_of_its_own() -> None:
    """As in `help(pi_trio.testing)`; and whoever does not ask for it does not have it."""
    asked = (
        'import sys, pi_trio; assert "pi_trio.testing" not in sys.modules; print(pi_trio.testing.__name__)'
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "pi_trio.testing\n"
