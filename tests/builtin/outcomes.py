"""What came of a case, in a form in which two of them can be compared and kept.

Left out is what no two runs have in common: the folder, the names of temporary files, times, and how often a command's
progress was reported; the first report and the last one stay. Long texts are kept as their digest and their ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import trio

from pi_trio.abort import AbortController
from pi_trio.builtin import DIALECTS
from pi_trio.messages import ToolResult

from .calling import MAKERS, Called, call_tool
from .cases import Case

RECORDED = Path(__file__).with_name("recorded.jsonl")

_FULL_OUTPUT = re.compile(r"/[^ \n]*/pi-bash-\w+\.log")
_LONG = 160


def outcome_of(case: Case, raw: Any, folder: Path) -> Any:
    """What came of the case in its folder: the result or error, the reports, and the files that there are then."""
    updates = raw.pop("updates")
    for path in set(_FULL_OUTPUT.findall(json.dumps(raw))):
        raw["fullOutput"] = Path(path).read_bytes().decode("latin-1")
        os.remove(path)
    if case.tool == "bash":
        raw["updates"] = [updates[0], updates[-1]]
        if "structuredContent" in raw:
            raw["structuredContent"]["wall_time_seconds"] = "#"
    else:
        assert updates == []
    if case.tool in ("write", "edit"):
        raw["files"] = dict(_files(folder))
    return _condensed(raw, str(folder))


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for place in sorted(folder.rglob("*")):
        name = place.relative_to(folder).as_posix()
        if place.is_symlink():
            yield name, f"-> {os.readlink(place)}"
        elif place.is_file():
            yield name, place.read_bytes().decode("latin-1")


def _condensed(value: Any, folder: str) -> Any:
    if isinstance(value, dict):
        return {key: _condensed(item, folder) for key, item in value.items()}
    if isinstance(value, list):
        return [_condensed(item, folder) for item in value]
    if not isinstance(value, str):
        return value
    text = _FULL_OUTPUT.sub("<full output>", value.replace(folder, "<folder>"))
    if len(text) <= _LONG:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"long": [text[:30], text[-110:]], "sha256": digest}


async def our_outcome(case: Case, release: str, folder: Path) -> Any:
    """What pi_trio makes of the case, in the dialect of the release. The folder is made."""
    case.lay_out(folder)
    options = {"keep_background": case.keep_background} if case.tool == "bash" else {}
    tool = MAKERS[case.tool](folder / case.cwd, dialect=DIALECTS[release], **options)
    abort = AbortController()

    class Heard(list[ToolResult]):
        def append(self, update: ToolResult) -> None:
            super().append(update)
            if case.abort_at and case.abort_at in update.text:
                abort.abort()

    if case.abort_at == "":
        abort.abort()
    called = await call_tool(tool, dict(case.args), signal=abort.signal, called=Called(updates=Heard()))
    return outcome_of(case, called.as_json(), folder)


async def our_outcomes(cases: Iterable[Case], release: str, folder: Path) -> dict[str, Any]:
    """What pi_trio makes of each case, by its name."""
    outcomes: dict[str, Any] = {}
    for number, case in enumerate(cases):
        with trio.fail_after(60):
            outcomes[case.name] = await our_outcome(case, release, folder / str(number))
    return outcomes


def recorded() -> dict[str, dict[str, Any]]:
    """What Pi's releases have made of the cases: by name the case's digest, and by release the outcome."""
    rows: dict[str, dict[str, Any]] = {}
    for line in RECORDED.read_text(encoding="utf-8").splitlines():
        name, digest, *outcomes = json.loads(line)
        rows[name] = {release: outcome for releases, outcome in outcomes for release in releases}
        rows[name]["digest"] = digest
    return rows


def row(case: Case, outcomes: dict[str, Any]) -> str:
    """A case's line of the recording; releases that made the same of it share an outcome."""
    groups: list[tuple[list[str], Any]] = []
    for release, outcome in outcomes.items():
        for releases, other in groups:
            if other == outcome:
                releases.append(release)
                break
        else:
            groups.append(([release], outcome))
    return json.dumps([case.name, case.digest(), *groups], separators=(",", ":"))
