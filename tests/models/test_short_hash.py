"""Short names for long texts, as real Pi makes them."""

from __future__ import annotations

import pytest

from pi_trio.models.short_hash import short_hash


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("", "k4n83c7h0j2b"),
        ("a", "m8735310ae7sx"),
        ("call_1", "oofa47di3203"),
        ("😀é", "lbk9325860g2"),
        ("x" * 500, "130aesn1aldl4j"),
    ],
)
def test_the_names_that_pi_gives(text, name):
    assert short_hash(text) == name
