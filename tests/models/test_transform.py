"""What is done to a transcript before any provider gets it. The comparison with real Pi is under tests/upstream."""

from __future__ import annotations

import attrs
import pytest

from pi_trio.messages import (
    ImageContent,
    Model,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_trio.models.dialect import dialect_of
from pi_trio.models.scripted import assistant
from pi_trio.models.transform import (
    NO_RESULT_PROVIDED,
    TOOL_IMAGE_OMITTED,
    USER_IMAGE_OMITTED,
    is_blank,
    transform,
    without_lone_surrogates,
)

MODEL = attrs.evolve(Model.unknown(), input=("text",))
SEEING = attrs.evolve(MODEL, input=("text", "image"))
NEWEST = dialect_of("1.6.0")
USER = UserMessage(content="hi", timestamp=1)
SYSTEM = SystemMessage(content="now", timestamp=1)
CALL = ToolCall(id="call 1", name="read", arguments={})
IMAGE = ImageContent(data="aGk=", mime_type="image/png")


def own(*content, stop_reason="toolUse"):
    return attrs.evolve(
        assistant(*content, timestamp=1),
        api=MODEL.api,
        provider=MODEL.provider,
        model=MODEL.id,
        stop_reason=stop_reason,
    )


def foreign(*content):
    return attrs.evolve(own(*content), model="another")


def result(call=CALL, *content):
    return ToolResultMessage(
        tool_call_id=call.id, tool_name=call.name, content=content, is_error=False, timestamp=1
    )


def roles(messages):
    return [message.role for message in messages]


def test_what_needs_no_change_is_as_it_was():
    transcript = [
        SYSTEM,
        USER,
        own(ThinkingContent(thinking="so"), TextContent(text="x", text_signature="s"), CALL),
        result(),
    ]
    assert transform(transcript, SEEING, NEWEST) == transcript


def test_runs_of_images_become_one_text_each():
    text = TextContent(text="between")
    user = UserMessage(content=[IMAGE, IMAGE, text, IMAGE], timestamp=1)
    assert [block.text for block in transform([user], MODEL, NEWEST)[0].content] == [
        USER_IMAGE_OMITTED, "between", USER_IMAGE_OMITTED,
    ]  # fmt: skip
    assert transform([user], SEEING, NEWEST) == [user]
    (_, seen) = transform([own(CALL), result(CALL, IMAGE)], MODEL, NEWEST)
    assert seen.text == TOOL_IMAGE_OMITTED


def test_a_result_without_content_gets_an_empty_one():
    bare = ToolResultMessage(tool_call_id="c", tool_name="t", is_error=False, timestamp=1)
    assert transform([bare], MODEL, NEWEST)[0].content == ()


@pytest.mark.parametrize(("release", "texts"), [("0.85.0", ["deep"]), ("1.0.3", ["deep"]), ("1.6.0", [])])
def test_the_thinking_of_another_model(release, texts):
    message = foreign(
        ThinkingContent(thinking="deep", thinking_signature="signed"),
        ThinkingContent(thinking="\u00a0"),
        ThinkingContent(thinking="hidden", redacted=True),
    )
    (sent,) = transform([message], MODEL, dialect_of(release))
    assert list(sent.content) == [TextContent(text=text) for text in texts]


def test_thinking_of_the_model_itself_is_kept_if_it_is_worth_something():
    signed, redacted = (
        ThinkingContent(thinking="", thinking_signature="s"),
        ThinkingContent(thinking="", redacted=True),
    )
    (sent,) = transform([own(signed, ThinkingContent(thinking=" "), redacted)], MODEL, NEWEST)
    assert sent.content == (signed, redacted)


def test_calls_of_another_model_lose_their_signatures_and_get_other_ids():
    call = attrs.evolve(CALL, thought_signature="signed")
    asked = []

    def underscored(call_id, message):
        asked.append((call_id, message.model))
        return call_id.replace(" ", "_")

    sent, answer = transform([foreign(call), result(call)], MODEL, NEWEST, underscored)
    assert (sent.content[0].id, sent.content[0].thought_signature) == ("call_1", None)
    assert answer.tool_call_id == "call_1"
    assert asked == [("call 1", "another")]
    sent, answer = transform([own(call), result(call)], MODEL, NEWEST, underscored)
    assert (sent.content[0], answer.tool_call_id) == (call, "call 1")


@pytest.mark.parametrize("then", [[], [USER], [own(TextContent(text="x"))]])
def test_a_call_without_result_gets_one_before_the_conversation_goes_on(then):
    sent = transform([own(CALL), *then], MODEL, NEWEST)
    assert roles(sent) == ["assistant", "toolResult", *roles(then)]
    assert (sent[1].text, sent[1].is_error, sent[1].tool_call_id) == (NO_RESULT_PROVIDED, True, CALL.id)


def test_system_messages_wait_until_the_calls_are_answered():
    other = attrs.evolve(CALL, id="call 2")
    sent = transform([own(CALL, other), SYSTEM, result(), SYSTEM, USER], MODEL, NEWEST)
    assert roles(sent) == ["assistant", "toolResult", "toolResult", "system", "system", "user"]


@pytest.mark.parametrize("stop_reason", ["error", "aborted"])
def test_failed_responses_are_not_sent_and_their_results_are(stop_reason):
    sent = transform([USER, own(CALL, stop_reason=stop_reason), result()], MODEL, NEWEST)
    assert roles(sent) == ["user", "toolResult"]


def test_halves_of_surrogate_pairs():
    assert without_lone_surrogates("a\ud83db\ude00c") == "abc"
    assert without_lone_surrogates("\ud83d" + "\ude00") == "\U0001f600"
    assert without_lone_surrogates("größer") == "größer"


def test_blank_is_what_javascript_trims():
    assert is_blank(" \t\u00a0\ufeff\u2003")
    assert not is_blank("\x85")
