"""The adapter for Node, on real Pi: that it says what Pi does, all of it, in order, and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio

from pi_trio.conformance.options import OF_CREATE, OF_SET_OPTION
from pi_trio.conformance.subjects.pi_releases import PiInstall, command_of

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

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.upstream

HOOKS = [
    "convertToLlm",
    "transformContext",
    "getApiKey",
    "beforeToolCall",
    "afterToolCall",
    "prepareNextTurn",
    "prepareNextTurnWithContext",
    "prepareRequest",
    "finishTurn",
]
COMMANDS = [
    "create",
    "prompt",
    "continue",
    "waitForIdle",
    "abort",
    "steer",
    "followUp",
    "clearQueue",
    "reset",
    "sync",
    "subscribe",
    "unsubscribe",
    "setTools",
    "setMessages",
    "setOption",
    "state",
    "messages",
    "peekQueued",
    "answer",
    "update",
    "push",
    "end",
    "fail",
    "burst",
]


async def prompted(pi: Talk, *held: str, **create: Any) -> None:
    """A new agent with a prompt that has come as far as the request, or to the first of `held`."""
    create = {"initialState": {"model": MODEL}, "tools": TOOLS, "listeners": ["L"], **create}
    await pi.create(**create)
    await pi.do("prompt", op="p1", input=USER)
    await pi.settle(*held)


async def calling(pi: Talk, *calls: Message, held: tuple[str, ...] = (), **create: Any) -> int:
    """As `prompted`, and the model has asked for the calls. Returns how much had been said before."""
    await prompted(pi, **create)
    mark = len(pi.said)
    await pi.stream([start(), done(*calls, stop="toolUse")], 0, *held)
    return mark


def timeless(value: Any) -> Any:
    return json.loads(re.sub(r'("(?:timestamp|durationMs)": )\d+', r'\1"#"', json.dumps(value)))


async def test_hello(pi_install):
    async with talking(pi_install) as pi:
        assert pi.said == [
            {
                "tell": "hello",
                "protocol": 1,
                "subject": "pi",
                "version": "1.6.0",
                "profile": "pi-1.6.0",
                "hooks": HOOKS,
                "commands": COMMANDS,
                "quiescence": "exact",
                "order": "total",
                "features": {"targets": ["agent", "loop"]},
            }
        ]


async def test_hello_of_each_release(any_pi):
    async with talking(any_pi) as pi:
        (hello,) = pi.said
        assert (hello["version"], hello["profile"]) == (any_pi.release, f"pi-{any_pi.release}")
        new = any_pi.release in {"1.0.3", "1.6.0"}
        assert ("finishTurn" in hello["hooks"], "peekQueued" in hello["commands"]) == (new, new)
        assert ("shouldStopAfterTurn" in hello["hooks"]) == (any_pi.release == "0.85.0")


async def test_every_hook_that_is_offered_can_be_installed(any_pi):
    async with talking(any_pi) as pi:
        hooks = pi.said[0]["hooks"]
        await calling(pi, call(1, "a"), hooks=hooks)
        await pi.answer({"fn": "execute"}, result("r"))
        await pi.settle()
        await pi.stream([done(text("bye"))], 1)
        called = {message["fn"] for message in pi.said if "fn" in message}
        # With both, only the one with context is called.
        assert set(hooks) - called == (
            {"prepareNextTurn"} if "prepareNextTurnWithContext" in hooks else set()
        )


async def test_text_plain(pi_install):
    async with talking(pi_install) as pi:
        await pi.create(initialState={"model": MODEL}, listeners=["L"])
        await pi.do("prompt", op="p1", input="hi")
        await pi.do("waitForIdle", op="w1")
        await pi.settle()
        await pi.stream([start(), delta("He"), delta("Hello"), done(text("Hello"))])

        user = {"role": "user", "content": [text("hi")], "timestamp": "#"}
        final = timeless(assistant(text("Hello"), thinkingLevel="off"))
        identity = next(message for message in pi.said if message.get("fn") == "streamFn")["args"]["options"]
        assert identity["identity"]["attribution"]
        expected: list[Message] = [
            {"type": "agent_start"},
            {"type": "turn_start"},
            {"type": "message_start", "message": user},
            {"type": "message_end", "message": user},
            {
                "fn": "streamFn",
                "args": {"model": MODEL, "context": {"messages": [user]}, "options": identity},
            },
            {"type": "message_start", "message": assistant()},
            *(
                {
                    "type": "message_update",
                    "message": assistant(text(so_far)),
                    "assistantMessageEvent": delta(so_far),
                }
                for so_far in ("He", "Hello")
            ),
            {"type": "message_end", "message": final},
            {"type": "turn_end", "message": final, "toolResults": []},
            {"type": "agent_end", "messages": [user, final]},
        ]
        for number, (message, what) in enumerate(zip(pi.said, expected, strict=False), start=1):
            ask = {"fn": "listener", "key": "L", "args": {"event": what}} if "type" in what else what
            assert timeless(message) == timeless({"ask": f"c{number}", **ask, "aborted": False})
        assert pi.said[len(expected) :] == [
            {"tell": "settled", "op": "w1", "ok": True},
            {"tell": "settled", "op": "p1", "ok": True},
        ]


async def test_parallel_tools_end_in_the_order_of_their_answers(pi_install):
    async with talking(pi_install) as pi:
        hooks = ["beforeToolCall", "afterToolCall"]
        mark = await calling(pi, call(1, "a", x="1"), call(2, "b"), call(3, "c"), hooks=hooks)
        assert pi.since(mark) == (
            "ms me ts1 [beforeToolCall t1] ts2 [beforeToolCall t2] ts3 [beforeToolCall t3] "
            "[execute t1] [execute t2] [execute t3]"
        )
        assert pi.said[-3]["args"] == {"tool": "a", "toolCallId": "t1", "args": {"x": "1"}}
        mark = len(pi.said)
        for number in (3, 1, 2):
            await pi.answer({"fn": "execute", "key": f"t{number}"}, result(str(number)))
            await pi.settle()
        assert pi.since(mark) == (
            "[afterToolCall t3] te3 [afterToolCall t1] te1 [afterToolCall t2] te2 "
            "ms me ms me ms me TE TS [streamFn]"
        )
        results = [message["content"][0]["text"] for message in (await pi.do("messages"))[-3:]]
        assert results == ["1", "2", "3"]


async def test_an_abort_is_told_to_what_is_open_in_the_order_of_the_asks(pi_install):
    async with talking(pi_install) as pi:
        hooks = ["beforeToolCall", "afterToolCall"]
        await calling(pi, call(1, "a"), call(2, "b"), call(3, "c"), hooks=hooks)
        await pi.do("update", ask={"fn": "execute", "key": "t1"}, value=result("half"))
        await pi.answer({"fn": "execute", "key": "t2"}, result("2"))
        await pi.settle("listener", "afterToolCall")
        mark = len(pi.said)
        await pi.do("abort")
        await pi.do("abort")
        assert (
            pi.since(mark)
            == "signal([execute t1]) signal([execute t3]) signal(tu1) signal([afterToolCall t2])"
        )
        mark = len(pi.said)
        await pi.settle()
        for number in (3, 1):
            await pi.answer({"fn": "execute", "key": f"t{number}"}, throw="stopped")
            await pi.settle()
        await pi.stream([failed("aborted", "Request was aborted")], 1)
        assert pi.since(mark) == (
            "te2~ [afterToolCall t3]~ te3!~ [afterToolCall t1]~ te1!~ ms~ me~ ms~ me~ ms~ me~ TE~ TS~ "
            "[streamFn]~ ms~ me~ TE~ AE~ (settled p1 True)"
        )


@pytest.mark.parametrize("close", ["push", "end", "fail"])
async def test_a_stream_hears_of_an_abort_until_it_is_closed(pi_install, close):
    async with talking(pi_install) as pi:
        await prompted(pi)
        stream = {"fn": "streamFn"}
        await pi.answer(stream, "stream")
        mark = len(pi.said)
        await pi.do("abort")
        assert pi.since(mark) == "signal([streamFn])"

        await prompted(pi)
        await pi.answer(stream, "stream")
        fields = {"push": {"event": done(text("x"))}, "end": {"result": assistant()}, "fail": {"error": "x"}}
        await pi.do(close, ask=stream, **fields[close])
        mark = len(pi.said)
        await pi.do("abort")
        assert pi.since(mark) == "signal(ms)"


async def test_the_hooks_without_a_signal_hear_nothing_of_an_abort(pi_install):
    async with talking(pi_install) as pi:
        for hook in ("convertToLlm", "getApiKey"):
            await prompted(pi, hook, hooks=[hook])
            (ask,) = pi.open
            assert ask["fn"] == hook
            assert "aborted" not in ask
            mark = len(pi.said)
            await pi.do("abort")
            assert pi.since(mark) == ""


async def test_updates(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a", x="1"))
        execute = {"fn": "execute", "key": "t1"}
        assert await pi.do("update", ask=execute, value=result("half")) is None
        assert pi.said[-1]["args"]["event"] == {
            "type": "tool_execution_update",
            "toolCallId": "t1",
            "toolName": "a",
            "args": {"x": "1"},
            "partialResult": result("half"),
        }
        mark = len(pi.said)
        await pi.answer(execute, result("whole"))
        assert pi.since(mark) == ""
        await pi.settle()
        assert pi.since(mark) == "te1 ms me TE TS [streamFn]"
        mark = len(pi.said)
        assert await pi.do("update", ask=execute, value=result("late")) is None
        assert pi.since(mark) == ""


async def test_the_process_survives_what_pi_leaves_unhandled(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"), call(2, "b"))
        mark = len(pi.said)
        await pi.do("update", ask={"fn": "execute", "key": "t1"}, value=result("half"))
        await pi.answer({"fn": "listener", "event": "tool_execution_update"}, throw="boom")
        assert pi.since(mark) == "tu1 (unhandled boom)"
        pi.open = [ask for ask in pi.open if ask["fn"] == "execute"]

        mark = len(pi.said)
        await pi.answer({"fn": "execute", "key": "t1"}, result("1"))
        await pi.settle()
        assert pi.since(mark) == "ms me TE AE (settled p1 True)"
        mark = len(pi.said)
        await pi.do("update", ask={"fn": "execute", "key": "t2"}, value=result("half"))
        assert pi.since(mark) == "(unhandled Agent listener invoked outside active run)"
        await prompted(pi)


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


async def test_a_hook_that_is_not_named_is_absent(pi_install):
    async with talking(pi_install) as pi:
        await calling(pi, call(1, "a"))
        await pi.answer({"fn": "execute"}, result("r"))
        await pi.settle()
        await pi.stream([done(text("bye"))], 1)
        assert {message["fn"] for message in pi.said if "fn" in message} == {
            "listener",
            "streamFn",
            "execute",
        }


async def test_hooks_that_answer_nothing_change_nothing(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi, hooks=["transformContext", "convertToLlm"])
        asks = {message["fn"]: message["args"] for message in pi.said if "fn" in message}
        seen = asks["transformContext"]["messages"]
        assert [message["role"] for message in seen] == ["system", "user"]
        assert asks["convertToLlm"]["messages"] == seen
        assert asks["streamFn"]["context"]["messages"] == seen


async def test_tools_in_a_context_are_declarations_when_shown_and_live_when_answered(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi, "prepareRequest", hooks=["prepareRequest"], tools=TOOLS[:1])
        (ask,) = pi.open
        context = ask["args"]["context"]
        assert context["tools"] == [{key: TOOLS[0][key] for key in ("name", "description", "parameters")}]
        pi.open.clear()
        answer = {
            "context": {**context, "tools": TOOLS[1:2]},
            "model": {**MODEL, "id": "n"},
            "thinkingLevel": "high",
        }
        await pi.answer(ask["ask"], answer)
        request = pi.said[-1]
        assert (request["args"]["model"]["id"], request["args"]["options"]["reasoning"]) == ("n", "high")
        await pi.stream([done(call(1, "b"), stop="toolUse")])
        assert pi.said[-1]["args"] == {"tool": "b", "toolCallId": "t1", "args": {}}


async def test_before_tool_call_may_change_the_arguments_in_place(pi_install):
    async with talking(pi_install) as pi:
        hooks = ["beforeToolCall"]
        await calling(pi, call(1, "a", x="old"), call(2, "b"), hooks=hooks, held=("beforeToolCall",))
        first = pi.open.pop()
        assert first["args"]["args"] == {"x": "old"}
        await pi.answer(first["ask"], {"args": {"y": 1}})
        await pi.settle("beforeToolCall")
        second = pi.open.pop()
        refused = await pi.reply("answer", ask=second["ask"], value={"args": 1})
        assert refused["error"] == "driver: args can only replace an object by an object"
        mark = len(pi.said)
        await pi.answer(second["ask"], {"args": {"z": 1}, "block": True, "reason": "no"})
        await pi.settle()
        assert pi.since(mark) == "te2! [execute t1]"
        assert pi.said[-1]["args"]["args"] == {"y": 1}
        assert pi.said[mark]["args"]["event"]["result"]["content"] == [text("no")]


async def test_prepare_arguments_is_told_and_done(pi_install):
    async with talking(pi_install) as pi:
        tools = [
            {**TOOLS[0], "prepareArguments": {"set": {"x": "set"}}},
            {**TOOLS[1], "prepareArguments": {"throw": "no"}},
        ]
        mark = await calling(pi, call(1, "a", y=1), call(2, "b"), tools=tools)
        assert pi.since(mark) == "ms me ts1 (prepareArguments a) ts2 (prepareArguments b) te2! [execute t1]"
        told = [message for message in pi.said if message.get("tell") == "prepareArguments"]
        assert told[0] == {"tell": "prepareArguments", "tool": "a", "args": {"y": 1}}
        assert pi.said[-1]["args"]["args"] == {"x": "set", "y": 1}


async def test_a_stream_that_fails_delivers_first_what_was_pushed_before(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi)
        stream = {"fn": "streamFn"}
        await pi.answer(stream, "stream")
        mark = len(pi.said)
        cmds: list[Message] = [
            {"cmd": "push", "ask": stream, "event": event} for event in (start(), delta("x"))
        ]
        cmds += [{"cmd": "fail", "ask": stream, "error": "lost"}]
        cmds += [{"cmd": "push", "ask": stream, "event": delta("y")}, {"cmd": "end", "ask": stream}]
        assert await pi.do("burst", cmds=cmds) == [{"ok": None}] * 5
        await pi.settle()
        assert pi.since(mark) == "ms mu ms me TE AE (settled p1 True)"
        assert (await pi.do("state"))["errorMessage"] == "lost"
        # It was rejected in good order, and is no news to anybody.
        assert "unhandled" not in pi.since()


async def test_a_stream_may_fail_while_it_is_waited_for(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi)
        await pi.stream([start()])
        mark = len(pi.said)
        await pi.do("fail", ask={"fn": "streamFn"}, error="lost")
        await pi.settle()
        assert pi.since(mark) == "ms me TE AE (settled p1 True)"


async def test_a_stream_may_end_with_a_result_or_without(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi)
        await pi.stream([start()])
        await pi.do("end", ask={"fn": "streamFn"}, result=assistant(text("r")))
        await pi.settle()
        assert (await pi.do("messages"))[-1]["content"] == [text("r")]

        await prompted(pi)
        await pi.stream([start()])
        mark = len(pi.said)
        await pi.do("end", ask={"fn": "streamFn"})
        assert pi.since(mark) == ""
        assert (await pi.do("state"))["isStreaming"] is True


async def test_callbacks_may_fail(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi)
        mark = len(pi.said)
        await pi.answer({"fn": "streamFn"}, throw="no provider")
        await pi.settle()
        assert pi.since(mark) == "ms me TE AE (settled p1 True)"
        assert (await pi.do("state"))["errorMessage"] == "no provider"


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
    values = {"identity": {}, "model": MODEL}
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


async def test_lines_that_are_no_commands_are_passed_over(pi_install):
    async with talking(pi_install) as pi:
        await pi.write(
            '\n{"cmd": "prompt"\nnull\n[]\n7\n{"cmd": "sync"}\n   \n{"id": "last", "cmd": "sync"}\n'
        )
        assert await pi.hear() == {"re": "last", "ok": None}


async def test_how_the_input_is_cut_does_not_matter(pi_install):
    async with talking(pi_install) as pi:
        commands: list[Message] = [
            {"cmd": "create", "initialState": {"model": MODEL}, "listeners": ["L"]},
            {"cmd": "prompt", "op": "p", "input": "ü\u2028🙂"},
            *({"cmd": "answer", "ask": f"c{number}"} for number in (1, 2)),
        ]
        lines = "".join(json.dumps({"id": n, **c}, ensure_ascii=False) + "\n" for n, c in enumerate(commands))
        pi.said.clear()
        for byte in lines.encode():
            await pi.process.stdin.send_all(bytes([byte]))
        await pi.reply_of(3)
        in_bytes = timeless(pi.said)
        pi.said.clear()
        await pi.write(lines)
        await pi.reply_of(3)
        assert timeless(pi.said) == in_bytes
        assert pi.said[-1]["args"]["event"]["message"]["content"][0]["text"] == "ü\u2028🙂"
        # Each reply comes before what the next line causes, although all lines were there.
        assert [message.get("re", "-") for message in pi.said] == [0, "-", 1, "-", 2, "-"]


async def test_the_same_conversation_is_the_same_fifty_times(pi_install):
    traces = set()
    async with talking(pi_install) as pi:
        for _ in range(50):
            await calling(pi, call(1, "a"), call(2, "b"), call(3, "c"), hooks=HOOKS, listeners=["L", "M"])
            for number in (2, 3, 1):
                await pi.do("update", ask={"fn": "execute", "key": f"t{number}"}, value=result("half"))
                await pi.answer({"fn": "execute", "key": f"t{number}"}, result("whole"))
            await pi.do("abort")
            await pi.settle()
            await pi.stream([failed("aborted", "x")], 1)
            traces.add(json.dumps(timeless(pi.said)))
    assert len(traces) == 1


async def test_the_package_itself_may_be_named(pi_install):
    package = pi_install.folder / "node_modules/@earendil-works/pi-agent-core"
    async with talking(attrs.evolve(pi_install, folder=package)) as pi:
        await prompted(pi)


async def ended(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(command, capture_stdout=True, capture_stderr=True, check=False, **options)


async def test_the_profile_may_come_from_the_environment(pi_install, monkeypatch):
    monkeypatch.setenv("PI_PROFILE", "pi-1.0.3")
    command = command_of(pi_install)
    hello = json.loads((await ended(command[:-2])).stdout)
    assert (hello["version"], hello["profile"], "identity" in hello) == ("1.6.0", "pi-1.0.3", False)
    # What the command says comes first.
    assert json.loads((await ended(command)).stdout)["profile"] == "pi-1.6.0"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["{pi}", "--profile", "pi-9"], 'unknown profile "pi-9"; known are pi-0.80.2, '),
        (
            ["{nothing}", "--profile", "pi-1.6.0"],
            "neither has node_modules/@earendil-works/pi-agent-core nor is",
        ),
        ([], "usage: "),
        (["{pi}", "--loud"], "--loud"),
    ],
)
async def test_a_start_that_fails_says_why_on_stderr(pi_install: PiInstall, tmp_path, arguments, complaint):
    filled = [argument.format(pi=pi_install.folder, nothing=tmp_path) for argument in arguments]
    process = await ended([str(pi_install.node.path), str(pi_install.adapter), *filled])
    assert process.returncode == 1
    assert process.stdout == b""
    assert process.stderr.startswith(b"pi adapter: ")
    assert complaint in process.stderr.decode()


async def test_a_package_that_is_not_built_is_told(pi_install, tmp_path):
    package = tmp_path / "node_modules/@earendil-works/pi-agent-core"
    package.mkdir(parents=True)
    (package / "package.json").write_text(
        '{"name": "@earendil-works/pi-agent-core", "main": "dist/index.js"}'
    )
    (tmp_path / "node_modules/@earendil-works/pi-ai").mkdir()
    (tmp_path / "node_modules/@earendil-works/pi-ai/package.json").write_text("{}")
    process = await ended(command_of(attrs.evolve(pi_install, folder=tmp_path)))
    assert process.returncode == 1
    assert b"is not built" in process.stderr
