"""Finding what is to be replaced, and writing it with the file's own line endings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.builtin.dialect import TOOLS_1_0_3, TOOLS_1_6_0
from pi_trio.builtin.edit import arguments_as_meant
from pi_trio.builtin.edit_endings import with_endings_of, with_newlines
from pi_trio.builtin.edit_matching import Edit, Edited, Replacement, apply_edits, loose, replaced
from pi_trio.builtin.failure import BuiltinToolError
from pi_trio.jsonvalue import freeze

from .laws import law

TEXTS = st.text(st.sampled_from("ab\r\n"), max_size=20)


def nothing():
    pass


@st.composite
def edited_texts(draw):
    """A text with some line endings, and replacements in what it is with newlines alone."""
    original = draw(TEXTS)
    old = with_newlines(original)
    places = sorted(draw(st.lists(st.integers(0, len(old)), max_size=6)))
    replacements = [
        Replacement(start, end, with_newlines(draw(TEXTS)))
        for start, end in zip(places[::2], places[1::2], strict=False)
        if start < end
    ]
    return original, Edited(old=old, new=replaced(old, replacements), replacements=replacements)


@law
@given(edited_texts())
def test_what_is_written_reads_as_what_was_meant(case):
    original, edited = case
    assert with_newlines(with_endings_of(original, edited, TOOLS_1_6_0)) == edited.new
    assert with_newlines(with_endings_of(original, edited, TOOLS_1_0_3)) == edited.new


@law
@given(TEXTS, st.sampled_from(["\n", "\r\n"]))
def test_a_text_with_one_kind_of_ending_keeps_it(text, ending):
    old = "first\n" + with_newlines(text)
    edited = Edited(old=old, new="1\n2" + old[5:], replacements=[Replacement(0, 5, "1\n2")])
    written = with_endings_of(old.replace("\n", ending), edited, TOOLS_1_6_0)
    assert written == edited.new.replace("\n", ending)


@law
@given(st.text(st.sampled_from("a \u00a0“”\n-—ﬁ\u0301"), max_size=20))
def test_what_is_loose_stays_as_it_is(text):
    assert loose(loose(text)) == loose(text)
    assert loose(text).count("\n") == text.count("\n")


def test_all_edits_are_about_the_text_as_it_was():
    edited = apply_edits("a b c", [Edit("c", "a"), Edit("a", "c")], "f", nothing)
    assert edited.new == "c b a"


def test_lines_that_no_edit_touches_stay_to_the_letter():
    content = "“one”  \n“two”\n“three”  \n"
    edited = apply_edits(content, [Edit('"two"', "2")], "f", nothing)
    assert edited.new == "“one”  \n2\n“three”  \n"


def test_who_does_not_want_the_edits_any_more_is_not_kept_waiting():
    asked = []

    def check():
        asked.append(1)
        if len(asked) == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        apply_edits("x", [Edit("y", "z")] * 1000, "f", check)
    with pytest.raises(BuiltinToolError):
        apply_edits("x", [Edit("y", "z")] * 1000, "f", nothing)


@pytest.mark.parametrize(
    ("given_args", "meant"),
    [
        (None, None),
        ("text", "text"),
        ([], []),
        ({}, {}),
        ({"edits": "no JSON"}, {"edits": "no JSON"}),
        ({"edits": "3"}, {"edits": "3"}),
        ({"edits": "[3]"}, {"edits": [3]}),
        ({"edits": {"oldText": "a"}}, {"edits": {"oldText": "a"}}),
        ({"oldText": "a", "newText": 3}, {"oldText": "a", "newText": 3}),
        ({"edits": "x", "oldText": "a", "newText": "b"}, {"edits": [{"oldText": "a", "newText": "b"}]}),
    ],
)
def test_arguments_as_they_are_meant(given_args, meant):
    assert arguments_as_meant(freeze(given_args)) == meant
