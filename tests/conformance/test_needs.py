"""What a scenario needs is read off its trace, and off nothing else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pi_trio.conformance.compare import canonical
from pi_trio.conformance.needs import is_exact, missing, needs, offers
from pi_trio.conformance.protocol import COMMANDS
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scenarios import all_scenarios
from pi_trio.conformance.vectors import Vectors

ALL: dict[str, Any] = {"commands": sorted(COMMANDS), "hooks": ["finishTurn"], "quiescence": "exact"}
PROMPT = {"cmd": "prompt", "op": "p1", "input": "go"}
EXECUTE = {"fn": "execute", "key": "t1", "nth": 0}


def command(name: str) -> dict[str, Any]:
    """A command with whatever a command may have to have."""
    return {"cmd": name, "op": "p1", "cmds": [], "ask": EXECUTE, "name": "model", "value": 1, "event": {}}


def hears(listener: str, event: str, **fields: Any) -> dict[str, Any]:
    return {"tell": "event", "key": listener, "event": {"type": event, **fields}}


def asks(fn: str, key: str, **args: Any) -> dict[str, Any]:
    return {"ask": {"fn": fn, "key": key, "nth": 0}, "args": args}


def lacking(*commands: dict[str, Any], heard: Any = (), create: Any = None, **hello: Any) -> tuple[str, ...]:
    scenario = Scenario(name="x", title="X.", topic="t", create=create or {})
    lines = [{"send": scenario.create_command()}, *({"send": command} for command in commands), *heard]
    return missing(needs(scenario, lines), {**ALL, **hello})


def test_who_declares_nothing_offers_all_that_pi_has() -> None:
    heard = [asks("listener", "L", event={"type": "turn_start"}), asks("execute", "t1")]
    everything = [command(name) for name in sorted(COMMANDS - {"create"})]
    create = {"hooks": ["finishTurn"], "options": {"toolExecution": "sequential"}}
    assert lacking(PROMPT, *everything, heard=heard, create=create) == ()


@pytest.mark.parametrize(
    ("hello", "exact"),
    [
        ({}, True),
        ({"quiescence": "exact", "order": "total", "features": {"keyless": []}}, True),
        ({"quiescence": "none"}, False),
        ({"order": "partial"}, False),
        ({"features": {"keyless": ["execute"]}}, False),
    ],
)
def test_who_declares_nothing_needs_no_trace_to_follow(hello: dict[str, Any], exact: bool) -> None:
    assert is_exact(hello) is exact


@pytest.mark.parametrize("name", sorted(COMMANDS - {"create", "sync"}))
def test_a_command_that_is_sent_is_needed(name: str) -> None:
    without = [each for each in ALL["commands"] if each != name]
    assert f"command {name}" in lacking(command(name), commands=without)
    assert lacking({"cmd": "burst", "cmds": [command(name)]}, commands=without) == (f"command {name}",)


def test_sync_can_be_done_without() -> None:
    assert lacking({"cmd": "sync"}, commands=["create"]) == ()


def test_a_hook_that_is_installed_is_needed() -> None:
    assert lacking(create={"hooks": ["finishTurn"]}, hooks=[]) == ("hook finishTurn",)


IDENTITY: dict[str, Any] = {"options": {"identity": {}, "sessionId": "s"}}
PROMPT_STRING = {"cmd": "setOption", "name": "systemPrompt", "value": "be kind"}


@pytest.mark.parametrize(
    ("profile", "lacks"),
    [
        ("pi-0.80.2", ("option identity",)),
        ("pi-0.85.0", ("option identity",)),
        ("pi-0.85.0,identity=pi-1.6.0", ("option identity",)),
        ("pi-1.0.3", ("option identity", "setOption systemPrompt")),
        ("pi-1.6.0", ("setOption systemPrompt",)),
        ("pi-9.0.0", ("setOption systemPrompt",)),
    ],
)
def test_an_option_that_not_every_release_has_is_needed(profile: str, lacks: tuple[str, ...]) -> None:
    assert lacking(PROMPT_STRING, create=IDENTITY, profile=profile) == lacks
    both = {"options": ["identity", "sessionId"], "settable": ["systemPrompt"]}
    assert lacking(PROMPT_STRING, create=IDENTITY, profile=profile, features=both) == ()
    none = {"options": [], "settable": "systemPrompt"}
    assert lacking(PROMPT_STRING, create=IDENTITY, profile=profile, features=none) == (
        "option identity",
        "option sessionId",
        "setOption systemPrompt",
    )


@pytest.mark.parametrize(
    ("commands", "features", "need"),
    [
        ([{"cmd": "burst", "cmds": []}], {"burst": False}, "feature burst"),
        ([PROMPT, {"cmd": "state"}], {"liveState": False}, "feature liveState"),
        ([PROMPT, {"cmd": "abort"}], {"abort": "cancelling"}, "feature abort: advisory"),
        ([{"cmd": "subscribe", "key": "L"}], {"listeners": "none"}, "feature listeners"),
        (
            [{"cmd": "setOption", "name": "toolExecution", "value": "parallel"}],
            {"toolModes": ["sequential"]},
            "feature toolModes: parallel",
        ),
    ],
)
def test_a_feature_is_needed_where_it_shows(commands: list[Any], features: dict[str, Any], need: str) -> None:
    assert lacking(*commands, features=features) == (need,)
    assert lacking(features=features) == ()


UPDATE: dict[str, Any] = {"type": "tool_execution_update", "toolCallId": "t1"}
REPORT = {"cmd": "update", "ask": EXECUTE, "value": 1}


@pytest.mark.parametrize(
    ("lines", "needed"),
    [
        # One event after the other, each to all listeners: nothing overlaps.
        ([hears("L", "a"), hears("M", "a"), hears("L", "b"), hears("M", "b")], ()),
        ([hears("L", "a"), hears("M", "a"), hears("L", "a"), hears("M", "a")], ()),
        # The second begins before the first has reached everybody.
        ([hears("L", "a"), hears("L", "b"), hears("M", "a"), hears("M", "b")], ("delivery: overlapping",)),
        # L holds the first, and is released before the second; or after it has begun; or never.
        (
            [
                asks("listener", "L", event={"type": "a"}),
                {"send": {"cmd": "answer", "ask": {"fn": "listener", "key": "L", "nth": 0}}},
                hears("M", "a"),
                hears("L", "b"),
            ],
            (),
        ),
        ([asks("listener", "L", event={"type": "a"}), hears("M", "b")], ("delivery: overlapping",)),
        # A report while the former one is held, and two in one stretch.
        (
            [
                asks("listener", "L", event=UPDATE),
                {"send": REPORT},
                hears("M", "tool_execution_update", toolCallId="t1", n=2),
            ],
            ("delivery: overlapping", "update: queued"),
        ),
        ([{"send": {"cmd": "burst", "cmds": [REPORT, REPORT]}}], ("update: queued",)),
        ([{"send": REPORT}, hears("L", "a"), {"send": REPORT}], ()),
    ],
)
def test_deliveries_that_overlap_show_who_serialises_them(lines: list[Any], needed: tuple[str, ...]) -> None:
    serial = {"delivery": "serial", "update": "blocking"}
    found = lacking(heard=lines, features=serial)
    assert found == tuple(f"feature {name}" for name in needed)
    assert lacking(heard=lines) == ()


def test_state_between_runs_needs_no_live_state() -> None:
    settled = {"tell": "settled", "op": "p1", "ok": True}
    lines: list[Any] = [{"send": PROMPT}, settled, {"send": {"cmd": "state"}}, {"send": {"cmd": "abort"}}]
    hello = {**ALL, "features": {"liveState": False, "abort": "cancelling"}}
    assert missing(needs(Scenario(name="x", title="X.", topic="t"), lines), hello) == ()


def test_awaited_listeners_are_needed_where_one_is_asked() -> None:
    asked = asks("listener", "L", event={"type": "turn_start"})
    assert lacking(heard=[asked], features={"listeners": "sync"}) == ("feature listeners: awaited",)
    assert lacking(heard=[hears("L", "turn_start")], features={"listeners": "sync"}) == ()


def test_awaited_listeners_are_needed_where_one_is_kept_waiting_or_fails() -> None:
    answers: list[Any] = [
        {"fn": "listener", "hold": True},
        {"fn": "listener", "key": "L", "event": "turn_end", "throw": "L failed"},
        {"fn": "listener", "value": None},
    ]
    scenarios = [Scenario(name="x", title="X.", topic="t", answers=[rule]) for rule in answers]
    needed = ["feature listeners: awaited" in needs(scenario, []) for scenario in scenarios]
    assert needed == [True, True, False]


def test_calls_without_ids_are_told_apart_by_what_they_are_about() -> None:
    alike = [asks("execute", "t1", tool="a", args={}), asks("execute", "t2", tool="a", args={})]
    distinct = [asks("execute", "t1", tool="a", args={}), asks("execute", "t2", tool="b", args={})]
    keyless = {"keyless": ["execute"]}
    assert lacking(heard=alike, features=keyless) == ("feature key of execute",)
    assert lacking(heard=distinct, features=keyless) == ()
    assert lacking(heard=alike) == ()
    answered = {"send": {"cmd": "answer", "ask": {"fn": "execute", "key": "t1", "nth": 0}}}
    assert lacking(heard=[alike[0], answered, alike[1]], features=keyless) == ()


def test_total_order_is_needed_where_a_race_shows_later() -> None:
    ends = [hears("L", "tool_execution_end", toolCallId=call) for call in ("t1", "t2")]
    snapshot = {"snapshot": True}
    assert lacking(heard=ends, create=snapshot, order="partial") == ("order total",)
    assert lacking(heard=[ends[0], {"send": PROMPT}, ends[1]], create=snapshot, order="partial") == ()
    assert lacking(heard=ends, order="partial") == ()
    twice = [asks("execute", "t1", tool="a"), asks("execute", "t1", tool="b")]
    assert lacking(heard=twice, order="partial") == ("order total",)
    answered = {"send": {"cmd": "answer", "ask": EXECUTE}}
    assert lacking(heard=[twice[0], answered, twice[1]], order="partial") == ()


def test_what_an_agent_leaves_open_is_no_matter_of_the_next_one() -> None:
    again = {"send": {"cmd": "create"}}
    twice = [asks("execute", "t1"), again, asks("execute", "t1")]
    assert lacking(PROMPT, heard=twice, order="partial") == ()
    live = [again, {"send": {"cmd": "state"}}]
    assert lacking(PROMPT, heard=live, features={"liveState": False}) == ()


def test_each_agent_has_its_own_modes() -> None:
    first, second = {"toolExecution": "sequential"}, {"abortMode": "cancel", "toolExecution": "sequential"}
    lines = [
        asks("execute", "t1"),
        {"send": {"cmd": "create", "options": second}},
        {"send": PROMPT},
        asks("execute", "t1"),
        {"send": {"cmd": "abort"}},
    ]
    features = {"toolModes": ["sequential"], "abort": "cancelling"}
    assert lacking(PROMPT, heard=lines, create={"options": first}, features=features) == ()
    lines[1] = {"send": {"cmd": "create"}}
    assert lacking(PROMPT, heard=lines, create={"options": first}, features=features) == (
        "feature abort: advisory",
        "feature toolModes: parallel",
    )


def test_quiescence_can_be_done_without() -> None:
    assert lacking(PROMPT, quiescence="none") == ()


def test_abort_modes() -> None:
    cancel = {"options": {"abortMode": "cancel"}}
    for offered, lacks in (("both", ()), ("cancelling", ()), ("advisory", ("feature abort: cancelling",))):
        assert lacking(PROMPT, {"cmd": "abort"}, create=cancel, features={"abort": offered}) == lacks


def test_tool_modes() -> None:
    create = {"options": {"toolExecution": "sequential"}}
    assert lacking(create=create, features={"toolModes": ["parallel"]}) == ("feature toolModes: sequential",)
    assert lacking(create=create, features={"toolModes": ["sequential"]}) == ()


TOOL = {"name": "a", "description": "tool a", "parameters": {}}
CALL = {"role": "assistant", "content": [{"type": "toolCall", "id": "t1", "name": "a", "arguments": {}}]}


@pytest.mark.parametrize(
    "part",
    [
        {"create": {"tools": [TOOL]}},
        {"create": {"initialState": {"messages": [CALL]}}},
        {"create": {"initialState": {"messages": [{"role": "toolResult", "toolCallId": "t1"}]}}},
        {"answers": [{"fn": "streamFn", "stream": [{"type": "toolcall_start", "contentIndex": 0}]}]},
        {"answers": [{"fn": "streamFn", "stream": [{"type": "done", "message": CALL}]}]},
        {"steps": [{"cmd": "steer", "message": {"role": "system", "content": "", "toolsAdded": [TOOL]}}]},
        {"steps": [{"cmd": "burst", "cmds": [{"cmd": "setTools", "tools": [TOOL]}]}]},
        {"steps": [{"cmd": "create", "tools": [TOOL]}]},
    ],
)
def test_who_has_no_tools_is_not_told_of_any(part: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"create": {"tools": []}, "answers": [], "steps": [], **part}
    scenario = Scenario(name="x", title="", topic="run", **fields)
    needed = needs(scenario, [])
    assert "feature toolModes" in needed
    hello = {**ALL, "features": {"toolModes": []}}
    assert "feature toolModes" in missing(needed, hello)
    assert "feature toolModes" not in missing(needed, {**ALL, "features": {"toolModes": ["sequential"]}})


def test_nothing_of_what_is_played_without_tools_speaks_of_them() -> None:
    """In no recording of a scenario that is left is there a declaration, a call or a result."""
    words = re.compile(
        r'"(tools|toolsAdded|toolsRemoved|toolResults)":\[\{|"toolcall_|"toolCall"|"toolResult"|"execute"'
    )
    left = [each for each in all_scenarios() if "feature toolModes" not in needs(each, [])]
    assert len(left) > 100
    for scenario in left:
        recording = Vectors.shipped().read("1.6.0", scenario.name)
        if recording is not None:
            told = [line for line in map(canonical, recording.lines) if words.search(line)]
            assert told == [], scenario.name


def test_nonsense_in_the_features_is_nothing_offered() -> None:
    nonsense = {"keyless": 5, "toolModes": 7, "abort": [], "burst": "maybe", "new": {"a": 1}}
    assert "feature burst" not in offers({**ALL, "features": nonsense})


@pytest.mark.parametrize("modes", [[], {}, [{}], "parallel", ["side by side"], 7])
def test_modes_that_nobody_understands_are_none(modes: Any) -> None:
    """Whoever executes a call does it in one mode or the other, if only by default."""
    executed = {"ask": {"fn": "execute", "key": "t1", "nth": 0}, "args": {"tool": "a", "args": {}}}
    assert lacking(heard=[executed], features={"toolModes": modes}) == ("feature toolModes: parallel",)
    assert lacking(heard=[executed], features={"toolModes": ["parallel"]}) == ()
    assert lacking(heard=[], features={"toolModes": modes}) == ()
