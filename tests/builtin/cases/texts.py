"""Texts for files: of every kind that reading, finding and cutting could stumble over."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

_WORDS: Final = (
    "alpha", "beta", "x = 1", "", "    return None", "}", "naïve café", "日本語のテキスト", "😀 smile", "tab\there",
    "trailing   ", "“quoted” — dash", "it’s", "nb\u00a0sp", "ﬁ ligature", "cr\rinside", "\ufeffmark", "\u2028sep",
    "a\u0301e",
)  # fmt: skip


def some_lines(chance: random.Random, count: int) -> list[str]:
    """That many lines, some of them equal."""
    return [chance.choice(_WORDS) for _ in range(count)]


def some_text(chance: random.Random, count: int, ending: str = "\n") -> str:
    """That many lines with an ending; the last one has it or not."""
    text = ending.join(some_lines(chance, count))
    return text + ending if chance.random() < 0.6 else text


#: Files that are read as they are.
FILES: Final[Mapping[str, bytes]] = {
    "empty": b"",
    "newline": b"\n",
    "one": b"one",
    "one_line": b"one\n",
    "three": b"one\ntwo\nthree",
    "three_lines": b"one\ntwo\nthree\n",
    "empty_lines": b"\n\n\n",
    "crlf": b"one\r\ntwo\r\n",
    "cr": b"one\rtwo\r",
    "bom": b"\xef\xbb\xbfone\ntwo\n",
    "two_boms": b"\xef\xbb\xbf\xef\xbb\xbfone\n",
    "unicode": "naïve 日本語 😀\nzweite Zeile\n".encode(),
    "malformed": b"a\xffb\xc3\n\xe2\x82\n\xf0\x9f\x98\nok\xed\xa0\x80\xc0\x80\xf5",
    "cut_at_end": "x\n😀".encode()[:-1],
    "nul": b"a\0b\n\0\n",
    "utf16": "text\n".encode("utf-16"),
    "lines_2000": b"x\n" * 2000,
    "lines_2000_open": b"x\n" * 1999 + b"x",
    "lines_2001": b"x\n" * 2001,
    "lines_2001_open": b"x\n" * 2000 + b"x",
    "lines_2000_and_empty": b"x\n" * 2000 + b"\n",
    "lines_5000": b"".join(b"line %d\n" % number for number in range(5000)),
    "bytes_51200": b"x" * 51199 + b"\n",
    "bytes_51200_open": b"x" * 51200,
    "bytes_51201": b"x" * 51200 + b"\n",
    "bytes_51201_open": b"x" * 51201,
    "line_51200": b"x" * 51200 + b"\ny\n",
    "line_51200_and_empty": b"x" * 51200 + b"\n\ny",
    "line_51200_and_empties": b"x" * 51200 + b"\n\n\n",
    "line_51199_and_empty": b"x" * 51199 + b"\n\ny",
    "long_first": b"x" * 60000 + b"\nshort\n",
    "long_second": b"short\n" + b"x" * 60000 + b"\nlast",
    "long_in_all": (b"y" * 99 + b"\n") * 600,
    "wide": "é".encode() * 30000,
    "wide_lines": ("日本" * 20 + "\n").encode() * 500,
    "malformed_long": b"\xff" * 20000 + b"\n" + b"z" * 100,
    "two_limits": (b"x" * 24 + b"\n") * 2048 + b"end",
    "large": b"".join(b"%07d some text that makes a line\n" % number for number in range(40000)),
}
