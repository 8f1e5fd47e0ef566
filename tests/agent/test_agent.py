"""The `Agent` as its user meets it: options, state, refusals, subscribers, what a run reads and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from pi_trio.abort import AbortSignal
from pi_trio.agent.agent import Agent
from pi_trio.agent.hooks import NextTurn
from pi_trio.errors import AgentBusyError, CannotContinueError
from pi_trio.events import AgentEvent, MessageStart, MessageUpdate
from pi_trio.messages import (
    CustomMessage,
    ImageContent,
    Message,
    Model,
    SystemMessage,
    TextContent,
    ToolDeclaration,
    UserMessage,
)
from pi_trio.models.default import NoStreamFunctionError, get_default_stream_fn, set_default_stream_fn

from .grammar import check
from .scripting import (
    ANYTHING,
    MODEL,
    Gates,
    Recorder,
    Script,
    answers_of,
    assistant,
    call,
    result,
    results_of,
    text_of,
    tool,
    user,
)


def roles(agent: Agent) -> list[str]:
    return [message.role for message in agent.messages]


@pytest.fixture
def default_stream_fn() -> Iterator[None]:
    """The default stream function may be changed."""
    before = get_default_stream_fn()
    yield
    set_default_stream_fn(before)


# --- construction -----------------------------------------------------------------------------------------


def test_an_agent_without_options() -> None:
    agent = Agent()
    assert agent.state == Agent().state
    assert agent.model == Model.unknown()
    assert (agent.model.id, agent.model.provider, agent.model.base_url) == ("unknown", "unknown", "")
    assert agent.thinking_level == "off"
    assert agent.tools == ()
    assert agent.messages == ()
    assert agent.system_prompt == ""
    assert (agent.steering_mode, agent.follow_up_mode) == ("one-at-a-time", "one-at-a-time")
    assert agent.tool_execution == "parallel"
    assert agent.signal is None
    assert not agent.has_queued_messages()
    state = agent.state
    assert (state.is_streaming, state.streaming_message, state.pending_tool_calls, state.error_message) == (
        False, None, (), None,
    )  # fmt: skip


def test_the_state_is_frozen() -> None:
    state = Agent().state
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        state.is_streaming = True  # type: ignore[misc]


def test_prompt_and_tools_begin_the_transcript() -> None:
    tools = [tool("a", print), tool("b", print)]
    agent = Agent(system_prompt="be brief", tools=tools)
    (first,) = agent.messages
    assert first == SystemMessage(
        content="be brief",
        tools_added=[ToolDeclaration(name=n, description=f"the {n} tool", parameters=ANYTHING) for n in "ab"],
        timestamp=0,
    )
    assert agent.system_prompt == "be brief" == agent.state.system_prompt
    assert Agent(tools=tools).messages[0].content == ""  # type: ignore[union-attr]
    assert Agent(system_prompt="x").messages[0].tools_added is None  # type: ignore[union-attr]
    assert roles(Agent(system_prompt="x", messages=[user("hello")])) == ["system", "user"]


def test_a_transcript_that_begins_with_a_system_message_keeps_its_own_prompt() -> None:
    said: list[Message] = [SystemMessage(content="old", timestamp=5), user("hello")]
    agent = Agent(system_prompt="new", messages=said)
    assert agent.messages == tuple(said)
    assert agent.system_prompt == "old"
    with pytest.raises(AttributeError, match="say a system message instead"):
        agent.system_prompt = "newer"


def test_there_must_be_a_stream_function(default_stream_fn: None) -> None:
    script = Script()
    set_default_stream_fn(script)
    assert Agent().stream_fn is script
    set_default_stream_fn(None)
    with pytest.raises(NoStreamFunctionError) as raised:
        Agent()
    assert str(raised.value) == (
        "No default stream function configured. Pass streamFn explicitly or call setDefaultStreamFn()."
    )
    assert Agent(stream_fn=script).stream_fn is script


# --- prompting --------------------------------------------------------------------------------------------


async def test_a_prompt_is_a_text_with_images() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    image = ImageContent(data="AAAA", mime_type="image/png")
    await agent.prompt("look", images=iter([image]))
    first = agent.messages[0]
    assert isinstance(first, UserMessage)
    assert first.content == (TextContent(text="look"), image)
    assert first.timestamp > 1_600_000_000_000
    assert isinstance(first.timestamp, int)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (({"role": "user", "content": "hi"},), r"not its JSON: UserMessage\(content=\.\.\.\), say"),
        (([{"role": "user", "content": "hi"}],), "a message was expected, or a text, not dict"),
        ((5,), "not iterable"),
        (([b"hi"],), "a message was expected, or a text, not bytes"),
        (("look", ["image.png"]), "an ImageContent was expected, not str"),
        (("look", "image.png"), "an ImageContent was expected, not str"),
        (([user("hi")], ["image.png"]), "an ImageContent was expected"),
    ],
)
async def test_what_is_no_prompt_is_refused_and_nothing_has_begun(given: tuple[Any, ...], says: str) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    with pytest.raises(TypeError, match=says):
        await agent.prompt(*given)
    assert agent.messages == ()
    assert (await agent.prompt("hi")).text == "nothing more"


def test_the_json_of_a_message_is_no_transcript() -> None:
    with pytest.raises(TypeError, match="not its JSON"):
        Agent(messages={"role": "user", "content": "hi"})  # type: ignore[arg-type]


@pytest.mark.parametrize("how", [list, iter, tuple, lambda messages: messages[0]])
async def test_a_prompt_is_messages_as_they_are(how: Callable[[list[Any]], Any]) -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    message = user("as it is")
    outcome = await agent.prompt(how([message]))
    assert agent.messages[0] is message is outcome.messages[0]
    assert outcome.text == "nothing more"


async def test_an_empty_prompt_asks_the_model_as_things_stand() -> None:
    script = Script()
    agent = Agent(model=MODEL, stream_fn=script, messages=[user("earlier")])
    heard = Recorder(agent)
    await agent.prompt([])
    assert script.requests[0].said == ["user: earlier"]
    assert heard.briefs[:3] == ["agent_start", "turn_start", "message_start assistant"]


async def test_messages_of_other_roles_are_carried_and_not_sent() -> None:
    script = Script()
    agent = Agent(model=MODEL, stream_fn=script)
    await agent.prompt([CustomMessage(role="note", extra={"text": "private"}), user("hello")])
    assert roles(agent) == ["note", "user", "assistant"]
    assert script.requests[0].said == ["user: hello"]


async def test_a_run_begins_when_prompt_is_first_awaited_and_not_later() -> None:
    """The first listener is called in the very step of the task that calls `prompt`."""
    agent = Agent(model=MODEL, stream_fn=Script())
    order: list[str] = []

    async def other() -> None:
        order.append("other")

    def listener(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "agent_start":
            order.append("agent_start")

    agent.subscribe(listener)
    heard = Recorder(agent)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        await agent.prompt("go")
    assert order == ["agent_start", "other"]
    check(heard.events)


async def test_the_synchronous_half_of_a_prompt() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    heard = Recorder(agent)
    begun = agent.start_prompt("go")
    assert heard.briefs == ["agent_start"]
    assert agent.state.is_streaming
    with pytest.raises(AgentBusyError):
        agent.start_continue()
    outcome = await begun.finish()
    assert outcome.text == "nothing more"
    check(heard.events)
    assert (await agent.start_prompt("again").finish()).stop_reason == "stop"


async def test_cancelled_before_it_has_begun_nothing_has_happened() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=[user("hello")])
    agent.steer(user("kept"))
    heard = Recorder(agent)
    for method in (lambda: agent.prompt("go"), agent.continue_):
        with trio.CancelScope() as scope:
            scope.cancel()
            await method()
        assert scope.cancelled_caught
    assert heard.events == []
    assert roles(agent) == ["user"]
    assert agent.has_queued_messages()


# --- refusals ---------------------------------------------------------------------------------------------

BUSY_PROMPT = (
    "Agent is already processing a prompt. Use steer() or followUp() to queue messages, "
    "or wait for completion."
)


async def test_what_is_refused_while_a_run_is_going_on() -> None:
    gates = Gates()
    agent = Agent(model=MODEL, stream_fn=Script(assistant("hello"), pause=gates.pause))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(agent.prompt, "go")
        await trio.testing.wait_all_tasks_blocked()
        before = agent.state
        with pytest.raises(AgentBusyError) as prompt:
            await agent.prompt("another")
        with pytest.raises(AgentBusyError) as continued:
            await agent.continue_()
        with pytest.raises(AgentBusyError) as reset:
            agent.reset()
        assert agent.state == before
        while gates.standing:
            await gates.let_go(gates.standing[0])
    assert str(prompt.value) == BUSY_PROMPT
    assert str(continued.value) == "Agent is already processing. Wait for completion before continuing."
    assert str(reset.value) == "Agent is already processing. Wait for completion before resetting."
    assert isinstance(prompt.value, RuntimeError)
    assert roles(agent) == ["user", "assistant"]


async def test_of_two_prompts_in_one_step_the_second_is_refused() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    refused: list[str] = []

    async def prompt(text: str) -> None:
        try:
            await agent.prompt(text)
        except AgentBusyError:
            refused.append(text)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(prompt, "one")
        nursery.start_soon(prompt, "two")
    assert len(refused) == 1
    assert [text_of(message) for message in agent.messages] == [
        {"one": "two", "two": "one"}[refused[0]], "nothing more",
    ]  # fmt: skip


async def test_a_prompt_from_inside_is_refused_until_settlement() -> None:
    agent = Agent(model=MODEL, stream_fn=Script())
    refusals: list[str] = []

    async def listener(event: AgentEvent, signal: AbortSignal) -> None:
        with pytest.raises(AgentBusyError):
            await agent.prompt("inside")
        refusals.append(event.type)

    agent.subscribe(listener)
    outcome = await agent.prompt("go")
    assert outcome.stop_reason == "stop"
    assert refusals[-1] == "agent_end"
    agent.subscribe(listener)()
    await agent.prompt("and now")


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], "No messages to continue from"),
        ([SystemMessage(content="s", timestamp=0)], "No messages to continue from"),
        ([user("hello"), assistant("hi")], "Cannot continue from message role: assistant"),
    ],
)
async def test_continue_without_anything_to_continue_from(messages: list[Any], text: str) -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=messages)
    heard = Recorder(agent)
    for _ in range(2):
        with pytest.raises(CannotContinueError) as raised:
            await agent.continue_()
        assert str(raised.value) == text
    assert heard.events == []
    assert agent.messages == tuple(messages)
    await agent.prompt("this works")


@pytest.mark.parametrize("messages", [[], [SystemMessage(content="s", timestamp=0)]])
async def test_a_refused_continue_takes_nothing_from_the_queues(messages: list[Any]) -> None:
    agent = Agent(model=MODEL, stream_fn=Script(), messages=messages)
    agent.steer(user("steer"))
    agent.follow_up(user("follow up"))
    with pytest.raises(CannotContinueError):
        await agent.continue_()
    assert [text_of(message) for message in agent.peek_queued_messages()] == ["steer"]
    agent.clear_steering_queue()
    assert [text_of(message) for message in agent.peek_queued_messages()] == ["follow up"]


async def test_continue_goes_on_from_a_message_of_the_user() -> None:
    script = Script(assistant("hi"))
    agent = Agent(model=MODEL, stream_fn=script, messages=[user("hello")])
    heard = Recorder(agent)
    outcome = await agent.continue_()
    assert script.requests[0].said == ["user: hello"]
    assert [text_of(message) for message in outcome.messages] == ["hi"]
    assert heard.briefs[:3] == ["agent_start", "turn_start", "message_start assistant"]
    assert check(heard.events) == list(outcome.messages)


async def test_a_run_that_cannot_be_prepared_leaves_the_agent_free() -> None:
    """A declaration that is no JSON comes out when the tools are announced: before the run, so there is none."""
    agent = Agent(model=MODEL, stream_fn=Script(), messages=[user("hello"), assistant("hi")])
    queued = user("queued")
    agent.steer(queued)
    for start in (lambda: agent.prompt("go"), agent.continue_):
        agent.tools = [tool("work", print, constrained_sampling=float("nan"))]
        with pytest.raises(ValueError, match="number"):
            await start()
        assert not agent.state.is_streaming
        assert agent.signal is None
        agent.tools = []
        assert agent.peek_queued_messages() == (queued,)
    await agent.prompt("go")


# --- state and events -------------------------------------------------------------------------------------


async def test_the_state_follows_the_events() -> None:
    script = Script(assistant("hm", call("t1"), call("t2")), assistant("done"))
    agent = Agent(model=MODEL, stream_fn=script, tools=[tool("work", working)])
    heard = Recorder(agent)
    await agent.prompt("go")
    assert all(state.is_streaming for state in heard.states)
    for event, state in zip(heard.events, heard.states, strict=True):
        if isinstance(event, MessageStart | MessageUpdate):
            assert state.streaming_message is event.message
        else:
            assert state.streaming_message is None
    assert heard.state_at("tool_execution_start t1").pending_tool_calls == ("t1",)
    assert heard.state_at("tool_execution_start t2").pending_tool_calls == ("t1", "t2")
    assert heard.state_at("message_start toolResult").pending_tool_calls == ()
    assert len(heard.state_at("message_start user").messages) == 1  # the tools' declaration
    assert len(heard.state_at("message_end user").messages) == 2
    assert not agent.state.is_streaming


async def working(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
    await trio.lowlevel.checkpoint()
    return result(f"{call_id} worked")


async def test_one_message_is_one_object_everywhere() -> None:
    agent = Agent(
        model=MODEL, stream_fn=Script(assistant(call("t1")), assistant("done")), tools=[tool("work", working)]
    )
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    said = check(heard.events)
    assert (
        [id(message) for message in agent.messages[1:]]
        == list(map(id, said))
        == list(map(id, outcome.messages))
    )


async def test_the_error_message_is_of_the_latest_failed_run() -> None:
    failed = assistant("half", stop_reason="error", error_message="overloaded")
    agent = Agent(model=MODEL, stream_fn=Script(failed, assistant("better"), failed))
    heard = Recorder(agent)
    outcome = await agent.prompt("go")
    assert (outcome.stop_reason, outcome.error_message) == ("error", "overloaded")
    assert outcome.errors == ()
    assert agent.state.error_message == "overloaded"
    assert heard.state_at("message_end assistant").error_message is None
    assert heard.state_at("turn_end").error_message == "overloaded"
    await agent.prompt("again")
    assert agent.state.error_message is None
    await agent.prompt("and again")
    agent.reset()
    assert agent.state.error_message is None


async def test_events_do_not_change() -> None:
    agent = Agent(
        model=MODEL,
        stream_fn=Script(assistant("hm", call("t1", deep={"list": [1]}))),
        tools=[tool("work", working)],
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    for event in heard.events:
        for field in attrs.fields(type(event)):
            with pytest.raises(attrs.exceptions.FrozenInstanceError):
                setattr(event, field.name, None)
    args = next(event.args for event in heard.events if event.type == "tool_execution_start")
    with pytest.raises(TypeError):
        args["deep"]["list"].append(2)


async def test_partials_that_were_heard_stay_as_they_were() -> None:
    agent = Agent(model=MODEL, stream_fn=Script(assistant("abcd")))
    heard = Recorder(agent)
    await agent.prompt("go")
    texts = [text_of(event.message) for event in heard.of(MessageUpdate)]
    assert texts == ["", "ab", "abcd", "abcd"]


async def test_assigned_messages_reach_the_next_run_only() -> None:
    """S-27: the loop has its own copy, and what it says is appended to what was assigned."""
    agent = Agent(model=MODEL, messages=[user("old")])

    async def assigning(call_id: str, args: Any, signal: AbortSignal, on_update: Any) -> Any:
        agent.messages = [user("new")]
        return result()

    script = Script(assistant(call("t1")), assistant("done"))
    agent.stream_fn = script
    agent.tools = [tool("work", assigning)]
    await agent.prompt("go")
    assert "user: old" in script.requests[1].said
    assert [f"{m.role} {text_of(m)}" for m in agent.messages] == [
        "user new",
        "toolResult ok",
        "assistant done",
    ]


# --- what a run reads when --------------------------------------------------------------------------------


async def test_what_a_run_reads_at_its_start_is_fixed() -> None:
    agent = Agent(model=MODEL, thinking_level="high", tools=[tool("work", working)])
    other = attrs.evolve(MODEL, id="m-2")
    called: list[str] = []

    def change(event: AgentEvent, signal: AbortSignal) -> None:
        if event.type == "turn_start":
            agent.model = other
            agent.thinking_level = "off"
            agent.tools = []
            agent.tool_execution = "sequential"
            agent.finish_turn = lambda turn, signal: called.append("finish_turn")  # type: ignore[assignment, func-returns-value]

    script = Script(assistant(call("t1")), assistant("done"))
    agent.stream_fn = script
    unsubscribe = agent.subscribe(change)
    await agent.prompt("go")
    assert [request.model.id for request in script.requests] == ["m-1", "m-1"]
    assert [request.options.reasoning for request in script.requests] == ["high", "high"]
    assert [text_of(message) for message in results_of(agent.messages)] == ["t1 worked"]
    assert called == []
    assert agent.state.model.id == "m-2"
    unsubscribe()
    await agent.prompt("go")
    assert script.requests[-1].model.id == "m-2"
    assert script.requests[-1].options.reasoning is None
    assert called == ["finish_turn"]


async def test_prepare_next_turn_is_looked_up_at_each_call() -> None:
    agent = Agent(model=MODEL, tools=[tool("work", working)])
    called: list[str] = []

    def first(signal: AbortSignal) -> None:
        called.append("first")
        agent.prepare_next_turn = second

    def second(signal: AbortSignal) -> None:
        called.append("second")
        agent.prepare_next_turn_with_context = third

    def third(turn: Any, signal: AbortSignal) -> NextTurn | None:
        called.append("third")
        agent.prepare_next_turn_with_context = agent.prepare_next_turn = None
        return None

    agent.prepare_next_turn = first
    agent.stream_fn = Script(*(assistant(call(f"t{n}")) for n in range(5)))
    await agent.prompt("go")
    assert called == ["first", "second", "third"]


async def test_options_reach_the_stream_function() -> None:
    def on_payload(*args: Any) -> None: ...
    def on_response(*args: Any) -> None: ...
    def on_event(*args: Any) -> None: ...

    script = Script()
    agent = Agent(
        model=MODEL,
        thinking_level="low",
        stream_fn=script,
        session_id="s-1",
        thinking_budgets={"low": 100},
        transport="sse",
        max_retry_delay_ms=0,
        identity={"session": "x"},
        on_payload=on_payload,
        on_response=on_response,
        on_provider_stream_event=on_event,
        get_api_key=lambda provider: f"key of {provider}",
    )
    await agent.prompt("go")
    options = script.requests[0].options
    assert (options.session_id, options.transport, options.max_retry_delay_ms) == ("s-1", "sse", 0)
    assert options.thinking_budgets == {"low": 100}
    assert (options.on_payload, options.on_response) == (on_payload, on_response)
    assert options.on_provider_stream_event is on_event
    assert options.reasoning == "low"
    assert options.api_key == "key of tests"
    assert "key of tests" not in repr(options)
    assert options.identity is not None
    assert options.identity["session"] == "x"
    assert options.identity["attribution"] == {
        "name": "pi",
        "url": "https://pi.dev",
        "categories": ["cli-agent"],
    }
    assert script.requests[0].context.system_prompt is None
    assert script.requests[0].context.tools is None
    assert answers_of(agent.messages)[0].thinking_level == "low"


# --- reset ------------------------------------------------------------------------------------------------


async def test_reset_forgets_the_conversation_and_keeps_the_rest() -> None:
    tools = [tool("a", print)]
    agent = Agent(
        model=MODEL, thinking_level="low", system_prompt="be brief", tools=tools, stream_fn=Script()
    )
    heard = Recorder(agent)
    await agent.prompt("go")
    await agent.prompt(SystemMessage(content="be briefer", timestamp=7))
    agent.steer(user("queued"))
    agent.follow_up(user("queued too"))
    agent.reset()
    assert agent.messages == (
        SystemMessage(content="be brief\n\nbe briefer", tools_added=[tools[0].declaration()], timestamp=0),
    )
    assert not agent.has_queued_messages()
    assert (agent.model, agent.thinking_level, agent.tools) == (MODEL, "low", tuple(tools))
    assert agent.system_prompt == "be brief\n\nbe briefer"
    heard.events.clear()
    await agent.prompt("go")
    check(heard.events)
    empty = Agent()
    empty.reset()
    assert empty.messages == ()
