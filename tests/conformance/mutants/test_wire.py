"""A proxy changes what is said and nothing else: what it keeps back is answered, and a copy is answered by nobody."""

from __future__ import annotations

from typing import Any

from pi_trio.conformance.mutants.wire import DROP, Each, Proxy, copy_of

Message = dict[str, Any]


class Subject:
    """It asks its listener about two events for each prompt, the second when the first has been answered."""

    def __init__(self) -> None:
        self.hello: Message = {}
        self.heard: list[Message] = []
        self._asked = 0

    async def request(self, command: Message) -> list[Message]:
        self.heard.append(command)
        reply = {"re": command["id"], "ok": None}
        if command["cmd"] == "create":
            self._asked = 0
            return [reply]
        self._asked += 1
        if self._asked > 2:
            return [{"tell": "settled", "op": "p", "ok": True}, reply]
        event = {"type": "turn_start" if self._asked == 1 else "turn_end"}
        return [
            {"ask": f"c{self._asked}", "fn": "listener", "key": "L", "args": {"event": event}},
            reply,
        ]


def dropping(kind: str) -> Any:
    def event(message: Message, _: Message) -> Message | None:
        found = message.get("args", {}).get("event", {})
        return found if found.get("type") == kind else None

    return lambda: Each(event, lambda _: DROP)


async def test_what_is_left_out_is_answered() -> None:
    subject = Subject()
    proxy = Proxy(subject, dropping("turn_start"))
    await proxy.request({"id": 1, "cmd": "create"})
    *said, reply = await proxy.request({"id": 2, "cmd": "prompt"})
    assert [message["args"]["event"]["type"] for message in said] == ["turn_end"]
    assert reply == {"re": 2, "ok": None}
    assert subject.heard[-1] == {"id": 2, "cmd": "answer", "ask": "c1"}


async def test_an_answer_to_what_was_left_out_goes_nowhere() -> None:
    subject = Subject()
    proxy = Proxy(subject, dropping("turn_start"))
    await proxy.request({"id": 1, "cmd": "create"})
    await proxy.request({"id": 2, "cmd": "prompt"})
    heard = list(subject.heard)
    assert await proxy.request({"id": 3, "cmd": "answer", "ask": "c1"}) == [{"re": 3, "ok": None}]
    assert subject.heard == heard


async def test_a_copy_is_answered_by_nobody() -> None:
    subject = Subject()

    def twice() -> Any:
        return lambda said, command: [each for one in said[:-1] for each in (one, copy_of(one))] + said[-1:]

    proxy = Proxy(subject, twice)
    await proxy.request({"id": 1, "cmd": "create"})
    first, second, _ = await proxy.request({"id": 2, "cmd": "prompt"})
    assert first["ask"] != second["ask"]
    heard = list(subject.heard)
    await proxy.request({"id": 3, "cmd": "answer", "ask": second["ask"]})
    assert subject.heard == heard


async def test_each_agent_has_a_change_of_its_own() -> None:
    made: list[None] = []

    def make() -> Any:
        made.append(None)
        return lambda said, command: said

    proxy = Proxy(Subject(), make)
    for number in range(3):
        await proxy.request({"id": number, "cmd": "create"})
    assert len(made) == 1 + 3
