"""Where the texts that are to be replaced stand in a file, and what the file is with them replaced.

A text has to be there once. Where one is not there to the letter, all are looked for without regard to what models
often get wrong: spaces at the ends of lines, curly quotes, dashes, spaces of other kinds, and characters that Unicode
holds to be the same. Lines that such a match touches are written as they look without all that; the others stay.

Everything here has newlines as its only line endings (`edit_endings`).
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

import attrs

from ..tools.js_number import WHITESPACE
from ..tools.js_value import utf16_length
from .failure import BuiltinToolError

_ALIKE: Final = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys(["\u00a0", *map(chr, range(0x2002, 0x200B)), "\u202f", "\u205f", "\u3000"], " ")
)
_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")


@attrs.frozen
class Edit:
    """A text to look for, and the one to put in its place."""

    old: str
    new: str


@attrs.frozen
class Replacement:
    """A stretch of a text, in characters, and what comes in its place."""

    start: int
    end: int
    new: str


@attrs.frozen(kw_only=True)
class Edited:
    """A text with its edits applied.

    Attributes:
        replacements: what was replaced in the old text, in order; none touches another.
    """

    old: str
    new: str
    replacements: Sequence[Replacement]


def apply_edits(content: str, edits: Sequence[Edit], path: str, check: Callable[[], None]) -> Edited:
    """All of the edits, each of which is about `content` as it is.

    Args:
        path: what the errors call the file.
        check: called for each edit, so that it can raise if nobody wants them any more.

    Raises:
        BuiltinToolError: a text is empty, not there, there more than once, or overlaps another; or nothing changes.
    """
    single = len(edits) == 1
    for index, edit in enumerate(edits):
        if not edit.old:
            what = "oldText" if single else f"edits[{index}].oldText"
            raise BuiltinToolError(f"{what} must not be empty in {path}.")
    alike = loose(content)
    loosely = False
    for edit in edits:
        check()
        loosely = loosely or (edit.old not in content and loose(edit.old) in alike)
    base = alike if loosely else content
    alike = loose(base)
    found: list[tuple[int, int, int, str]] = []
    for index, edit in enumerate(edits):
        check()
        place = _place(edit.old, base, alike, f"edits[{index}]", path, single=single)
        found.append((*place, index, edit.new))
    found.sort(key=lambda one: one[0])
    for (_, end, index, _), (start, _, later, _) in pairwise(found):
        if end > start:
            raise BuiltinToolError(
                f"edits[{index}] and edits[{later}] overlap in {path}. "
                "Merge them into one edit or target disjoint regions."
            )
    replacements = [Replacement(start, end, new) for start, end, _, new in found]
    if loosely:
        replacements = list(_of_whole_lines(content, base, replacements))
    new = replaced(content, replacements)
    if new == content:
        raise BuiltinToolError(_no_change(path, single=single))
    return Edited(old=content, new=new, replacements=replacements)


def loose(text: str) -> str:
    """`text` without what models often get wrong."""
    lines = unicodedata.normalize("NFKC", text).split("\n")
    return "\n".join(line.rstrip(WHITESPACE) for line in lines).translate(_ALIKE)


def replaced(text: str, replacements: Sequence[Replacement], *, begin: int = 0) -> str:
    """`text` with all of them made. It begins at `begin` of the text that they are about."""
    parts: list[str] = []
    place = begin
    for one in replacements:
        parts += text[place - begin : one.start - begin], one.new
        place = one.end
    return "".join(parts) + text[place - begin :]


def _place(old: str, base: str, loose_base: str, name: str, path: str, *, single: bool) -> tuple[int, int]:
    """Where `old` begins and ends in `base`."""
    loose_old = loose(old)
    start, length = base.find(old), len(old)
    if start == -1:
        start, length = loose_base.find(loose_old), len(loose_old)
    if start == -1:
        what = "the exact text" if single else name
        old_text = "old text" if single else "oldText"
        raise BuiltinToolError(
            f"Could not find {what} in {path}. "
            f"The {old_text} must match exactly including all whitespace and newlines."
        )
    # One that is there to the letter must be the only one that looks like it. (Nothing is there between any two
    # characters, as JavaScript splits a text at it.)
    times = loose_base.count(loose_old) if loose_old else utf16_length(loose_base) - 1
    if times > 1:
        what, text = ("the text", "The text") if single else (name, "Each oldText")
        raise BuiltinToolError(
            f"Found {times} occurrences of {what} in {path}. "
            f"{text} must be unique. Please provide more context to make it unique."
        )
    return start, start + length


def _no_change(path: str, *, single: bool) -> str:
    if not single:
        return f"No changes made to {path}. The replacements produced identical content."
    return (
        f"No changes made to {path}. The replacement produced identical content. "
        "This might indicate an issue with special characters or the text not existing as expected."
    )


def _of_whole_lines(content: str, base: str, replacements: Sequence[Replacement]) -> Iterator[Replacement]:
    """Replacements in `base`, which is `content` seen loosely, as replacements of whole lines in `content`."""
    content_ends, base_ends = _line_ends(content), _line_ends(base)
    if len(content_ends) != len(base_ends):
        raise BuiltinToolError(
            "Cannot preserve unchanged lines because the base content has a different line count."
        )
    groups: list[tuple[int, int, list[Replacement]]] = []
    for one in replacements:
        first = bisect_right(base_ends, one.start)
        last = max(first, bisect_right(base_ends, one.end - 1))
        if last >= len(base_ends):
            raise BuiltinToolError("Replacement range is outside the base content.")
        if groups and first <= groups[-1][1]:
            begun, until, members = groups.pop()
            groups.append((begun, max(until, last), [*members, one]))
        else:
            groups.append((first, last, [one]))
    for first, last, members in groups:
        begin = base_ends[first - 1] if first else 0
        yield Replacement(
            content_ends[first - 1] if first else 0,
            content_ends[last],
            replaced(base[begin : base_ends[last]], members, begin=begin),
        )


def _line_ends(text: str) -> list[int]:
    """Where each line ends, behind its newline."""
    return list(accumulate(len(line) for line in _LINES.findall(text)))
