"""One thing after the other: what is done next, what the trace says, and how a scenario ends."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from pi_trio.conformance import lockstep
from pi_trio.conformance.decide import judge
from pi_trio.conformance.expected import Expectation
from pi_trio.conformance.faults import ProtocolFault, SubjectDied
from pi_trio.conformance.lockstep import Run, drive
from pi_trio.conformance.protocol import check
from pi_trio.conformance.report.prose import plain
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.verdict import Outcome

REPLY: dict[str, Any] = {"say": {"re": "$id", "ok": None}}
SETTLED = {"say": {"tell": "settled", "op": "p1", "ok": True}}
PROMPT = {"cmd": "prompt", "op": "p1", "input": "go"}


def ask(ask_id: str, fn: str, key: str | None = None, **args: Any) -> dict[str, Any]:
    return {"say": {"ask": ask_id, "fn": fn, **({"key": key} if key else {}), "args": args, "aborted": False}}


def listener(ask_id: str, event: str, key: str = "L") -> dict[str, Any]:
    return ask(ask_id, "listener", key, event={"type": event})


async def play(
    peer, acts: list[Any], *, steps: Any = (PROMPT,), answers: Any = (), hello: Any = None, **options: Any
) -> Run:
    """Drive a scenario through a play; the acts are those after `create`."""
    scenario = Scenario(
        name="x", title="X.", topic="t", answers=answers, steps=steps, create=options.pop("create", {})
    )
    async with peer([None, *acts], hello=hello).opener()() as subject:
        return await drive(scenario, subject, **options)


def sent(run: Run) -> list[dict[str, Any]]:
    return [line["send"] for line in run.lines if "send" in line]


def summary(run: Run) -> list[str]:
    """The commands in short: `answer L turn_start`, `push 1`."""
    names = []
    for command in sent(run):
        about = command.get("ask", {})
        names.append(
            " ".join(
                map(
                    str, [command["cmd"], *(about.get(field) for field in ("key", "event") if field in about)]
                )
            )
        )
    return names


async def test_the_trace_of_a_whole_scenario(peer) -> None:
    run = await play(
        peer, [[listener("a1", "agent_start"), REPLY], [SETTLED, REPLY]], create={"listeners": ["L"]}
    )
    address = {"fn": "listener", "key": "L", "event": "agent_start", "nth": 0}
    assert run.lines == (
        {"send": {"cmd": "create", "listeners": ["L"]}},
        {"reply": None},
        {"send": PROMPT},
        {"ask": address, "args": {"event": {"type": "agent_start"}}, "aborted": False},
        {"reply": None},
        {"send": {"cmd": "answer", "ask": address}},
        {"tell": "settled", "op": "p1", "ok": True},
        {"reply": None},
        {"send": {"cmd": "sync"}},
        {"reply": None},
        {"end": "settled"},
    )
    assert run.fault is None


async def test_the_trace_does_not_depend_on_the_subjects_ids(peer) -> None:
    runs = [
        await play(peer, [[listener(name, "agent_start"), REPLY], [SETTLED, REPLY]]) for name in ("a1", "zzz")
    ]
    assert runs[0].lines == runs[1].lines


async def test_the_oldest_ask_is_answered_first_and_before_the_script_goes_on(peer) -> None:
    acts = [
        [listener("a1", "agent_start"), listener("a2", "agent_start", "M"), REPLY],
        [listener("a3", "turn_start"), REPLY],
    ]
    run = await play(peer, acts, steps=(PROMPT, {"cmd": "abort"}))
    assert summary(run) == [
        "create", "prompt", "answer L agent_start", "answer M agent_start", "answer L turn_start", "abort", "sync",
    ]  # fmt: skip


async def test_a_stream_that_a_rule_opened_is_fed_before_the_script_goes_on(peer) -> None:
    events = [{"type": "start"}, {"type": "done"}]
    rules = [{"fn": "streamFn", "stream": events, "end": {"role": "assistant"}}]
    acts = [[ask("s", "streamFn"), REPLY], None, [listener("a", "message_start"), REPLY]]
    run = await play(peer, acts, steps=(PROMPT, {"cmd": "abort"}), answers=rules)
    address = {"fn": "streamFn", "nth": 0}
    assert sent(run)[2:] == [
        {"cmd": "answer", "ask": address, "value": "stream"},
        {"cmd": "push", "ask": address, "event": {"type": "start"}},
        {"cmd": "answer", "ask": {"fn": "listener", "key": "L", "event": "message_start", "nth": 0}},
        {"cmd": "push", "ask": address, "event": {"type": "done"}},
        {"cmd": "end", "ask": address, "result": {"role": "assistant"}},
        {"cmd": "abort"},
        {"cmd": "sync"},
    ]


async def test_a_stream_is_fed_to_its_end_whatever_becomes_of_it(peer) -> None:
    rules = [{"fn": "streamFn", "stream": [{"type": "start"}, {"type": "done"}], "fail": "broken"}]
    acts = [[ask("s", "streamFn"), REPLY], None, [{"say": {"tell": "withdrawn", "ask": "s"}}, SETTLED, REPLY]]
    run = await play(peer, acts, answers=rules)
    assert [command["cmd"] for command in sent(run)[2:]] == ["answer", "push", "push", "fail", "sync"]
    assert {"tell": "withdrawn", "ask": {"fn": "streamFn", "nth": 0}} in run.lines
    assert run.lines[-1] == {"end": "settled"}


async def test_what_a_rule_holds_waits_for_the_script(peer) -> None:
    rules = [{"fn": "listener", "hold": True}, {"fn": "execute", "key": "t1", "throw": "boom"}]
    acts = [[listener("a", "agent_start"), ask("e", "execute", "t1"), ask("f", "execute", "t2"), REPLY]]
    release = {"cmd": "answer", "ask": {"fn": "listener", "key": "L", "nth": 0}}
    run = await play(peer, acts, answers=rules, steps=(PROMPT, release))
    assert sent(run)[2:] == [
        {"cmd": "answer", "ask": {"fn": "execute", "key": "t1", "nth": 0}, "throw": "boom"},
        release,
        {"cmd": "sync"},
    ]
    assert run.lines[-1] == {"end": "open"}


async def test_what_was_withdrawn_is_not_answered(peer) -> None:
    acts = [[ask("h", "finishTurn"), {"say": {"tell": "withdrawn", "ask": "h"}}, SETTLED, REPLY]]
    assert summary(await play(peer, acts)) == ["create", "prompt", "sync"]


async def test_an_ask_that_was_never_made_is_not_sent(peer) -> None:
    address = {"fn": "execute", "key": "t1", "nth": 0}
    steps = (
        {"cmd": "answer", "ask": address},
        {"cmd": "burst", "cmds": [{"cmd": "abort"}, {"cmd": "update", "ask": address, "value": 1}]},
    )
    run = await play(peer, [], steps=steps)
    assert run.lines[2:6] == (
        {"send": steps[0]},
        {"unresolved": address},
        {"send": steps[1]},
        {"unresolved": address},
    )


async def test_a_burst_is_one_step(peer) -> None:
    burst = {"cmd": "burst", "cmds": [PROMPT, {**PROMPT, "op": "p2"}]}
    outcome = {"say": {"re": "$id", "ok": [{"ok": None}, {"error": "driver: no"}]}}
    run = await play(peer, [[SETTLED, outcome]], steps=(burst,))
    assert run.lines[2:5] == (
        {"send": burst},
        {"tell": "settled", "op": "p1", "ok": True},
        {"reply": [{"ok": None}, {"error": "driver: (host text)"}]},
    )
    assert run.lines[-1] == {"end": "settled"}


@pytest.mark.parametrize("answer", [None, [], [{"ok": None}], [1, 2]])
async def test_a_burst_has_an_outcome_for_each_command(peer, answer: Any) -> None:
    burst = {"cmd": "burst", "cmds": [{"cmd": "abort"}, {"cmd": "abort"}]}
    run = await play(peer, [[{"say": {"re": "$id", "ok": answer}}]], steps=(burst,))
    assert isinstance(run.fault, ProtocolFault)


async def test_a_hang_is_seen_without_waiting(peer) -> None:
    run = await play(peer, [[REPLY]])
    assert run.lines[-1] == {"end": "hang"}
    assert run.fault is None


async def test_an_open_stream_is_no_hang(peer) -> None:
    stream = {"fn": "streamFn", "nth": 0}
    steps = [PROMPT, {"cmd": "answer", "ask": stream, "value": "stream"}]
    acts = [[ask("s", "streamFn"), REPLY]]
    assert (await play(peer, acts, steps=steps)).lines[-1] == {"end": "open"}
    ended = [*steps, {"cmd": "end", "ask": stream}]
    assert (await play(peer, acts, steps=ended)).lines[-1] == {"end": "hang"}
    done = [*steps, {"cmd": "push", "ask": stream, "event": {"type": "error"}}]
    assert (await play(peer, acts, steps=done)).lines[-1] == {"end": "hang"}


async def test_an_agents_refusal_is_part_of_the_trace(peer) -> None:
    text = "Agent is already processing. Wait for completion before resetting."
    run = await play(peer, [[{"say": {"re": "$id", "error": text}}]], steps=({"cmd": "reset"},))
    assert run.lines[3] == {"error": text}


async def test_a_new_agent_has_asked_nothing(peer) -> None:
    acts = [[ask("e", "execute", "t1"), REPLY]]
    address = {"fn": "execute", "key": "t1", "nth": 0}
    run = await play(peer, acts, steps=(PROMPT, {"cmd": "create"}, {"cmd": "answer", "ask": address}))
    assert {"unresolved": address} in run.lines
    assert run.lines[-1] == {"end": "settled"}


async def test_unknown_events_are_acknowledged_and_leave_no_trace(peer) -> None:
    acts = [[listener("n", "retry_start"), REPLY], [{"say": {"tell": "signal", "ask": "n"}}, SETTLED, REPLY]]
    run = await play(peer, acts)
    assert run.lines[2:] == (
        {"send": PROMPT}, {"tell": "settled", "op": "p1", "ok": True}, {"reply": None},
        {"send": {"cmd": "sync"}}, {"reply": None}, {"end": "settled"},
    )  # fmt: skip
    assert run.ignored == {"event retry_start": 1}


async def test_strict_keeps_what_is_unknown(peer) -> None:
    run = await play(peer, [[{"say": {"tell": "weather", "sunny": True}}, SETTLED, REPLY]], strict=True)
    assert {"tell": "weather", "unknown": {"sunny": True}} in run.lines


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "said",
    [
        {"tell": "zzz", "ask": []},
        {"tell": "zzz", "ask": "never made", "args": 5},
        {"tell": "event", "key": "L", "event": {"type": "agent_start"}, "ask": {}},
        {"tell": "re"},
        {"tell": "ask"},
    ],
)
async def test_what_is_unknown_is_never_looked_into(peer, said: dict[str, Any], strict: bool) -> None:
    run = await play(peer, [[{"say": said}, SETTLED, REPLY]], strict=strict)
    assert run.fault is None
    assert run.lines[-1] == {"end": "settled"}


async def test_a_subject_without_sync_is_looked_at_by_its_state(peer) -> None:
    commands = ["create", "prompt", "state"]
    run = await play(
        peer,
        [[SETTLED, REPLY], [{"say": {"re": "$id", "ok": {"isStreaming": False}}}]],
        hello={"commands": commands},
    )
    assert run.lines[-3:] == ({"send": {"cmd": "sync"}}, {"reply": None}, {"end": "settled"})


async def test_a_reply_that_means_nothing_is_not_compared(peer) -> None:
    unsubscribe = {"cmd": "unsubscribe", "key": "L"}
    burst = {"cmd": "burst", "cmds": [unsubscribe, {"cmd": "messages"}]}
    acts = [[{"say": {"re": "$id", "ok": True}}], [{"say": {"re": "$id", "ok": [{"ok": True}, {"ok": []}]}}]]
    run = await play(peer, acts, steps=(unsubscribe, burst))
    assert run.lines[3] == {"reply": None}
    assert run.lines[5] == {"reply": [{"ok": None}, {"ok": []}]}


async def test_what_came_before_a_crash_is_in_the_trace(peer) -> None:
    run = await play(peer, [[listener("a", "agent_start"), {"exit": 3}]])
    assert isinstance(run.fault, SubjectDied)
    assert run.lines[-2]["args"] == {"event": {"type": "agent_start"}}
    assert run.lines[-1] == {"end": "crash"}


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ([{"say": {"re": 99, "ok": None}}], "it replied to 99, the command was 2"),
        ([ask("a", "execute"), ask("a", "execute"), REPLY], "used twice"),
        ([SETTLED, SETTLED, REPLY], "not under way"),
        ([{"say": {"tell": "settled", "op": "p9", "ok": True}}, REPLY], "not under way"),
        ([{"say": {"tell": "signal", "ask": "a9"}}, REPLY], "never made"),
    ],
)
async def test_contradictions_are_faults_of_the_protocol(peer, act: list[Any], says: str) -> None:
    run = await play(peer, [act])
    assert isinstance(run.fault, ProtocolFault)
    assert says in run.fault.message
    assert run.lines[-1] == {"end": "fault"}


async def test_a_subject_that_never_comes_to_rest_is_given_up(peer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "MAX_STEPS", 20)
    acts = [[listener(f"a{number}", "agent_start"), REPLY] for number in range(100)]
    run = await play(peer, acts)
    assert run.lines[-1] == {"end": "endless"}
    assert len(sent(run)) == 20


def foreign(number: int) -> list[Any]:
    return [listener(f"f{number}", "later_release_event"), REPLY]


async def test_a_long_chain_of_unknown_events_is_followed_to_its_end(peer) -> None:
    """Each acknowledgement brings the next one; what comes between them keeps its place."""
    links = [foreign(number) for number in range(1500)]
    first = [*foreign(-1)[:1], listener("a1", "agent_start"), REPLY]
    links[700].insert(1, listener("a0", "agent_end"))
    run = await play(peer, [first, *links, [SETTLED, REPLY]])
    assert run.fault is None
    assert run.ignored == {"event later_release_event": 1501}
    assert summary(run) == ["create", "prompt", "answer L agent_end", "answer L agent_start", "sync"]
    assert run.lines[-1] == {"end": "settled"}


@pytest.mark.parametrize("same", [True, False])
async def test_an_endless_chain_of_unknown_events_never_comes_to_rest(
    peer, monkeypatch: pytest.MonkeyPatch, *, same: bool
) -> None:
    monkeypatch.setattr(lockstep, "MAX_STEPS", 20)
    run = await play(peer, [foreign(0 if same else number) for number in range(100)])
    assert run.lines[-1] == {"end": "endless"}
    assert run.fault is not None
    assert run.fault.message == "the scenario does not end: 20 unknown events were acknowledged"


async def test_the_abort_mode_is_sent_only_to_who_has_both(peer, tmp_path) -> None:
    create = {"options": {"abortMode": "cancel", "toolExecution": "parallel"}}
    seen: list[Any] = []

    class Listening:
        def __init__(self, abort: str) -> None:
            self.hello = {"commands": ["create", "sync"], "features": {"abort": abort}}

        async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
            if command["cmd"] == "create":
                seen.append(command["options"])
            return [{"re": command["id"], "ok": None}]

    for abort in ("both", "advisory"):
        run = await drive(Scenario(name="x", title="X.", topic="t", create=create), Listening(abort))
        assert run.lines[0] == {"send": {"cmd": "create", **create}}
    assert seen == [create["options"], {"toolExecution": "parallel"}]


ask_ids, ops = st.sampled_from("abcd"), st.sampled_from(["p1", "p2"])
json_values: st.SearchStrategy[Any] = st.none() | st.booleans() | st.sampled_from([0, 1, "p1", "x", [], {}])
some_events = st.builds(
    lambda kind, more: {**more, "type": kind},
    st.sampled_from(["agent_start", "message_update", "tool_execution_end", "retry_start"]),
    st.dictionaries(
        st.sampled_from(["message", "assistantMessageEvent", "result", "isError", "messages"]), json_values
    ),
)
some_messages = st.one_of(
    st.builds(
        lambda ask_id, fn, args: {"ask": ask_id, "fn": fn, "key": "t1", "args": args},
        ask_ids, st.sampled_from(["execute", "streamFn", "finishTurn", "new"]), st.sampled_from([{}, {"options": {}}]),
    ),
    st.builds(
        lambda ask_id, event: {"ask": ask_id, "fn": "listener", "key": "L", "args": {"event": event}},
        ask_ids, some_events,
    ),
    st.builds(lambda event: {"tell": "event", "key": "L", "event": event}, some_events),
    st.builds(lambda what, ask_id: {"tell": what, "ask": ask_id}, st.sampled_from(["signal", "withdrawn"]), ask_ids),
    st.builds(lambda op, ok: {"tell": "settled", "op": op, "ok": ok, "error": "x"}, ops, st.booleans()),
    st.builds(lambda value: {"tell": "new", "value": value}, json_values),
)  # fmt: skip
some_replies = st.one_of(
    st.builds(lambda value: {"ok": value}, json_values | st.just([{"ok": None}, {"error": "driver: x"}])),
    st.builds(lambda text: {"error": text}, st.sampled_from(["driver: no", "refused: no", "x"])),
)


@given(st.lists(st.tuples(st.lists(some_messages, max_size=3), some_replies), max_size=8), st.booleans())
def test_whatever_a_subject_does_there_is_a_trace_and_a_verdict(reactions: list[Any], strict: bool) -> None:
    """No subject that keeps to the shapes, however mad, can make the tester itself fail."""

    class Mad:
        hello: ClassVar[dict[str, Any]] = {"commands": ["create", "prompt", "sync"], "hooks": []}

        def __init__(self) -> None:
            self.reactions = iter(reactions)

        async def request(self, command: dict[str, Any]) -> list[dict[str, Any]]:
            await trio.lowlevel.checkpoint()
            messages, answer = next(self.reactions, ([], {"ok": None}))
            for message in messages:
                check(message)
            return [*messages, {"re": command["id"], **answer}]

    burst = {"cmd": "burst", "cmds": [{"cmd": "abort"}, {**PROMPT, "op": "p2"}]}
    rules: list[Any] = [
        {"fn": "streamFn", "stream": [{"type": "start"}]},
        {"fn": "execute", "nth": 0, "value": 1},
    ]
    scenario = Scenario(name="x", title="X.", topic="t", answers=rules, steps=(PROMPT, burst))
    run = trio.run(partial(drive, scenario, Mad(), strict=strict))
    assert run.lines[-1]["end"] in {"settled", "open", "hang", "fault"}
    verdict = judge(run, Expectation(lines=({"end": "settled"},)))
    assert verdict.outcome in {Outcome.FAIL, Outcome.HANG}
    for line in run.lines:
        plain(line)
