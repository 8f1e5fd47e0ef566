"""Cutting texts, and selecting lines of files that go by in pieces."""

from __future__ import annotations

from itertools import pairwise

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.builtin import line_selection, output, truncation
from pi_trio.builtin.line_selection import Selection, count_lines, select_lines
from pi_trio.builtin.truncation import byte_length, keep_head, keep_tail, size_text

from .laws import law

TEXTS = st.text(st.sampled_from("a\nbé😀\r"), max_size=60)
BYTES = st.lists(
    st.sampled_from([b"a", b"\n", b"\n", "é".encode(), b"\xe2", b"\x82", b"\xff", b"\r"]), max_size=60
).map(b"".join)


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch):
    for module in (truncation, line_selection, output):
        monkeypatch.setattr(module, "MAX_LINES", 5)
        monkeypatch.setattr(module, "MAX_BYTES", 20)
    monkeypatch.setattr(output, "_KEPT", 40)


@law
@given(TEXTS)
def test_what_is_kept_is_there_and_fits(text):
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for cut, of in ((keep_head(text), lines), (keep_tail(text), lines[::-1])):
        assert (cut.total_lines, cut.total_bytes) == (len(lines), len(text.encode()))
        assert cut.truncated == (cut.total_lines > 5 or cut.total_bytes > 20)
        assert cut.output_bytes == len(cut.content.encode()) <= 20
        if not cut.truncated:
            assert cut.content == text
        elif not (cut.last_line_partial or cut.first_line_exceeds_limit):
            kept = cut.content.split("\n")
            kept = kept if of is lines else kept[::-1]
            assert kept == of[: len(kept)]
            assert cut.output_lines == len(kept) <= 5
            more = len(("\n".join(of[: len(kept) + 1])).encode())
            # No line more would have fitted. (If all did, it is the last newline that does not fit.)
            assert len(kept) in (5, len(of)) or more > 20


def test_a_last_line_that_is_too_long_is_cut_between_characters():
    cut = keep_tail("a\n" + "é" * 15)
    assert (cut.content, cut.output_bytes, cut.last_line_partial) == ("é" * 10, 20, True)
    assert keep_tail("é" * 10 + "a").content == "é" * 9 + "a"


def slice_lines(content: bytes, start: int, end: int | None) -> Selection:
    """The lines of a file that is read whole."""
    lines = content.decode("utf-8", "replace").split("\n")
    return Selection(
        total_lines=len(lines),
        truncation=keep_head("\n".join(lines[start:end])),
        first_line_bytes=byte_length(lines[start]) if start < len(lines) else 0,
    )


@law
@given(BYTES, st.integers(0, 8), st.none() | st.integers(-3, 8), st.lists(st.integers(0, 60)))
def test_selecting_from_pieces_is_slicing_the_whole(content, start, count, cuts):
    end = None if count is None else max(0, start + count)
    places = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    pieces = [content[first:last] for first, last in pairwise(places)]
    selected, sliced = select_lines(pieces, start, end), slice_lines(content, start, end)
    assert count_lines(pieces) == sliced.total_lines
    assert selected.total_lines == sliced.total_lines
    if start < selected.total_lines:
        assert selected.truncation == sliced.truncation
        if sliced.truncation.first_line_exceeds_limit:
            assert selected.first_line_bytes == sliced.first_line_bytes


@law
@given(st.lists(st.text(st.sampled_from("aab\n\né😀"), max_size=30), max_size=12))
def test_the_end_of_an_output_is_that_of_all_that_was_said(pieces):
    heard, said = output.Output(), "".join(pieces)
    for piece in pieces:
        heard._hear(piece)
    assert heard.shown() == keep_tail(said)
    assert heard.last_line_bytes == len(said.rpartition("\n")[2].encode())
    assert len(heard._tail) <= 80 + 30


def test_little_is_kept_of_a_long_file():
    selecting = line_selection._Selecting(0, None)
    for _ in range(1000):
        selecting.feed(b"x" * 1000)
    for _ in range(1000):
        selecting.feed(b"\nline" * 100)
    assert sum(map(len, selecting._kept)) + sum(map(len, selecting._parts)) < 2000
    assert attrs.asdict(selecting.done().truncation) == {
        "content": "",
        "truncated_by": "bytes",
        "total_lines": 100_001,
        "total_bytes": 1_500_000,
        "output_lines": 0,
        "output_bytes": 0,
        "last_line_partial": False,
        "first_line_exceeds_limit": True,
    }


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0B"),
        (1023, "1023B"),
        (1024, "1.0KB"),
        (51200, "50.0KB"),
        (1126, "1.1KB"),
        (1048575, "1024.0KB"),
        (3 << 19, "1.5MB"),
    ],
)
def test_sizes(size, text):
    assert size_text(size) == text
