"""Where two traces part, and in what way.

The first line that differs says little by itself: a line may be missing, or too much, or come in place of another, or
differ in a field. A `Place` says which of these it is and what the line is about, and brings the scene with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import attrs

from ..compare import canonical
from ..lines import asks, event_of, is_ask
from ..protocol import Object
from .memory import NOTHING
from .scene import Scene

Way = Literal["missing", "extra", "instead", "changed"]
Path: TypeAlias = tuple[str | int, ...]


@attrs.frozen(kw_only=True)
class Place:
    """The first difference of two traces.

    Attributes:
        way: "missing" if `line` is expected and did not come, though what is behind it did or nothing did; "instead" if
            `other` came in its place; "extra" if `line` came and is not expected; "changed" if it came otherwise.
        kind: what the line is about: the type of an event, the function of a callback, what a subject tells, "reply",
            "refusal", "unresolved", "end", or "command" for what the tester sends. In a difference of a state, be it a
            reply or a snapshot, "state".
        line: the line that was expected; of an extra one that which came.
        other: the line that came, or of an extra one that which was expected; None if a trace has ended.
        path: of a difference inside a line the steps to it, from what the kind names on: an event, a callback's
            arguments, a state. `whole_path` has those from the line on.
        later: the line does come, in a later step.
        scene: what had happened.
    """

    way: Way
    kind: str
    line: Object
    other: Object | None
    path: Path = ()
    whole_path: Path = ()
    later: bool = False
    scene: Scene

    @property
    def event(self) -> Object:
        """The event of the line; empty if it has none."""
        return event_in(self.line)

    @property
    def message(self) -> Object:
        """The message that the line's event is about, or that it ends with."""
        message = self.event.get("message")
        return message if isinstance(message, dict) else NOTHING

    @property
    def args(self) -> Object:
        """The arguments of a callback."""
        args = self.line.get("args")
        return args if isinstance(args, dict) else NOTHING

    @property
    def came(self) -> str:
        """The kind of the other line; "nothing" if there is none."""
        return kind_of(self.other) if self.other is not None else "nothing"

    @property
    def fields(self) -> tuple[str, ...]:
        """The names on the path."""
        return tuple(step for step in self.path if isinstance(step, str))

    @property
    def key(self) -> str:
        """Whose callback it is: the listener's name, or the call's id."""
        return _key(self.line)

    @property
    def address(self) -> Object:
        """The callback that the line is, or is about."""
        return _address(self.line)


def parted(expected: Sequence[Object], got: Sequence[Object], *, cancels: bool) -> Place | None:
    """Where a trace leaves the expected one; None if it never does. `cancels`: an abort is to end waits."""
    at = next((n for n, pair in enumerate(zip(expected, got, strict=False)) if not _same(*pair)), None)
    at = min(len(expected), len(got)) if at is None else at
    if at == len(expected) == len(got):
        return None
    wanted = expected[at] if at < len(expected) else None
    came = got[at] if at < len(got) else None
    scene = Scene.behind(expected[:at], cancels=cancels)
    if wanted is None or came is None:
        line = came if wanted is None else wanted
        assert line is not None
        return Place(
            way="extra" if wanted is None else "missing",
            kind=kind_of(line),
            line=line,
            other=None,
            scene=scene,
        )
    if _about(wanted) == _about(came):
        whole = tuple(_steps(wanted, came))
        kind, path = _named(wanted, whole, scene)
        return Place(
            way="changed", kind=kind, line=wanted, other=came, path=path, whole_path=whole, scene=scene
        )
    way = _way(wanted, came, expected[at:], got[at:])
    line, other = (came, wanted) if way == "extra" else (wanted, came)
    later = way != "extra" and any(_same(wanted, each) for each in got[at:])
    return Place(way=way, kind=kind_of(line), line=line, other=other, later=later, scene=scene)


def _way(wanted: Object, came: Object, expected: Sequence[Object], got: Sequence[Object]) -> Way:
    """Whether the one is missing, the other too much, or the one in place of the other."""
    if _closes(wanted) != _closes(came):
        return "extra" if _closes(wanted) else "missing"
    due, late = _in_step(came, expected), _in_step(wanted, got)
    if late and not due:
        return "extra"
    return "missing" if due and not late else "instead"


def _closes(line: Object) -> bool:
    """Whether no reaction can come behind it any more."""
    return kind_of(line) in ("reply", "refusal", "unresolved", "end", "command")


def _in_step(line: Object, lines: Sequence[Object]) -> bool:
    """Whether it is among the reactions up to the next reply."""
    for each in lines[1:]:
        if _closes(each):
            return False
        if _same(each, line):
            return True
    return False


def kind_of(line: Object) -> str:
    """What a line is about."""
    if (event := event_of(line)) is not None:
        return str(event.get("type")) if isinstance(event, dict) else "unknown"
    if is_ask(line):
        return str(asks(line))
    if "tell" in line:
        return str(line["tell"])
    for name, kind in (
        ("reply", "reply"),
        ("error", "refusal"),
        ("end", "end"),
        ("unresolved", "unresolved"),
    ):
        if name in line:
            return kind
    return "command" if "send" in line else "unknown"


def event_in(line: Object) -> Object:
    """The event that is heard of in a line; empty if there is none."""
    event = event_of(line)
    return event if isinstance(event, dict) else NOTHING


def inside(value: Any, path: Iterable[str | int]) -> Any:
    """What a path leads to in a value; None if it leads nowhere."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _about(line: Object) -> tuple[str, ...]:
    """Equal for two lines that are about one thing, and differ at most in what they say of it."""
    kind = kind_of(line)
    if (event := event_of(line)) is not None:
        message = event.get("message") if isinstance(event, dict) else None
        of = message if isinstance(message, dict) and kind.startswith("message") else event
        if not isinstance(of, dict):
            return (kind,)
        call = str(of.get("toolCallId", ""))
        return (kind, "told" if "tell" in line else "asked", _key(line), call, str(of.get("role", "")))
    if "tell" in line:
        return (kind, str(line.get("op", "")), str(line.get("ask", "")), str(line.get("tool", "")))
    return (kind, _key(line))


def _key(line: Object) -> str:
    return str(line["key"] if "key" in line else _address(line).get("key", ""))


def _address(line: Object) -> Object:
    address = line.get("ask")
    return address if isinstance(address, dict) else NOTHING


def _same(left: Object, right: Object) -> bool:
    return left == right and canonical(left) == canonical(right)


def _named(line: Object, path: Path, scene: Scene) -> tuple[str, Path]:
    """What a path inside a line leads into, and the rest of it from there on."""
    inner = path[1:] if path[:1] == ("args",) else path
    if inner[:1] == ("event",):
        return kind_of(line), inner[1:]
    if inner[:1] == ("state",):
        return "state", inner[1:]
    if path[:1] == ("reply",) and (asked := _replied_to(path, scene)) in ("state", "messages", "peekQueued"):
        return asked, path[1:]
    return kind_of(line), inner


def _replied_to(path: Path, scene: Scene) -> str:
    command = scene.command
    if command.get("cmd") == "burst" and len(path) > 1 and isinstance(path[1], int):
        commands = command.get("cmds", [])
        command = commands[path[1]] if path[1] < len(commands) else command
    return str(command.get("cmd", ""))


def _steps(left: Any, right: Any) -> Iterator[str | int]:
    """The way to the first difference of two values; where a key or an item is missing, to it."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in (*left, *(key for key in right if key not in left)):
            if key not in left or key not in right:
                yield key
                return
            if canonical(left[key]) != canonical(right[key]):
                yield key
                yield from _steps(left[key], right[key])
                return
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        pairs = enumerate(zip(left, right, strict=False))
        at = next((n for n, (one, two) in pairs if canonical(one) != canonical(two)), None)
        if at is None:
            yield min(len(left), len(right))
        else:
            yield at
            yield from _steps(left[at], right[at])
