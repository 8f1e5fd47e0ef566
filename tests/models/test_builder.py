"""The response builder: what its events carry, and what it refuses."""

from __future__ import annotations

import copy
import pickle

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.errors import CodecError
from pi_trio.events import StreamDone, StreamError, StreamStart
from pi_trio.jsontext import print_json
from pi_trio.messages import AssistantMessage, Model, TextContent, ThinkingContent, ToolCall, Usage
from pi_trio.models.builder import OutOfOrderError, ResponseBuilder
from pi_trio.models.dialect import dialect_of
from pi_trio.models.growing_arguments import GrowingArguments
from pi_trio.models.scripted import DEFAULT_MODEL, assistant

from ..strategies import json_values, strings


def begun():
    builder = ResponseBuilder(DEFAULT_MODEL, timestamp=1)
    builder.start()
    return builder


def content(event):
    return list(event.partial.content)


def test_a_whole_response():
    builder = ResponseBuilder(DEFAULT_MODEL, timestamp=1)
    blank = AssistantMessage(
        content=(),
        api=DEFAULT_MODEL.api,
        provider=DEFAULT_MODEL.provider,
        model=DEFAULT_MODEL.id,
        usage=Usage.zero(),
        stop_reason="pending",
        timestamp=1,
    )
    assert builder.start() == StreamStart(partial=blank)
    event = builder.thinking_start()
    assert (event.type, event.content_index, content(event)) == (
        "thinking_start",
        0,
        [ThinkingContent(thinking="")],
    )
    event = builder.thinking_delta("Hm.")
    assert (event.type, event.content_index, event.delta) == ("thinking_delta", 0, "Hm.")
    thought = ThinkingContent(thinking="Hm.", thinking_signature="s")
    event = builder.thinking_end(thinking_signature="s")
    assert (event.type, event.content, content(event)) == ("thinking_end", "Hm.", [thought])
    assert content(builder.text_start()) == [thought, TextContent(text="")]
    builder.text_delta("Two ")
    event = builder.text_delta("and two")
    assert (event.type, event.content_index, event.delta) == ("text_delta", 1, "and two")
    assert content(event) == [thought, TextContent(text="Two and two")]
    event = builder.text_end()
    assert (event.type, event.content) == ("text_end", "Two and two")
    event = builder.toolcall_start("c1", "add")
    assert content(event)[2:] == [ToolCall(id="c1", name="add", arguments={})]
    event = builder.toolcall_delta('{"a":2,"b"')
    assert content(event)[2:] == [ToolCall(id="c1", name="add", arguments={"a": 2})]
    builder.toolcall_delta(":2}")
    event = builder.toolcall_end()
    call = ToolCall(id="c1", name="add", arguments={"a": 2, "b": 2})
    assert (event.type, event.content_index, event.tool_call, content(event)[2]) == (
        "toolcall_end",
        2,
        call,
        call,
    )
    whole = attrs.evolve(
        blank, content=[thought, TextContent(text="Two and two"), call], stop_reason="toolUse"
    )
    done = builder.done("toolUse")
    assert done == StreamDone(reason="toolUse", message=whole)
    assert type(done.message) is AssistantMessage


def test_what_the_message_says_besides():
    builder = begun()
    before = builder.text_start()
    usage = attrs.evolve(Usage.zero(), output=3)
    builder.update(usage=usage, response_id="r")
    after = builder.text_delta("x")
    assert (before.partial.response_id, after.partial.response_id) == (None, "r")
    assert after.partial.usage is usage
    builder.text_end()
    assert builder.done("stop").message.response_id == "r"


@pytest.mark.parametrize("fields", [{"content": ()}, {"stop_reason": "stop"}, {"nonsense": 1}])
def test_fields_that_update_does_not_set(fields):
    with pytest.raises(TypeError):
        begun().update(**fields)


def test_a_builder_like_another_message():
    message = assistant("old", response_id="r", error_message="e", timestamp=7)
    partial = ResponseBuilder.like(message).start().partial
    assert partial == attrs.evolve(message, content=(), stop_reason="pending")


def test_blocks_that_overlap():
    builder = begun()
    assert builder.text_start().content_index == 0
    assert builder.toolcall_start("c", "f").content_index == 1
    events = [
        builder.toolcall_delta('{"a":'),
        builder.text_delta("one", 0),
        builder.toolcall_delta("1", 1),
        builder.text_delta(" two", 0),
        builder.text_end(0),
        builder.toolcall_delta("2}"),
        builder.toolcall_end(),
    ]
    assert [(content(event)[0].text, content(event)[1].arguments) for event in reversed(events)] == [
        ("one two", {"a": 12}),
        ("one two", {"a": 12}),
        ("one two", {"a": 1}),
        ("one two", {"a": 1}),
        ("one", {"a": 1}),
        ("one", {}),
        ("", {}),
    ]


def test_what_an_end_replaces():
    builder = begun()
    builder.text_start("pre")
    assert content(builder.text_delta("fix"))[0].text == "prefix"
    event = builder.text_end(text="another", text_signature="s")
    assert event.content == "another"
    assert content(event) == [TextContent(text="another", text_signature="s")]
    builder.thinking_start()
    builder.thinking_delta("hm\n\n")
    assert builder.thinking_end(thinking="hm").content == "hm"
    builder.thinking_start("[Reasoning redacted]", thinking_signature="opaque", redacted=True)
    event = builder.thinking_end()
    assert content(event)[2] == ThinkingContent(
        thinking="[Reasoning redacted]", thinking_signature="opaque", redacted=True
    )
    builder.toolcall_start("", "", namespace="n")
    builder.toolcall_delta("not read")
    event = builder.toolcall_end(id="c", name="f", arguments={"a": [1]}, thought_signature="t")
    assert event.tool_call == ToolCall(
        id="c", name="f", arguments={"a": [1]}, thought_signature="t", namespace="n"
    )


def test_a_call_whose_text_has_begun_before_its_first_delta():
    builder = begun()
    assert content(builder.toolcall_start("c", "f", text='{"a": 1'))[0].arguments == {"a": 1}
    assert content(builder.toolcall_delta('2, "b"'))[0].arguments == {"a": 12}
    assert builder.toolcall_delta(": 3}").partial.content[0].arguments == {"a": 12, "b": 3}
    assert builder.toolcall_end().tool_call.arguments == {"a": 12, "b": 3}


def test_a_call_whose_text_is_taken_for_another():
    builder = begun()
    builder.toolcall_start("c", "f")
    before = builder.toolcall_delta('{"a": 1')
    builder.text_start()  # another block grows meanwhile
    builder.restart_toolcall('{"b": ', 0)
    after = builder.toolcall_delta("2}", 0)
    assert (content(before)[0].arguments, content(after)[0].arguments) == ({"a": 1}, {"b": 2})
    with pytest.raises(OutOfOrderError):
        builder.restart_toolcall("{}", 1)
    with pytest.raises(TypeError):
        builder.restart_toolcall(None, 0)
    assert builder.toolcall_end(0).tool_call.arguments == {"b": 2}


def test_a_block_that_is_amended_after_its_end():
    builder = begun()
    builder.thinking_start()
    ended = builder.thinking_end(thinking="Hm.")
    builder.text_start()
    builder.text_delta("Two")
    builder.amend(ThinkingContent(thinking="Hm.", thinking_signature="late"), 0)
    assert content(ended) == [ThinkingContent(thinking="Hm.")]
    signed = [ThinkingContent(thinking="Hm.", thinking_signature="late"), TextContent(text="Two")]
    assert list(builder.partial.content) == signed
    for index in (1, 2, -1):
        with pytest.raises(OutOfOrderError, match="has not ended"):
            builder.amend(TextContent(text=""), index)
    builder.text_end()
    assert list(builder.done("stop").message.content) == signed
    with pytest.raises(OutOfOrderError):
        builder.amend(TextContent(text=""), 0)


def test_the_arguments_of_a_call():
    builder = begun()
    assert content(builder.toolcall_start("c", "f", arguments={"known": 1}))[0].arguments == {"known": 1}
    assert builder.toolcall_end().tool_call.arguments == {"known": 1}
    builder.toolcall_start("d", "f", arguments={"known": 1})
    assert content(builder.toolcall_delta('{"other":'))[1].arguments == {}
    call = builder.toolcall_end().tool_call
    assert call.arguments == {}
    assert call.arguments_error.endswith('\n\nReceived arguments:\n{"other":')
    builder.toolcall_start("e", "f")
    assert builder.toolcall_end(arguments=None).tool_call.arguments is None


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_a_failure_leaves_blocks_as_they_are(reason):
    builder = begun()
    builder.text_start()
    builder.text_delta("half")
    builder.toolcall_start("c", "f")
    builder.toolcall_delta('{"a":"b')
    event = builder.error("overloaded", reason=reason)
    assert isinstance(event, StreamError)
    assert (event.reason, event.error.stop_reason, event.error.error_message) == (
        reason,
        reason,
        "overloaded",
    )
    assert list(event.error.content) == [
        TextContent(text="half"),
        ToolCall(id="c", name="f", arguments={"a": "b"}),
    ]


def test_a_failure_before_the_start():
    event = ResponseBuilder(DEFAULT_MODEL).error("unauthorised")
    assert (event.reason, event.error.content) == ("error", ())


def after(*steps):
    """A builder that has made these events: names of methods, with arguments."""
    builder = ResponseBuilder(Model.unknown())
    for name, *arguments in steps:
        getattr(builder, name)(*arguments)
    return builder


TEXT = (("start",), ("text_start",))
ENDED = (("start",), ("done", "stop"))


@pytest.mark.parametrize(
    ("steps", "step", "complaint"),
    [
        ((), ("text_start",), "text_start before start"),
        ((), ("text_delta", "x"), "text_delta before start"),
        ((), ("toolcall_end",), "toolcall_end before start"),
        ((), ("done", "stop"), "done before start"),
        (TEXT, ("start",), "start after start"),
        (TEXT, ("done", "stop"), r"done while open: block 0 \(text\)"),
        (TEXT, ("text_delta", "x", 1), r"text_delta of block 1, .* open: block 0 \(text\)"),
        (TEXT, ("thinking_delta", "x"), "thinking_delta of block 0, which is no open thinking block"),
        (TEXT, ("toolcall_end", 0), "toolcall_end of block 0, which is no open toolcall block"),
        ((*TEXT, ("text_end",)), ("text_delta", "x"), "text_delta of block 0, .* none is open"),
        ((*TEXT, ("text_end",)), ("text_end",), "text_end of block 0"),
        (ENDED, ("start",), "start after the end"),
        (ENDED, ("done", "stop"), "done after the end"),
        (ENDED, ("error", "e"), "error after the end"),
        (ENDED, ("thinking_start",), "thinking_start after the end"),
        (ENDED, ("text_delta", "x"), "text_delta after the end"),
        (ENDED, ("update",), "update after the end"),
        ((("error", "e"),), ("start",), "start after the end"),
        ((*TEXT, ("error", "e")), ("text_end",), "text_end after the end"),
    ],
)
def test_refusals(steps, step, complaint):
    builder = after(*steps)
    name, *arguments = step
    with pytest.raises(OutOfOrderError, match=f"^{complaint}"):
        getattr(builder, name)(*arguments)


@pytest.mark.parametrize("reason", ["error", "aborted", "pending", "foo"])
def test_reasons_that_no_complete_response_has(reason):
    builder = begun()
    with pytest.raises(
        ValueError, match=f"^a complete response ends with stop, length, toolUse or deferred, not '{reason}'$"
    ):
        builder.done(reason)
    assert builder.done("deferred").reason == "deferred"


@pytest.mark.parametrize("reason", ["stop", "pending", "foo"])
def test_reasons_that_no_failed_response_has(reason):
    builder = begun()
    with pytest.raises(ValueError, match=f"^a failed response ends with error or aborted, not '{reason}'$"):
        builder.error("e", reason=reason)
    assert builder.error("e", reason="aborted").reason == "aborted"


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_what_is_no_text_is_refused(kind):
    builder = begun()
    start, delta, end = (getattr(builder, f"{kind}_{step}") for step in ("start", "delta", "end"))
    with pytest.raises(TypeError, match=r"^a text was expected, not bytes$"):
        start(b"x")
    assert start().content_index == 0
    with pytest.raises(TypeError, match=r"^a text was expected, not bytes$"):
        delta(b"x")
    delta("a")
    with pytest.raises(TypeError, match=r"^a text was expected, not int$"):
        end(**{kind: 3})
    assert end().content == "a"


def test_a_wrong_value_leaves_a_call_and_a_response_open():
    builder = begun()
    builder.toolcall_start("c", "f")
    with pytest.raises(TypeError, match="bytes"):
        builder.toolcall_delta(b"{}")
    with pytest.raises(CodecError):
        builder.toolcall_end(arguments=object())
    assert builder.toolcall_end(arguments={"a": 1}).tool_call.arguments == {"a": 1}
    with pytest.raises(TypeError, match="ValueError"):
        builder.error(ValueError("x"))
    assert builder.error("x").error.error_message == "x"


def test_a_refusal_changes_nothing():
    builder = after(*TEXT, ("text_delta", "a"))
    for wrong in (("text_delta", "x", 7), ("start",), ("done", "stop"), ("thinking_end",)):
        with pytest.raises(OutOfOrderError):
            getattr(builder, wrong[0])(*wrong[1:])
    assert content(builder.text_delta("b")) == [TextContent(text="ab")]


# --- the law: a builder does what somebody would do who copies everything at each event -------------------

blocks = st.one_of(
    st.builds(TextContent, text=st.text(max_size=12)),
    st.builds(ThinkingContent, thinking=st.text(max_size=12)),
    st.builds(
        ToolCall, id=strings, name=strings, arguments=st.dictionaries(strings, json_values, max_size=3)
    ),
)


@st.composite
def told(draw):
    """The events of a response whose blocks overlap as they like, each with the content it should show."""
    builder = begun()
    shown: list = []
    events: list = []
    waiting: list = []  # [index, method, pieces, the parser of arguments]
    for block in draw(st.lists(blocks, max_size=4)):
        index = len(shown)
        match block:
            case TextContent(text=text):
                kind, start, empty = "text", builder.text_start(), TextContent(text="")
            case ThinkingContent(thinking=text):
                kind, start, empty = "thinking", builder.thinking_start(), ThinkingContent(thinking="")
            case ToolCall():
                kind, text = "toolcall", print_json(block.arguments)
                start = builder.toolcall_start(block.id, block.name)
                empty = attrs.evolve(block, arguments={})
        shown.append(empty)
        events.append((start, tuple(shown)))
        waiting.append((index, kind, iter(cuts(text)), GrowingArguments(), block))
        for _ in range(draw(st.integers(0, 6))):
            advance(draw, builder, waiting, shown, events)
    while waiting:
        advance(draw, builder, waiting, shown, events)
    return builder, events, tuple(shown)


def cuts(text):
    """The pieces of a text, three characters each."""
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def advance(draw, builder, waiting, shown, events):
    """One block that is open gets its next piece, or its end."""
    if not waiting:
        return
    which = draw(st.integers(0, len(waiting) - 1))
    index, kind, pieces, arguments, block = waiting[which]
    piece = next(pieces, None)
    if piece is None:
        del waiting[which]
        shown[index] = block
        events.append((getattr(builder, f"{kind}_end")(index), tuple(shown)))
        return
    now = shown[index]
    match kind:
        case "text":
            shown[index] = TextContent(text=now.text + piece)
        case "thinking":
            shown[index] = ThinkingContent(thinking=now.thinking + piece)
        case _:
            arguments.feed(piece)
            shown[index] = attrs.evolve(now, arguments=arguments.shown)
    events.append((getattr(builder, f"{kind}_delta")(piece, index), tuple(shown)))


@given(told(), st.randoms(use_true_random=False))
def test_every_partial_shows_its_own_moment_whenever_it_is_looked_at(response, chance):
    builder, events, whole = response
    head = begun().partial
    chance.shuffle(events)
    for event, expected in events:
        assert event.partial == attrs.evolve(head, content=expected)
    message = builder.done("stop").message
    assert message == attrs.evolve(head, content=whole, stop_reason="stop")
    for event, expected in events:
        assert event.partial.content == expected


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_builder_is_not_copied(copied):
    builder = begun()
    for begin in (lambda: None, builder.text_start, lambda: builder.toolcall_start("t1", "add")):
        begin()
        with pytest.raises(TypeError, match="a ResponseBuilder tells one response"):
            copied(builder)


@pytest.mark.parametrize(
    "call",
    [
        lambda builder: builder.done(None),
        lambda builder: builder.error(None),
        lambda builder: builder.error(ValueError("no")),
        lambda builder: builder.error("no", reason=None),
        lambda builder: builder.toolcall_start(None, "add"),
        lambda builder: builder.toolcall_start("t1", None),
        lambda builder: builder.toolcall_start("t1", "add", namespace=3),
        lambda builder: builder.text_start(None),
        lambda builder: builder.text_start(text_signature=3),
        lambda builder: builder.thinking_start(thinking_signature=b"x"),
        lambda builder: builder.thinking_start(redacted="yes"),
        lambda builder: builder.update(usage=3),
        lambda builder: builder.update(response_id=b"x"),
        lambda builder: builder.update(diagnostics=object()),
        lambda builder: builder.update(diagnostics=[3]),
        lambda builder: builder.update(error_message=ValueError("no")),
    ],
)
def test_what_is_no_value_is_refused_and_changes_nothing(call):
    builder = begun()
    before = builder.partial
    with pytest.raises((TypeError, ValueError)):
        call(builder)
    assert builder.partial == before
    builder.text_start()
    builder.text_end()
    assert builder.done("stop").message.usage == Usage.zero()


@pytest.mark.parametrize("index", [False, 0.0, "0"])
@pytest.mark.parametrize("kind", ["text", "thinking", "toolcall"])
def test_a_content_index_is_a_whole_number(kind, index):
    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    getattr(builder, f"{kind}_start")(*["t1", "work"][: 2 * (kind == "toolcall")])
    with pytest.raises(TypeError, match=f"a content_index is a whole number, not {index!r}"):
        getattr(builder, f"{kind}_delta")("{}", index)
    with pytest.raises(TypeError, match=f"a content_index is a whole number, not {index!r}"):
        getattr(builder, f"{kind}_end")(index)
    assert getattr(builder, f"{kind}_end")().content_index == 0


@pytest.mark.parametrize("timestamp", ["x", True, [1]])
def test_a_response_begins_at_a_time(timestamp):
    with pytest.raises(TypeError, match="Unix milliseconds were expected, not"):
        ResponseBuilder(DEFAULT_MODEL, timestamp=timestamp)


@pytest.mark.parametrize("model", [None, "gpt"])
def test_a_response_is_of_a_model(model):
    with pytest.raises(TypeError, match="a Model was expected, not"):
        ResponseBuilder(model)


def test_who_is_called_may_be_said_late():
    builder = begun()
    first = builder.toolcall_start("", "")
    builder.toolcall_delta('{"a":1')
    builder.restate_toolcall(id="c", name="read")
    told = builder.toolcall_delta("}")
    assert (first.partial.content[0].name, told.partial.content[0].name) == ("", "read")
    call = builder.toolcall_end().tool_call
    assert (call.id, call.name, call.arguments) == ("c", "read", {"a": 1})


def test_other_arguments_take_the_place_of_what_was_said():
    builder = begun()
    builder.toolcall_start("c", "patch")
    builder.toolcall_delta('{"a":1')
    builder.restate_toolcall(arguments={"input": ""})
    assert builder.partial.content[0].arguments == {"input": ""}
    builder.toolcall_delta('{"input":"x"}')
    assert builder.toolcall_end().tool_call.arguments == {"input": "x"}


def test_why_it_will_stop_is_in_the_partials():
    builder = begun()
    builder.text_start()
    builder.stopping("length")
    assert builder.text_end().partial.stop_reason == "length"
    assert builder.done("stop").message.stop_reason == "stop"
    with pytest.raises(OutOfOrderError, match="stopping after the end"):
        builder.stopping("stop")


def test_a_thinking_block_may_be_signed_while_it_is_open():
    builder = ResponseBuilder(DEFAULT_MODEL)
    builder.start()
    builder.thinking_start("a", thinking_signature="")
    before = builder.thinking_delta("b").partial
    builder.text_start()
    builder.sign_thinking("s", 0)
    after = builder.thinking_delta("c", 0).partial
    end = builder.thinking_end(0)
    assert [
        (it.content[0].thinking, it.content[0].thinking_signature) for it in (before, after, end.partial)
    ] == [
        ("ab", ""),
        ("abc", "s"),
        ("abc", "s"),
    ]
    assert end.content == "abc"
    with pytest.raises(OutOfOrderError):
        builder.sign_thinking("t", 0)


@pytest.mark.parametrize("release", ["1.0.3", "1.6.0"])
def test_a_character_that_was_cut_in_two_is_one_again(release):
    builder = ResponseBuilder(DEFAULT_MODEL, timestamp=1, dialect=dialect_of(release))
    builder.start()
    builder.text_start()
    half = builder.text_delta("a\ud83d").partial
    whole = builder.text_delta("\ude00b").partial
    builder.toolcall_start("c", "read")
    for delta in ('{"a":"\ud83d', '\ude00"', "}"):
        told = builder.toolcall_delta(delta, 1).partial
    assert [half.text, whole.text, builder.text_end(0).content] == ["a\ud83d", "a😀b", "a😀b"]
    assert [told.content[1].arguments, builder.toolcall_end(1).tool_call.arguments] == [{"a": "😀"}] * 2


def test_a_response_may_be_done_before_its_blocks_are():
    builder = begun()
    builder.text_start()
    builder.text_delta("Half a")
    with pytest.raises(OutOfOrderError, match="done while"):
        builder.done("stop")
    assert builder.done("stop", unfinished=True).message.content == (TextContent(text="Half a"),)


def test_a_call_may_end_with_a_whole_one():
    builder = begun()
    builder.toolcall_start("c", "read")
    builder.toolcall_delta('{"a":')
    whole = ToolCall(id="d", name="write", arguments={"b": 1}, extra={"x-new": 2})
    event = builder.toolcall_end(call=whole)
    assert event.tool_call == whole
    assert content(event) == [whole]
