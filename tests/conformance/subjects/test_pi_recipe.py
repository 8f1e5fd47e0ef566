"""The locks that this package ships, and the comparison of an installation with one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pi_trio.conformance.subjects.install_cache import DamagedInstall
from pi_trio.conformance.subjects.pi_install import ADAPTERS
from pi_trio.conformance.subjects.pi_recipe import PiRecipe, known_releases

if TYPE_CHECKING:
    from pathlib import Path

LOCKS = sorted(ADAPTERS.rglob("package-lock.json"))


def packages(release: str) -> dict[str, dict[str, Any]]:
    return json.loads((ADAPTERS / f"pi-{release}" / "package-lock.json").read_text())["packages"]


def installed(folder: Path, release: str) -> Path:
    """What npm leaves, as far as the comparison looks: each package that every platform has."""
    for place, entry in packages(release).items():
        if place and not entry.get("optional"):
            (folder / place).mkdir(parents=True)
            (folder / place / "package.json").write_text(json.dumps({"version": entry["version"]}))
    return folder


def test_releases_are_known_in_their_order():
    assert known_releases() == ("0.80.2", "0.85.0", "1.0.3", "1.6.0")


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.parent.name)
def test_no_lock_holds_an_address(lock):
    text = lock.read_text()
    assert "://" not in text
    assert '"resolved"' not in text


@pytest.mark.parametrize("release", known_releases())
def test_every_package_of_pi_is_pinned_to_the_release(release):
    own = {place: entry for place, entry in packages(release).items() if "@earendil-works/" in place}
    assert {"node_modules/@earendil-works/pi-agent-core", "node_modules/@earendil-works/pi-ai"} <= own.keys()
    assert {entry["version"] for entry in own.values()} == {release}


@pytest.mark.parametrize("release", known_releases())
def test_every_package_is_pinned_and_proven(release):
    for place, entry in packages(release).items():
        if place:
            assert entry["integrity"].startswith("sha512-"), place
            assert entry["version"][0].isdigit(), place


@pytest.mark.parametrize("release", known_releases())
def test_the_manifest_asks_for_the_release_alone(release):
    manifest = json.loads((ADAPTERS / f"pi-{release}" / "package.json").read_text())
    assert manifest["dependencies"] == {
        "@earendil-works/pi-agent-core": release,
        "@earendil-works/pi-ai": release,
    }
    assert manifest["dependencies"] == packages(release)[""]["dependencies"]
    assert "scripts" not in manifest


def test_keys_tell_the_releases_apart_and_name_the_lock():
    keys = {PiRecipe(release).key for release in known_releases()}
    assert len(keys) == len(known_releases())
    assert PiRecipe("1.6.0").key.startswith("pi-1.6.0-")


@pytest.mark.parametrize("release", known_releases())
def test_an_installation_that_is_as_the_lock_says_passes(tmp_path, release):
    PiRecipe(release).check(installed(tmp_path, release))


def test_another_version_is_refused(tmp_path):
    place = "node_modules/@earendil-works/pi-ai"
    (installed(tmp_path, "1.0.3") / place / "package.json").write_text('{"version": "1.6.0"}')
    with pytest.raises(DamagedInstall, match=rf"{place} should be 1.0.3 and is 1.6.0"):
        PiRecipe("1.0.3").check(tmp_path)


def test_a_missing_package_is_refused(tmp_path):
    (installed(tmp_path, "1.6.0") / "node_modules/ws/package.json").unlink()
    with pytest.raises(DamagedInstall, match=r"node_modules/ws should be \S+ and is missing"):
        PiRecipe("1.6.0").check(tmp_path)


def test_a_package_of_another_platform_must_still_be_right_if_it_is_there(tmp_path):
    optional = next(place for place, entry in packages("0.85.0").items() if entry.get("optional"))
    (installed(tmp_path, "0.85.0") / optional).mkdir(parents=True)
    (tmp_path / optional / "package.json").write_text('{"version": "0.0.0"}')
    with pytest.raises(DamagedInstall, match=optional):
        PiRecipe("0.85.0").check(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 1}'])
def test_an_unreadable_manifest_is_damage(tmp_path, text):
    (installed(tmp_path, "1.6.0") / "node_modules/ws/package.json").write_text(text)
    with pytest.raises(DamagedInstall):
        PiRecipe("1.6.0").check(tmp_path)
