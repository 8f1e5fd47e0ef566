"""A whole scenario: the agent, the rules and the script put together, with the operations numbered."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from pi_trio.conformance.protocol import Object
from pi_trio.conformance.scenario import Scenario

from .provider import Events
from .rules import streams
from .speech import MODEL
from .steps import Step, command, flat

_LETTERS: Final = {"prompt": "p", "continue": "c", "waitForIdle": "w"}


def agent(
    *,
    tools: Sequence[Object] = (),
    hooks: Sequence[str] = (),
    listeners: Sequence[str] = ("L",),
    told: Sequence[str] | None = None,
    state: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    snapshot: bool = False,
    target: str | None = None,
) -> Object:
    """The fields of `create`.

    Args:
        tools: as `tool` makes them.
        hooks: the names of those to install.
        listeners: their names, in order of subscription.
        told: the listeners, later ones included, that are told of events and not awaited; None: `listeners`.
        state: the initial state. Its model is `MODEL` unless it says otherwise; None: no model is given.
        settings: the agent's other options.
        snapshot: attach the state to every event.
        target: who is talked to; None: the agent.
    """
    initial = {"model": MODEL, **(state or {})}
    return {
        "initialState": {name: value for name, value in initial.items() if value is not None},
        "tools": [*tools],
        "hooks": [*hooks],
        "listeners": [*listeners],
        "tellListeners": [*(listeners if told is None else told)],
        **({"options": {**settings}} if settings else {}),
        **({"snapshot": True} if snapshot else {}),
        **({"target": target} if target else {}),
    }


def create(**given: Any) -> Object:
    """A step: a new agent takes the place of the present one. `given` is what `agent` takes."""
    return command("create", **agent(**given))


def scenario(
    name: str,
    title: str,
    *,
    steps: Sequence[Step],
    responses: Sequence[Events | Object | None] = (),
    rules: Sequence[Object] = (),
    **given: Any,
) -> Object:
    """One scenario, still without a topic.

    Args:
        name: unique, in lower case with underscores.
        title: what it shows, in one sentence.
        steps: the script. Its prompts become the operations p1, p2, …, continues c1, …, waits w1, ….
        responses: how the requests are answered, first to last: events, a rule of `streams` or `throws`, or
            None to leave the request to the script.
        rules: the other rules; they come first.
        given: what `agent` takes.
    """
    commands = copy.deepcopy(flat(steps))
    _number(commands, Counter())
    return {
        "name": name,
        "title": title,
        "create": copy.deepcopy(agent(**given)),
        "answers": copy.deepcopy([*rules, *_answering(responses)]),
        "steps": commands,
    }


loop: Final = partial(scenario, target="loop")
"""One scenario of the loop alone."""


def topic(name: str, *scenarios: Object) -> tuple[Scenario, ...]:
    """The scenarios of one module, under its topic.

    Raises:
        ScenarioError: one of them is not a scenario.
    """
    return tuple(Scenario.from_json({"topic": name, **each}) for each in scenarios)


def _answering(responses: Sequence[Events | Object | None]) -> Iterator[Object]:
    for nth, given in enumerate(responses):
        if given is not None:
            yield {**given, "nth": nth} if isinstance(given, dict) else streams(given, nth)


def _number(commands: Iterable[Object], counts: Counter[str]) -> None:
    """Give each operation its name, in place."""
    for each in commands:
        letter = _LETTERS.get(each["cmd"])
        if letter is not None:
            counts[letter] += 1
            each["op"] = f"{letter}{counts[letter]}"
        _number(each.get("cmds", ()), counts)
