"""What the tester says of JSON values it says in JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance.blame.place import Place
from pi_trio.conformance.blame.scene import Scene
from pi_trio.conformance.blame.words import said
from pi_trio.conformance.faults import ProtocolFault
from pi_trio.conformance.monitors.content import id_of
from pi_trio.conformance.protocol import check
from pi_trio.conformance.shown import shown

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_a_value_is_shown_as_json(value: Any) -> None:
    text = shown(value, 10_000)
    assert json.loads(text) == value
    assert text.isprintable()


@given(values, st.integers(1, 40))
def test_no_more_is_shown_than_there_is_room_for(value: Any, width: int) -> None:
    assert len(shown(value, width)) <= width


@pytest.mark.parametrize(
    ("wanted", "came", "told"),
    [
        (None, True, "is true, and should be null"),
        ({"id": "m"}, None, 'is null, and should be {"id":"m"}'),
        ("it's", False, 'is false, and should be "it\'s"'),
    ],
)
def test_a_cause_tells_what_is_and_what_should_be(wanted: Any, came: Any, told: str) -> None:
    lines = [{"reply": {"model": value}} for value in (wanted, came)]
    place = Place(
        way="changed", kind="reply", line=lines[0], other=lines[1], path=("model",),
        whole_path=("reply", "model"), scene=Scene(),
    )  # fmt: skip
    assert said(place).endswith(f": model {told}")


def test_what_is_no_id_is_shown_as_it_came() -> None:
    assert id_of({"toolCallId": None}) == "null"


def test_a_fault_of_the_protocol_quotes_what_came() -> None:
    with pytest.raises(ProtocolFault, match=r': {"ask":null,"ok":true}$'):
        check({"ask": None, "ok": True})
