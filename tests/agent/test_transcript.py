"""Announcing on system messages what has changed of the tools that can run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_trio.agent.transcript import announce_tool_changes
from pi_trio.messages import Message, SystemMessage, ToolDeclaration, ToolRemoval
from pi_trio.models.transcript import current_tools
from pi_trio.timestamps import now

from .. import strategies as _settings  # noqa: F401 - how Hypothesis works in this suite
from ..models.declaring import declare, system
from .scripting import user


def announced(said: list[Message], tools: list[ToolDeclaration], pending: list[Message]) -> list[Message]:
    return [message for message, _ in announce_tool_changes(said, tools, pending)]


def test_without_a_difference_nothing_is_touched() -> None:
    a = declare("a")
    messages: list[Message] = [system("x"), user("y")]
    pairs = announce_tool_changes([system(added=[a])], [a], messages)
    assert all(one is other is mine for (one, other), mine in zip(pairs, messages, strict=True))
    assert announce_tool_changes([], [], []) == []


def test_a_difference_gets_a_message_of_its_own() -> None:
    a, b = declare("a"), declare("b")
    pending: list[Message] = [user("x"), user("y")]
    pairs = announce_tool_changes([system(added=[a])], [b], pending)
    announcement, original = pairs[0]
    assert original is None
    assert isinstance(announcement, SystemMessage)
    assert announcement.content == ""
    assert announcement.tools_added == (b,)
    assert announcement.tools_removed == (ToolRemoval(name="a"),)
    assert abs(announcement.timestamp - now()) < 60_000
    assert [message for message, _ in pairs[1:]] == pending
    (only_added,) = announced([], [a], [])
    assert isinstance(only_added, SystemMessage)
    assert only_added.tools_removed is None


def test_it_stands_before_the_first_message_that_is_no_system_message() -> None:
    """Which a pending system message would carry, so it is only ever the first, or alone."""
    assert [message.role for message in announced([], [declare("a")], [user("x"), user("y")])] == [
        "system", "user", "user",
    ]  # fmt: skip


def test_the_last_pending_system_message_carries_it() -> None:
    a, b = declare("a"), declare("b")
    first, last = system("first", [declare("x")]), system("last", [declare("y")], removed="z")
    pairs = announce_tool_changes([system(added=[a])], [b], [first, user("u"), last, user("v")])
    assert [original for _, original in pairs] == [first, user("u"), last, user("v")]
    assert pairs[0][0] is first
    carrier = pairs[2][0]
    assert isinstance(carrier, SystemMessage)
    assert (carrier.content, carrier.timestamp) == ("last", 3)
    assert carrier.tools_added == (b,)
    assert [one.name for one in carrier.tools_removed or ()] == ["a", "x"]


def test_its_own_lists_are_replaced_by_the_real_difference() -> None:
    a = declare("a")
    (carrier,) = announced([system(added=[a])], [a], [system("s", [declare("lie")])])
    assert isinstance(carrier, SystemMessage)
    assert (carrier.tools_added, carrier.tools_removed) == (None, None)


def test_what_counts_as_a_change() -> None:
    a = declare("a", "d", type="object", required=["x"])
    same = with_a_foreign_field(a)
    assert announced([system(added=[a])], [same], []) == []
    for changed in (
        declare("a", "other", type="object", required=["x"]),
        declare("a", "d", required=["x"], type="object"),  # the order of keys counts
        ToolDeclaration(name="a", description="d", parameters=a.parameters, constrained_sampling=None),
    ):
        (message,) = announced([system(added=[a])], [changed], [])
        assert isinstance(message, SystemMessage)
        assert message.tools_added == (changed,)
        assert message.tools_removed == (ToolRemoval(name="a"),)
    assert announced([system(added=[declare("a"), declare("b")])], [declare("b"), declare("a")], []) == []


def with_a_foreign_field(tool: ToolDeclaration) -> ToolDeclaration:
    """The same tool with a field that nobody knows."""
    return ToolDeclaration(
        name=tool.name, description=tool.description, parameters=tool.parameters, extra={"more": 1}
    )


declarations = st.builds(declare, st.sampled_from("abc"), st.sampled_from(["", "new"]))
tool_lists = st.lists(declarations, max_size=3, unique_by=lambda one: one.name)
system_messages = st.builds(
    system, st.sampled_from(["", "text"]), st.none() | tool_lists, st.sampled_from(["", "a", "bc"])
)
transcripts = st.lists(st.one_of(system_messages, st.just(user("hello"))), max_size=4)


@given(transcripts, tool_lists, transcripts)
def test_after_an_announcement_the_declared_tools_are_those_that_run(
    said: list[Message], tools: list[ToolDeclaration], pending: list[Message]
) -> None:
    pairs = announce_tool_changes(said, tools, pending)
    assert current_tools([*said, *(message for message, _ in pairs)]) == {one.name: one for one in tools}
    assert [original for _, original in pairs if original is not None] == pending
    assert len(pairs) - len(pending) in {0, 1}
    # And once it is said there is nothing to add.
    again = announce_tool_changes([*said, *(message for message, _ in pairs)], tools, [])
    assert again == []
