"""What a scenario is: one agent, the answers that stand, and the commands that the script gives.

A `Scenario` is a value with one JSON form, so that it can be written by hand, generated, shrunk, stored in a
vector's header and piped into any adapter. It refers to what a subject asks by *address* (the third `execute`
of call t1), never by a subject's own ids. Everything is checked when a scenario is made: an error names the
path of what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self, cast

import attrs

from pi_trio.errors import CodecError
from pi_trio.jsonvalue import JSON, freeze, thaw

from .protocol import COMMANDS, Object
from .shown import shown

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_]*")


class ScenarioError(CodecError):
    """A scenario, or a part of one, is not what it must be. `path` says where."""


@attrs.frozen(kw_only=True)
class Address:
    """Which ask is meant: the nth of those since `create` that match what is given.

    Attributes:
        fn: the callback's name.
        key: the listener's name or the call's id; None matches every key.
        event: for listeners, the type of the event; None matches every type.
        nth: how many that match came before it.
    """

    fn: str
    key: str | None = None
    event: str | None = None
    nth: int = 0

    @classmethod
    def from_json(cls, value: JSON, path: str) -> Address:
        """Raises: ScenarioError."""
        fields = _object(value, path, need={"fn": str}, may={"key": str, "event": str, "nth": int})
        return cls(**fields)

    def to_json(self) -> Object:
        return {**_present(fn=self.fn, key=self.key, event=self.event), "nth": self.nth}


@attrs.frozen(kw_only=True)
class Rule:
    """How the asks that match are answered without a step of the script. The first rule that matches wins.

    Exactly one deed: `value` (given as `{"value": …}`, null included: nothing), `throw`, `hold`, or `stream`.

    Attributes:
        nth: which of the asks that match fn, key and event; None is each of them.
        deed: `value`, `throw`, `hold` or `stream`.
        value: what is answered, the text thrown, or the provider events to push.
        close: the command that closes the stream behind its last event (`end` or `fail`, without `ask`), or
            None.
    """

    fn: str
    key: str | None
    event: str | None
    nth: int | None
    deed: str
    value: Any
    close: Object | None

    @classmethod
    def from_json(cls, value: JSON, path: str) -> Rule:
        """Raises: ScenarioError."""
        given = _object(
            value, path, need={"fn": str},
            may={
                "key": str, "event": str, "nth": int, "value": None, "throw": str, "hold": bool, "stream": list,
                "end": None, "fail": str,
            },
        )  # fmt: skip
        deeds = [deed for deed in ("value", "throw", "hold", "stream") if deed in given]
        if len(deeds) != 1:
            raise ScenarioError(path, "a rule has exactly one of value, throw, hold and stream")
        (deed,) = deeds
        close = _closing(given, deed, path)
        if deed == "stream":
            for index, event in enumerate(given["stream"]):
                _object(event, f"{path}.stream[{index}]", need={"type": str}, others=True)
        elif deed == "hold" and given["hold"] is not True:
            raise ScenarioError(f"{path}.hold", "hold is true")
        return cls(
            fn=given["fn"], key=given.get("key"), event=given.get("event"), nth=given.get("nth"),
            deed=deed, value=given[deed], close=close,
        )  # fmt: skip


def _closing(given: Object, deed: str, path: str) -> Object | None:
    closings = [name for name in ("end", "fail") if name in given]
    if closings and (deed != "stream" or len(closings) > 1):
        raise ScenarioError(path, "end and fail close a stream, one of them at most")
    match closings:
        case ["end"]:
            return {"cmd": "end", **({} if given["end"] is None else {"result": given["end"]})}
        case ["fail"]:
            return {"cmd": "fail", "error": given["fail"]}
        case _:
            return None


def _frozen_object(value: Mapping[str, Any]) -> Object:
    return cast("Object", freeze(value))


def _frozen_objects(values: Iterable[Mapping[str, Any]]) -> tuple[Object, ...]:
    return tuple(_frozen_object(value) for value in values)


def _is_a_name(_: Any, __: Any, value: str) -> None:
    if not _NAME.fullmatch(value):
        raise ScenarioError("name", f"a name is made of a-z, 0-9 and _, not {shown(value)}")


@attrs.frozen(kw_only=True)
class Scenario:
    """One conversation with a subject, complete.

    Attributes:
        name: unique, in lower case with underscores; the vector's file is called so.
        title: what happens, in one sentence.
        topic: the group in which it is shown.
        create: the fields of the `create` command.
        answers: the rules as JSON; `rules` has them parsed.
        steps: the commands of the script as JSON, without ids, each `ask` an address.

    Raises:
        ScenarioError: when made from anything else.
    """

    name: str = attrs.field(validator=_is_a_name)
    title: str
    topic: str
    create: Object = attrs.field(factory=dict[str, Any], converter=_frozen_object)
    answers: tuple[Object, ...] = attrs.field(default=(), converter=_frozen_objects)
    steps: tuple[Object, ...] = attrs.field(default=(), converter=_frozen_objects)
    rules: tuple[Rule, ...] = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        check_create(self.create, "create")
        rules = tuple(Rule.from_json(rule, f"answers[{index}]") for index, rule in enumerate(self.answers))
        object.__setattr__(self, "rules", rules)
        for index, command in enumerate(self.steps):
            check_command(command, f"steps[{index}]")

    @classmethod
    def from_json(cls, value: JSON) -> Self:
        """The scenario that `value` describes.

        Raises:
            ScenarioError: it is none; the path says where, the message what was expected.
        """
        fields = _object(
            value,
            "",
            need={"name": str, "title": str, "topic": str},
            may={"create": dict, "answers": list, "steps": list},
        )
        return cls(**fields)

    def to_json(self) -> Object:
        """A plain copy, which `from_json` reads back."""
        return {
            "name": self.name, "title": self.title, "topic": self.topic, "create": thaw(self.create),
            "answers": [thaw(rule) for rule in self.answers], "steps": [thaw(step) for step in self.steps],
        }  # fmt: skip

    def create_command(self) -> Object:
        """The command that makes this scenario's agent."""
        return {"cmd": "create", **self.create}

    def texts(self) -> frozenset[str]:
        """Every string value that the scenario holds."""
        return frozenset(strings([self.create, *self.answers, *self.steps]))


def strings(value: Any) -> Iterable[str]:
    """Every string in a value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)


# What commands look like: the fields that each needs, and those that it may have. None is any JSON value.

_Fields = dict[str, type | None]

_CREATE: Final[_Fields] = {
    "initialState": dict, "tools": list, "hooks": list, "listeners": list, "tellListeners": list, "options": dict,
    "snapshot": bool, "target": str,
}  # fmt: skip

_FIELDS: Final[dict[str, tuple[_Fields, _Fields]]] = {
    "create": ({}, _CREATE),
    "prompt": ({"op": str, "input": None}, {"images": list}),
    "continue": ({"op": str}, {}),
    "waitForIdle": ({"op": str}, {}),
    "steer": ({"message": dict}, {}),
    "followUp": ({"message": dict}, {}),
    "clearQueue": ({"which": str}, {}),
    "subscribe": ({"key": str}, {}),
    "unsubscribe": ({"key": str}, {}),
    "setTools": ({"tools": list}, {}),
    "setMessages": ({"messages": list}, {}),
    "setOption": ({"name": str, "value": None}, {}),
    "answer": ({"ask": dict}, {"value": None, "throw": str}),
    "update": ({"ask": dict, "value": None}, {}),
    "push": ({"ask": dict, "event": dict}, {}),
    "end": ({"ask": dict}, {"result": None}),
    "fail": ({"ask": dict, "error": str}, {}),
    "advance": ({"ms": int}, {}),
    "burst": ({"cmds": list}, {}),
}


def check_create(options: JSON, path: str) -> None:
    """Raises: ScenarioError: these are not the fields of a `create` command."""
    fields = _object(options, path, need={}, may={"cmd": str, **_CREATE})
    for name in ("hooks", "listeners", "tellListeners"):
        if not all(isinstance(item, str) for item in fields.get(name, ())):
            raise ScenarioError(f"{path}.{name}", "a list of names was expected")
    for index, tool in enumerate(fields.get("tools", ())):
        _object(tool, f"{path}.tools[{index}]", need={"name": str}, may={"executionMode": str}, others=True)
    _object(fields.get("options", {}), f"{path}.options", need={}, may={"toolExecution": str}, others=True)


def check_command(command: JSON, path: str, *, nested: bool = False) -> None:
    """Raises: ScenarioError: this is not a command of the script."""
    name = _object(command, path, need={"cmd": str}, others=True)["cmd"]
    if name not in COMMANDS:
        raise ScenarioError(f"{path}.cmd", f"there is no command {shown(name)}")
    need, may = _FIELDS.get(name, ({}, {}))
    fields = _object(command, path, need={"cmd": str, **need}, may=may)
    if "value" in fields and "throw" in fields:
        raise ScenarioError(path, "an answer has value or throw, not both")
    if "ask" in fields:
        Address.from_json(fields["ask"], f"{path}.ask")
    if name == "create":
        check_create(command, path)
    elif name == "burst":
        if nested:
            raise ScenarioError(path, "a burst holds no burst")
        for index, item in enumerate(fields["cmds"]):
            check_command(item, f"{path}.cmds[{index}]", nested=True)


_KINDS: Final = {
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def _object(
    value: Any, path: str, *, need: _Fields, may: _Fields | None = None, others: bool = False
) -> Object:
    """The fields of a JSON object, each of its type, none missing and, without `others`, none too many."""
    if not isinstance(value, dict):
        raise ScenarioError(path, f"an object was expected, not {value!r:.60}")
    fields: Object = dict(value)
    for key in need:
        if key not in fields:
            raise ScenarioError(path, f"{key} is missing")
    kinds = {**need, **(may or {})}
    for key, item in fields.items():
        inner = f"{path}.{key}" if path else key
        if key not in kinds:
            if others:
                continue
            raise ScenarioError(inner, f"this field is unknown here; known are {', '.join(sorted(kinds))}")
        kind = kinds[key]
        if kind is not None and (not isinstance(item, kind) or (kind is int and isinstance(item, bool))):
            raise ScenarioError(inner, f"{_KINDS[kind]} was expected, not {item!r:.60}")
        if kind is int and item < 0:
            raise ScenarioError(inner, "a number from 0 was expected")
    return fields


def _present(**fields: Any) -> Object:
    return {key: value for key, value in fields.items() if value is not None}
