"""Server-sent events: what they are, however the bytes are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.models import sse
from pi_trio.models.sse import SseDecoder
from pi_trio.models.transport_errors import MalformedAnswerError


def decoded(*pieces, flush_at_end=True):
    decoder = SseDecoder(flush_at_end=flush_at_end)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [(event.event, event.data) for event in [*events, *decoder.end()]]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("", []),
        ("data: a\n\n", [(None, "a")]),
        ("data:a\n\n", [(None, "a")]),
        ("data:  a\n\n", [(None, " a")]),
        ("event: e\ndata: a\n\n", [("e", "a")]),
        ("event: e\n\n", [("e", "")]),
        ("event\ndata: a\n\n", [("", "a")]),
        ("event:\n\n", []),
        ("data\n\n", [(None, "")]),
        ("data: a\ndata: b\n\n", [(None, "a\nb")]),
        ("event: e\nevent: f\ndata: a\n\n", [("f", "a")]),
        (": hello\n\ndata: a\n\n", [(None, "a")]),
        ("id: 1\nretry: 5\n\n", []),
        ("id: 1\nfoo: bar\ndata: a\n\n", [(None, "a")]),
        ("\n\n\ndata: a\n\n\n\n", [(None, "a")]),
        ("\ufeffdata: a\n\n", [(None, "a")]),
        ("data: \ufeff\n\n", [(None, "\ufeff")]),
        ("data: a\u2028b\x85c\x0bd\n\n", [(None, "a\u2028b\x85c\x0bd")]),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r", "\r\n"])
def test_what_events_there_are(text, events, ending):
    assert decoded(text.replace("\n", ending).encode()) == events


@pytest.mark.parametrize("cut_off", ["data: a", "data: a\n", "data: a\r", "event: e\ndata: a\r\n"])
def test_the_end_of_the_stream_ends_an_event_where_it_counts(cut_off):
    assert [data for _, data in decoded(cut_off.encode())] == ["a"]
    assert decoded(cut_off.encode(), flush_at_end=False) == []


def test_a_byte_that_is_no_utf_8_is_shown():
    assert decoded(b"data: a\xffb\xe2\x82\n\n") == [(None, "a\ufffdb\ufffd")]
    assert decoded(b"data: a\xe2\x82") == [(None, "a\ufffd")]


def test_a_return_ends_a_line_at_once():
    """Whoever waits for the line feed behind it would tell the event only when the next one comes."""
    assert len(SseDecoder().feed(b"data: a\r\r")) == 1
    assert decoded(b"data: a\r", b"\ndata: b\r\n\r", b"\n") == [(None, "a\nb")]


def test_an_error_text_can_show_all_lines():
    decoder = SseDecoder()
    (event,) = decoder.feed(b": hello\n\nid: 1\nevent: e\ndata: a\n\n")
    assert event.lines == [": hello", "id: 1", "event: e", "data: a"]
    (event,) = decoder.feed(b"data: b\n\n")
    assert event.lines == ["data: b"]


pieces = st.sampled_from(
    [
        "data: ",
        "data:",
        "event: e",
        ":",
        "x",
        "é",
        "😀",
        "\ufeff",
        " ",
        "\n",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join), st.data(), st.booleans())
def test_where_the_bytes_are_cut_means_nothing(text, data, flush_at_end):
    whole = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    cut = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert decoded(*cut, flush_at_end=flush_at_end) == decoded(whole, flush_at_end=flush_at_end)


def test_a_long_line_in_many_pieces_is_read_once():
    decoder = SseDecoder()
    assert decoder.feed(b"data: ") == []
    for _ in range(20_000):
        assert decoder.feed(b"x" * 50) == []
    (event,) = decoder.feed(b"\n\n")
    assert len(event.data) == 1_000_000


@pytest.mark.parametrize("rest", [b"", b"data: b"])
def test_the_last_lines_are_those_that_have_come(rest):
    """An empty read behind a whole line begins no line."""
    decoder = SseDecoder()
    decoder.feed(b"data: a\n" + rest)
    decoder.feed(b"")
    (event,) = decoder.end()
    assert event.lines == ["data: a", *([rest.decode()] if rest else [])]


# --- what costs nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("idle", [b":\n\n", b"id: 1\n\n", b"event:\n\n"])
def test_blocks_without_an_event_are_looked_at_once(idle):
    """A server says so that it is still there, and may do so for hours."""
    looked_at = 0

    class Counting(SseDecoder):
        def _take(self, line):
            nonlocal looked_at
            looked_at += 1
            super()._take(line)

    decoder = Counting()
    for _ in range(100):
        assert decoder.feed(idle * 1000) == []
    assert looked_at == 100_000
    assert decoder.feed(b"data: a\n\n")[0].data == "a"


def test_of_what_means_nothing_the_beginning_is_kept():
    decoder = SseDecoder()
    for number in range(100_000):
        decoder.feed(b": %d\n\n" % number)
    (event,) = decoder.feed(b"event: e\ndata: a\n\n")
    assert event.lines[:2] == [": 0", ": 1"]
    assert event.lines[-2:] == ["event: e", "data: a"]
    assert len(event.lines) < 2000
    (event,) = decoder.feed(b": again\ndata: b\n\n")
    assert event.lines == [": again", "data: b"]


@pytest.mark.parametrize("endless", [b"data: " + b"x" * 1000, b"x" * 1000, b"data\n", b"event: e\n", b"x"])
def test_an_event_without_an_end_is_none(endless, monkeypatch):
    monkeypatch.setattr(sse, "_LIMIT", 100_000)
    decoder = SseDecoder()
    with pytest.raises(MalformedAnswerError, match="cannot be read: an event of it is longer than"):
        for _ in range(10_000):
            decoder.feed(endless)


def test_each_event_has_a_limit_of_its_own(monkeypatch):
    monkeypatch.setattr(sse, "_LIMIT", 10_000)
    decoder = SseDecoder()
    events = [event for _ in range(100) for event in decoder.feed(b"data: " + b"x" * 5_000 + b"\n\n")]
    assert len(events) == 100
