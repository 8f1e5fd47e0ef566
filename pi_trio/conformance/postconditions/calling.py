"""The calls of a turn: each is started as the answer asks for it, ended, and answered with what it ended with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import attrs

from pi_trio.jsonvalue import ABSENT

from ..compare import canonical
from ..protocol import Object


def _blocks(answer: Object) -> list[Object]:
    return [block for block in answer["content"] if block["type"] == "toolCall"]


@attrs.define
class Calls:
    """What is known of the calls of a turn."""

    answer: Object | None = None
    """The answer that asks for them."""
    results: list[Object] = attrs.field(factory=list[Object])
    _begun: defaultdict[str, int] = attrs.field(factory=lambda: defaultdict(int))
    """How often each was started."""
    _running: defaultdict[str, list[Object]] = attrs.field(factory=lambda: defaultdict(list))
    """Their starts, until they end."""
    _ended: defaultdict[str, list[Object]] = attrs.field(factory=lambda: defaultdict(list))
    """Their ends, until they are answered."""

    def take(self, step: str, event: Object) -> str:
        """What is wrong with a start, an update or an end; or nothing."""
        call = event["toolCallId"]
        if step == "start":
            return self._start(call, event)
        if not self._running[call]:
            return f"{step} of {call}, which does not run"
        names = ("toolName", "args") if step == "update" else ("toolName",)
        # Of calls with one id any may be meant.
        wrong = [_unlike(f"{step} of {call}", names, event, start) for start in self._running[call]]
        meant = wrong.index("") if "" in wrong else 0
        if step == "end":
            self._ended[call].append(event)
            self._running[call].pop(meant)
        return wrong[meant]

    def _start(self, call: str, event: Object) -> str:
        self._running[call].append(event)
        self._begun[call] += 1
        asked = [block for block in _blocks(self.answer or {"content": ()}) if block["id"] == call]
        if len(asked) < self._begun[call]:
            return f"start of {call}, which is not asked for"
        block = asked[self._begun[call] - 1]
        wanted = {"toolName": block["name"], "args": block["arguments"]}
        return _unlike(f"start of {call}", ("toolName", "args"), event, wanted)

    def answered(self, result: Object) -> str:
        """What is wrong with a result; or nothing."""
        call = result["toolCallId"]
        self.results.append(result)
        if not (ends := self._ended[call]):
            return f"a result of {call}, which has not ended"
        if any(self._running.values()):
            return f"a result of {call} while another call runs"
        wrong = [_against(end, result) for end in ends]
        meant = wrong.index("") if "" in wrong else 0
        ends.pop(meant)
        return wrong[meant]

    def unfinished(self) -> str:
        """What is wrong if the turn ends now; or nothing."""
        if unended := sorted(call for call, starts in self._running.items() if starts):
            return f"a turn ends while {', '.join(unended)} runs"
        if unanswered := sorted(call for call, ends in self._ended.items() if ends):
            return f"a turn ends without the result of {', '.join(unanswered)}"
        order = iter(block["id"] for block in _blocks(self.answer or {"content": ()}))
        if not all(result["toolCallId"] in order for result in self.results):
            return "results that are not in the order of their calls"
        return ""


def _against(end: Object, result: Object) -> str:
    """What a result says otherwise than the end of its call; or nothing."""
    given = end["result"]
    # What becomes of no content at all depends on the release.
    content = given.get("content", result.get("content", ABSENT))
    wanted = {**end, "content": content, "details": given.get("details", ABSENT)}
    names = ("toolName", "isError", "durationMs", "content", "details")
    return _unlike(f"the result of {result['toolCallId']}", names, result, wanted)


def _unlike(what: str, names: Sequence[str], value: Object, wanted: Object) -> str:
    """Which of these fields is otherwise than wanted; or nothing."""

    def shown(of: Object, name: str) -> str:
        item = of.get(name, ABSENT)
        return "" if item is ABSENT else canonical(item)

    odd = next((name for name in names if shown(value, name) != shown(wanted, name)), None)
    return "" if odd is None else f"{what} with another {odd} than before"
