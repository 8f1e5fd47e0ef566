"""Headers of several sources."""

from __future__ import annotations

import pytest

from pi_trio.models.headers import merge_headers, session_headers

from .modelling import model


@pytest.mark.parametrize(
    ("base", "override", "merged"),
    [
        (None, None, None),
        ({}, None, {}),
        (None, {"a": "1"}, {"a": "1"}),
        ({"A": "1", "B": "1"}, {"a": "2"}, {"B": "1", "a": "2"}),
        ({"a": "1"}, {"A": None}, {"A": None}),
        ({"a": "1", "A": "2"}, {"a": "3"}, {"a": "3"}),
    ],
)
def test_merging(base, override, merged):
    result = merge_headers(base, override)
    assert result == merged
    assert list(result or ()) == list(merged or ())


def test_a_session_header_is_for_one_destination():
    there = model(provider="opencode")
    assert session_headers(there, "s") == {"x-opencode-session": "s"}
    assert session_headers(there, None) is session_headers(model(), "s") is None
    assert session_headers(model(baseUrl="https://opencode.ai/zen"), "s") is not None
    assert session_headers(model(baseUrl="https://notopencode.ai"), "s") is None
    assert session_headers(model(baseUrl="no address"), "s") is None
