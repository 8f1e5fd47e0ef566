"""The scripted provider and its script."""

from __future__ import annotations

import attrs
import pytest
import trio

from pi_trio.agent.agent import Agent
from pi_trio.messages import (
    AssistantMessage,
    ImageContent,
    ThinkingContent,
    ToolResult,
    Usage,
)
from pi_trio.models.scripted import ScriptedProvider, assistant, text, thinking, tool_call
from pi_trio.models.stream import StreamOptions
from pi_trio.tools.tool import Tool

from .telling import CONTEXT, message_of, opened, told, whole

# --- the script -------------------------------------------------------------------------------------------


async def test_steps_in_turn():
    provider = ScriptedProvider([assistant("one")])
    provider.append_responses([assistant("two")])
    assert provider.pending_response_count == 2
    assert (await message_of(provider)).content == (text("one"),)
    provider.set_responses([assistant("three")])
    assert provider.pending_response_count == 1
    assert (await message_of(provider)).content == (text("three"),)
    assert (await message_of(provider)).error_message == "No more faux responses queued"
    assert provider.state.call_count == 3


async def test_the_step_is_taken_at_the_call():
    provider = ScriptedProvider([assistant("one"), assistant("two")])
    first = opened(provider)
    assert provider.pending_response_count == 1
    assert provider.state.call_count == 1
    second = opened(provider)
    assert (await second.result()).content == (text("two"),)
    assert (await first.result()).content == (text("one"),)


async def test_nothing_queued_is_one_error():
    (event,) = await told(ScriptedProvider())
    assert event.type == "error"
    assert event.reason == "error"
    assert event.error.content == ()
    assert event.error.stop_reason == "error"
    assert event.error.error_message == "No more faux responses queued"
    assert event.error.usage.input == 5


async def test_a_message_is_told_under_the_names_of_the_request():
    provider = ScriptedProvider([assistant("Hi", timestamp=5)], api="an-api", provider="me")
    model = attrs.evolve(provider.models[0], id="another", provider="whatever")
    async with provider.stream(model, CONTEXT, StreamOptions()) as stream:
        message = await stream.result()
    assert (message.api, message.provider, message.model) == ("an-api", "me", "another")
    assert message.timestamp == 5


async def test_fields_of_a_message_stay():
    scripted = attrs.evolve(assistant("Hi"), response_id="r", raw_stop_reason="end", extra={"new": [1]})
    events = await told(ScriptedProvider([scripted]))
    for message in (events[0].partial, events[-1].message):
        assert (message.response_id, message.raw_stop_reason) == ("r", "end")
        assert message.extra == {"new": [1]}


async def test_functions_get_the_request():
    got = []

    def plain(*arguments):
        got.append(arguments)
        return assistant("plain")

    async def slow(*arguments):
        await trio.lowlevel.checkpoint()
        got.append(arguments)
        return assistant("async")

    provider = ScriptedProvider([plain, slow])
    options = StreamOptions(session_id="s")
    for name in ("plain", "async"):
        async with provider.stream(provider.models[0], CONTEXT, options) as stream:
            assert (await stream.result()).content == (text(name),)
    assert got == [(CONTEXT, options, provider.state, provider.models[0])] * 2


async def test_a_function_sees_how_often_the_provider_was_asked():
    provider = ScriptedProvider([lambda _c, _o, state, _m: assistant(str(state.call_count))] * 2)
    assert (await message_of(provider)).content == (text("1"),)
    assert (await message_of(provider)).content == (text("2"),)


def raising(error):
    def plain(*_):
        raise error

    async def slow(*_):
        await trio.lowlevel.checkpoint()
        raise error

    return [plain, slow]


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize(("error", "said"), [(ValueError("no idea"), "no idea"), (KeyError(), "KeyError")])
async def test_a_function_that_raises_is_one_error(number, error, said, caplog):
    (event,) = await told(ScriptedProvider([raising(error)[number]]))
    assert event.type == "error"
    assert event.error.error_message == said
    assert event.error.content == ()
    assert event.error.usage == Usage.zero()
    assert caplog.records[0].name == "pi_trio"
    assert caplog.records[0].exc_info[1] is error


async def test_a_function_that_returns_no_message_is_one_error():
    (event,) = await told(ScriptedProvider([lambda *_: None]))
    assert event.type == "error"


async def test_cancelled_while_a_function_works():
    calls = []

    async def step(*_):
        calls.append(len(calls))
        if len(calls) == 1:
            await trio.sleep_forever()
        return assistant("Hi")

    async with opened(ScriptedProvider([step])) as stream:
        with trio.move_on_after(0):
            await anext(stream)
        assert (await anext(stream)).type == "start"
    assert calls == [0, 1]


@pytest.mark.parametrize("is_async", [False, True])
async def test_on_response_comes_first(is_async):
    heard = []

    def plain(response, model):
        heard.append((response, model))

    async def slow(response, model):
        await trio.lowlevel.checkpoint()
        heard.append((response, model))

    provider = ScriptedProvider([lambda *_: assistant(str(len(heard)))])
    hook = slow if is_async else plain
    assert (await message_of(provider, on_response=hook)).content == (text("1"),)
    assert (await message_of(provider, on_response=hook)).stop_reason == "error"
    assert heard == [({"status": 200, "headers": {}}, provider.models[0])] * 2


async def test_on_response_that_raises_is_one_error():
    def hook(*_):
        raise ValueError("not like this")

    (event,) = await told(ScriptedProvider([assistant("Hi")]), on_response=hook)
    assert event.error.error_message == "not like this"


@pytest.mark.parametrize("reason", ["error", "aborted"])
async def test_a_scripted_failure_tells_its_content_first(reason):
    events = await told(whole(assistant("So far", stop_reason=reason, error_message="gone")))
    assert [event.type for event in events] == ["start", "text_start", "text_delta", "text_end", "error"]
    assert events[-1].reason == reason
    assert events[-1].error.content == (text("So far"),)
    assert events[-1].error.error_message == "gone"


async def test_pending_is_no_way_to_end():
    events = await told(whole(assistant("Hi", stop_reason="pending")))
    assert [event.type for event in events] == ["start", "text_start", "text_delta", "text_end", "error"]
    assert events[-1].reason == "error"
    assert events[-1].error.error_message == "Faux response ended without a stop reason"
    assert events[-1].error.content == ()


async def test_an_image_cannot_be_told():
    picture = ImageContent(data="", mime_type="image/png")
    events = await told(whole(assistant("See", picture)))
    assert [event.type for event in events] == ["start", "text_start", "text_delta", "text_end", "error"]
    assert "'image'" in events[-1].error.error_message


# --- models and builders ----------------------------------------------------------------------------------


def test_the_default_model():
    provider = ScriptedProvider()
    model = provider.get_model()
    assert model is provider.models[0]
    assert (model.api, model.provider, model.id) == ("scripted", "scripted", "scripted-1")
    assert (model.context_window, model.max_tokens, model.reasoning) == (128_000, 16_384, False)
    assert provider.get_model("scripted-1") is model
    assert provider.get_model("unknown") is None


def test_models_are_renamed_to_the_provider():
    other = attrs.evolve(ScriptedProvider().models[0], id="m2", api="x", provider="y")
    provider = ScriptedProvider(api="a", provider="p", models=[other])
    assert (provider.models[0].api, provider.models[0].provider) == ("a", "p")
    assert provider.get_model("m2") is provider.models[0]


def test_builders():
    first, second = tool_call("f"), tool_call("f", {"a": 1})
    assert first.id != second.id
    assert first.arguments == {}
    assert tool_call("f", id="mine").id == "mine"
    message = assistant("Hi", thinking("Hm"), first, stop_reason="toolUse", response_id="r", timestamp=3)
    assert isinstance(message, AssistantMessage)
    assert message.content == (text("Hi"), ThinkingContent(thinking="Hm"), first)
    assert (message.stop_reason, message.response_id, message.timestamp) == ("toolUse", "r", 3)
    assert assistant(error_message="no", stop_reason="error").error_message == "no"
    assert assistant().timestamp > 10**12


# --- with an agent ----------------------------------------------------------------------------------------


async def test_an_agent_runs_on_it():
    async def add(_id, arguments, *_):
        return ToolResult(content=[text(str(arguments["a"] + arguments["b"]))])

    numbers = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    tool = Tool(name="add", description="Adds.", parameters=numbers, label="Add", execute=add)
    provider = ScriptedProvider(
        [
            assistant(tool_call("add", {"a": 2, "b": 3}), stop_reason="toolUse"),
            lambda context, *_: assistant("It is ", context.messages[-1].content[0]),
        ]
    )
    agent = Agent(model=provider.models[0], stream_fn=provider.stream, tools=[tool])
    result = await agent.prompt("What is 2 + 3?")
    assert result.text == "It is 5"
    assert provider.state.call_count == 2


@pytest.mark.parametrize(
    "add", [ScriptedProvider, ScriptedProvider().set_responses, ScriptedProvider().append_responses]
)
def test_what_is_no_step_is_refused_where_it_is_given(add):
    with pytest.raises(
        TypeError, match=r"a step of a script is a message, as assistant\(…\) makes it, .*not 'x'"
    ):
        add(["x"])
