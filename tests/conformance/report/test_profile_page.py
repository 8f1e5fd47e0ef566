"""The page of the spec about profiles: it has every field, and is fresh."""

from __future__ import annotations

import re

from pi_trio.conformance.report.profile_page import page
from pi_trio.conformance.vectors import Vectors
from pi_trio.profile import FIELDS, PROFILES


def test_it_is_fresh() -> None:
    assert (Vectors.shipped().spec / "profiles.md").read_text(encoding="utf-8") == page()


def test_every_field_is_there_with_a_value_of_each_release() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", page(), re.MULTILINE)
    assert [name for name, _ in rows] == [*FIELDS]
    for _, cells in rows:
        about, *values = cells.split(" | ")
        assert len(about) > 20
        assert len(values) == len(PROFILES)
        assert len({*values}) > 1
