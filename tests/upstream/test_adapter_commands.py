"""The commands of the adapter for Node, on real Pi: what each does, and what is said of one that cannot be done."""

from __future__ import annotations

import json

import pytest

from pi_trio.conformance.options import OF_CREATE, OF_SET_OPTION

from ..conformance.driver.odd import ODD
from .prompting import calling, prompted
from .talk import MODEL, TOOLS, USER, Message, assistant, call, done, result, start, talking, text

pytestmark = pytest.mark.upstream


async def test_addresses_count_from_the_creation_of_the_agent(pi_install):
    async with talking(pi_install) as pi:
        await pi.create(initialState={"model": MODEL}, listeners=["L", "M"])
        await pi.do("prompt", op="p1", input=[USER])
        for address in (
            {"fn": "listener", "key": "L", "nth": 0},
            {"fn": "listener", "key": "M", "event": "agent_start"},
            {"fn": "listener", "key": "L", "event": "turn_start", "nth": 0},
            {"fn": "listener", "nth": 3},
            {"fn": "listener", "key": "L", "nth": 2},
        ):
            await pi.answer(address)
        assert pi.since() == "AS M:AS TS M:TS ms M:ms"
        reply = await pi.reply("answer", ask={"fn": "listener", "key": "M", "nth": 3})
        assert reply["error"].startswith("driver: there is no ask ")


async def test_a_new_agent_silences_the_former_one(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"), listeners=["L", "M"])
        await pi.do("update", ask={"fn": "execute", "key": "t1"}, value=result("half"))
        former = len(pi.said)
        await pi.create(initialState={"model": MODEL}, listeners=["N"])
        assert (await pi.reply("answer", ask=f"c{former - 1}"))["error"].startswith("driver: there is no ask")
        await pi.do("prompt", op="p2", input=USER)
        assert pi.said[0]["ask"] == "c1"
        await pi.settle()
        await pi.stream([start(), done(text("x"))])
        assert pi.since().replace("N:", "") == "AS TS ms me [streamFn] ms me TE AE (settled p2 True)"


async def test_an_agent_that_cannot_be_made_leaves_none(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi)
        assert "error" in await pi.reply("create", hooks=["shouldStopAfterTurn"])
        assert (await pi.reply("state"))["error"] == "driver: there is no agent yet: create one first"


DRIVER_ERRORS: list[tuple[Message, str]] = [
    ({"cmd": "dance"}, 'unknown command "dance"'),
    ({}, "unknown command"),
    ({"cmd": "prompt", "op": "p9"}, 'prompt needs "input"'),
    ({"cmd": "prompt", "input": "x"}, 'prompt needs "op"'),
    ({"cmd": "steer", "message": "x"}, 'steer needs "message" (object), got string'),
    ({"cmd": "clearQueue", "which": "toString"}, "which is one of steering, followUp, all"),
    ({"cmd": "setOption", "name": "systemPrompt", "value": "x"}, 'no settable option "systemPrompt"'),
    ({"cmd": "unsubscribe", "key": "Z"}, 'no listener "Z"'),
    ({"cmd": "answer", "ask": "c99"}, 'there is no ask "c99"'),
    ({"cmd": "answer", "ask": "c1"}, 'ask "c1" is answered already'),
    ({"cmd": "answer", "ask": None}, "there is no ask"),
    ({"cmd": "answer", "ask": {"fn": "streamFn"}, "value": 1}, "streamFn is answered with"),
    ({"cmd": "update", "ask": "c1", "value": 1}, 'ask "c1" is no execute'),
    ({"cmd": "push", "ask": {"fn": "streamFn"}, "event": start()}, "has no stream"),
    ({"cmd": "burst", "cmds": 1}, 'burst needs "cmds" (array), got number'),
    ({"cmd": "create", "hooks": ["shouldStopAfterTurn"]}, 'no hook "shouldStopAfterTurn"'),
    ({"cmd": "create", "options": {"speed": 1}}, 'no option "speed"'),
    ({"cmd": "create", "options": {"abortMode": "cancel"}}, 'abortMode "cancel" is not offered'),
    ({"cmd": "create", "initialState": {"tools": []}}, 'no initial state "tools"'),
    ({"cmd": "create", "target": "moon"}, 'target "moon" is not offered'),
]


async def test_an_error_of_the_driver_says_so_and_moves_nothing(pi_install):
    async with talking(pi_install) as pi:
        for number, (command, error) in enumerate(DRIVER_ERRORS, start=1000):
            await prompted(pi)
            mark = len(pi.said)
            await pi.write(json.dumps({"id": number, **command}) + "\n")
            reply = await pi.reply_of(number)
            assert reply["error"].startswith("driver: "), command
            assert error in reply["error"], command
            assert pi.since(mark) == "", command


@pytest.mark.parametrize("target", ["agent", "loop"])
async def test_what_create_and_set_tools_cannot_mean_is_refused(pi_install, target):
    async with talking(pi_install) as pi:
        for odd in ODD:
            reply = await pi.reply("create", target=target, **odd)
            assert reply.get("error", "").startswith("driver: "), (odd, reply)
            if "tools" in odd:
                await pi.create(target=target)
                assert (await pi.reply("setTools", **odd))["error"].startswith("driver: "), odd
        await pi.create(target=target, initialState={"thinkingLevel": "zork"}, snapshot=False)
        reply = await pi.reply("setOption", name="toolExecution", value="x")
        assert reply["error"] == 'driver: toolExecution is parallel or sequential, not "x"'


async def test_an_error_of_pi_is_its_own(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi)
        reply = await pi.reply("reset")
        assert reply["error"] == "Agent is already processing. Wait for completion before resetting."
        mark = len(pi.said)
        assert await pi.do("prompt", op="p2", input="x") is None
        settled = pi.said[mark]
        assert (settled["op"], settled["ok"]) == ("p2", False)
        assert settled["error"].startswith("Agent is already processing a prompt.")


async def test_a_burst_is_one_synchronous_stretch(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"))
        mark = len(pi.said)
        execute = {"fn": "execute", "key": "t1"}
        outcome = await pi.do(
            "burst",
            cmds=[
                {"cmd": "answer", "ask": execute, "value": result("1")},
                {"cmd": "update", "ask": execute, "value": result("just in time")},
                {"cmd": "answer", "ask": execute},
                {"cmd": "state"},
                {"cmd": "create"},
                {"cmd": "burst", "cmds": []},
                None,
            ],
        )
        assert [next(iter(each)) for each in outcome] == [
            "ok",
            "ok",
            "error",
            "ok",
            "error",
            "error",
            "error",
        ]
        # The state is that of its place in the burst, where nothing could run yet.
        assert outcome[3]["ok"]["pendingToolCalls"] == ["t1"]
        assert pi.since(mark) == "tu1"
        await pi.settle()
        assert pi.since(mark) == "tu1 te1 ms me TE TS [streamFn]"


async def test_the_state_is_whole_and_what_is_absent_is_left_out(pi_install):
    async with talking(pi_install) as pi:
        await pi.create(
            initialState={"systemPrompt": "SP", "model": MODEL, "thinkingLevel": "low"}, tools=TOOLS
        )
        declared = [
            {"name": tool["name"], "description": tool["description"], "parameters": tool["parameters"]}
            for tool in TOOLS
        ]
        system = {"role": "system", "content": "SP", "timestamp": 0, "toolsAdded": declared}
        idle = {
            "systemPrompt": "SP",
            "model": MODEL,
            "thinkingLevel": "low",
            "tools": declared,
            "messages": [system],
            "isStreaming": False,
            "pendingToolCalls": [],
            "hasQueuedMessages": False,
        }
        assert await pi.do("state") == idle
        await pi.do("steer", message=USER)
        assert await pi.do("peekQueued") == [USER]
        await pi.do("prompt", op="p1", input=USER)
        running = {"isStreaming": True, "messages": [system, USER, USER], "signal": "live"}
        assert await pi.do("state") == {**idle, **running}
        await pi.do("abort")
        assert await pi.do("state") == {**idle, **running, "signal": "aborted"}
        assert await pi.do("messages") == running["messages"]


async def test_a_snapshot_goes_with_every_listener_call(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi, snapshot=True, listeners=["L", "T"], tellListeners=["T"])
        await pi.stream([start(), done(call(1, "a"), stop="toolUse")])
        states = {
            (message["args"]["event"]["type"], message["key"]): message["args"]["state"]
            for message in pi.said
            if message.get("fn") == "listener"
        }
        assert states["agent_start", "L"]["isStreaming"] is True
        assert states["message_start", "L"]["streamingMessage"] == assistant()
        assert "streamingMessage" not in states["message_end", "L"]
        assert states["tool_execution_start", "L"]["pendingToolCalls"] == ["t1"]
        told = [message for message in pi.said if message.get("tell") == "event"]
        assert len(told) == len([message for message in pi.said if message.get("fn") == "listener"])
        assert all(message["key"] == "T" and "state" in message for message in told)


async def test_listeners_come_and_go(pi_install):
    async with talking(pi_install) as pi:
        await pi.create(initialState={"model": MODEL}, listeners=["L", "M"], tellListeners=["T"])
        await pi.do("subscribe", key="T")
        await pi.do("subscribe", key="T")
        assert await pi.do("unsubscribe", key="M") is True
        assert await pi.do("unsubscribe", key="M") is False
        await pi.do("prompt", op="p1", input=USER)
        await pi.answer({"fn": "listener"})
        assert pi.since() == "AS (event T) TS"


async def test_options_and_settings_reach_pi(pi_install):
    async with talking(pi_install) as pi:
        options = {
            "toolExecution": "sequential",
            "steeringMode": "all",
            "sessionId": "s",
            "abortMode": "signal",
        }
        mark = await calling(pi, call(1, "a"), call(2, "b"), options=options)
        assert pi.since(mark) == "ms me ts1 [execute t1]"
        assert next(m for m in pi.said if m.get("fn") == "streamFn")["args"]["options"]["sessionId"] == "s"
        for _ in range(2):
            await pi.do("steer", message=USER)
        assert len(await pi.do("peekQueued")) == 2
        await pi.do("setOption", name="steeringMode", value="one-at-a-time")
        assert len(await pi.do("peekQueued")) == 1
        await pi.do("clearQueue", which="steering")
        await pi.do("setOption", name="thinkingLevel", value="high")
        await pi.do("setTools", tools=TOOLS[2:])
        await pi.do("setMessages", messages=[USER])
        state = await pi.do("state")
        assert (state["thinkingLevel"], len(state["tools"]), state["messages"]) == ("high", 1, [USER])
        assert state["hasQueuedMessages"] is False


async def test_the_options_of_each_release_are_those_that_the_tester_knows(any_pi):
    release = f"pi-{any_pi.release}"
    values = {
        "identity": {}, "model": MODEL, "toolExecution": "parallel", "thinkingBudgets": {}, "maxRetryDelayMs": 5,
    }  # fmt: skip
    async with talking(any_pi) as pi:
        for name in OF_CREATE["pi-1.6.0"]:
            reply = await pi.reply("create", options={name: values.get(name, "all")})
            assert ("error" not in reply) == (name in OF_CREATE[release]), name
        await pi.create()
        for name in OF_SET_OPTION["pi-0.80.2"]:
            reply = await pi.reply("setOption", name=name, value=values.get(name, "all"))
            assert ("error" not in reply) == (name in OF_SET_OPTION[release]), name


async def test_the_prompt_string_is_settable_before_1_0(any_pi):
    async with talking(any_pi) as pi:
        await pi.create()
        reply = await pi.reply("setOption", name="systemPrompt", value="SP")
        if any_pi.release.startswith("0."):
            assert (await pi.do("state"))["systemPrompt"] == "SP"
        else:
            assert reply["error"].startswith("driver: ")


async def test_continue(pi_install):
    async with talking(pi_install) as pi:
        await pi.create(initialState={"model": MODEL, "messages": [USER]}, listeners=[])
        await pi.do("continue", op="k1")
        await pi.stream([done(text("x"))])
        assert pi.since() == "[streamFn] (settled k1 True)"
        await pi.do("continue", op="k2")
        assert pi.said[-1]["error"] == "Cannot continue from message role: assistant"
