"""A memory of sessions that does not grow for ever: their ids may come from clients of a proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

_Value = TypeVar("_Value")

#: So many are remembered. Forgetting one costs a request that fails or is sent whole, and then it is known again.
_MOST: Final = 10_000


class Recent(Generic[_Value]):
    """What is known of the sessions that were last written of; the oldest is forgotten first."""

    def __init__(self) -> None:
        self._known: dict[str, _Value] = {}

    def __contains__(self, session: object) -> bool:
        return session in self._known

    def __iter__(self) -> Iterator[str]:
        """The sessions, the oldest first."""
        return iter(self._known)

    def get(self, session: str) -> _Value | None:
        """What is known of a session."""
        return self._known.get(session)

    def __setitem__(self, session: str, value: _Value) -> None:
        self._known.pop(session, None)
        self._known[session] = value
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]

    def __delitem__(self, session: str) -> None:
        del self._known[session]
