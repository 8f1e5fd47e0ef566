"""Patterns of ECMAScript, where Python's would do something else."""

from __future__ import annotations

import pytest

from pi_trio.tools.ecma_regex import PatternError, ecma_regex, is_unicode_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("b", "abc", True),
        ("a$", "a\n", False),
        (r"^\d$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\s$", "\ufeff", True),
        (r"^\s$", "\x1c", False),
        (r"(?<name>a)\k<name>", "aa", True),
        (r"\p{Script=Greek}", "α", True),
        (r"^\u{1F600}$", "😀", True),
        ("^[^]$", "\n", True),
        ("^.$", "\u2028", False),
        (r"^\/$", "/", True),
        # by code points with the u flag, by units where the pattern is only valid without it
        ("^.$", "😀", True),
        (r"^..$|\_", "😀", True),
        (r"^😀$|\_", "😀", True),
        # lone surrogates
        ("^.$", "\ud800", True),
        ("^[^a]$", "\udfff", True),
        (r"^\w$", "\ud800", False),
        ("\ud800", "a\ud800", True),
    ],
)
def test_matching(pattern, text, matches):
    assert ecma_regex(pattern).matches(text) is matches


@pytest.mark.parametrize("pattern", ["(", "[", "a{2,1}", r"\b+", r"[a]\B{2}", "(?<n>a)(?<n>b)"])
def test_patterns_that_are_invalid_in_both_readings(pattern):
    with pytest.raises(PatternError, match=r"^Invalid regular expression: /"):
        ecma_regex(pattern)
    assert not is_unicode_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"[\b*]", r"\\b+", r"\b", r"a\bc*"])
def test_what_only_looks_like_a_repeated_word_boundary(pattern):
    assert is_unicode_pattern(pattern)


def test_patterns_are_compiled_once():
    assert ecma_regex("^a") is ecma_regex("^a")
