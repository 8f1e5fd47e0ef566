"""The adapter for Node, on real Pi: that it asks and tells what Pi does, all of it, in order, and nothing else."""

from __future__ import annotations

import json

import pytest

from .prompting import calling, prompted, timeless
from .talk import MODEL, TOOLS, Message, assistant, call, delta, done, failed, result, start, talking, text

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


async def test_hooks_that_answer_nothing_change_nothing(pi_install):
    async with talking(pi_install) as pi:
        await prompted(pi, hooks=["transformContext", "convertToLlm"])
        asks = {message["fn"]: message["args"] for message in pi.said if "fn" in message}
        seen = asks["transformContext"]["messages"]
        assert [message["role"] for message in seen] == ["system", "user"]
        assert asks["convertToLlm"]["messages"] == seen
        assert asks["streamFn"]["context"]["messages"] == seen


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
