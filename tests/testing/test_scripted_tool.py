"""The scripted tool: what it gives, what it reports, what it keeps."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from pi_trio import AbortSignal, Agent, TextContent, ToolExecutionUpdate, ToolResult
from pi_trio.testing import (
    HELD,
    Recorder,
    ScriptedCall,
    ScriptedModel,
    ScriptedTool,
    ScriptError,
    Stepper,
    assistant,
    tool_call,
    transcript,
)


def agent_with(tool: ScriptedTool, calls: int = 1, **options) -> Agent:
    blocks = [tool_call(tool.name, {"number": number}) for number in range(calls)]
    return Agent(stream_fn=ScriptedModel([assistant(*blocks), "Done."]), tools=[tool], **options)


async def results(tool: ScriptedTool, calls: int = 1) -> list[str]:
    agent = agent_with(tool, calls)
    await agent.prompt("Go!")
    return [line for line in transcript(agent) if line.startswith("toolResult")]


async def test_answers_come_in_turn_and_the_last_one_again():
    def plain(call: ScriptedCall) -> str:
        return f"plain {call.args['number']}"

    async def slow(call: ScriptedCall) -> ToolResult:
        await trio.lowlevel.checkpoint()
        return ToolResult(content=[TextContent(text=f"slow {call.tool_name}")], details=1)

    answers = ["text", TextContent(text="block"), plain, slow, ToolResult(is_error=True), ValueError("no")]
    tool = ScriptedTool("work", answers)
    assert await results(tool, 7) == [
        "toolResult work: text",
        "toolResult work: block",
        "toolResult work: plain 2",
        "toolResult work: slow work",
        "toolResult work (error):",
        "toolResult work (error): no",
        "toolResult work (error): no",
    ]
    assert [call.args["number"] for call in tool.calls] == [*range(7)]


async def test_everything_has_a_default():
    tool = ScriptedTool("work")
    assert await results(tool) == ["toolResult work: ok"]
    assert (tool.description, tool.parameters) == ("", {"type": "object"})


def test_a_script_is_not_empty():
    with pytest.raises(ScriptError, match="at least one answer"):
        ScriptedTool("work", [])


async def test_arguments_are_checked_where_there_is_a_schema():
    tool = ScriptedTool("work", parameters={"type": "object", "required": ["x"]}, execution_mode="sequential")
    (line,) = await results(tool)
    assert line.startswith('toolResult work (error): Validation failed for tool "work"')
    assert tool.calls == []


async def test_progress_is_reported_before_the_answer():
    agent = agent_with(ScriptedTool("work", "whole", progress=["a", ToolResult(details=2)]))
    recorder = Recorder(agent)
    await agent.prompt("Go!")
    reports = [event.partial_result for event in recorder.of(ToolExecutionUpdate)]
    assert reports == [ToolResult(content=[TextContent(text="a")]), ToolResult(details=2)]


async def test_deps_are_in_the_call():
    tool = ScriptedTool("work", lambda call: f"{call.deps} {call.call_id}")
    execution = tool.call("t1", {}, Agent().signal, lambda result: None, "deps")  # type: ignore[arg-type]
    assert (await execution).content == (TextContent(text="deps t1"),)


async def test_nothing_is_reported_after_the_end():
    reports: list[ToolResult] = []
    tool = ScriptedTool("work", ["x", ValueError("no")], progress="before")
    await tool.call("t1", {}, AbortSignal(), reports.append)
    with pytest.raises(ValueError, match="no"):
        await tool.call("t2", {}, AbortSignal(), reports.append)
    for call in tool.calls:
        call.update("after")
    assert reports == [ToolResult(content=[TextContent(text="before")])] * 2


async def test_content_of_several_blocks_is_one_answer_or_report():
    blocks = (TextContent(text="a"), TextContent(text="b"))
    reports: list[ToolResult] = []
    tool = ScriptedTool("work", [blocks, lambda _call: blocks, HELD], progress=[blocks])
    signal = AbortSignal()
    assert (await tool.call("t1", {}, signal, reports.append)).content == blocks
    assert (await tool.call("t2", {}, signal, reports.append)).content == blocks
    assert reports == [ToolResult(content=blocks)] * 2
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tool.call, "t3", {}, signal, reports.append)
        await trio.testing.wait_all_tasks_blocked()
        tool.pending[0].answer(blocks)


async def test_it_can_be_executed_as_any_tool():
    execution = ScriptedTool("work", "x").execute("t1", {}, None, lambda result: None)  # type: ignore[arg-type]
    assert (await execution).content == (TextContent(text="x"),)


# --- held ---------------------------------------------------------------------------------------------------


async def test_held_calls_are_answered_in_any_order(nursery):
    tool = ScriptedTool("work", HELD)
    agent = agent_with(tool, 3)
    recorder = Recorder(agent)
    nursery.start_soon(agent.prompt, "Go!")
    await trio.testing.wait_all_tasks_blocked()
    first, second, third = tool.pending
    third.answer("three")
    assert tool.pending == [first, second]
    await trio.testing.wait_all_tasks_blocked()
    first.answer(ValueError("one"))
    await trio.testing.wait_all_tasks_blocked()
    second.answer(ToolResult(content=()))
    await agent.wait_for_idle()
    assert [line for line in recorder.lines if line.startswith("tool_execution_end")] == [
        "tool_execution_end work: three",
        "tool_execution_end work (error): one",
        "tool_execution_end work:",
    ]
    with pytest.raises(ScriptError, match="does not wait"):
        first.answer("again")


async def test_a_held_call_reports_what_the_test_says_in_its_own_task(nursery):
    tool = ScriptedTool("work", HELD)
    agent = agent_with(tool)
    recorder = Recorder(agent)
    nursery.start_soon(agent.prompt, "Go!")
    await trio.testing.wait_all_tasks_blocked()
    (call,) = tool.pending
    call.update("a")
    call.update("b")
    call.answer("whole")
    with pytest.raises(ScriptError):
        call.answer("again")
    await agent.wait_for_idle()
    assert [
        line for line in recorder.lines if line.startswith("tool_execution_") and "start" not in line
    ] == [
        "tool_execution_update work: a",
        "tool_execution_update work: b",
        "tool_execution_end work: whole",
    ]


async def test_an_abort_ends_a_held_call_that_may_be_cancelled(nursery):
    tool = ScriptedTool("work", HELD)
    agent = agent_with(tool)
    nursery.start_soon(agent.prompt, "Go!")
    await trio.testing.wait_all_tasks_blocked()
    agent.abort()
    await agent.wait_for_idle()
    assert tool.pending == []
    assert "toolResult work (error): Operation aborted" in transcript(agent)


async def test_an_abort_that_is_advice_leaves_a_held_call_to_the_test(nursery):
    tool = ScriptedTool("work", HELD)
    agent = agent_with(tool, abort_mode="signal")
    nursery.start_soon(agent.prompt, "Go!")
    await trio.testing.wait_all_tasks_blocked()
    agent.abort()
    await trio.testing.wait_all_tasks_blocked()
    (call,) = tool.pending
    assert call.signal.aborted
    call.answer("all the same")
    await agent.wait_for_idle()
    assert "toolResult work: all the same" in transcript(agent)


@pytest.mark.parametrize("nonsense", [None, 3, b"x", ["x"], KeyError, KeyboardInterrupt()])
def test_nonsense_in_a_script(nonsense):
    with pytest.raises(ScriptError):
        ScriptedTool("work", ["fine", nonsense])


def test_nonsense_for_a_held_call():
    tool = ScriptedTool("work", HELD)
    agent = Agent(stream_fn=ScriptedModel([tool_call("work"), "Done."]), tools=[tool])
    with Stepper() as stepper:
        run = stepper.start(agent.prompt, "x")
        stepper.settle()
        for act in (tool.pending[0].answer, tool.pending[0].update):
            for nonsense in (None, 3):
                with pytest.raises(ScriptError, match="a tool cannot say"):
                    act(nonsense)  # type: ignore[arg-type]
        tool.pending[0].answer("fine")
        stepper.settle()
        assert run.done
    assert transcript(agent)[-2] == "toolResult work: fine"


def wrong(call: ScriptedCall) -> str:
    assert call.args == {"number": 99}, "wrong arguments"
    return "ok"


async def wrong_later(call: ScriptedCall) -> str:
    await trio.lowlevel.checkpoint()
    return wrong(call)


def no_answer(call: ScriptedCall) -> int:
    return 5


@pytest.mark.parametrize(
    ("function", "text"),
    [(wrong, "wrong arguments"), (wrong_later, "wrong arguments"), (no_answer, "a tool cannot say 5")],
)
async def test_an_assertion_in_its_function_fails_the_test(function, text):
    """The run makes an error result of it, and goes on."""
    tool = ScriptedTool("add", function)
    with pytest.raises(AssertionError, match=text), ScriptedModel([tool_call("add"), "Done."]) as model:
        result = await Agent(stream_fn=model, tools=[tool]).prompt("Go!")
        assert result.text == "Done."
    with pytest.raises(AssertionError, match=text):
        tool.check()


async def test_whoever_was_not_asked_in_the_run_is_not_told():
    bad = ScriptedTool("add", wrong)
    with ScriptedModel([tool_call("add"), "Done."] * 2) as good_model:
        bad_model = ScriptedModel([tool_call("add"), "Done."])
        good = ScriptedTool("add", AssertionError("this is what it says"))
        await Agent(stream_fn=good_model, tools=[good]).prompt("Go!")
        await Agent(stream_fn=bad_model, tools=[bad]).prompt("Go!")
        await Agent(stream_fn=good_model, tools=[good]).prompt("Go!")
    good.check()
    with pytest.raises(AssertionError, match="wrong arguments"):
        bad_model.check()


@pytest.mark.parametrize("answers", [{"answer": 42}, {"answer"}, b"answer", frozenset({"answer"})])
def test_what_is_no_answer_is_none_though_it_has_elements(answers):
    with pytest.raises(ScriptError, match=r"the script of the tool add cannot have "):
        ScriptedTool("add", answers)
    with pytest.raises(ScriptError, match=r"the script of a model cannot have "):
        ScriptedModel(answers)


@pytest.mark.parametrize("progress", [5, [5], {"half": 1}, OSError("no"), ["half", None]])
def test_what_cannot_be_reported(progress):
    with pytest.raises(ScriptError, match="a tool cannot "):
        ScriptedTool("add", progress=progress)
