"""JSON to data classes and back: nothing is lost, and what does not fit is refused where it stands."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_trio.codec import converter, dumps, loads, structure, unstructure
from pi_trio.errors import CodecError
from pi_trio.events import (
    AgentEvent,
    MessageUpdate,
    StreamEvent,
    TextDelta,
    ToolExecutionEnd,
    UnknownStreamEvent,
)
from pi_trio.jsontext import print_json
from pi_trio.jsonvalue import ABSENT, FrozenDict, thaw
from pi_trio.messages import (
    AssistantMessage,
    CustomMessage,
    Message,
    TextContent,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

from .strategies import DATA_CLASSES, any_agent_event, any_message, any_object, any_stream_event, wire_json

USER = '{"role":"user","content":"hi","timestamp":0}'


# --- the law ----------------------------------------------------------------------------------------------


@given(st.sampled_from(DATA_CLASSES).flatmap(lambda cls: st.tuples(st.just(cls), wire_json(cls))))
def test_json_comes_out_as_it_went_in(case: tuple[type, Any]) -> None:
    cls, value = case
    text = print_json(value)
    assert dumps(loads(text, cls)) == text
    assert print_json(unstructure(structure(value, cls))) == text


@pytest.mark.parametrize("union", [Message, StreamEvent, AgentEvent])
@settings(max_examples=25)
@given(data=st.data())
def test_json_of_a_union_comes_out_as_it_went_in(union: Any, data: st.DataObject) -> None:
    value = data.draw(wire_json(union))
    assert print_json(unstructure(structure(value, union))) == print_json(value)


@given(any_object)
def test_objects_come_back_equal(value: Any) -> None:
    assert loads(dumps(value), type(value)) == value


@given(any_message)
def test_messages_find_their_class(message: Message) -> None:
    again = structure(unstructure(message), Message)
    assert type(again) is type(message)
    assert again == message


@given(st.one_of(any_agent_event, any_stream_event))
def test_events_find_their_class(event: Any) -> None:
    union = AgentEvent if type(event) in AgentEvent.__args__ else StreamEvent
    again = structure(unstructure(event), union)
    assert type(again) is type(event)
    assert again == event


@given(any_message)
def test_structure_keeps_nothing_of_what_it_was_given(message: Message) -> None:
    value = thaw(unstructure(message))
    again = structure(value, Message)
    for held in [item for item in value.values() if isinstance(item, (dict, list))]:
        held.clear()
    value.clear()
    assert again == message


def test_keys_are_remembered_only_where_they_say_something() -> None:
    assert loads(USER, Message).keys is None
    assert loads('{"role":"user","content":"hi","timestamp":0,"x":1}', Message).keys is None
    assert loads('{"content":"hi","role":"user","timestamp":0}', Message).keys == (
        "content",
        "role",
        "timestamp",
    )


# --- changed copies ---------------------------------------------------------------------------------------

ASSISTANT = (
    '{"timestamp":0,"role":"assistant","new":[1],"content":[],"api":"a","provider":"p","model":"m","usage":'
    '{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,'
    '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"error","errorMessage":"no"}'
)


def test_a_new_key_goes_to_the_end() -> None:
    message = loads(ASSISTANT, AssistantMessage)
    changed = attrs.evolve(message, thinking_level="off")
    assert dumps(changed) == ASSISTANT[:-1] + ',"thinkingLevel":"off"}'


def test_a_key_without_value_disappears() -> None:
    message = loads(ASSISTANT, AssistantMessage)
    assert dumps(attrs.evolve(message, error_message=None)) == ASSISTANT.replace(',"errorMessage":"no"', "")
    result = loads('{"details":null,"content":[]}', ToolResult)
    assert dumps(attrs.evolve(result, details=ABSENT)) == '{"content":[]}'


def test_a_changed_key_keeps_its_place() -> None:
    message = loads(ASSISTANT, AssistantMessage)
    assert dumps(attrs.evolve(message, timestamp=5)) == ASSISTANT.replace('"timestamp":0', '"timestamp":5')
    assert dumps(attrs.evolve(message, extra={"new": 2})) == ASSISTANT.replace("[1]", "2")


# --- null and absent --------------------------------------------------------------------------------------


def test_a_foreign_null_is_kept_and_is_no_value() -> None:
    text = (
        '{"role":"assistant","errorMessage":null'
        + ASSISTANT[len('{"timestamp":0,"role":"assistant"') : -len(',"errorMessage":"no"}')]
        + ',"timestamp":0}'
    )
    message = loads(text, AssistantMessage)
    assert message.error_message is None
    assert message.extra["errorMessage"] is None
    assert dumps(message) == text
    assert dumps(attrs.evolve(message, error_message="x")) == text.replace("null", '"x"')


def test_null_details_are_a_value() -> None:
    assert loads('{"content":[],"details":null}', ToolResult).details is None
    assert loads('{"content":[]}', ToolResult).details is ABSENT
    assert dumps(ToolResult(content=[], details=None)) == '{"content":[],"details":null}'


def test_a_result_without_content() -> None:
    assert loads('{"details":{}}', ToolResult).content is ABSENT
    null = loads('{"content":null,"details":{}}', ToolResult)
    assert null.content is ABSENT
    assert dumps(null) == '{"content":null,"details":{}}'


# --- what is unknown --------------------------------------------------------------------------------------


def test_a_custom_role_keeps_everything() -> None:
    text = '{"text":"done","role":"notification","level":{"deep":[1,null]}}'
    message = loads(text, Message)
    assert isinstance(message, CustomMessage)
    assert message.role == "notification"
    assert message.extra == {"text": "done", "level": {"deep": [1, None]}}
    assert dumps(message) == text


def test_an_unknown_stream_event_survives() -> None:
    event = loads('{"type":"citation","n":1}', StreamEvent)
    assert event == UnknownStreamEvent(type="citation", extra={"n": 1})


def test_an_unknown_agent_event_is_refused() -> None:
    with pytest.raises(CodecError, match=r"^type: expected one of agent_start, .*, found 'compaction'$"):
        loads('{"type":"compaction"}', AgentEvent)


@pytest.mark.parametrize("truthy", [1, "yes", [0], {"a": None}, True, False, None, 0])
def test_what_rules_test_for_exactly_true_holds_any_json(truthy: Any) -> None:
    event = {
        "type": "tool_execution_end",
        "toolCallId": "t1",
        "toolName": "add",
        "result": {"content": [], "isError": truthy, "terminate": truthy},
        "isError": truthy,
    }
    read = structure(event, AgentEvent)
    assert isinstance(read, ToolExecutionEnd)
    assert type(read.is_error) is type(read.result.terminate)
    assert (read.is_error is True) is (truthy is True)
    assert print_json(unstructure(read)) == print_json(event)


def test_lone_surrogates_and_whole_floats_survive() -> None:
    text = '{"role":"user","content":"\\ud83d and \\ude00","timestamp":1.5e+300,"n":[10,1e+21,-5e-324]}'
    assert dumps(loads(text, Message)) == text
    assert dumps(UserMessage(content="", timestamp=12.0)) == '{"role":"user","content":"","timestamp":12}'


def test_a_whole_float_is_an_index() -> None:
    partial = loads(ASSISTANT, AssistantMessage)
    event = {"type": "text_start", "contentIndex": 2.0, "partial": unstructure(partial)}
    assert type(structure(event, StreamEvent).content_index) is int
    for number, text in ((0.5, "0.5"), (1e300, "1e+300")):
        with pytest.raises(CodecError) as caught:
            structure({**event, "contentIndex": number}, StreamEvent)
        assert str(caught.value) == f"contentIndex: expected a whole number, found {text}"


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[]", "expected object, found array"),
        ("null", "expected object, found null"),
        ("{}", "role: expected string, found nothing"),
        ('{"role":1}', "role: expected string, found number"),
        ('{"role":["user"]}', "role: expected string, found array"),
        ('{"role":"user"}', "content: expected string or array, found nothing"),
        ('{"role":"user","content":true}', "content: expected string or array, found boolean"),
        ('{"role":"user","content":""}', "timestamp: expected number, found nothing"),
        ('{"role":"user","content":"","timestamp":null}', "timestamp: expected number, found null"),
        ('{"role":"user","content":"","timestamp":true}', "timestamp: expected number, found boolean"),
        ('{"role":"user","content":["a"]}', "content[0]: expected object, found string"),
        ('{"role":"user","content":[{"text":"a"}]}', "content[0].type: expected string, found nothing"),
        (
            '{"role":"user","content":[{"type":"text","text":"a"},{"type":"text"}]}',
            "content[1].text: expected string, found nothing",
        ),
        ('{"role":"assistant","content":"a"}', "content: expected array, found string"),
        (
            '{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"n"}]}',
            "content[0].arguments: expected a JSON value, found nothing",
        ),
        ('{"role":"assistant","endTurn":1}', "endTurn: expected boolean, found number"),
        (
            '{"role":"assistant","usage":{"cost":{"input":"0"}}}',
            "usage.cost.input: expected number, found string",
        ),
        ('{"role":"system","sections":[]}', "sections: expected object, found array"),
        ('{"role":"system","sections":{"a b":1}}', 'sections["a b"]: expected string or null, found number'),
        ('{"role":"user","content":"","timestamp":1e400}', "timestamp: expected a finite number, found inf"),
        (
            '{"role":"user","content":"","timestamp":0,"a b":{"c":[NaN]}}',
            '["a b"].c[0]: expected a finite number, found nan',
        ),
        ("{", "expected JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
    ],
)
def test_bad_json_is_refused_with_its_path(text: str, complaint: str) -> None:
    with pytest.raises(CodecError) as caught:
        loads(text, Message)
    assert str(caught.value) == complaint


def test_the_path_can_begin_further_out() -> None:
    with pytest.raises(CodecError) as caught:
        structure(
            [{"role": "user", "content": "", "timestamp": 0}, {"role": "x"}, {}],
            tuple[Message, ...],
            "state.messages",
        )
    assert (caught.value.path, caught.value.message) == (
        "state.messages[2].role",
        "expected string, found nothing",
    )
    with pytest.raises(CodecError) as caught:
        structure([5], tuple[Message, ...], "state.messages")
    assert caught.value.path == "state.messages[0]"


def test_a_class_asked_for_by_name_checks_its_tag() -> None:
    with pytest.raises(CodecError, match=r"^role: expected 'user', found 'assistant'$"):
        loads(ASSISTANT, UserMessage)
    with pytest.raises(CodecError, match=r"^role: expected 'user', found nothing$"):
        loads("{}", UserMessage)
    with pytest.raises(CodecError, match=r"^role: expected a role without a class of its own, found 'user'$"):
        loads(USER, CustomMessage)


def test_numbers_that_javascript_cannot_print_are_refused_on_the_way_out() -> None:
    message = UserMessage(content="", timestamp=float("nan"))
    with pytest.raises(CodecError, match=r"^timestamp: expected a finite number, found nan$"):
        dumps(message)
    with pytest.raises(CodecError, match=r"^\[0\]\.timestamp: expected a number that JavaScript can hold"):
        dumps([UserMessage(content="", timestamp=2**60)])


def test_absent_is_not_json() -> None:
    with pytest.raises(CodecError, match="found nothing"):
        unstructure(ABSENT)


# --- plain containers, and own classes --------------------------------------------------------------------


def test_containers_of_objects() -> None:
    block = TextContent(text="a")
    assert unstructure({"blocks": (block, [block]), "n": None}) == {
        "blocks": [{"type": "text", "text": "a"}, [{"type": "text", "text": "a"}]],
        "n": None,
    }
    frozen = FrozenDict({"a": []})
    assert unstructure(frozen) is frozen


def test_a_view_with_the_fields_of_a_message_is_written_as_one() -> None:
    class Partial(AssistantMessage):
        __slots__ = ()

        @property
        def content(self) -> tuple[TextContent, ...]:  # type: ignore[override]
            return (TextContent(text="so far"),)

    partial = Partial.__new__(Partial)
    for name, value in attrs.asdict(loads(ASSISTANT, AssistantMessage), recurse=False).items():
        if name != "content":
            object.__setattr__(partial, name, value)
    event = TextDelta(content_index=0, delta="far", partial=partial)
    written = unstructure(MessageUpdate(message=partial, assistant_message_event=event))
    assert written["message"]["content"] == [{"type": "text", "text": "so far"}]
    assert written["assistantMessageEvent"]["partial"] == written["message"]


def test_the_converter_is_open_to_classes_of_an_application() -> None:
    assert converter.structure({"type": "text", "text": "a"}, TextContent) == TextContent(text="a")
    call = ToolCall(id="1", name="n", arguments={"a": 1.0})
    assert converter.unstructure(call)["arguments"] is call.arguments
    assert converter.unstructure(Usage.zero())["totalTokens"] == 0
