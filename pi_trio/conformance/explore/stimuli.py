"""Every kind of stimulus: on what it acts, and in which ways. One table, from which the machine draws.

A stimulus is possible when there is something for it to act on. What is drawn is one number: a place
on a *wheel*, on which each kind has as many slots as its weight says, and what picks target and way. If the kind at
that place is not possible now, the next one is taken that is, so that no draw is lost. What was drawn is a *move*,
which means the same wherever it is possible: with moves, not with numbers, a counterexample is made smaller.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import attrs

from .. import options
from .. import scripting as s
from ..protocol import COMMANDS, Object
from . import material as m
from .scene import Open, Scene

SLOTS: Final = 1024
"""Places on a wheel."""

PICKS: Final = 256
"""How many numbers there are for target and way."""

NUMBERS: Final = SLOTS * PICKS
"""How many numbers there are for a stimulus."""

Make: TypeAlias = Callable[[Scene, Any, Any], Object]


@attrs.frozen(kw_only=True)
class Stimulus:
    """One kind.

    Attributes:
        weight: how often it is drawn, compared with others.
        trait: what it brings into a conversation, which whole conversations may do without; empty: nothing special.
        needs: the command that it is, if not every subject has to offer that.
        targets: what it can act on now, the plainest first; none: it is not possible.
        ways: how it can act, the plainest first.
        make: the command, for a target and a way.
    """

    name: str
    weight: int
    targets: Callable[[Scene], Sequence[Any]]
    make: Make
    ways: Sequence[Any] = (None,)
    trait: str = ""
    needs: str = ""

    def command(self, scene: Scene, move: Move) -> Object:
        """The command that a move of this kind is now, as far as it goes: of fewer targets it is the last.

        Raises:
            IndexError: it is not possible.
        """
        targets = self.targets(scene)
        return self.make(scene, targets[min(move.target, len(targets) - 1)], self.ways[move.way])


@attrs.frozen
class Move:
    """A stimulus as it was drawn: its name, and the places of target and way among those that there were."""

    name: str
    target: int
    way: int


def _when(condition: Callable[[Scene], bool]) -> Callable[[Scene], Sequence[Any]]:
    """Possible on a condition, and on nothing in particular."""
    return lambda scene: (None,) if condition(scene) else ()


def _of_agent(
    command: str, condition: Callable[[Scene], bool] = lambda _: True
) -> Callable[[Scene], Sequence[Any]]:
    """Possible for an agent that offers the command."""
    return _when(lambda scene: not scene.loop and command in scene.hello["commands"] and condition(scene))


def _asked(fn: str) -> Callable[[Scene], Sequence[Open]]:
    return lambda scene: scene.of(fn)


def _streams(scene: Scene) -> Sequence[Open]:
    return scene.streams


def _begun(scene: Scene, letter: str) -> str:
    return f"{letter}{scene.operations + 1}"


def _idle(scene: Scene) -> bool:
    return scene.idle


def _prompt(scene: Scene, _: None, given: Any) -> Object:
    return {"cmd": "prompt", "op": _begun(scene, "p"), "input": given}


def _continue(scene: Scene, _: None, __: None) -> Object:
    return {"cmd": "continue", "op": _begun(scene, "c")}


def _answer(_: Scene, ask: Open, value: Any) -> Object:
    return {"cmd": "answer", "ask": ask.address, **({} if value is None else {"value": value})}


def _throw(_: Scene, ask: Open, __: None) -> Object:
    return {"cmd": "answer", "ask": ask.address, "throw": m.SAYS}


def _stream(scene: Scene, ask: Open, which: int) -> Object:
    ask.planned = m.response(which, scene.calls + 1)
    scene.calls += m.calls_in(which)
    return s.command("answer", ask=ask.address, value="stream")


def _twins(_: Scene, ask: Open, __: None) -> Object:
    ask.planned = m.TWINS
    return s.command("answer", ask=ask.address, value="stream")


def _push_next(_: Scene, stream: Open, __: None) -> Object:
    assert stream.plan
    return s.command("push", ask=stream.address, event=stream.plan[0])


def _push(_: Scene, stream: Open, event: Object) -> Object:
    return s.command("push", ask=stream.address, event=event)


def _push_late(_: Scene, address: Object, event: Object) -> Object:
    return s.command("push", ask=address, event=event)


def _end(_: Scene, stream: Open, result: Object | None) -> Object:
    return s.command("end", ask=stream.address, **({} if result is None else {"result": result}))


def _fail(_: Scene, stream: Open, __: None) -> Object:
    return s.command("fail", ask=stream.address, error=m.SAYS)


def _update(_: Scene, tool: Open, value: Object) -> Object:
    return s.command("update", ask=tool.address, value=value)


def _update_late(_: Scene, address: Object, value: Object) -> Object:
    return s.command("update", ask=address, value=value)


def _plain(name: str) -> Make:
    """A command that takes nothing."""
    return lambda _, __, ___: {"cmd": name}


def _with(name: str, field: str) -> Make:
    """A command whose way is one field of it."""
    return lambda _, __, way: {"cmd": name, field: way}


def _set_option(_: Scene, __: None, way: tuple[str, Any]) -> Object:
    return {"cmd": "setOption", "name": way[0], "value": way[1]}


def _settable(scene: Scene) -> bool:
    return "setOption systemPrompt" in options.offered(scene.hello)


def _races(scene: Scene) -> Sequence[tuple[Object, Object]]:
    """Two commands each that may come in one stretch."""
    if scene.idle or scene.hello.get("features", {}).get("burst") is False:
        return ()
    single: list[Object] = []
    for tool in scene.of("execute"):
        single.append(_answer(scene, tool, m.RESULTS[0]))
        if "update" in scene.hello["commands"]:
            single.append(_update(scene, tool, m.REPORTS[0]))
    single += [_push_next(scene, stream, None) for stream in scene.streams if stream.plan]
    single += [_answer(scene, held, None) for held in scene.of("listener")]
    single += [_answer(scene, hook, None) for fn in m.HOOKS for hook in scene.of(fn)]
    if not scene.loop:
        single += [{"cmd": "abort"}, {"cmd": "steer", "message": m.QUEUED[0]}]
    return [(one, other) for one in single for other in single if one is not other]


def _race(_: Scene, pair: tuple[Object, Object], __: None) -> Object:
    return {"cmd": "burst", "cmds": [*pair]}


_OF_HOOKS: Final = tuple(
    each
    for fn, values in m.HOOKS.items()
    for each in (
        Stimulus(name=f"answer {fn}", weight=24, targets=_asked(fn), ways=values, make=_answer),
        Stimulus(
            name=f"fail {fn}", weight=3, targets=_asked(fn), make=_throw,
            trait="" if fn in m.CONTAINED else "failing",
        ),
    )
)  # fmt: skip

STIMULI: Final[tuple[Stimulus, ...]] = (
    Stimulus(name="prompt", weight=30, targets=_when(_idle), ways=m.PROMPTS, make=_prompt),
    Stimulus(name="stream", weight=50, targets=_asked("streamFn"), ways=range(m.RESPONSES), make=_stream),
    Stimulus(name="push", weight=60, targets=_streams, make=_push_next),
    Stimulus(name="finish", weight=16, targets=_asked("execute"), ways=m.RESULTS, make=_answer),
    Stimulus(name="crash", weight=5, targets=_asked("execute"), make=_throw),
    Stimulus(name="report", weight=12, targets=_asked("execute"), ways=m.REPORTS, make=_update, needs="update"),
    Stimulus(
        name="report late", weight=6, targets=lambda scene: [*scene.returned], ways=m.REPORTS, make=_update_late,
        needs="update",
    ),
    Stimulus(name="release", weight=24, targets=_asked("listener"), make=_answer),
    Stimulus(name="fail listener", weight=14, targets=_asked("listener"), make=_throw, trait="failing"),
    *_OF_HOOKS,
    Stimulus(
        name="abort", weight=4, trait="abort", make=_plain("abort"),
        targets=_when(lambda scene: not scene.idle and not scene.aborted),
    ),
    Stimulus(
        name="abort again", weight=1, trait="abort", make=_plain("abort"),
        targets=_when(lambda scene: not scene.idle and scene.aborted),
    ),
    Stimulus(
        name="abort a call", weight=12, trait="abort", make=_plain("abort"),
        targets=_when(lambda scene: not scene.aborted and bool(scene.of("execute"))),
    ),
    Stimulus(
        name="abort idle", weight=1, trait="abort", targets=_of_agent("abort", lambda scene: scene.idle),
        make=_plain("abort"),
    ),
    Stimulus(
        name="steer", weight=5, trait="queues", targets=_of_agent("steer"), ways=m.QUEUED,
        make=_with("steer", "message"),
    ),
    Stimulus(
        name="follow up", weight=4, trait="queues", targets=_of_agent("followUp"), ways=m.QUEUED,
        make=_with("followUp", "message"),
    ),
    Stimulus(
        name="clear queue", weight=1, trait="queues", targets=_of_agent("clearQueue"),
        ways=("all", "steering", "followUp"), make=_with("clearQueue", "which"),
    ),
    Stimulus(name="continue", weight=4, targets=_when(_idle), make=_continue),
    Stimulus(
        name="wait for idle", weight=1, targets=_of_agent("waitForIdle"),
        make=lambda scene, _, __: {"cmd": "waitForIdle", "op": _begun(scene, "w")},
    ),
    Stimulus(
        name="provider fails", weight=3, targets=_streams, ways=m.FAILURES, make=_push,
    ),
    Stimulus(name="malformed", weight=3, trait="malformed", targets=_streams, ways=m.MALFORMED, make=_push),
    Stimulus(
        name="push late", weight=1, trait="malformed", ways=m.MALFORMED, make=_push_late,
        targets=lambda scene: () if scene.closed is None else (scene.closed,),
    ),
    Stimulus(name="end with result", weight=2, trait="malformed", targets=_streams, ways=m.ENDINGS, make=_end),
    Stimulus(name="second start", weight=2, trait="second start", targets=_streams, ways=(m.SECOND_START,), make=_push),
    Stimulus(name="end without result", weight=2, trait="endless", targets=_streams, make=_end),
    Stimulus(name="fail stream", weight=2, trait="failing", targets=_streams, make=_fail, needs="fail"),
    Stimulus(name="fail streamFn", weight=1, trait="failing", targets=_asked("streamFn"), make=_throw),
    Stimulus(name="twins", weight=4, trait="twins", targets=_asked("streamFn"), make=_twins),
    Stimulus(name="return nothing", weight=2, trait="nothing", targets=_asked("execute"), make=_answer),
    Stimulus(
        name="subscribe", weight=2, trait="subscribing", targets=_of_agent("subscribe"), ways=("M", "N", "L"),
        make=_with("subscribe", "key"),
    ),
    Stimulus(
        name="unsubscribe", weight=1, trait="subscribing", make=lambda _, key, __: {"cmd": "unsubscribe", "key": key},
        targets=lambda scene: scene.listeners if not scene.loop else (), needs="unsubscribe",
    ),
    Stimulus(
        name="set tools", weight=2, trait="state", targets=_of_agent("setTools"), ways=m.TOOLSETS,
        make=_with("setTools", "tools"),
    ),
    Stimulus(
        name="set messages", weight=1, trait="state", targets=_of_agent("setMessages"), ways=m.TRANSCRIPTS,
        make=_with("setMessages", "messages"),
    ),
    Stimulus(
        name="set option", weight=2, trait="state", targets=_of_agent("setOption"), ways=m.OPTIONS[:-1],
        make=_set_option,
    ),
    Stimulus(
        name="set prompt", weight=1, trait="state", targets=_of_agent("setOption", _settable), ways=m.OPTIONS[-1:],
        make=_set_option,
    ),
    Stimulus(name="reset", weight=1, trait="state", targets=_of_agent("reset", _idle), make=_plain("reset")),
    Stimulus(name="race", weight=4, trait="race", targets=_races, make=_race, needs="burst"),
    Stimulus(
        name="prompt too early", weight=1, ways=m.PROMPTS[:2], make=_prompt,
        targets=_of_agent("prompt", lambda scene: not scene.idle),
    ),
    Stimulus(
        name="continue too early", weight=1, make=_continue,
        targets=_of_agent("continue", lambda scene: not scene.idle),
    ),
    Stimulus(name="look", weight=1, targets=_of_agent("state"), make=_plain("state")),
)  # fmt: skip

TRAITS: Final = frozenset(each.trait for each in STIMULI if each.trait)

RULED: Final = frozenset({"failing", "second start", "endless", "twins", "nothing"})
"""Traits that lead where the runtime is stricter than the releases, on purpose."""


def wheel(without: frozenset[str], commands: frozenset[str] = COMMANDS) -> tuple[Stimulus, ...]:
    """The stimuli without some traits that a subject with these commands can be given: each on as many slots as its
    weight says, and those well mixed.
    """
    allowed = [each for each in STIMULI if each.trait not in without and (each.needs or "answer") in commands]
    slots: list[Stimulus] = []
    total, upto = sum(each.weight for each in allowed), 0
    for each in allowed:
        upto += each.weight
        slots += [each] * (round(SLOTS * upto / total) - len(slots))
    random.Random(0).shuffle(slots)  # noqa: S311 - so that the next possible one is any one, by weight
    return tuple(slots)


BY_NAME: Final = {each.name: each for each in STIMULI}


def draw(wheel: Sequence[Stimulus], scene: Scene, number: int) -> Move | None:
    """The move that a number stands for now; None: nothing is possible."""
    place, pick = divmod(number, PICKS)
    tried: set[str] = set()
    for offset in range(len(wheel)):
        stimulus = wheel[(place + offset) % len(wheel)]
        if stimulus.name not in tried:
            tried.add(stimulus.name)
            if targets := stimulus.targets(scene):
                return Move(
                    stimulus.name, *divmod(pick % (len(targets) * len(stimulus.ways)), len(stimulus.ways))
                )
    return None
