"""The lines of a log: opened as what they are, read as JSON, and if they are none, why not.

Nothing in a log is trusted. A line is what stands before a line feed, however long; what cannot be read is told with
its reason, and the next line is another chance.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from pi_trio.conformance.protocol import Object

BUFFER: Final = 256 * 1024
"""Bytes that are read at once, if so many are there."""

MEGABYTE: Final = 1024 * 1024
LONGEST: Final = 256 * MEGABYTE
"""Bytes of the longest line that is read, unless it is said otherwise: read as JSON it may take many times as many."""

_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")
_GZIP: Final = b"\x1f\x8b"
_PACKED: Final = {b"(\xb5/\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip"}
"""How files begin that are packed by others."""
_ARROW: Final = re.compile(rb"\s*[<>] +(?=\{)")
_ARROW_CUT: Final = re.compile(rb"\s*[<>] *")
_ESCAPE_CUT: Final = re.compile(r"\\(u[0-9a-fA-F]{0,4})?")
_VALUE_CUT: Final = re.compile(r"\s*|-|t(ru?)?|f(a(ls?)?)?|n(ul?)?|(?<=\d)(\.|[eE][+-]?)")
"""What is left of the text where a value, or what comes behind it, breaks off."""
_LINE: Final = re.compile(r'\{"type":')
_KINDS: Final = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}


class UnreadableError(Exception):
    """A line, or all of a log, cannot be read; the message says why.

    Attributes:
        reason: the same for the same fault in another line.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}{detail}")
        self.reason = reason


class NothingKnownError(UnreadableError):
    """An object of which nobody knows what it is."""

    def __init__(self) -> None:
        super().__init__("neither an event, which has a type, nor a line of a trace")


class TooDeepError(UnreadableError):
    """A line has more objects and lists within each other than can be followed."""

    def __init__(self) -> None:
        super().__init__("it is nested too deeply")


def _no_json(name: str) -> NoReturn:
    raise UnreadableError(f"no JSON: {name} is no number there")


decoder: Final = json.JSONDecoder(parse_constant=_no_json)
"""Reads JSON as JavaScript does: of two equal keys the last one counts."""


@contextmanager
def open_log(path: str, longest: int = LONGEST) -> Generator[tuple[Iterator[bytes], Callable[[], int]]]:
    """Open a log, which may be packed by gzip; `-` is standard input.

    Gives its lines, and what tells how many of the file's have been read.

    Raises:
        UnreadableError: it is UTF-16, as some shells of Windows write it, or packed by something else, or its beginning
            cannot be read.
        OSError: there is no such file, or it cannot be opened.
    """
    if path == "-":
        with _unpacked(sys.stdin.buffer) as lines:
            yield lines_in(lines, longest), lambda: 0
        return
    with Path(path).open("rb", buffering=BUFFER) as file, _unpacked(file) as lines:
        yield lines_in(lines, longest), file.tell


@contextmanager
def _unpacked(file: Any) -> Generator[IO[bytes]]:
    try:
        beginning: bytes = file.peek(8)
    except OSError as error:
        raise UnreadableError(f"the log cannot be read: {error.strerror or error}") from None
    for mark, packer in _PACKED.items():
        if beginning.startswith(mark):
            raise UnreadableError(f"packed by {packer}, and only what gzip has packed is read")
    head = beginning[:2]
    if head in _WIDE:
        raise UnreadableError(
            "UTF-16, and UTF-8 is needed; some shells of Windows write what they redirect so"
        )
    if head != _GZIP:
        yield file
        return
    with gzip.GzipFile(fileobj=file) as unpacked:
        yield unpacked  # type: ignore[misc]


def lines_in(file: IO[bytes], longest: int) -> Iterator[bytes]:
    """The lines of a file. Of one that is longer there is one byte too many, and the rest is passed over."""
    for raw in iter(partial(file.readline, longest + 1), b""):
        if len(raw) > longest and not raw.endswith(b"\n"):
            while (more := file.readline(BUFFER)) and not more.endswith(b"\n"):
                pass
        yield raw
        del raw


def read_object(raw: bytes) -> Object:
    """The object that a line holds. An arrow before it, as where a wire is shown, is no part of it. Nor is the mark of
    UTF-8, which may stand before any line where files were put together.

    Raises:
        UnreadableError: it holds none.
    """
    raw = raw.removeprefix(_BOM)
    if arrow := _ARROW.match(raw):
        raw = raw[arrow.end() :]
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise UnreadableError(
            "no UTF-8", f": byte {raw[error.start]:#04x} at column {error.start + 1}"
        ) from None
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        if "\0" in text:
            raise UnreadableError(
                "null bytes in it: UTF-16, and UTF-8 is needed, or it was damaged"
            ) from None
        raise _no_object(text, error) from None
    except ValueError:
        raise UnreadableError("a number has too many digits") from None
    except RecursionError:
        raise TooDeepError from None
    if type(value) is not dict:
        raise UnreadableError(f"{_KINDS.get(type(value), 'a number')}, and an object is needed")
    return value


def is_cut(raw: bytes) -> bool:
    """Whether a line without its end may be the beginning of one: an object that breaks off. It is not if nothing could
    be added to make it an object, nor if it is one already.
    """
    raw = raw.removeprefix(_BOM)
    arrow = _ARROW_CUT.match(raw)
    try:
        text = raw[arrow.end() if arrow else 0 :].decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return False
        text = raw[: error.start].decode()[arrow.end() if arrow else 0 :]
    if not text.strip():
        return arrow is not None
    if not text.lstrip().startswith("{"):
        return False
    try:
        decoder.decode(text)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string"):
            return True
        if "escape" in error.msg:
            return _ESCAPE_CUT.fullmatch(text, text.rfind("\\", 0, error.pos + 2)) is not None
        return _VALUE_CUT.fullmatch(text, error.pos) is not None
    except (ValueError, RecursionError, UnreadableError):
        return False
    return False


def _no_object(text: str, error: json.JSONDecodeError) -> UnreadableError:
    column = error.pos + 1
    if text.strip() in ("{", "["):
        return UnreadableError(
            "JSON that goes over several lines, and each object has to stand in a line of its own"
        )
    if error.msg == "Extra data" and text.startswith("{", error.pos):
        return UnreadableError(
            "two objects have run into one line", f"; the second begins at column {column}"
        )
    if second := _LINE.search(text, 1):
        detail = f" at column {column}; another line may begin at column {second.start() + 1}"
        return UnreadableError(f"no JSON: {error.msg}", detail)
    return UnreadableError(f"no JSON: {error.msg}", f" at column {column}")


def keys_given_twice(raw: bytes) -> list[str]:
    """The keys that come twice in one object of a line, of which the last one counts."""
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> Object:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            twice.extend(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return seen

    text = raw.decode(errors="replace")
    with suppress(ValueError, RecursionError):
        json.JSONDecoder(object_pairs_hook=note).raw_decode(text, text.index("{"))
    return twice
