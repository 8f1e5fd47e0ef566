"""Calls with what the releases that use TypeBox made of them: a line of JSON each, in the file beside this one.

A line has a title, the call (`name`, `parameters`, `arguments`), and an outcome for each release: `value`, the
arguments that the tool got, or `error`, the text that the model got.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from pi_trio.jsontext import print_json
from pi_trio.tools.validate import ArgumentRules

from .recorded import Call

#: The argument rules of each release.
RULES: Final[dict[str, ArgumentRules]] = {
    "0.80.2": "typebox-0.80",
    "0.85.0": "typebox-0.85",
    "1.0.3": "typebox",
}

#: How the text of every refusal begins that is not an error of the host language.
REFUSED: Final = "Validation failed for tool "

_FILE: Final = Path(__file__).with_name("recorded-typebox.jsonl")


def recorded_calls() -> list[Call]:
    """All lines, in order."""
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]


def alike(mine: dict[str, Any], theirs: dict[str, Any], *, texts: bool = True) -> bool:
    """Whether two outcomes are the same, but for the words of the host language, or (without `texts`) all words."""
    if "error" in theirs and not (texts and theirs["error"].startswith(REFUSED)):
        return "error" in mine
    return print_json(mine) == print_json(theirs)  # to Python, 1 would be equal to true
