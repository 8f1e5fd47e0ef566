"""The loop alone behind the driver: asks where an agent has queues, refusals where it has a state."""

from __future__ import annotations

from typing import Any

import pytest

from pi_trio.profile import PI_0_80_2, PI_0_85_0, PI_1_0_3, PI_1_6_0

from .talk import BYE, CALL, RESULT, TOOL, USER, Message, Talk, assistant, call, done, talking


async def looping(loop: Talk, *held: str, **create: Any) -> None:
    """A new loop with a prompt that has come as far as the request, or to the first of `held`."""
    await loop.create(target="loop", **{"listeners": ["L"], "tellListeners": ["L"], **create})
    await loop.do("prompt", op="p1", input=[USER])
    await loop.settle(*held)


async def calling(loop: Talk, *held: str, **create: Any) -> None:
    """As `looping`, and the model has called a tool."""
    await looping(loop, tools=[TOOL], **create)
    await loop.stream(CALL, held=held)


def said_to_the_model(loop: Talk) -> list[Any]:
    """The contents of the messages of the open request."""
    return [message["content"] for message in loop.open[-1]["args"]["context"]["messages"]]


async def test_a_text_with_the_polls_of_both_queues() -> None:
    async with talking() as loop:
        await looping(loop)
        await loop.stream(BYE)
        assert loop.brief() == [
            "agent_start", "turn_start", "message_start", "message_end", "getSteeringMessages", "streamFn",
            "message_start", "message_end", "turn_end", "getSteeringMessages", "getFollowUpMessages", "agent_end",
            "settled p1 well",
        ]  # fmt: skip


async def test_the_context_grows_by_what_a_run_returns() -> None:
    async with talking() as loop:
        await looping(loop, initialState={"messages": [{**USER, "content": "before"}]})
        assert [message["content"] for message in await loop.do("messages")] == ["before"]
        await loop.stream(BYE)
        final = assistant("bye", thinkingLevel="off")
        assert await loop.do("messages") == [{**USER, "content": "before"}, USER, final]


async def test_a_failed_run_leaves_the_context_as_it_was_and_the_next_one_works() -> None:
    async with talking() as loop:
        await looping(loop)
        await loop.answer("streamFn", throw="no route")
        assert loop.brief()[-2:] == ["streamFn", "settled p1 no route"]
        assert await loop.do("messages") == []
        await loop.do("prompt", op="p2", input=[USER])
        await loop.settle()
        await loop.stream(BYE)
        assert loop.brief()[-1] == "settled p2 well"
        assert len(await loop.do("messages")) == 2


async def test_polls_say_nothing_of_an_abort_and_hear_nothing_of_it() -> None:
    async with talking() as loop:
        await looping(loop, "getSteeringMessages")
        (poll,) = loop.open
        assert poll == {"ask": "c1", "fn": "getSteeringMessages", "args": {}}
        mark = len(loop.said)
        await loop.do("abort")
        assert loop.brief(mark) == []
        await loop.settle()
        assert loop.said[-1]["fn"] == "streamFn"
        assert loop.said[-1]["aborted"] is True


async def test_what_polls_give_is_said() -> None:
    async with talking() as loop:
        await looping(loop, "getSteeringMessages")
        await loop.answer("getSteeringMessages", [{**USER, "content": "s1"}, {**USER, "content": "s2"}])
        assert said_to_the_model(loop) == ["hi", "s1", "s2"]
        await loop.stream(BYE, held=("getFollowUpMessages",))
        await loop.answer("getFollowUpMessages", [{**USER, "content": "f1"}])
        assert said_to_the_model(loop)[-1] == "f1"


async def test_a_poll_that_gives_no_messages_is_a_fault_of_the_script() -> None:
    async with talking() as loop:
        await looping(loop, "getSteeringMessages")
        reply = await loop.reply("answer", ask="c1", value=[{"role": 1}])
        assert reply["error"].startswith("driver: ")
        await loop.answer("getSteeringMessages")
        assert loop.said[-1]["fn"] == "streamFn"


async def test_prepare_next_turn_gets_the_turn() -> None:
    async with talking() as loop:
        await calling(loop, "prepareNextTurn", hooks=["prepareNextTurn"])
        await loop.answer("execute", RESULT)
        await loop.settle("prepareNextTurn")
        (ask,) = loop.open
        assert ask["args"].keys() == {"message", "toolResults", "context", "newMessages"}
        assert len(ask["args"]["toolResults"]) == 1
        assert ask["aborted"] is False
        await loop.do("abort")
        assert loop.said[-1] == {"tell": "signal", "ask": ask["ask"]}


OF_AGENTS: list[Message] = [
    {"cmd": "state"},
    {"cmd": "steer", "message": USER},
    {"cmd": "followUp", "message": USER},
    {"cmd": "clearQueue", "which": "all"},
    {"cmd": "peekQueued"},
    {"cmd": "reset"},
    {"cmd": "waitForIdle", "op": "w1"},
]


@pytest.mark.parametrize("command", OF_AGENTS, ids=[command["cmd"] for command in OF_AGENTS])
async def test_what_only_an_agent_has_is_refused_in_a_run_and_without_one(command: Message) -> None:
    async with talking() as loop:
        await loop.create(target="loop")
        assert (await loop.reply(**command))["error"].startswith("refused: ")
        await looping(loop)
        mark = len(loop.said)
        assert (await loop.reply(**command))["error"].startswith("refused: ")
        assert loop.brief(mark) == []
        burst = await loop.do("burst", cmds=[command])
        assert burst[0]["error"].startswith("refused: ")


async def test_there_is_one_run_at_a_time() -> None:
    async with talking() as loop:
        await looping(loop)
        for cmd, fields in (("prompt", {"input": "again"}), ("continue", {})):
            reply = await loop.reply(cmd, op="p2", **fields)
            assert reply["error"].startswith("refused: ")
        await loop.stream(BYE)
        assert loop.brief()[-1] == "settled p1 well"
        assert not any("p2" in said for said in loop.brief())


@pytest.mark.parametrize(
    ("create", "complaint"),
    [
        ({"target": "moon"}, 'target "moon" is not offered'),
        ({"target": "loop", "snapshot": True}, "no state"),
        ({"target": "loop", "hooks": ["prepareNextTurnWithContext"]}, "no hook prepareNextTurnWithContext"),
        ({"target": "loop", "hooks": ["shouldStopAfterTurn"]}, "no hook shouldStopAfterTurn"),
        ({"target": "loop", "options": {"steeringMode": "all"}}, "no option steeringMode"),
        ({"target": "loop", "options": {"abortMode": "maybe"}}, 'abortMode is signal or cancel, not "maybe"'),
        ({"target": "loop", "initialState": {"messages": 1}}, "initialState.messages"),
    ],
)
async def test_what_is_not_offered_makes_no_loop(create: Message, complaint: str) -> None:
    async with talking() as loop:
        await looping(loop)
        reply = await loop.reply("create", **create)
        assert reply["error"].startswith("driver: ")
        assert complaint in reply["error"]
        assert (await loop.reply("messages"))["error"] == "driver: create comes first"


@pytest.mark.parametrize("name", ["steeringMode", "followUpMode", "systemPrompt", "hooks"])
async def test_what_cannot_be_set(name: str) -> None:
    async with talking() as loop:
        await loop.create(target="loop")
        reply = await loop.reply("setOption", name=name, value="all")
        assert reply["error"].startswith("driver: ")


async def test_a_text_becomes_a_message_with_its_images() -> None:
    async with talking() as loop:
        await loop.create(target="loop")
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        await loop.do("prompt", op="p1", input="look", images=[image])
        await loop.settle()
        (message,) = loop.open[0]["args"]["context"]["messages"]
        assert message["content"] == [{"type": "text", "text": "look"}, image]
        assert loop.open[0]["args"]["model"]["id"] == "unknown"


async def test_a_run_has_begun_when_the_next_command_of_a_burst_comes() -> None:
    async with talking() as loop:
        await loop.create(target="loop", listeners=["L"])
        await loop.do("burst", cmds=[{"cmd": "prompt", "op": "p1", "input": "hi"}, {"cmd": "abort"}])
        assert loop.brief() == ["agent_start", "signal c1"]


async def test_listeners_hear_in_order_until_one_fails() -> None:
    async with talking() as loop:
        await looping(loop, "listener", listeners=["L", "M"], tellListeners=[])
        assert [ask["key"] for ask in loop.said] == ["L"]
        await loop.answer("listener")
        assert [ask["key"] for ask in loop.said] == ["L", "M"]
        await loop.answer("listener")
        await loop.answer("listener", throw="boom")
        assert loop.brief() == ["agent_start", "agent_start", "turn_start", "settled p1 boom"]


async def test_a_failure_ends_what_still_runs_and_then_the_run() -> None:
    async with talking() as loop:
        await looping(loop, tools=[TOOL], listeners=["L"], tellListeners=[])
        await loop.stream(done(call("t1"), call("t2"), stop="toolUse"))
        mark = len(loop.said)
        await loop.answer("execute", RESULT)
        await loop.answer("listener", throw="boom")
        t2 = loop.open[0]
        assert loop.brief(mark) == ["tool_execution_end", f"withdrawn {t2['ask']}", "settled p1 boom"]
        mark = len(loop.said)
        assert await loop.do("update", ask=t2["ask"], value=RESULT) is None
        await loop.answer("execute", RESULT)
        assert loop.brief(mark) == []


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], "Cannot continue: no messages in context"),
        ([USER, assistant("hi")], "Cannot continue from message role: assistant"),
    ],
)
async def test_what_cannot_be_continued_settles_so(messages: list[Message], text: str) -> None:
    async with talking() as loop:
        await loop.create(target="loop", initialState={"messages": messages}, listeners=["L"])
        assert await loop.do("continue", op="k1") is None
        assert loop.brief() == [f"settled k1 {text}"]


async def test_in_the_cancelling_mode_an_abort_ends_a_tool_and_polls_nothing() -> None:
    async with talking() as loop:
        await calling(loop, options={"abortMode": "cancel"})
        (tool,) = loop.open
        mark = len(loop.said)
        await loop.do("abort")
        assert loop.brief(mark)[:3] == [
            f"signal {tool['ask']}",
            f"withdrawn {tool['ask']}",
            "tool_execution_end",
        ]
        assert loop.brief(mark)[-2:] == ["agent_end", "settled p1 well"]
        assert loop.open == [tool]


async def test_a_new_conversation_hears_nothing_of_the_former_one() -> None:
    async with talking() as loop:
        await calling(loop)
        await loop.create(target="agent", listeners=["L"], tellListeners=["L"])
        assert loop.said == []
        await loop.do("prompt", op="p2", input=[USER])
        await loop.stream(BYE)
        assert "getSteeringMessages" not in loop.brief()
        await looping(loop)
        assert loop.brief()[-2:] == ["getSteeringMessages", "streamFn"]


@pytest.mark.parametrize("profile", [PI_0_80_2, PI_0_85_0], ids=lambda profile: profile.release)
async def test_older_loops_have_a_prompt_in_the_context_and_a_stop_hook(profile: Any) -> None:
    async with talking(profile) as loop:
        await calling(loop, hooks=["shouldStopAfterTurn"], initialState={"systemPrompt": "be kind"})
        request = next(said for said in loop.said if said.get("fn") == "streamFn")
        assert request["args"]["context"]["systemPrompt"] == "be kind"
        await loop.answer("execute", RESULT)
        assert loop.open[0]["args"].keys() == {"message", "toolResults", "context", "newMessages"}
        await loop.answer("shouldStopAfterTurn", value=True)
        assert loop.brief()[-2:] == ["agent_end", "settled p1 well"]
        await loop.do("setOption", name="systemPrompt", value="be brief")
        await loop.do("prompt", op="p2", input=[USER])
        await loop.settle()
        assert loop.open[0]["args"]["context"]["systemPrompt"] == "be brief"


@pytest.mark.parametrize("profile", [PI_1_0_3, PI_1_6_0], ids=lambda profile: profile.release)
async def test_newer_loops_show_the_prompt_of_the_context_to_the_hooks_alone(profile: Any) -> None:
    async with talking(profile) as loop:
        await looping(loop, hooks=["finishTurn"], initialState={"systemPrompt": "be kind"})
        assert loop.open[0]["args"]["context"].keys() == {"messages"}
        await loop.stream(BYE, held=("finishTurn",))
        assert loop.open[0]["args"]["context"]["systemPrompt"] == "be kind"


async def test_what_cannot_begin_is_over_only_when_nothing_else_is_to_be_done() -> None:
    """As in Pi: whoever asks for the next run in the same breath is refused."""
    async with talking() as loop:
        await loop.create(target="loop", listeners=["L"], tellListeners=["L"])
        commands = [{"cmd": "continue", "op": "c"}, {"cmd": "prompt", "op": "p", "input": "go"}]
        outcomes = await loop.do("burst", cmds=commands)
        assert outcomes[0] == {"ok": None}
        assert outcomes[1]["error"].startswith("refused: ")
        assert [said["op"] for said in loop.said if said.get("tell") == "settled"] == ["c"]
        await loop.do("prompt", op="p2", input=[USER])
        await loop.settle()
