"""The adapter for Node with Pi's loop alone: no agent behind it, so asks for the polls and refusals for the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .talk import (
    MODEL,
    TOOLS,
    USER,
    Message,
    Talk,
    assistant,
    call,
    delta,
    done,
    failed,
    result,
    start,
    talking,
    text,
)

pytestmark = pytest.mark.upstream

BYE = [done(text("bye"))]


async def looping(pi: Talk, *held: str, **create: Any) -> None:
    """A new loop with a prompt that has come as far as the request, or to the first of `held`."""
    create = {"initialState": {"model": MODEL}, "tools": TOOLS, "listeners": ["L"], **create}
    await pi.create(target="loop", **create)
    await pi.do("prompt", op="p1", input=USER)
    await pi.settle(*held)


async def calling(pi: Talk, *calls: Message, held: tuple[str, ...] = (), **create: Any) -> int:
    """As `looping`, and the model has asked for the calls. Returns how much had been said before."""
    await looping(pi, **create)
    mark = len(pi.said)
    await pi.stream([start(), done(*calls, stop="toolUse")], 0, *held)
    return mark


async def test_hello_of_each_release(any_pi):
    async with talking(any_pi) as pi:
        (hello,) = pi.said
        assert hello["features"]["targets"] == ["agent", "loop"]
        assert ("loopHooks" in hello["features"]) == (any_pi.release == "0.80.2")
        assert "getSteeringMessages" not in hello["hooks"]


async def test_every_hook_of_the_loop_can_be_installed_and_is_called(any_pi):
    async with talking(any_pi) as pi:
        hello = pi.said[0]
        hooks = hello["features"].get("loopHooks") or [
            name for name in hello["hooks"] if name != "prepareNextTurnWithContext"
        ]
        await calling(pi, call(1, "a"), hooks=hooks)
        await pi.answer({"fn": "execute"}, result("r"))
        await pi.settle()
        await pi.stream(BYE, 1)
        assert pi.said[-1] == {"tell": "settled", "op": "p1", "ok": True}
        asks = [message for message in pi.said if "fn" in message]
        assert set(hooks) <= {ask["fn"] for ask in asks}
        without_signal = {"convertToLlm", "getApiKey", "getSteeringMessages", "getFollowUpMessages"}
        assert {ask["fn"] for ask in asks if "aborted" not in ask} == without_signal
        for ask in asks:
            if ask["fn"] in {"prepareNextTurn", "finishTurn", "shouldStopAfterTurn"}:
                assert ask["args"].keys() == {"message", "toolResults", "context", "newMessages"}


@pytest.mark.parametrize("hook", ["prepareNextTurnWithContext", "finishTurn"])
async def test_a_hook_that_the_loop_does_not_call_is_refused(any_pi, hook):
    async with talking(any_pi) as pi:
        offered = hook == "finishTurn" and hook in pi.said[0]["hooks"]
        reply = await pi.reply("create", target="loop", hooks=[hook])
        assert ("ok" in reply) == offered
        assert offered or reply["error"].startswith("driver: ")


async def test_a_text(any_pi):
    async with talking(any_pi) as pi:
        await looping(pi, tools=[])
        await pi.stream([start(), delta("Hello"), done(text("Hello"))])
        assert pi.since() == (
            "AS TS ms me [getSteeringMessages] [streamFn] ms mu me TE [getSteeringMessages] [getFollowUpMessages] AE "
            "(settled p1 True)"
        )
        added = pi.said[-2]["args"]["event"]["messages"]
        assert [message["role"] for message in added] == ["user", "assistant"]
        assert await pi.do("messages") == added


async def test_the_context_grows_by_what_each_run_returns(pi_install):
    async with talking(pi_install) as pi:
        await looping(
            pi, tools=[], initialState={"model": MODEL, "messages": [{**USER, "content": "before"}]}
        )
        assert len(await pi.do("messages")) == 1
        await pi.stream(BYE)
        assert [message["role"] for message in await pi.do("messages")] == ["user", "user", "assistant"]
        await pi.do("continue", op="k1")
        assert pi.said[-1]["error"] == "Cannot continue from message role: assistant"
        await pi.do("setMessages", messages=[USER])
        await pi.do("continue", op="k2")
        await pi.settle()
        assert await pi.do("messages") == [USER]
        await pi.stream(BYE, 1)
        assert len(await pi.do("messages")) == 2
        await pi.do("setMessages", messages=[])
        await pi.do("continue", op="k3")
        assert pi.said[-1] == {
            "tell": "settled",
            "op": "k3",
            "ok": False,
            "error": "Cannot continue: no messages in context",
        }


async def test_a_failed_run_says_nothing_more_and_adds_nothing(any_pi):
    async with talking(any_pi) as pi:
        await looping(pi)
        mark = len(pi.said)
        await pi.answer({"fn": "streamFn"}, throw="no route")
        assert pi.since(mark) == "(settled p1 False no route)"
        assert await pi.do("messages") == []
        await pi.do("prompt", op="p2", input=USER)
        await pi.settle()
        await pi.stream(BYE, 1)
        assert pi.said[-1] == {"tell": "settled", "op": "p2", "ok": True}


async def test_a_listener_that_fails_hides_the_event_from_those_behind_it(pi_install):
    async with talking(pi_install) as pi:
        await looping(pi, "listener", listeners=["L", "M"])
        await pi.answer("c1")
        await pi.answer("c2")
        await pi.answer("c3", throw="boom")
        assert pi.since() == "AS M:AS TS (settled p1 False boom)"


async def test_what_polls_give_is_said(pi_install):
    async with talking(pi_install) as pi:
        await looping(pi, "getSteeringMessages", tools=[])
        await pi.answer(pi.open.pop()["ask"], [USER, USER])
        await pi.settle()
        assert len(pi.said[-1]["args"]["context"]["messages"]) == 3
        await pi.stream(BYE, 0, "getFollowUpMessages")
        await pi.answer(pi.open.pop()["ask"], [USER])
        await pi.settle()
        assert len(pi.said[-1]["args"]["context"]["messages"]) == 5


async def test_an_abort_raises_the_signal_of_the_run_and_no_other(pi_install):
    async with talking(pi_install) as pi:
        await pi.create(target="loop", initialState={"model": MODEL})
        await pi.do("abort")
        await calling(pi, call(1, "a"), call(2, "b"), hooks=["prepareNextTurn"])
        mark = len(pi.said)
        await pi.do("abort")
        assert pi.since(mark) == "signal([execute t1]) signal([execute t2])"
        mark = len(pi.said)
        for number in (2, 1):
            await pi.answer({"fn": "execute", "key": f"t{number}"}, throw="stopped")
            await pi.settle("prepareNextTurn")
        assert pi.since(mark).endswith("TE~ [getSteeringMessages] [prepareNextTurn]~")
        await pi.settle()
        await pi.stream([failed("aborted", "x")], 1)
        assert pi.said[-1] == {"tell": "settled", "op": "p1", "ok": True}
        await pi.do("abort")
        await pi.do("prompt", op="p2", input=USER)
        await pi.settle()
        assert pi.said[-1]["fn"] == "streamFn"
        assert pi.said[-1]["aborted"] is False


async def test_an_abort_is_told_to_the_hook_that_pi_gives_no_signal(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"), hooks=["prepareNextTurn"])
        await pi.answer({"fn": "execute"}, result("r"))
        await pi.settle("prepareNextTurn")
        mark = len(pi.said)
        await pi.do("abort")
        assert pi.since(mark) == "signal([prepareNextTurn])"


OF_AGENTS: list[Message] = [
    {"cmd": "state"},
    {"cmd": "steer", "message": USER},
    {"cmd": "followUp", "message": USER},
    {"cmd": "clearQueue", "which": "all"},
    {"cmd": "peekQueued"},
    {"cmd": "reset"},
    {"cmd": "waitForIdle", "op": "w1"},
    {"cmd": "prompt", "op": "p9", "input": "again"},
    {"cmd": "continue", "op": "k9"},
]


async def test_what_makes_no_sense_is_refused_and_moves_nothing(pi_install):
    async with talking(pi_install) as pi:
        for command in OF_AGENTS:
            await looping(pi)
            mark = len(pi.said)
            assert (await pi.reply(**command))["error"].startswith("refused: "), command
            assert pi.since(mark) == "", command
            assert (await pi.do("burst", cmds=[command]))[0]["error"].startswith("refused: "), command


@pytest.mark.parametrize(
    ("create", "error"),
    [
        ({"snapshot": True}, "no state to attach"),
        ({"hooks": ["prepareNextTurnWithContext"]}, 'no hook of the loop "prepareNextTurnWithContext"'),
        ({"options": {"steeringMode": "all"}}, 'no option "steeringMode"'),
        ({"options": {"abortMode": "cancel"}}, 'abortMode "cancel" is not offered'),
        ({"initialState": {"tools": []}}, 'no initial state "tools"'),
    ],
)
async def test_what_is_not_offered_makes_no_loop(pi_install, create, error):
    async with talking(pi_install) as pi:
        await looping(pi)
        reply = await pi.reply("create", target="loop", **create)
        assert reply["error"].startswith("driver: ")
        assert error in reply["error"]
        assert (await pi.reply("messages"))["error"] == "driver: there is no agent yet: create one first"


async def test_settings_reach_the_next_run(any_pi):
    async with talking(any_pi) as pi:
        await pi.create(target="loop", initialState={"model": MODEL}, tools=TOOLS[:1])
        await pi.do("setTools", tools=TOOLS)
        await pi.do("setOption", name="toolExecution", value="sequential")
        await pi.do("setOption", name="thinkingLevel", value="high")
        await pi.do("setOption", name="model", value={**MODEL, "id": "other"})
        assert "error" in await pi.reply("setOption", name="steeringMode", value="all")
        await pi.do("subscribe", key="L")
        await pi.do("prompt", op="p1", input="hi")
        await pi.settle()
        request = pi.said[-1]["args"]
        assert (request["model"]["id"], request["options"]["reasoning"]) == ("other", "high")
        mark = len(pi.said)
        await pi.stream([done(call(1, "b"), call(2, "c"), stop="toolUse")])
        assert pi.since(mark) == "ms me ts1 [execute t1]"


async def test_the_prompt_of_the_context(any_pi):
    async with talking(any_pi) as pi:
        await looping(pi, initialState={"model": MODEL, "systemPrompt": "SP"})
        old = any_pi.release.startswith("0.")
        assert pi.said[-1]["args"]["context"].get("systemPrompt") == ("SP" if old else None)
        reply = await pi.reply("setOption", name="systemPrompt", value="other")
        assert ("ok" in reply) == old


async def test_the_stop_hook_of_the_loop_before_1_0(any_pi):
    async with talking(any_pi) as pi:
        if not any_pi.release.startswith("0."):
            assert "error" in await pi.reply("create", target="loop", hooks=["shouldStopAfterTurn"])
            return
        await calling(pi, call(1, "a"), hooks=["shouldStopAfterTurn"])
        mark = len(pi.said)
        await pi.answer({"fn": "execute"}, result("r"))
        await pi.settle("shouldStopAfterTurn")
        await pi.answer(pi.open.pop()["ask"], value=True)
        await pi.settle()
        assert pi.since(mark) == "te1 ms me TE [shouldStopAfterTurn] AE (settled p1 True)"


async def test_a_new_conversation_silences_the_loop_and_may_be_an_agent(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"))
        await pi.create(initialState={"model": MODEL}, listeners=["L"])
        await pi.do("prompt", op="p2", input=USER)
        await pi.settle()
        await pi.stream([start(), done(text("x"))])
        assert pi.since() == "AS TS ms me [streamFn] ms me TE AE (settled p2 True)"
        state = await pi.do("state")
        assert state["messages"][-1]["content"] == assistant(text("x"))["content"]


async def test_the_same_conversation_is_the_same_thirty_times(pi_install):
    traces = set()
    async with talking(pi_install) as pi:
        for _ in range(30):
            hooks = ["beforeToolCall", "afterToolCall", "prepareNextTurn", "finishTurn", "transformContext"]
            await calling(pi, call(1, "a"), call(2, "b"), call(3, "c"), hooks=hooks, listeners=["L", "M"])
            for number in (2, 3, 1):
                await pi.do("update", ask={"fn": "execute", "key": f"t{number}"}, value=result("half"))
                await pi.answer({"fn": "execute", "key": f"t{number}"}, result("whole"))
            await pi.do("abort")
            await pi.settle()
            await pi.stream([failed("aborted", "x")], 1)
            traces.add(pi.since() + json.dumps([message.get("aborted") for message in pi.said]))
    assert len(traces) == 1
