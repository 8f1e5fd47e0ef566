"""Lines of a log: what is an object, and why something is none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.logs import UnreadableError, keys_given_twice, open_log
from pi_trio.conformance.logs.lines import is_cut, read_object


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"type":"turn_end"', "no JSON: Expecting ',' delimiter at column 19"),
        (b"npm warn deprecated\n", "no JSON: Expecting value at column 1"),
        (
            b'{"type":"turn_start"}{"type":"turn_end"}\n',
            "two objects have run into one line; the second begins at column 22",
        ),
        (
            b'{"type":"message_upd{"type":"turn_start"}\n',
            "no JSON: Expecting ',' delimiter at column 23; another line may begin at column 21",
        ),
        (b'{"type":"turn_start"} x\n', "no JSON: Extra data at column 23"),
        (b"{\n", "JSON that goes over several lines, and each object has to stand in a line of its own"),
        (b"[\n", "JSON that goes over several lines, and each object has to stand in a line of its own"),
        (b'{"a":NaN}\n', "no JSON: NaN is no number there"),
        (b'{"a":-Infinity}\n', "no JSON: -Infinity is no number there"),
        (b'{"a":' + b"9" * 5000 + b"}\n", "a number has too many digits"),
        (b'{"a":' + b"[" * 100_000 + b"\n", "it is nested too deeply"),
        (b'{"a":"\xff"}\n', "no UTF-8: byte 0xff at column 7"),
        (b'{"a":"\xed\xa0\x80"}\n', "no UTF-8: byte 0xed at column 7"),
        (b"[]\n", "an array, and an object is needed"),
        (b'"agent_start"\n', "a string, and an object is needed"),
        (b"null\n", "null, and an object is needed"),
        (b"true\n", "true or false, and an object is needed"),
        (b"17\n", "a number, and an object is needed"),
        (b'{"a":\0 1}\n', "null bytes in it: UTF-16, and UTF-8 is needed, or it was damaged"),
        (b"\0\0\0\n", "null bytes in it: UTF-16, and UTF-8 is needed, or it was damaged"),
    ],
)
def test_why_a_line_cannot_be_read(line: bytes, why: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_object(line)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "line", [b'{"a":1}', b'{"a":1}\r\n', b' \t{"a": 1 } \n', b'> {"a":1}\n', b'    < {"a":1}\n']
)
def test_what_can_be_read(line: bytes) -> None:
    assert read_object(line) == {"a": 1}


def test_a_line_may_say_that_it_is_utf_8() -> None:
    """The first one of a file, which may be put together from others."""
    assert read_object(b'\xef\xbb\xbf{"a":1}\n') == {"a": 1}
    assert is_cut(b'\xef\xbb\xbf{"a":')


@given(st.binary())
def test_any_line_is_an_object_or_has_a_reason(line: bytes) -> None:
    try:
        assert isinstance(read_object(line), dict)
    except UnreadableError as error:
        assert str(error).isprintable()


def test_of_two_keys_the_last_counts_and_both_are_seen() -> None:
    line = b'{"type":"turn_end","m":{"a":1,"b":2,"a":3},"type":"turn_start"}\n'
    assert read_object(line) == {"type": "turn_start", "m": {"a": 3, "b": 2}}
    assert keys_given_twice(line) == ["a", "type"]
    assert keys_given_twice(b'> {"a":1}') == keys_given_twice(b"no JSON") == keys_given_twice(b"{") == []


def test_many_keys_are_looked_at_once_each() -> None:
    line = ("{" + ",".join(f'"k{number}":0' for number in range(200_000)) + ',"k7":1}').encode()
    assert keys_given_twice(line) == ["k7"]


def test_gzip_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a":1}\n{"b":2}\n'))
    with open_log(str(path)) as (file, place):
        assert list(file) == [b'{"a":1}\n', b'{"b":2}\n']
        assert place() == path.stat().st_size


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(('\ufeff{"type":"agent_start"}').encode(encoding))
    with pytest.raises(UnreadableError, match="UTF-16, and UTF-8 is needed"), open_log(str(path)):
        pass


def test_an_empty_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.touch()
    with open_log(str(path)) as (file, _):
        assert list(file) == []


WHOLE = (
    b'{"a":-1.5e+10,"b":[true,false,null,1E3,0.25],"c":"x\\u00e9\\n\\\\ \xc3\xa9 \xf0\x9f\x98\x80"}',
    b'  > { "id" : 1 , "cmds" : [ { } , [ ] ] }',
)


@pytest.mark.parametrize("line", WHOLE)
def test_wherever_a_line_breaks_off_it_is_cut(line: bytes) -> None:
    for end in range(1, len(line)):
        assert is_cut(line[:end]) or line[:end].isspace(), line[:end]
    assert not is_cut(line)


@pytest.mark.parametrize(
    "line",
    [
        b"garbage", b"[1,2", b'"abc', b"12", b"tru", b"{a", b"{,", b'{"a" 1', b'{"a":tx', b'{"a":.', b'{"a":e',
        b'{"a":1,}', b'{"a":1}{', b'{"a":1} x', b'{"a":NaN', b'{"a":"\x01', b'{"a":"\xff', b'{"a":"\\q',
        b'{"a":"\\u12g', b'{"a":"\\q and \\u12',
    ],
)  # fmt: skip
def test_what_nothing_could_make_an_object_is_not_cut(line: bytes) -> None:
    assert not is_cut(line)


def test_of_a_line_that_is_too_long_the_rest_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"a":1}\n' + b"x" * 1_000_000 + b"\n12345678\n" + b"y" * 9)
    with open_log(str(path), 8) as (lines, _):
        assert list(lines) == [b'{"a":1}\n', b"x" * 9, b"12345678\n", b"y" * 9]
