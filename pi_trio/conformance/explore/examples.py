"""The example database: what has shown a fault, by which the next search begins.

It is a folder; or a Redis server, which searches on several machines share: what one of them finds the others have in
their next round. Hypothesis has both. Examples of faults that are known by now stay, though nothing fails in them any
more: a search passes a fault by once it was told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

from ...errors import PiTrioError
from .conversation import House

PATIENCE: Final = 5.0
"""Seconds in which a server has to answer."""


class ExamplesError(PiTrioError):
    """Examples cannot be kept there; the message says why, and what to do."""


def open_examples(where: Path | str, subject: str) -> ExampleDatabase:
    """The database at a place.

    Args:
        where: a folder, or the address of a Redis server (`redis://HOST:PORT/NUMBER`).
        subject: what is searched; each has its own examples there.

    Raises:
        ExamplesError: there is no such server, or it cannot be spoken to; the folder cannot be written.
    """
    if isinstance(where, Path):
        return DirectoryBasedExampleDatabase(_folder(where / subject))
    try:
        from hypothesis.extra.redis import RedisExampleDatabase
        from redis import Redis
        from redis.exceptions import RedisError
    except ImportError:
        raise ExamplesError(
            "a Redis server is spoken to with the package redis: python -m pip install redis"
        ) from None
    place = _place(where)
    try:
        server = Redis.from_url(where, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)
        server.ping()
    except (RedisError, ValueError) as error:
        raise ExamplesError(
            f"examples cannot be kept at {place}, which does not answer as a Redis server ({type(error).__name__}): "
            "start one, or name a folder"
        ) from None
    return RedisExampleDatabase(server, key_prefix=f"pi-trio:{subject}:".encode())


def _folder(path: Path) -> Path:
    """A folder that can be written: Hypothesis would keep nothing in any other, and not say so."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        writable = os.access(path, os.W_OK | os.X_OK)
    except OSError:
        writable = False
    if not writable:
        raise ExamplesError(
            f"examples cannot be kept in {path}: name a folder that can be written (--examples)"
        )
    return path


def _place(address: str) -> str:
    """An address without the password in it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname or ''}"


class Lasting(ExampleDatabase):
    """A database from which nothing is taken while a search passes faults by."""

    def __init__(self, inner: ExampleDatabase, house: House) -> None:
        super().__init__()
        self._inner = inner
        self._house = house

    def save(self, key: bytes, value: bytes) -> None:
        """Keep an example."""
        self._inner.save(key, value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """The examples that are kept."""
        return self._inner.fetch(key)

    def delete(self, key: bytes, value: bytes) -> None:
        """What Hypothesis does with an example in which nothing fails."""
        if not self._house.passed_by:
            self._inner.delete(key, value)
