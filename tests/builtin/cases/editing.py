"""Calls of `edit`."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from .case import Case, in_all
from .texts import some_lines, some_text


def edits() -> Iterator[Case]:
    """Calls of `edit`, written and generated."""
    for name, content, *pairs in _WRITTEN:
        yield _edit(name, content.encode("utf-8", "surrogatepass"), pairs)
    yield from _odd_calls()
    yield from generated_edits(7, 120, 20)


def generated_edits(seed: int, small: int, long: int) -> Iterator[Case]:
    """Calls of `edit`, with so many small files and so many long ones."""
    chance = random.Random(seed)
    for index in range(small):
        yield _edit(f"generated_{index}", *_generated(chance))
    for index in range(long):
        yield _edit(f"long_{index}", *_long(chance))


_LINES = "".join(f"line {number}\n" for number in range(1, 101))

_WRITTEN: tuple[Any, ...] = (
    ("simple", "one\ntwo\nthree\n", ("two", "2")),
    ("whole", "one", ("one", "")),
    ("to_nothing", "one\n", ("one\n", "")),
    ("first", "one\ntwo\n", ("one", "1")),
    ("insert", "one\ntwo\n", ("one\n", "one\nhalf\n")),
    ("delete_lines", "one\ntwo\nthree\nfour\n", ("two\nthree\n", "")),
    ("no_newline", "one\ntwo", ("two", "2")),
    ("add_newline", "one\ntwo", ("two", "two\n")),
    ("take_newline", "one\ntwo\n", ("two\n", "two")),
    ("only_newline", "\n", ("\n", "x")),
    ("several", "a\nb\nc\nd\n", ("a", "1"), ("d", "4")),
    ("unsorted", "a\nb\nc\nd\n", ("d", "4"), ("a", "1")),
    ("touching", "abcd", ("ab", "1"), ("cd", "2")),
    ("overlap", "abcd", ("abc", "1"), ("cd", "2")),
    ("overlap_unsorted", "abcd", ("cd", "2"), ("abc", "1")),
    ("same_twice", "abcd", ("b", "1"), ("b", "2")),
    ("twice", "a\na\n", ("a", "b")),
    ("twice_of_two", "a\nb\na\n", ("b", "x"), ("a", "y")),
    ("many", "x" * 50, ("x", "y")),
    ("overlapping_itself", "aaa", ("aa", "b")),
    ("missing", "a\n", ("b", "c")),
    ("missing_of_two", "a\n", ("a", "b"), ("c", "d")),
    ("empty_old", "a\n", ("", "c")),
    ("empty_old_of_two", "a\n", ("a", "b"), ("", "c")),
    ("no_change", "a\n", ("a", "a")),
    ("no_change_of_two", "a\nb\n", ("a", "a"), ("b", "b")),
    ("empty_file", "", ("a", "b")),
    ("crlf", "a\r\nb\r\nc\r\n", ("b", "x\ny")),
    ("crlf_old", "a\r\nb\r\nc\r\n", ("a\r\nb", "x\r\ny")),
    ("crlf_newline_old", "a\r\nb\r\nc\r\n", ("a\nb\n", "")),
    ("mixed_lf_first", "a\nb\r\nc\r\n", ("b", "x\ny")),
    ("mixed_crlf_first", "a\r\nb\nc\n", ("b", "x\ny")),
    ("mixed_last_open", "a\r\nb\nc", ("c", "x\ny")),
    ("cr_only", "a\rb\rc", ("b", "x\ny")),
    ("cr_inside", "a\rb\nc\n", ("c", "x\ny")),
    ("cr_at_seam", "a\rXb\n", ("X", "\nq")),
    ("cr_at_both", "a\rX\nb\r\n", ("X", "")),
    ("cr_replaced", "a\r\nb\rc\n", ("b\nc", "d")),
    ("bom", "\ufeffa\nb\n", ("a", "x")),
    ("bom_old", "\ufeffa\nb\n", ("\ufeffa", "x")),
    ("bom_crlf", "\ufeffa\r\nb\r\n", ("b", "x\ny")),
    ("quotes", "say “hi”\nit’s\n", ('say "hi"', "done")),
    ("dashes", "a — b\nc – d\n", ("a - b", "e")),
    ("spaces", "a\u00a0b\n", ("a b", "c")),
    ("trailing", "a   \nb\t\nc\n", ("a\nb\n", "x\ny\n")),
    ("trailing_old", "a\nb\n", ("a  \nb  ", "x\ny")),
    ("ligature", "ﬁle\n", ("file", "x")),
    ("composed", "cafe\u0301\n", ("café", "tea")),
    ("loose_keeps_others", "“one”   \n“two”\n“three”   \n", ('"two"', "2")),
    ("loose_part_of_line", "say “hi” — now\n", ('"hi"', "'ho'")),
    ("loose_and_exact", "“one”\n“two”\n", ('"one"', "1"), ("“two”", "2")),
    ("loose_and_missing", "“one”\n", ('"one"', "1"), ("nothing", "2")),
    ("loose_twice", "“a”\n”a“\n", ('"a"', "b")),
    ("exact_and_loose_twice", "“a”\n\"a\"\n", ('"a"', "b")),
    ("loose_same_line", "“a” “b”\n", ('"a"', "1"), ('"b"', "2")),
    ("loose_overlap", "“a” “b”\n", ('"a" "', "1"), ('" "b', "2")),
    ("loose_across", "“a”  \n“b”\n“c”\n", ('"a"\n"b"', "x")),
    ("loose_lost_line", "“a”\n   ", ('"a"', "b")),
    ("loose_crlf", "“a”\r\n“b”\r\n", ('"a"', "x\ny")),
    ("blank_old", "abc\n", ("   ", "x")),
    ("blank_old_short", "a", ("   ", "x")),
    ("blank_old_empty", "", ("   ", "x")),
    ("blank_old_emoji", "😀", ("   ", "x")),
    ("blank_old_newlines", "\n\n", (" ", "x")),
    ("far_apart", _LINES, ("line 10\n", "ten\n"), ("line 90\n", "ninety\n")),
    ("apart_8", _LINES, ("line 10\n", "ten\n"), ("line 19\n", "nineteen\n")),
    ("apart_9", _LINES, ("line 10\n", "ten\n"), ("line 20\n", "twenty\n")),
    ("apart_60", _LINES, ("line 10\n", "ten\n"), ("line 76\n", "x\n")),
    ("apart_70", _LINES, ("line 10\n", "ten\n"), ("line 77\n", "x\ny\n")),
    ("at_ends", _LINES, ("line 1\n", ""), ("line 100\n", "last")),
    ("big", _LINES, (_LINES[100:500], "little")),
    ("malformed", "a\udcffb\n", ("a", "c")),
    ("lone_surrogate", "a\n", ("a", "\ud83d")),
)  # fmt: skip


def _edit(name: str, content: bytes, pairs: list[tuple[str, str]], **more: Any) -> Case:
    args = {"path": "f", "edits": [{"oldText": old, "newText": new} for old, new in pairs]}
    return Case(name=f"edit_{name}", tool="edit", args=args, files={"f": content}, **more)


def _odd_calls() -> Iterator[Case]:
    one: Mapping[str, Any] = {"oldText": "a", "newText": "b"}
    file: dict[str, bytes | str | None] = {"f": b"a\nc\n"}
    for name, args in (
        ("no_edits", {"edits": []}),
        ("json", {"edits": '[{"oldText": "a", "newText": "b"}]'}),
        ("json_of_one", {"edits": '{"oldText": "a", "newText": "b"}'}),
        ("one", {"edits": one}),
        ("legacy", one),
        ("legacy_and_more", {"edits": [{"oldText": "c", "newText": "d"}], **one}),
        ("legacy_and_json", {"edits": '[{"oldText": "c", "newText": "d"}]', **one}),
    ):
        yield Case(name=f"edit_{name}", tool="edit", args={"path": "f", **args}, files=file)
    for index, path in enumerate(("nothing", "sub", "f/below", "x" * 300, "@f", "./f", "l", "to_f", "new/f")):
        files = {**file, "sub": None, "l": "l", "to_f": "f"}
        yield Case(name=f"edit_path_{index}", tool="edit", args={"path": path, "edits": [one]}, files=files)
    yield Case(
        name="edit_aborted_before", tool="edit", args={"path": "f", "edits": [one]}, files=file, abort_at=""
    )
    nul = {"path": "a\0b", "edits": [one]}
    yield Case(name="edit_nul", tool="edit", args=nul, otherwise=in_all("B-06"))
    yield Case(
        name="edit_device", tool="edit", args={"path": "/dev/null", "edits": [one]}, otherwise=in_all("B-03")
    )


def _generated(chance: random.Random) -> tuple[bytes, list[tuple[str, str]]]:
    """A small file and some edits of pieces of it, as a model may have remembered them."""
    ending = chance.choice(["\n", "\n", "\n", "\r\n"])
    text = some_text(chance, chance.randint(1, 14), ending)
    if chance.random() < 0.2:
        text = text.replace(ending, "\n", 1)
    pairs: list[tuple[str, str]] = []
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        start = chance.randrange(len(text) + 1)
        old = text[start : start + chance.choice([3, 8, 20, 50])]
        for right, wrong in (
            ("“", '"'),
            ("”", '"'),
            ("’", "'"),
            ("—", "-"),
            ("\u00a0", " "),
            ("   \n", "\n"),
            ("\r\n", "\n"),
        ):
            if chance.random() < 0.3:
                old = old.replace(right, wrong)
        new = "\n".join(some_lines(chance, chance.randint(0, 3)))
        pairs.append((old, chance.choice([new, old + new, new + old, old[: len(old) // 2]])))
    return text.encode(), pairs


def _long(chance: random.Random) -> tuple[bytes, list[tuple[str, str]]]:
    """Edits here and there in a long file of lines that are all different, some of them far apart."""
    lines = [f"{number} {chance.choice('abc')}\n" for number in range(chance.randint(80, 300))]
    pairs: list[tuple[str, str]] = []
    place = 0
    while place < len(lines) and len(pairs) < 5:
        place += chance.choice([1, 3, 9, 30, 65, 100])
        size = chance.randint(1, 6)
        old = "".join(lines[place : place + size])
        if not old:
            break
        kept = [line for line in lines[place : place + size] if chance.random() < 0.5]
        kept.insert(chance.randint(0, len(kept)), chance.choice(["", "new\n", "new\nmore\n"]))
        pairs.append((f"\n{old}", "\n" + "".join(kept)))
        place += size
    return "".join(lines).encode(), pairs or [("0 ", "0  ")]
