"""Traces are compared as JSON, and their differences are complete."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.compare import canonical, fingerprint, hunks, parting

values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
lines = st.fixed_dictionaries({"send": st.integers(0, 2)}) | st.fixed_dictionaries({"reply": values})
traces = st.lists(lines, max_size=8)


@given(traces, traces)
def test_traces_are_equal_or_differ_somewhere(expected: list, got: list) -> None:
    assert (fingerprint(expected) == fingerprint(got)) == (not hunks(expected, got))


@given(traces, traces)
def test_the_hunks_make_one_trace_of_the_other(expected: list, got: list) -> None:
    made, at = [], 0
    for hunk in hunks(expected, got):
        made += [*expected[at : hunk.at], *hunk.got]
        assert expected[hunk.at : hunk.at + len(hunk.expected)] == list(hunk.expected)
        at = hunk.at + len(hunk.expected)
    assert [*made, *expected[at:]] == got


@given(values, values)
def test_values_part_exactly_where_they_differ(left: object, right: object) -> None:
    assert (parting(left, right) is None) == (canonical(left) == canonical(right))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ("1", 1, False),
        ({"a": [2.0, "1.0"]}, {"a": [2, "1.0"]}, True),
        (1e21, 10**21, True),
        (0.5, 0.5, True),
        (-0.0, 0, True),
    ],
)
def test_json_equality(left: object, right: object, same: bool) -> None:
    assert (canonical(left) == canonical(right)) is same
    assert (parting(left, right) is None) is same


def test_the_parting_is_named_by_its_path() -> None:
    left = {"event": {"message": {"content": [{"text": "a"}]}}}
    right = {"event": {"message": {"content": [{"text": "b"}]}}}
    assert parting(left, right) == ("event.message.content[0].text", "a", "b")
    assert parting({"a": {"b": 1}}, {"a": {}}) == ("a", {"b": 1}, {})
    assert parting([1, 2, 3], [1]) == ("", [2, 3], [])


def test_a_hunk_tells_its_step_and_what_came_before_it() -> None:
    send, reply = {"send": {"cmd": "sync"}}, {"reply": None}
    first, second = {"tell": "event", "key": "L"}, {"tell": "event", "key": "M"}
    (hunk,) = hunks([send, reply, send, first, reply], [send, reply, send, first, second, reply])
    assert (hunk.step, hunk.at, hunk.expected, hunk.got) == (2, 4, (), (second,))
    assert (hunk.context, hunk.after) == ((send, first), reply)


def test_huge_traces_are_compared_up_to_the_first_difference() -> None:
    expected = [{"reply": n} for n in range(3000)]
    got = [{"reply": n if n != 5 else "x"} for n in range(3000)]
    (hunk,) = hunks(expected, got)
    assert hunk.at == 5
    assert len(hunk.expected) == len(hunk.got) == 2995
