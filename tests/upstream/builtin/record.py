"""Record what the built-in tools of Pi's releases make of the cases, for the tests that run without them.

    python -m tests.upstream.builtin.record

Run it in the checkout, when cases or releases have changed, and look at what has become different.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from pi_trio.builtin import DIALECTS

from ...builtin.cases import Case, all_cases
from ...builtin.outcomes import RECORDED, outcome_of, row
from .real_tools import RealTools, real_tools


def their_outcomes(tools: RealTools, cases: list[Case], folder: Path) -> dict[str, Any]:
    """What a release makes of each case, by its name."""
    calls: list[dict[str, Any]] = []
    for number, case in enumerate(cases):
        place = folder / str(number)
        case.lay_out(place)
        call = {"tool": case.tool, "args": case.args, "cwd": str(place / case.cwd)}
        calls.append(call if case.abort_at is None else {**call, "abortAt": case.abort_at})
    answers = tools.answers(calls)
    assert len(answers) == len(cases)
    return {
        case.name: outcome_of(case, answer, folder / str(number))
        for number, (case, answer) in enumerate(zip(cases, answers, strict=True))
    }


def main() -> None:
    cases = list(all_cases())
    by_release: dict[str, dict[str, Any]] = {}
    for release in DIALECTS:
        with tempfile.TemporaryDirectory() as folder:
            by_release[release] = their_outcomes(real_tools(release), cases, Path(folder))
    rows = [row(case, {one: by_release[one][case.name] for one in DIALECTS}) for case in cases]
    RECORDED.write_text("".join(f"{line}\n" for line in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
