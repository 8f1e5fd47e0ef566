"""What one agent has asked and started so far: which ask an address means, which asks are open, what is
unsettled.

Subjects name their asks as they like, so a trace must not depend on those names. The ledger gives each ask
its address when it arrives, finds the ask that an address means, and keeps the books from which the end of a
scenario is told: an operation that is unsettled while nothing is open any more is a hang, and no timer is
needed to see it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import attrs

from .faults import ProtocolFault
from .protocol import Object
from .scenario import Address, Rule
from .shown import shown

_Pattern = tuple[str, str | None, str | None]


@attrs.define(eq=False)
class Ask:
    """One callback that the subject made.

    Attributes:
        id: the subject's name for it.
        address: how a trace names it: by its function, its key, a listener's event type, and its number among
            those.
        numbers: its number under each pattern that it matches.
        open: it waits for an answer.
        streaming: it is a stream function that was answered with a stream, which is still open.
    """

    id: str
    address: Address
    numbers: dict[_Pattern, int]
    open: bool = True
    streaming: bool = False


class Ledger:
    """The books of one agent, from its `create` on."""

    def __init__(self) -> None:
        self._by_id: dict[str, Ask] = {}
        self._matching: defaultdict[_Pattern, list[Ask]] = defaultdict(list)
        self._unsettled: set[str] = set()

    def note_ask(self, message: Object) -> Ask:
        """Enter a new ask.

        Raises:
            ProtocolFault: its id was used before.
        """
        if message["ask"] in self._by_id:
            raise ProtocolFault(f"the ask id {shown(message['ask'])} is used twice")
        fn, key = message["fn"], message.get("key")
        event = message["args"]["event"]["type"] if fn == "listener" else None
        numbers: dict[_Pattern, int] = {}
        for pattern in {(fn, k, e) for k in (key, None) for e in (event, None)}:
            numbers[pattern] = len(self._matching[pattern])
        address = Address(fn=fn, key=key, event=event, nth=numbers[fn, key, event])
        ask = Ask(message["ask"], address, numbers)
        for pattern in numbers:
            self._matching[pattern].append(ask)
        self._by_id[ask.id] = ask
        return ask

    def note_tell(self, message: Object) -> None:
        """Enter what a tell changes.

        Raises:
            ProtocolFault: it settles an operation that is not under way.
        """
        if message["tell"] == "settled":
            if message["op"] not in self._unsettled:
                raise ProtocolFault(
                    f"it settles the operation {shown(message['op'])}, which is not under way"
                )
            self._unsettled.discard(message["op"])
        elif message["tell"] == "withdrawn":
            ask = self.by_id(message["ask"])
            ask.open = ask.streaming = False

    def note_start(self, op: str) -> None:
        """An operation is being started; it may settle before the reply."""
        self._unsettled.add(op)

    def note_refusal(self, op: str) -> None:
        """The driver refused the command that would have started it."""
        self._unsettled.discard(op)

    def by_id(self, ask_id: str) -> Ask:
        """Raises: ProtocolFault: there is no such ask."""
        ask = self._by_id.get(ask_id)
        if ask is None:
            raise ProtocolFault(f"it names an ask that it never made: {shown(ask_id)}")
        return ask

    def find(self, address: Address) -> Ask | None:
        """The ask that an address means, if it has been made."""
        asks = self._matching.get((address.fn, address.key, address.event), ())
        return asks[address.nth] if address.nth < len(asks) else None

    def state(self) -> str:
        """How a quiescent subject stands: `settled`, `open` (something still waits for the tester), or `hang`."""
        if not self._unsettled:
            return "settled"
        return "open" if any(ask.open or ask.streaming for ask in self._by_id.values()) else "hang"


def rule_for(ask: Ask, rules: Iterable[Rule]) -> Rule | None:
    """The rule that says what happens to an ask: the first that matches. None: it is held."""
    for rule in rules:
        number = ask.numbers.get((rule.fn, rule.key, rule.event))
        if number is not None and rule.nth in (None, number):
            return rule
    return None if ask.address.fn in HELD else NOTHING


HELD = frozenset({"execute", "streamFn"})
"""Callbacks that wait for the script when no rule speaks of them. All others are answered with nothing."""

NOTHING = Rule(fn="", key=None, event=None, nth=None, deed="value", value=None, close=None)
"""The rule of those others."""
