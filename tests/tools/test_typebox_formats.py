"""Formats as 0.80.2 and 0.85.0 check them: texts near the border, where they and later releases part."""

from __future__ import annotations

import pytest

from pi_trio.tools.formats import FORMATS
from pi_trio.tools.typebox.older_formats import FORMATS_0_80, FORMATS_0_85

from .formatted_typebox import OLDER_BAD, OLDER_GOOD, ONLY_0_80

CASES = [
    pytest.param(name, text, good, id=f"{name}: {text!a}")
    for table, good in ((OLDER_GOOD, True), (OLDER_BAD, False))
    for name, texts in table.items()
    for text in texts
]


@pytest.mark.parametrize(("name", "text", "good"), CASES)
def test_both(name, text, good):
    assert FORMATS_0_85[name](text) is good
    assert FORMATS_0_80[name](text) is good


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in ONLY_0_80.items() for text in texts]
)
def test_the_oldest_alone(name, text):
    assert FORMATS_0_80[name](text)
    assert not FORMATS_0_85[name](text)


def test_the_same_formats_are_known():
    assert set(FORMATS_0_80) == set(FORMATS_0_85) == set(FORMATS)


def test_every_rewritten_format_is_tried():
    rewritten = {name for name in FORMATS if FORMATS_0_80[name] is not FORMATS[name]}
    assert rewritten <= {*OLDER_GOOD, *ONLY_0_80}
