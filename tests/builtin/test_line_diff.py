"""The shortest way from one text to another: it leads there, and none is shorter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.builtin import line_diff
from pi_trio.builtin.line_diff import diff_lines, lines_of

from .laws import law

TEXTS = st.lists(st.sampled_from("abc"), max_size=12).map("\n".join)


def nothing():
    pass


def common_lines(olds, news):
    """How many lines the longest common subsequence has."""
    row = [0] * (len(news) + 1)
    for old in olds:
        before = 0
        for place, new in enumerate(news):
            before, row[place + 1] = (
                row[place + 1],
                before + 1 if old == new else max(row[place], row[place + 1]),
            )
    return row[-1]


def sides(parts):
    old = [line for part in parts if part.kind != "added" for line in part.lines]
    new = [line for part in parts if part.kind != "removed" for line in part.lines]
    return "".join(old), "".join(new)


@law
@given(TEXTS, TEXTS)
def test_it_leads_from_one_to_the_other_and_is_the_shortest(old, new):
    parts = diff_lines(old, new, nothing)
    assert sides(parts) == (old, new)
    same = sum(len(part.lines) for part in parts if part.kind == "same")
    assert same == common_lines(lines_of(old), lines_of(new))
    assert all(part.lines for part in parts)


@law
@given(TEXTS, TEXTS)
def test_beyond_the_limit_it_still_leads_there(old, new):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_diff, "MOST_CHANGES", 2)
        assert sides(diff_lines(old, new, nothing)) == (old, new)


def test_who_does_not_want_to_know_any_more_is_not_told():
    asked = []

    def check():
        asked.append(1)
        if len(asked) == 7:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        diff_lines("a\n" * 20, "b\n" * 20, check)


def test_texts_without_a_line_in_common_are_compared_in_bounded_time(monkeypatch):
    monkeypatch.setattr(line_diff, "MOST_CHANGES", 50)
    rounds = []
    old, new = ("".join(f"{kind}{number}\n" for number in range(20_000)) for kind in "ab")
    parts = diff_lines(old, new, lambda: rounds.append(1))
    assert [(part.kind, len(part.lines)) for part in parts] == [("removed", 20_000), ("added", 20_000)]
    assert len(rounds) == 50
