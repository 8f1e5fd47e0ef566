"""A JSON value in a sentence, as JSON: whoever reads what the tester says need not know Python."""

from __future__ import annotations

import json
from typing import Any

from pi_trio.errors import CodecError
from pi_trio.jsontext import print_json


def shown(value: Any, width: int = 80) -> str:
    """The value as JSON text, cut off behind `width` characters. What JSON cannot hold is shown all the same, and what
    cannot be printed is escaped.
    """
    text = printable(value)
    return text if len(text) <= width else f"{text[: width - 1]}…"


def printable(value: Any) -> str:
    """The same, and all of it."""
    try:
        text = print_json(value)
    except CodecError:  # such as a number that JavaScript would print with other digits
        text = json.dumps(value)
    if not text.isprintable():
        text = "".join(each if each.isprintable() else _escaped(each) for each in text)
    return text


def _escaped(character: str) -> str:
    """As JSON would have it in a text, which is where it must stand."""
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]
