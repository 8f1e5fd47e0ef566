"""Calls with what Pi 1.6.0 made of them: a line of JSON each, in the file beside this one.

A line has a title, the call (`name`, `parameters`, `arguments`, `argumentsError`), and `value`, the arguments that the
tool got, or `error`, the text that the model got.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Call = dict[str, Any]

_FILE = Path(__file__).with_name("recorded-1.6.0.jsonl")


def recorded_calls() -> list[Call]:
    """All lines, in order."""
    return [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
