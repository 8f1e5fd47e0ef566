"""No false alarm off the beaten track: recorded scenarios are changed at random and played by the runtime.

Listeners hold and fail, hooks throw, commands come at any moment; whatever the runtime then does, it keeps every
clause, the rulings' too.
"""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest
import trio

from pi_trio.conformance.expected import consult_runtime
from pi_trio.conformance.lockstep import Run
from pi_trio.conformance.monitors import judge_trace
from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario
from pi_trio.conformance.scheduling import first_in_first_out
from pi_trio.conformance.subjects.choice import runtime_inside

from .recordings import FORCE, VECTORS

EVENTS = (
    "agent_start", "turn_start", "message_start", "message_update", "message_end", "tool_execution_start",
    "tool_execution_update", "tool_execution_end", "turn_end", "agent_end",
)  # fmt: skip
HOOKS = (
    "beforeToolCall",
    "afterToolCall",
    "execute",
    "transformContext",
    "convertToLlm",
    "prepareNextTurn",
    "streamFn",
)
DEEDS: tuple[Object, ...] = ({"hold": True}, {"throw": "it failed"}, {"throw": "it failed"})


def changed(chance: random.Random, scenario: Scenario, number: int, mode: str) -> Scenario:
    """A scenario with other listeners, rules and commands."""
    json: Any = deepcopy(scenario.to_json())
    json["name"] = f"{number}_{json['name']}"
    create, rules, steps = json["create"], list(json.get("answers", ())), list(json["steps"])
    loop = create.get("target") == "loop"
    if chance.random() < 0.5:
        create["listeners"], create["tellListeners"] = ["L", "M"], chance.choice([[], ["M"]])
    for _ in range(chance.choice([0, 1, 1, 2])):
        place = {
            "fn": "listener",
            "key": chance.choice("LM"),
            "event": chance.choice(EVENTS),
            "nth": chance.randrange(3),
        }
        rules.insert(0, {**place, **chance.choice(DEEDS)})
    if chance.random() < 0.3:
        rules.insert(0, {"fn": chance.choice(HOOKS), "nth": chance.randrange(3), **chance.choice(DEEDS)})
    create["options"] = {**create.get("options", {}), "abortMode": mode}
    if not loop:
        create["options"] |= {
            "steeringMode": chance.choice(["all", "one-at-a-time"]),
            "toolExecution": chance.choice(["parallel", "parallel", "sequential"]),
        }
        create["snapshot"] = chance.random() < 0.2
    for each in range(chance.choice([0, 1, 2, 3])):
        message = {"role": "user", "content": f"queued {each}", "timestamp": 0}
        held = {"fn": "listener", "key": "L", "event": chance.choice(EVENTS), "nth": 0}
        commands: list[Object] = [{"cmd": "abort"}, {"cmd": "sync"}]
        if not loop:
            commands += [
                {"cmd": "steer", "message": message}, {"cmd": "followUp", "message": message},
                {"cmd": "prompt", "op": f"more {each}", "input": "more"}, {"cmd": "continue", "op": f"on {each}"},
                {"cmd": "answer", "ask": held}, {"cmd": "answer", "ask": held, "throw": "late"},
            ]  # fmt: skip
        steps.insert(chance.randrange(1, len(steps) + 1), chance.choice(commands))
    json["answers"], json["steps"] = rules, steps
    return Scenario.from_json(json)


@pytest.mark.parametrize("mode", ["signal", "cancel"])
@pytest.mark.parametrize("release", ["0.80.2", "1.6.0"])
def test_the_runtime_keeps_the_clauses_whatever_happens(release: str, mode: str) -> None:
    chance = random.Random(release + mode)
    names = sorted(VECTORS.names(release))
    recordings = [VECTORS.read(release, chance.choice(names)) for _ in range(60)]
    scenarios = [
        changed(chance, each.scenario, at, mode) for at, each in enumerate(recordings) if each is not None
    ]
    with first_in_first_out():
        runs = trio.run(consult_runtime, runtime_inside(f"pi-{release}", 30), scenarios)
    for scenario in scenarios:
        run = runs[scenario.name]
        assert isinstance(run, Run), (scenario.name, run)
        judgement = judge_trace(run.lines, FORCE, [release], cancelling=mode == "cancel")
        assert judgement.findings == (), scenario.name
