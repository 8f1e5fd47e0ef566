"""Each format, on both sides of its border."""

from __future__ import annotations

import pytest

from pi_trio.tools.formats import FORMATS

from .formatted import BAD, GOOD


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_knows_its_own(name):
    assert {text: FORMATS[name](text) for text in GOOD[name]} == dict.fromkeys(GOOD[name], True)
    assert {text: FORMATS[name](text) for text in BAD[name]} == dict.fromkeys(BAD[name], False)


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_chokes_on_odd_text(name):
    for text in ("", "\n", "\ud800", "a\udfffb", "😀", "\x00", "%", "[", "xn--\ud800", "x" * 5000):
        assert FORMATS[name](text) in {True, False}
