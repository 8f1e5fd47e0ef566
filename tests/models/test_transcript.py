"""System messages as a log of the prompt and the tools: replaying it, and what an API gets of it."""

from __future__ import annotations

import pytest

from pi_trio.messages import Message, SystemMessage, TextContent, UserMessage
from pi_trio.models.dialect import DIALECT_1_0_3, DIALECT_1_6_0
from pi_trio.models.stream import ModelContext
from pi_trio.models.transcript import (
    collapse_system_messages,
    current_system_message,
    current_system_prompt,
    current_tools,
    initial_system_message,
    leading_system_message,
    normalise_context,
    place_tools,
    system_update_text,
    without_leading_system_message,
)

from .declaring import declare, system


def user(text: str) -> UserMessage:
    return UserMessage(content=text, timestamp=1)


def names(messages: list[Message]) -> list[str]:
    return list(current_tools(messages))


def test_a_transcript_begins_with_what_there_is() -> None:
    a = declare("a")
    assert initial_system_message("", []) is None
    assert initial_system_message(None, []) is None
    assert initial_system_message("p", []) == system("p", timestamp=0)
    assert initial_system_message(None, [a]) == system("", [a], timestamp=0)


def test_tools_are_replayed_in_order() -> None:
    a, b, new_a = declare("a"), declare("b"), declare("a", "new")
    assert current_tools([]) == {}
    redefined = current_tools([system(added=[a, b]), user("x"), system(added=[new_a])])
    assert list(redefined.items()) == [("a", new_a), ("b", b)]
    # Removed and added again it moves to the end, also within one message, where removals come first.
    assert names([system(added=[a, b]), system(removed="a"), system(added=[a])]) == ["b", "a"]
    assert names([system(added=[a, b]), system(added=[new_a], removed="a")]) == ["b", "a"]
    assert names([system(removed="x")]) == []


def test_all_system_messages_are_one() -> None:
    assert current_system_message([user("x")]) is None
    assert current_system_message([system("")]) == system("")
    blocks = [TextContent(text="one"), TextContent(text="two")]
    merged = current_system_message(
        [
            system(
                "Base",
                [declare("a"), declare("b")],
                sections={"env": "1", "rules": "r", "end": "e"},
                timestamp=5,
            ),
            user("x"),
            system("", removed="a"),
            SystemMessage(
                content=blocks, sections={"env": "2", "rules": None}, tools_added=[declare("c")], timestamp=9
            ),
            system("Last", sections={"rules": "again"}),
        ]
    )
    assert merged == SystemMessage(
        content="Base\n\none\ntwo\n\nLast",
        sections={"env": "2", "end": "e", "rules": "again"},
        tools_added=[declare("b"), declare("c")],
        timestamp=5,
    )
    assert merged is not None
    assert list(merged.sections or ()) == ["env", "end", "rules"]


def test_the_prompt_is_content_and_sections() -> None:
    assert current_system_prompt([]) == ""
    assert current_system_prompt([system("a", sections={"s": "b"}), system("c")]) == "a\n\nc\n\nb"
    assert current_system_prompt([system("", sections={"s": "b"})]) == "b"


def test_a_context_becomes_a_transcript():
    a, said = declare("a"), user("x")
    bare = ModelContext(messages=(said,))
    assert normalise_context(bare) is bare
    assert normalise_context(ModelContext(messages=(said,), system_prompt="", tools=())) == bare
    whole = normalise_context(ModelContext(messages=(said,), system_prompt="p", tools=(a,)))
    assert whole == ModelContext(messages=(system("p", [a], timestamp=0), said))
    led = normalise_context(ModelContext(messages=(system("old"), said), system_prompt="p"))
    assert led.messages == (system("p", timestamp=0), system("old"), said)


def test_the_leading_system_message():
    lead, said = system("p"), user("x")
    assert leading_system_message([lead, said]) is lead
    assert leading_system_message([said, lead]) is leading_system_message([]) is None
    assert list(without_leading_system_message([lead, said, lead])) == [said, lead]
    assert list(without_leading_system_message([said, lead])) == [said, lead]


def test_a_later_system_message_names_the_sections_that_it_changes():
    message = system("Later", sections={"env": "<env>2</env>", "rules": None})
    assert system_update_text(message) == (
        'Later\n\nUpdated system prompt section "env":\n\n<env>2</env>\n\nRemoved system prompt section "rules".'
    )
    assert system_update_text(system("")) == ""


def test_all_system_messages_at_the_beginning():
    one, two = user("1"), user("2")
    assert collapse_system_messages([one, two]) == (one, two)
    collapsed = collapse_system_messages([system("a", timestamp=4), one, system("b"), two])
    assert collapsed == (system("a\n\nb", timestamp=4), one, two)


A, B, C = declare("a"), declare("b"), declare("c")
ADDED = [system("p", [A]), user("x"), system("", [B]), user("y"), system("", [C])]
CHANGED = [system("p", [A]), user("x"), system("", [B], removed="a"), user("y"), system("", [C])]
REDEFINED = [system("p", [A]), system("", [declare("a", "new")]), system("", [C])]


@pytest.mark.parametrize(
    ("dialect", "messages", "support", "tools", "folded"),
    [
        (DIALECT_1_0_3, ADDED, "none", "abc", 3),
        (DIALECT_1_0_3, ADDED, "additions", "a", 1),
        (DIALECT_1_0_3, CHANGED, "additions", "bc", 3),
        (DIALECT_1_0_3, REDEFINED, "additions", "ac", 3),
        (DIALECT_1_6_0, ADDED, "none", "abc", 3),
        (DIALECT_1_6_0, ADDED, "additions", "a", 1),
        (DIALECT_1_6_0, CHANGED, "additions", "b", 2),
        (DIALECT_1_6_0, REDEFINED, "additions", "a", 2),
        (DIALECT_1_6_0, CHANGED, "changes", "", 0),
        (DIALECT_1_6_0, [user("x"), *ADDED], "additions", "", 0),
        (DIALECT_1_6_0, [], "none", "", 0),
    ],
)
def test_where_declarations_go(dialect, messages, support, tools, folded):
    placed = place_tools(messages, support, dialect)
    assert "".join(tool.name for tool in placed.request_tools) == tools
    assert placed.folded == folded
