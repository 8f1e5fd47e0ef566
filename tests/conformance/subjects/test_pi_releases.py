"""What `pi@…` names, and the one line that says what to do where it cannot be had.

Node and npm are one small program here, which answers like Node and fails like npm; installing for real is
tested with the real ones, in `tests/upstream`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import platformdirs
import pytest

from pi_trio.conformance.subjects import SubjectUnavailable
from pi_trio.conformance.subjects.pi_releases import (
    PiInstall,
    cache_folder,
    command_of,
    ensure_pi,
    local_pi,
    obtain_pi,
)

if TYPE_CHECKING:
    from pathlib import Path


def a_node(prefix: Path, npm: str = "exit 9") -> str:
    """A Node 24 below `prefix` whose npm is the shell script `npm`; returns the folder to search for it."""
    path = prefix / "bin" / "node"
    entry = prefix / "lib/node_modules/npm/bin/npm-cli.js"
    for file in (path, entry):
        file.parent.mkdir(parents=True)
    entry.touch()
    answer = json.dumps(["24.0.0", str(path)])
    path.write_text(f"#!/bin/sh\nif [ \"$1\" = -p ]; then echo '{answer}'; else {npm}; fi\n")
    path.chmod(0o755)
    return str(path.parent)


def a_package(folder: Path, name: str, version: str | None) -> Path:
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": name, "version": version}))
    return folder


AGENT = "@earendil-works/pi-agent-core"
AI = "@earendil-works/pi-ai"


def test_the_cache_is_the_users_unless_the_environment_says_otherwise(monkeypatch, tmp_path):
    monkeypatch.delenv("PI_TRIO_CACHE", raising=False)
    assert cache_folder() == platformdirs.user_cache_path("pi_trio")
    monkeypatch.setenv("PI_TRIO_CACHE", "")
    assert cache_folder() == platformdirs.user_cache_path("pi_trio")
    monkeypatch.setenv("PI_TRIO_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PI_TRIO_CACHE", "here")
    assert cache_folder() == tmp_path / "here"


@pytest.mark.parametrize("reference", ["9.9.9", "1.6", "v1.6.0", "1.6.0-rc.1"])
async def test_an_unknown_release_is_told_from_a_folder(reference):
    with pytest.raises(SubjectUnavailable) as caught:
        await obtain_pi(reference, report=print)
    assert str(caught.value) == (
        f"pi@{reference}: only 0.80.2, 0.85.0, 1.0.3, 1.6.0 can be installed; "
        "for another one give a folder that holds it, pi@PATH"
    )


async def test_ensure_knows_only_what_has_a_lock():
    with pytest.raises(SubjectUnavailable, match=r"pi@9\.9\.9"):
        await ensure_pi("9.9.9", report=print)


NPM_FAILURES = {
    "npm error code ENOTFOUND": "the npm registry is out of reach (ENOTFOUND); go online once, or",
    "npm error code EAI_AGAIN": "the npm registry is out of reach (EAI_AGAIN); go online once, or",
    "npm error code ENOSPC": "no space below {cache}; free some, or set PI_TRIO_CACHE to a folder on",
    "npm warn tar TAR_ENTRY_ERROR EDQUOT: quota": "no space below {cache}; free some, or",
    "npm error code E404": "npm says E404: it ended with status 1; try again, or give a folder",
    "npm error code EINTEGRITY\nnpm error sha512-x is bad": "npm says EINTEGRITY: sha512-x is bad; try again",
    "strange": "npm says it ended with status 1; try again",
}


@pytest.mark.parametrize("said", NPM_FAILURES)
async def test_a_failed_installation_says_what_to_do_and_leaves_nothing(tmp_path, said):
    search_path = a_node(tmp_path / "node", f"printf '%s\\n' '{said}' >&2; exit 1")
    cache = tmp_path / "cache"
    with pytest.raises(SubjectUnavailable) as caught:
        await ensure_pi("1.6.0", report=print, cache=cache, search_path=search_path)
    text = str(caught.value)
    assert text.startswith("pi@1.6.0 could not be installed: " + NPM_FAILURES[said].format(cache=cache))
    assert "\n" not in text
    assert [path.name for path in cache.iterdir() if path.name != "install.lock"] == []


async def test_npm_that_installs_too_little_is_found_out(tmp_path):
    # The trial passes, because this Node accepts any program, so only the comparison with the lock is left.
    search_path = a_node(tmp_path / "node", "exit 0")
    with pytest.raises(SubjectUnavailable, match=r"node_modules/\S+ should be \S+ and is missing; try again"):
        await ensure_pi("1.6.0", report=print, cache=tmp_path / "cache", search_path=search_path)


async def test_an_installation_that_does_not_start_is_found_out(tmp_path):
    npm = 'case "$1" in *npm-cli.js) exit 0;; *) echo "no such module" >&2; exit 1;; esac'
    search_path = a_node(tmp_path / "node", npm)
    with pytest.raises(SubjectUnavailable, match="it does not start: no such module; try again"):
        await ensure_pi("1.6.0", report=print, cache=tmp_path / "cache", search_path=search_path)


async def test_a_cache_that_cannot_be_written_says_how_to_choose_another(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SubjectUnavailable, match="set PI_TRIO_CACHE to a folder that you may write"):
        await ensure_pi(
            "1.6.0", report=print, cache=tmp_path / "file" / "x", search_path=a_node(tmp_path / "node")
        )


async def test_progress_is_told(tmp_path):
    fetched = "npm http fetch GET 200 https://registry.example/x/-/x-1.0.0.tgz 1ms"
    search_path = a_node(tmp_path / "node", f"for i in $(seq 25); do echo '{fetched}' >&2; done; exit 1")
    notes: list[str] = []
    with pytest.raises(SubjectUnavailable):
        await ensure_pi("1.6.0", report=notes.append, cache=tmp_path / "cache", search_path=search_path)
    assert notes == [
        f"installing Pi 1.6.0 (88 packages) into {tmp_path / 'cache'}",
        "10 of 88 packages fetched",
        "20 of 88 packages fetched",
    ]


async def test_a_folder_that_has_pi_in_its_node_modules(tmp_path):
    for name in (AGENT, AI):
        a_package(tmp_path / "project/node_modules" / name, name, "1.6.1")
    install = await local_pi(tmp_path / "project", report=pytest.fail, search_path=a_node(tmp_path / "node"))
    assert (install.release, install.folder) == ("1.6.1", tmp_path / "project")


async def test_a_folder_that_is_the_package(tmp_path):
    package = a_package(tmp_path / "packages/agent", AGENT, "1.6.0")
    a_package(tmp_path / "node_modules" / AI, AI, "1.6.0")
    install = await local_pi(package, report=pytest.fail, search_path=a_node(tmp_path / "node"))
    assert (install.release, install.folder) == ("1.6.0", package)


async def test_mixed_releases_are_noted(tmp_path):
    a_package(tmp_path / "node_modules" / AGENT, AGENT, "1.0.3")
    a_package(tmp_path / "node_modules" / AI, AI, "1.6.0")
    notes: list[str] = []
    await local_pi(tmp_path, report=notes.append, search_path=a_node(tmp_path / "node"))
    assert notes == [f"mixed releases in {tmp_path}: pi-agent-core 1.0.3 with pi-ai 1.6.0"]


@pytest.mark.parametrize(
    "manifest", [None, "{", '{"name": "other", "version": "1.0.0"}', f'{{"name": "{AGENT}"}}']
)
async def test_a_folder_without_pi_says_what_is_expected(tmp_path, manifest):
    if manifest is not None:
        (tmp_path / "package.json").write_text(manifest)
    with pytest.raises(
        SubjectUnavailable, match="name a folder that has it in its node_modules, or that is it"
    ):
        await local_pi(tmp_path, report=print)


async def test_a_path_is_taken_as_one_wherever_it_leads(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", a_node(tmp_path / "node"))
    a_package(tmp_path / "1.7.0", AGENT, "1.7.0")
    monkeypatch.chdir(tmp_path)
    install = await obtain_pi("1.7.0", report=print)
    assert install.folder == tmp_path / "1.7.0"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert (await obtain_pi("~/1.7.0", report=print)).folder == tmp_path / "1.7.0"


async def test_the_command_starts_as_the_own_release_unless_told_otherwise(tmp_path):
    a_package(tmp_path / "pi", AGENT, "1.6.0")
    install = await local_pi(tmp_path / "pi", report=print, search_path=a_node(tmp_path / "node"))
    assert isinstance(install, PiInstall)
    start = [str(tmp_path / "node/bin/node"), str(install.adapter), str(tmp_path / "pi")]
    assert command_of(install) == [*start, "--profile", "pi-1.6.0"]
    assert command_of(install, "pi-0.85.0") == [*start, "--profile", "pi-0.85.0"]
    assert install.adapter.is_file()
