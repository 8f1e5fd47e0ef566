"""Drives one scenario on one subject, and writes down what happens as a trace.

The tester owns all timing. After each reply the subject is quiescent, and exactly one thing is done next: the
oldest open ask that a rule answers is answered; else the oldest stream that a rule opened gets its next
event; else the script's next command is sent; and when nothing is left, one last `sync` shows whether the
subject still had something to say. So the same scenario on the same subject gives the same trace, line by
line.

How a subject declares itself changes the way in which it is driven, never what is compared. One whose order
is partial has the messages of each step arranged by the expected trace (`lanes`). One without quiescence is
driven by expectation: the tester waits until a step has had as many reactions as the expected trace has, and
once at the end for what must not happen.

A trace is a flat list of JSON lines: `{"send": command}`, then the subject's reactions in their order, then
`{"reply": …}` or `{"error": …}`; at last `{"end": …}`. The lines are normalised, and name every ask by its
address. A stream that a rule feeds is fed to its end whatever becomes of it: on a stream that the subject has
given up a push has no effect, and the traces of two subjects stay comparable line by line.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import attrs
import trio

from .envelope import Envelope
from .faults import ProtocolFault, SubjectEndless, SubjectFault
from .foresight import Foresight
from .lanes import Arranger
from .ledger import Ask, Ledger, rule_for
from .lines import is_ask
from .normalise import Normaliser
from .protocol import Object
from .scenario import Address, Rule, Scenario
from .shown import shown
from .subject import Overheard, Subject, Unhurried
from .wiretap import Wiretap

MAX_STEPS: Final = 10_000
"""Commands in one scenario, at most, and as many unknown events. A subject that asks for more never comes to rest."""

QUIET: Final = 0.25
"""Seconds in which a subject without quiescence must not say anything more at the end."""


@attrs.frozen(kw_only=True)
class Guide:
    """What a subject may follow, for those that cannot be driven without.

    Attributes:
        lines: the trace that it should show: of `quiescence: none`, it says how many reactions to wait for.
        order: the lines by which partial order is arranged; where a ruling applies, those of both sides.
        races: what a burst causes is arranged so, too: what it sets free of two calls at once comes as it comes.
    """

    lines: Sequence[Object] = ()
    order: Sequence[Object] = ()
    races: bool = False


@attrs.frozen(kw_only=True)
class Run:
    """One scenario on one subject.

    Attributes:
        lines: the trace.
        fault: what broke the scenario off, if something did; then the subject is not to be used again.
        ignored: how often each thing was met that the protocol does not know.
        refusals: the errors of the subject's driver in its own words, the first few.
        wire: what was sent (`>`) and received (`<`), as lines of JSON; the end of it, if it is long.
        words: by the index of a line, the texts of errors in it that the trace has as a host's, in full.
    """

    scenario: Scenario
    lines: tuple[Object, ...]
    fault: SubjectFault | None
    ignored: Counter[str]
    refusals: tuple[str, ...] = ()
    wire: tuple[str, ...] = ()
    words: Mapping[int, str] = attrs.field(factory=dict[int, str])


async def drive(
    scenario: Scenario,
    subject: Subject,
    *,
    strict: bool = False,
    guide: Guide | None = None,
    tapped: bool = True,
) -> Run:
    """Run a scenario on a subject that is at rest.

    Args:
        strict: what the protocol does not know stays in the trace, where it counts as a difference.
        guide: needed for a subject whose order is partial, that has no quiescence, or that has callbacks
            without a call id.
        tapped: what goes over the wire is kept, which takes its time.

    Never raises for anything that the subject does. When cancelled, the subject is left in the middle of a
    step.
    """
    wire = Wiretap() if tapped else Wiretap(kept=0)
    return await Drive(scenario, subject, Envelope(strict=strict), guide or Guide(), wire=wire).run()


@attrs.define
class _Stream:
    """A stream that a rule feeds."""

    address: Object
    events: deque[Object]
    close: Object | None


class Drive:
    """A scenario on its way. `drive` goes it to the end; who makes the script up on the way goes it step by step.

    Args:
        verbatim: write everything down as it was said, not normalised.
        wire: where to keep what goes to and fro.

    Raises, but for `run`: SubjectFault.
    """

    def __init__(
        self,
        scenario: Scenario,
        subject: Subject,
        envelope: Envelope,
        guide: Guide,
        *,
        verbatim: bool = False,
        wire: Wiretap | None = None,
    ) -> None:
        self._scenario = scenario
        self._subject = subject
        self._envelope = envelope
        self._normaliser = Normaliser(frozenset() if verbatim else scenario.texts())
        self._verbatim = verbatim
        self._lines: list[Object] = []
        self._wire = Wiretap() if wire is None else wire
        self._words: dict[int, str] = {}
        self._refusals: list[str] = []
        self._sent = 0
        self._acknowledged = 0
        self._id = 0
        hello = subject.hello
        keyless: Any = hello.get("features", {}).get("keyless")
        self._partial = hello.get("order") == "partial"
        self._arranger = Arranger(
            guide.order,
            self._normaliser.line,
            partial=self._partial or guide.races,
            keyless=keyless if isinstance(keyless, list) else (),
        )
        self._unhurried: Unhurried | None = None
        if hello.get("quiescence") == "none" and isinstance(subject, Unhurried):
            self._unhurried = subject
        self._foresight = Foresight(guide.lines if self._unhurried else (), self._arranger.foreseen)
        self._heard: list[Object] = []
        """Known reactions that are not written down yet."""
        self._forget()

    def _forget(self) -> None:
        """A new agent: nothing has been asked yet."""
        self._ledger = Ledger()
        self._due: deque[tuple[Ask, Rule]] = deque()
        self._streams: deque[_Stream] = deque()
        self._foreign: set[str] = set()
        self._arranger.forget()

    @property
    def lines(self) -> Sequence[Object]:
        """The trace so far."""
        return self._lines

    @property
    def ledger(self) -> Ledger:
        """What the agent has asked so far."""
        return self._ledger

    async def run(self) -> Run:
        """Go it to the end."""
        try:
            await self.step(self._scenario.create_command())
            for command in self._scenario.steps:
                await self.step(command)
            await self.finish()
        except SubjectFault as caught:
            return self.written(caught)
        return self.written()

    async def step(self, command: Object) -> None:
        """Send one command of the script, and answer what the rules answer then."""
        following: Object | None = command
        while following is not None:
            await self._do(following)
            following = self._next()

    async def finish(self) -> None:
        """See whether the subject still has something to say."""
        await self._do({"cmd": "sync"})
        await self._hear_what_is_left()
        await self._see_that_it_is_quiet()

    def written(self, fault: SubjectFault | None = None) -> Run:
        """What has been written down, now that it is over; `fault`: what has ended it."""
        if fault is not None:
            self._note_remains(fault)
        self._lines.append({"end": self._ledger.state() if fault is None else fault.end})
        return Run(
            scenario=self._scenario,
            lines=tuple(self._lines),
            fault=fault,
            ignored=self._envelope.ignored,
            refusals=tuple(self._refusals),
            wire=self._wire.lines(),
            words=self._words,
        )

    # What is done next.

    def _next(self) -> Object | None:
        """What the rules still have to do."""
        while self._due:
            ask, rule = self._due.popleft()
            if ask.open:
                return self._answer(ask, rule)
        while self._streams:
            stream = self._streams[0]
            if stream.events:
                return {"cmd": "push", "ask": stream.address, "event": stream.events.popleft()}
            self._streams.popleft()
            if stream.close is not None:
                return {**stream.close, "ask": stream.address}
        return None

    def _answer(self, ask: Ask, rule: Rule) -> Object:
        command: Object = {"cmd": "answer", "ask": ask.address.to_json()}
        if rule.deed == "throw":
            command["throw"] = rule.value
        elif rule.deed == "stream":
            command["value"] = "stream"
            self._streams.append(_Stream(command["ask"], deque(rule.value), rule.close))
        elif rule.value is not None:
            command["value"] = rule.value
        return command

    # One step.

    async def _do(self, shown: Object) -> None:
        """Send one command, given as the trace shows it, and write down what follows."""
        if self._sent >= MAX_STEPS:
            raise SubjectEndless(f"the scenario does not end: {MAX_STEPS} commands were sent")
        self._sent += 1
        self._lines.append({"send": shown})
        wire, unresolved = self._resolve(shown)
        if unresolved is not None:
            self._lines.append({"unresolved": unresolved})
            return
        if shown["cmd"] == "create":
            self._forget()
        parts = shown["cmds"] if shown["cmd"] == "burst" else [shown]
        for part in parts:
            if "op" in part:
                self._ledger.note_start(part["op"])
        reply = await self._request(wire)
        await self._wait_for_the_rest()
        outcomes = _outcomes(reply, len(parts)) if shown["cmd"] == "burst" else [reply]
        for part, outcome in zip(parts, outcomes, strict=True):
            self._take_effect(part, accepted="error" not in outcome)
            self._note_refusal(outcome)
        self._note_heard(fixed=not self._partial and shown["cmd"] != "burst")
        self._write(_reply_line(shown, reply, outcomes))

    async def _wait_for_the_rest(self) -> None:
        """Without quiescence: wait for as many reactions as are expected of this step."""
        if self._unhurried is None:
            return
        self._foresight.begin(self._sent - 1)
        self._foresight.hear(self._heard)
        patience = self._unhurried.patience
        until = trio.current_time() + patience
        while not self._foresight.complete():
            message = await self._unhurried.more(until)
            if message is None:
                raise self._foresight.missed()
            self._wire.add("<", message)
            before = len(self._heard)
            await self._sort_out([message])
            self._foresight.hear(self._heard[before:])
            if len(self._heard) > before:  # what nobody knows does not count, however often it is said
                until = trio.current_time() + patience

    async def _hear_what_is_left(self) -> None:
        """Write down what has arrived behind the last reply already: it is this scenario's, not the next one's."""
        if self._unhurried is not None or not isinstance(self._subject, Overheard):
            return
        while messages := self._subject.unasked():
            self._wire.add("<", *messages)
            await self._sort_out(messages)
            self._note_heard(arranged=False)

    async def _see_that_it_is_quiet(self) -> None:
        """Without quiescence: wait once for what must not happen, and write it down if it does."""
        until = trio.current_time() + QUIET
        while self._unhurried is not None and (message := await self._unhurried.more(until)) is not None:
            self._wire.add("<", message)
            await self._sort_out([message])
            self._note_heard(arranged=False)

    def _resolve(self, shown: Object) -> tuple[Object, Object | None]:
        """The command as the subject gets it, and the first address in it that means nothing (yet)."""
        wire = dict(shown)
        unresolved: Object | None = None
        if "ask" in shown:
            ask = self._ledger.find(Address.from_json(shown["ask"], "ask"))
            if ask is None:
                unresolved = shown["ask"]
            else:
                wire["ask"] = ask.id
        if shown["cmd"] == "burst":
            pairs = [self._resolve(part) for part in shown["cmds"]]
            wire["cmds"] = [command for command, _ in pairs]
            unresolved = next((address for _, address in pairs if address is not None), None)
        elif shown["cmd"] == "create":
            self._without_mode(wire)
        elif shown["cmd"] == "sync" and "sync" not in self._subject.hello["commands"]:
            wire["cmd"] = "state"  # as good a look, whose answer is not compared
        return wire, unresolved

    def _without_mode(self, create: Object) -> None:
        """Leave out `abortMode` where the subject has only one."""
        options: Any = create.get("options")
        if isinstance(options, dict) and self._subject.hello.get("features", {}).get("abort") != "both":
            create["options"] = {key: value for key, value in options.items() if key != "abortMode"}

    async def _request(self, command: Object) -> Object:
        """Send a command, and hear what comes of it; the reply. Foreign events are acknowledged on the way."""
        messages, reply = await self._exchange(command)
        await self._sort_out(messages)
        return self._envelope.known(reply) or reply

    async def _exchange(self, command: Object) -> tuple[list[Object], Object]:
        """Send a command; all that comes back, and the reply to it."""
        self._id += 1
        given = {"id": self._id, **command}
        self._wire.add(">", given)
        messages = await self._subject.request(given)
        self._wire.add("<", *messages)
        reply = messages.pop()
        if reply.get("re") != given["id"]:
            raise ProtocolFault(f"it replied to {shown(reply.get('re'))}, the command was {given['id']}")
        return messages, reply

    async def _sort_out(self, messages: Sequence[Object]) -> None:
        """Hear what of some messages the protocol knows. Foreign events are acknowledged, and what follows is heard.

        What follows may be foreign again, as long as the chain ends some time.
        """
        left = deque(messages)
        while left:
            message = left.popleft()
            if is_ask(message) and self._envelope.is_foreign(message):
                if self._acknowledged >= MAX_STEPS:
                    what = f"{MAX_STEPS} unknown events were acknowledged"
                    raise SubjectEndless(f"the scenario does not end: {what}")
                self._acknowledged += 1
                self._foreign.add(message["ask"])
                more, _ = await self._exchange({"cmd": "answer", "ask": message["ask"]})
                left.extendleft(reversed(more))
            else:
                self._hear(message)

    def _hear(self, message: Object) -> None:
        if (known := self._envelope.known(message)) is not None:
            self._heard.append(known)

    def _take_effect(self, command: Object, *, accepted: bool) -> None:
        """Enter what a command has changed."""
        if not accepted:
            if "op" in command:
                self._ledger.note_refusal(command["op"])
            return
        ask = self._ledger.find(Address.from_json(command["ask"], "ask")) if "ask" in command else None
        if ask is None:
            return
        match command["cmd"]:
            case "answer":
                ask.streaming = ask.open and ask.address.fn == "streamFn" and command.get("value") == "stream"
                ask.open = False
            case "push":
                ask.streaming = ask.streaming and command["event"].get("type") not in ("done", "error")
            case "end" | "fail":
                ask.streaming = False
            case _:
                pass

    def _note_heard(self, *, arranged: bool = True, fixed: bool = False) -> None:
        """Write down what has been heard."""
        heard, self._heard = self._heard, []
        for message in self._arranger.arrange(heard, fixed=fixed) if arranged else heard:
            self._note(message)

    def _note(self, message: Object) -> None:
        """Enter one reaction, and write it down."""
        if "tell" not in message:
            ask = self._ledger.note_ask(message)
            rule = rule_for(ask, self._scenario.rules)
            if rule is not None and rule.deed != "hold":
                self._due.append((ask, rule))
            said = {key: value for key, value in message.items() if key not in ("ask", "fn", "key", "args")}
            line = {"ask": ask.address.to_json(), "args": message["args"], **said}
        elif message.get("ask") in self._foreign:
            return
        else:
            line = dict(message)
            self._ledger.note_tell(message)
            if "ask" in message:
                line["ask"] = self._ledger.by_id(message["ask"]).address.to_json()
        self._write(line)

    def _write(self, line: Object) -> None:
        """Write down a line of the subject, normalised; and apart from it the words that were left out."""
        if self._verbatim:
            self._lines.append(line)
            return
        written = self._normaliser.line(line)
        said = "; ".join(_errors(line))
        if said and said != "; ".join(_errors(written)) and len(self._words) < 100:
            self._words[len(self._lines)] = said[:500]
        self._lines.append(written)

    def _note_refusal(self, outcome: Object) -> None:
        text = outcome.get("error")
        if isinstance(text, str) and text.startswith("driver: ") and len(self._refusals) < 5:
            self._refusals.append(text[:500])

    def _note_remains(self, fault: SubjectFault) -> None:
        """Write down what came before the subject broke off in the middle of a step."""
        self._wire.add("<", *fault.received)
        for message in fault.received:
            self._hear(message)
        with suppress(ProtocolFault):
            self._note_heard()


_MUTE: Final = frozenset({"sync", "subscribe", "unsubscribe"})
"""Commands whose reply means nothing, whatever a subject puts into it."""


def _reply_line(command: Object, reply: Object, outcomes: list[Object]) -> Object:
    """A reply as the trace shows it; with what the protocol does not know, if that was kept."""
    more = {key: value for key, value in reply.items() if key not in ("re", "ok", "error")}
    if "error" in reply:
        return {"error": reply["error"], **more}
    if command["cmd"] == "burst":
        pairs = zip(command["cmds"], outcomes, strict=True)
        value: Any = [{"ok": None} if "ok" in out and part["cmd"] in _MUTE else out for part, out in pairs]
    else:
        value = None if command["cmd"] in _MUTE else reply["ok"]
    return {"reply": value, **more}


def _errors(line: Object) -> list[str]:
    """The texts of the errors that a line tells, those in a burst's reply too."""
    outcomes: Any = line.get("reply")
    holders = [line, *(outcomes if isinstance(outcomes, list) else ())]
    texts: list[Any] = [holder.get("error") for holder in holders if isinstance(holder, dict)]
    return [text for text in texts if isinstance(text, str)]


def _outcomes(reply: Object, count: int) -> list[Object]:
    """The outcomes of a burst's commands."""
    if "error" in reply:
        return [reply] * count
    outcomes = reply["ok"]
    if (
        not isinstance(outcomes, list)
        or len(outcomes) != count
        or not all(isinstance(item, dict) for item in outcomes)
    ):
        raise ProtocolFault(
            f"the reply to a burst of {count} is a list of {count} outcomes, not {shown(outcomes)}"
        )
    return outcomes
