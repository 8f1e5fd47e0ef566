"""Where two lines part, in a few words."""

from __future__ import annotations

import pytest

from pi_trio.conformance.protocol import Object
from pi_trio.conformance.report.parted import parted


@pytest.mark.parametrize(
    ("expected", "got", "told"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, ("a.b", "1", "(absent)")),
        ({"a": {"c": 2}}, {"a": {"b": None, "c": 2}}, ("a.b", "(absent)", "null")),
        ({"a": [1, 2]}, {"a": [1]}, ("a", "[2]", "(nothing more)")),
        ({"a": [True]}, {"a": ["x"]}, ("a[0]", "true", '"x"')),
        ({"a": {}}, {"a": []}, ("a", "{}", "[]")),
        ({"a": 1}, {"a": 1.0}, None),
    ],
)
def test_the_path_and_both_values_are_told(
    expected: Object, got: Object, told: tuple[str, str, str] | None
) -> None:
    """What only one side has is named itself, not the object that ought to hold it."""
    assert parted(expected, got) == told
