"""The scripted model: what it tells, what it keeps, and when it complains."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio import Agent, AssistantMessage, ImageContent, ModelContext, StreamOptions, TextContent, Usage
from pi_trio.abort import AbortController
from pi_trio.codec import unstructure
from pi_trio.models.scripted import DEFAULT_MODEL
from pi_trio.testing import (
    HELD,
    Recorder,
    ScriptedModel,
    ScriptedRequest,
    ScriptedTool,
    ScriptError,
    Stepper,
    assistant,
    describe,
    thinking,
    tool_call,
    transcript,
)
from pi_trio.testing.scripted_model import words

USAGE = attrs.evolve(Usage.zero(), input=7, total_tokens=7)
OTHER = attrs.evolve(Usage.zero(), output=1, total_tokens=1)


def deltas(recorder: Recorder) -> list[str]:
    return [line.partition(": ")[2] for line in recorder.lines if "_delta" in line]


async def test_answers_come_in_turn():
    with ScriptedModel(["one", TextContent(text="two"), assistant("thr", "ee")]) as model:
        agent = Agent(stream_fn=model, model=model.model)
        for prompt in "abc":
            await agent.prompt(prompt)
    assert transcript(agent)[1::2] == ["assistant: one", "assistant: two", "assistant: thr ee"]
    assert [transcript(request.messages)[-1] for request in model.requests] == [
        "user: a",
        "user: b",
        "user: c",
    ]


async def test_a_text_comes_word_by_word():
    agent = Agent(stream_fn=ScriptedModel("Hello  there,\nyou"))
    recorder = Recorder(agent)
    await agent.prompt("Hi")
    assert deltas(recorder) == ["Hello  ", "there,\\n", "you"]


@pytest.mark.parametrize("text", ["", " ", "a", " a", "a ", "a  b\n c ", "\n\n"])
def test_words_are_the_whole_text(text):
    assert "".join(words(text)) == text
    assert words(text)


async def test_an_answer_bears_the_name_of_the_model_and_its_cost():
    with ScriptedModel(["one", attrs.evolve(assistant("two"), usage=OTHER)], usage=USAGE) as model:
        agent = Agent(stream_fn=model, model=attrs.evolve(DEFAULT_MODEL, id="m-1", api="a", provider="p"))
        results = [await agent.prompt("Hi"), await agent.prompt("Hi")]
    assert [result.usage for result in results] == [USAGE, OTHER]
    for result in results:
        (answer,) = (message for message in result.messages if isinstance(message, AssistantMessage))
        assert (answer.model, answer.api, answer.provider) == ("m-1", "a", "p")


async def test_a_call_makes_the_stop_reason():
    with ScriptedModel([tool_call("work"), assistant(thinking("hm"), "done")]) as model:
        result = await Agent(stream_fn=model, tools=[ScriptedTool("work")]).prompt("Hi")
    answers = [message for message in result.messages if isinstance(message, AssistantMessage)]
    assert [answer.stop_reason for answer in answers] == ["toolUse", "stop"]


async def test_functions_get_the_request():
    def plain(request: ScriptedRequest) -> str:
        return f"plain: {describe(request.messages[-1])}"

    async def slow(request: ScriptedRequest) -> AssistantMessage:
        await trio.lowlevel.checkpoint()
        return assistant(f"slow: {request.options.reasoning}")

    with ScriptedModel([plain, slow]) as model:
        agent = Agent(stream_fn=model, thinking_level="high")
        texts = [(await agent.prompt("Hi")).text for _ in range(2)]
    assert texts == ["plain: user: Hi", "slow: high"]


@pytest.mark.parametrize(
    ("error", "text"), [(RuntimeError("overloaded"), "overloaded"), (KeyError(), "KeyError")]
)
async def test_an_exception_is_a_failed_request(error, text):
    with ScriptedModel(error) as model:
        result = await Agent(stream_fn=model).prompt("Hi")
    assert (result.stop_reason, result.error_message) == ("error", text)


async def test_a_script_that_is_too_short_fails_the_run_and_the_block():
    complaint = r"request 2 finds no answer: the script has 1.*toolResult work: ok"
    with pytest.raises(ScriptError, match=complaint), ScriptedModel(tool_call("work")) as model:
        result = await Agent(stream_fn=model, tools=[ScriptedTool("work")]).prompt("Hi")
        assert result.stop_reason == "error"
        assert result.error_message is not None
        assert "request 2 finds no answer" in result.error_message


async def test_a_script_that_is_too_long_fails_the_block():
    model = ScriptedModel(
        [
            "one",
            "two",
            HELD,
            tool_call("work", {"a": 1}),
            assistant("x"),
            ValueError("no"),
            lambda request: "x",
        ]
    )
    with pytest.raises(ScriptError) as caught, model:
        await Agent(stream_fn=model).prompt("Hi")
    assert str(caught.value) == (
        "1 of 7 answers were asked for; left over: 'two', HELD, assistant: work({\"a\":1}), assistant: x, "
        "ValueError('no'), a function"
    )


async def test_what_a_function_of_the_script_asserts_fails_the_block():
    def picky(request: ScriptedRequest) -> str:
        assert len(request.messages) == 5, "not five"
        return "x"

    with pytest.raises(AssertionError, match="not five"), ScriptedModel(picky) as model:
        result = await Agent(stream_fn=model).prompt("Hi")
        assert result.stop_reason == "error"


async def test_an_error_of_the_block_comes_first():
    with pytest.raises(KeyError) as caught, ScriptedModel() as model:
        await Agent(stream_fn=model).prompt("Hi")
        raise KeyError
    (note,) = caught.value.__notes__
    assert "request 1 finds no answer" in note

    with pytest.raises(KeyError) as caught, ScriptedModel("left over"):
        raise KeyError
    assert not hasattr(caught.value, "__notes__")


# --- held ---------------------------------------------------------------------------------------------------


async def held(model: ScriptedModel, nursery: trio.Nursery, **options) -> tuple[Recorder, ScriptedRequest]:
    """A run that has come to a held request."""
    agent = Agent(stream_fn=model, **options)
    recorder = Recorder(agent)
    nursery.start_soon(agent.prompt, "Hi")
    await trio.testing.wait_all_tasks_blocked()
    (request,) = model.pending
    return recorder, request


async def test_a_held_request_is_answered_by_the_test(nursery):
    model = ScriptedModel(HELD)
    recorder, request = await held(model, nursery)
    assert recorder.lines[-1] == "message_end user: Hi"
    request.answer("Let me see.", tool_call("work", {"a": 1}))
    assert not request.pending
    await trio.testing.wait_all_tasks_blocked()
    assert 'message_end assistant: Let me see. work({"a":1})' in recorder.lines
    (again,) = model.pending  # the last HELD is for all that follow
    again.answer()
    await trio.testing.wait_all_tasks_blocked()
    assert recorder.lines[-1] == "agent_end"
    model.check()


async def test_a_held_request_is_answered_word_by_word(nursery):
    recorder, request = await held(ScriptedModel(HELD), nursery)
    request.say("Hel", "lo ")
    await trio.testing.wait_all_tasks_blocked()
    assert recorder.lines[-1] == "message_update text_delta: lo "
    request.say("you")
    request.say()
    request.answer("and you", thinking("well"), tool_call("none"))
    await trio.testing.wait_all_tasks_blocked()
    assert deltas(recorder)[:6] == ["Hel", "lo ", "you", "and ", "you", "well"]
    assert recorder.lines.count("message_update text_end") == 2
    assert "message_end assistant: Hello you and you (thinking: well) none({})" in recorder.lines


UNSAYABLE = [
    ImageContent(data="AA==", mime_type="image/png"),
    assistant("Hi", stop_reason="pending"),
]


@pytest.mark.parametrize("unsayable", UNSAYABLE, ids=lambda said: said.__class__.__name__)
async def test_of_what_a_model_cannot_say_nothing_is_told(nursery, unsayable):
    recorder, request = await held(ScriptedModel(HELD), nursery)
    with pytest.raises(ScriptError, match="a model cannot say this"):
        request.answer(unsayable)
    assert request.pending
    request.answer("Hello")
    await trio.testing.wait_all_tasks_blocked()
    assert deltas(recorder) == ["Hello"]


@pytest.mark.parametrize("unsayable", UNSAYABLE, ids=lambda said: said.__class__.__name__)
async def test_a_script_of_what_a_model_cannot_say_is_wrong(unsayable):
    for script in (unsayable, lambda _: unsayable):
        model = ScriptedModel(script)
        await Agent(stream_fn=model).prompt("Hi")
        with pytest.raises(ScriptError, match="a model cannot say this"):
            model.check()


async def test_a_held_request_is_told_as_a_scripted_one(nursery):
    """The same events, partials included, whether a text is said first or all is answered at once."""
    message = assistant("Hello there", tool_call("none", {"a": [1]}, id="t"), timestamp=1)
    recorders = []
    for said in ((), ("Hello ", "there")):
        recorder, request = await held(ScriptedModel([HELD, "ok"]), nursery)
        request.say(*said) if said else None
        request.answer(*message.content[bool(said) :])
        recorders.append(recorder)
        await trio.testing.wait_all_tasks_blocked()
    one, other = ([timeless(unstructure(event)) for event in recorder.events] for recorder in recorders)
    assert one == other


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in ("timestamp", "durationMs")}
    return [*map(timeless, value)] if isinstance(value, list) else value


async def test_a_held_request_is_answered_with_a_whole_message(nursery):
    recorder, request = await held(ScriptedModel(HELD), nursery)
    with pytest.raises(ScriptError, match="whole message"):
        request.answer("a", assistant("b"))
    request.answer(assistant("cut", stop_reason="length"))
    await trio.testing.wait_all_tasks_blocked()
    assert "message_end assistant: cut (length)" in recorder.lines


@pytest.mark.parametrize("said", [(), ("Hel", "lo")])
async def test_a_held_request_fails(nursery, said):
    recorder, request = await held(ScriptedModel(HELD), nursery)
    request.say(*said) if said else None
    request.fail(ConnectionError("gone"))
    await trio.testing.wait_all_tasks_blocked()
    assert f"message_end assistant:{' Hello' if said else ''} (error: gone)" in recorder.lines


async def test_who_does_not_wait_is_not_answered(nursery):
    model = ScriptedModel([HELD, "x"])
    _, request = await held(model, nursery)
    request.answer("x")
    for say in (request.say, request.answer, lambda word: request.fail(word)):
        with pytest.raises(ScriptError, match="does not wait"):
            say("word")
    with pytest.raises(ScriptError, match="does not wait"):
        request.fail("x")


@pytest.mark.parametrize("abort_mode", ["cancel", "signal"])
async def test_an_abort_ends_a_held_request(nursery, abort_mode):
    agent = Agent(stream_fn=(model := ScriptedModel(HELD)), abort_mode=abort_mode)
    nursery.start_soon(agent.prompt, "Hi")
    await trio.testing.wait_all_tasks_blocked()
    model.pending[0].say("Hel")
    await trio.testing.wait_all_tasks_blocked()
    agent.abort()
    await agent.wait_for_idle()
    assert model.pending == []
    assert transcript(agent)[-1] == "assistant: Hel (aborted: Request was aborted)"


async def test_a_request_of_an_aborted_run_does_not_wait():
    controller = AbortController()
    controller.abort()
    model = ScriptedModel(HELD)
    options = StreamOptions(signal=controller.signal)
    async with model(model.model, ModelContext(messages=()), options) as stream:
        message = await stream.result()
    assert message is not None
    assert message.stop_reason == "aborted"
    assert repr(model.requests[0]) == "<ScriptedRequest nothing>"


@pytest.mark.parametrize("nonsense", [None, 3, b"x", ["x"], KeyError, KeyboardInterrupt()])
async def test_nonsense_in_a_script(nonsense):
    with pytest.raises(ScriptError, match="the script of a model cannot have"):
        ScriptedModel(["fine", nonsense])
    with (
        pytest.raises(ScriptError, match="a function of the script has returned"),
        ScriptedModel([lambda _request: nonsense]) as model,
    ):
        await Agent(stream_fn=model).prompt("x")


async def test_a_function_that_returns_held():
    with (
        pytest.raises(ScriptError, match="a function of the script has returned HELD"),
        ScriptedModel([lambda _request: HELD]) as model,  # type: ignore[list-item, return-value]
    ):
        await Agent(stream_fn=model).prompt("x")


def test_nonsense_for_a_held_request():
    model = ScriptedModel(HELD)
    with Stepper() as stepper:
        run = stepper.start(Agent(stream_fn=model).prompt, "x")
        stepper.settle()
        with pytest.raises(ScriptError, match="a model cannot say 3"):
            model.pending[0].answer(3)  # type: ignore[arg-type]
        model.pending[0].answer("fine")
        stepper.settle()
        assert run.result().text == "fine"
