"""What is remembered of sessions, and that it is not too much."""

from __future__ import annotations

import pytest

from pi_trio.models import recent
from pi_trio.models.anthropic.sessions import Sessions
from pi_trio.models.codex.sessions import CodexSessions
from pi_trio.models.recent import Recent


@pytest.fixture
def two(monkeypatch):
    """Two sessions are remembered, no more."""
    monkeypatch.setattr(recent, "_MOST", 2)


def test_the_oldest_is_forgotten_first(two):
    known = Recent()
    for number, name in enumerate("abac"):
        known[name] = number
    assert [(name, known.get(name)) for name in known] == [("a", 2), ("c", 3)]
    assert "b" not in known
    del known["a"]
    assert list(known) == ["c"]


def test_sessions_with_too_many_strict_tools(two):
    sessions = Sessions()
    for name in "abac":
        sessions.relax(name)
    assert list(sessions.relaxed) == ["a", "c"]


def test_sessions_without_threads(two):
    sessions = Sessions()
    for name in "abac":
        sessions.turn_off(name)
    assert list(sessions.threads) == ["a", "c"]


def test_sessions_whose_socket_has_failed(two):
    sessions = CodexSessions()
    for name in ("a", "b", None, "", "a", "c"):
        sessions.give_up_sockets(name)
    assert [sessions.uses_sockets(name) for name in ("a", "b", "c", None)] == [False, True, False, True]
