"""What the protocol does not know is set aside and counted; what the agent carries passes through."""

from __future__ import annotations

from pi_trio.conformance.envelope import Envelope


def test_unknown_fields_of_the_envelope_are_set_aside() -> None:
    envelope = Envelope()
    assert envelope.known({"re": 1, "ok": None, "ms": 3}) == {"re": 1, "ok": None}
    told = {"tell": "event", "key": "L", "event": {"type": "turn_start", "turn": 1}, "at": 5}
    assert envelope.known(told) == {"tell": "event", "key": "L", "event": {"type": "turn_start"}}
    asked = {
        "ask": "a",
        "fn": "execute",
        "key": "t1",
        "args": {"tool": "a", "args": {"x": 1}, "cwd": "/"},
        "aborted": False,
    }
    assert envelope.known(asked) == {**asked, "args": {"tool": "a", "args": {"x": 1}}}
    assert envelope.ignored == {"re.ms": 1, "event.at": 1, "turn_start.turn": 1, "execute.cwd": 1}


def test_what_the_agent_carries_passes_whole() -> None:
    envelope = Envelope()
    message = {"role": "user", "content": "x", "mood": "good"}
    told = {"tell": "event", "key": "L", "event": {"type": "message_end", "message": message}}
    assert envelope.known(told) == told
    call = {"toolCallId": "t1", "toolName": "a", "result": {"content": [], "mood": "good"}, "isError": False}
    asked = {
        "ask": "a",
        "fn": "listener",
        "key": "L",
        "args": {"event": {"type": "tool_execution_end", **call}},
    }
    assert envelope.known(asked) == asked
    request = {
        "ask": "s",
        "fn": "streamFn",
        "args": {"model": {"new": 1}, "context": {"messages": [message]}, "options": {}},
    }
    assert envelope.known(request) == request
    assert not envelope.ignored


def test_request_options_are_the_envelopes() -> None:
    envelope = Envelope()
    asked = {"ask": "s", "fn": "streamFn", "args": {"options": {"apiKey": "k", "temperature": 1}}}
    assert envelope.known(asked) == {"ask": "s", "fn": "streamFn", "args": {"options": {"apiKey": "k"}}}


def test_unknown_tells_and_events_are_dropped() -> None:
    envelope = Envelope()
    assert envelope.known({"tell": "weather", "sunny": True}) is None
    assert envelope.known({"tell": "event", "key": "L", "event": {"type": "retry_start"}}) is None
    assert envelope.known({"tell": "re"}) is None
    assert envelope.known({"tell": "ask", "ask": "a"}) is None
    assert envelope.known({"tell": "hello", "protocol": 1}) is None  # once more
    assert envelope.ignored == {
        "tell weather": 1, "event retry_start": 1, "tell re": 1, "tell ask": 1, "tell hello": 1,
    }  # fmt: skip


def test_unknown_callbacks_pass_because_they_wait_for_an_answer() -> None:
    asked = {"ask": "a", "fn": "onProviderStreamEvent", "args": {"event": 1}}
    assert Envelope().known(asked) == asked


def test_a_listener_that_is_asked_about_an_unknown_event_is_foreign() -> None:
    envelope = Envelope()
    foreign = {"ask": "a", "fn": "listener", "key": "L", "args": {"event": {"type": "retry_start"}}}
    assert envelope.is_foreign(foreign)
    assert not envelope.is_foreign({**foreign, "args": {"event": {"type": "turn_start"}}})
    assert not envelope.is_foreign({**foreign, "fn": "execute"})


def test_strict_sets_nothing_aside() -> None:
    envelope = Envelope(strict=True)
    for message in ({"re": 1, "ok": None}, {"tell": "weather"}):
        assert envelope.known(message) == message
    assert envelope.known({"re": 1, "ok": None, "ms": 3}) == {"re": 1, "ok": None, "unknown": {"ms": 3}}
    assert envelope.known({"tell": "weather", "ask": []}) == {"tell": "weather", "unknown": {"ask": []}}
    event = {"tell": "event", "key": "L", "event": {"type": "agent_start", "at": 1}}
    assert envelope.known({**event, "ask": {}}) == {**event, "unknown": {"ask": {}}}
    assert not envelope.is_foreign({"fn": "listener", "args": {"event": {"type": "retry_start"}}})


def test_names_from_outside_cannot_fill_the_memory() -> None:
    envelope = Envelope()
    for number in range(1000):
        envelope.known({"tell": f"{number}\x1b" + "x" * 1000})
    assert len(envelope.ignored) <= 101
    assert sum(envelope.ignored.values()) == 1000
    assert all(name.isprintable() and len(name) < 100 for name in envelope.ignored)
