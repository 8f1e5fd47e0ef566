"""An ask that the agent does not wait for any more: told once, and deaf to all that the tester still says to it."""

from __future__ import annotations

import pytest

from .talk import BYE, CALL, RESULT, TOOL, USER, assistant, talking

CANCEL = {"abortMode": "cancel"}
EXECUTE = {"fn": "execute", "key": "t1"}
STREAM = {"fn": "streamFn"}


@pytest.mark.parametrize("target", ["agent", "loop"])
async def test_a_cut_tool_is_deaf(target: str) -> None:
    async with talking() as talk:
        await talk.create(target=target, tools=[TOOL], options=CANCEL)
        await talk.do("prompt", op="p1", input=USER)
        await talk.settle()
        await talk.stream(CALL)
        mark, ask = len(talk.said), talk.open[-1]["ask"]
        await talk.do("abort")
        assert talk.brief(mark)[:2] == [f"signal {ask}", f"withdrawn {ask}"]
        assert talk.brief()[-1] == "settled p1 well"
        after = len(talk.said)
        for _ in range(2):
            assert await talk.do("answer", ask=EXECUTE, value=RESULT) is None
            assert await talk.do("answer", ask=EXECUTE, throw="too late") is None
            assert await talk.do("update", ask=EXECUTE, value=RESULT) is None
        assert talk.brief(after) == []


@pytest.mark.parametrize("answered", [True, False])
async def test_a_cut_stream_is_deaf(answered: bool) -> None:
    async with talking() as talk:
        await talk.create(options=CANCEL)
        await talk.do("prompt", op="p1", input=USER)
        if answered:
            await talk.do("answer", ask=STREAM, value="stream")
            await talk.do("push", ask=STREAM, event={"type": "start", "partial": assistant()})
        await talk.do("abort")
        assert [each.partition(" ")[0] for each in talk.brief()].count("withdrawn") == 1
        after = len(talk.said)
        assert await talk.do("push", ask=STREAM, event=BYE) is None
        assert await talk.do("end", ask=STREAM, result=assistant("bye")) is None
        assert await talk.do("fail", ask=STREAM, error="too late") is None
        assert talk.brief(after) == []


async def test_advice_withdraws_nothing() -> None:
    async with talking() as talk:
        await talk.create(tools=[TOOL])
        await talk.do("prompt", op="p1", input=USER)
        await talk.stream(CALL)
        await talk.do("abort")
        assert talk.brief()[-1].startswith("signal")
