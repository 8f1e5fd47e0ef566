"""How a built-in tool fails: with a text that the model reads.

The text of a system call that fails is the one that Node gives it, as in Pi: `ENOENT: no such file or directory, open
'/tmp/x'`. Models have seen it often, and it names the call and the path.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from ..errors import PiTrioError


class BuiltinToolError(PiTrioError):
    """A built-in tool cannot do what it was asked. The text is for the model."""


#: How libuv words them, where the C library says it in other words, or in another case.
_WORDS: Final = {
    "E2BIG": "argument list too long",
    "EACCES": "permission denied",
    "EAGAIN": "resource temporarily unavailable",
    "EBUSY": "resource busy or locked",
    "EDQUOT": "disk quota exceeded",
    "EEXIST": "file already exists",
    "EFBIG": "file too large",
    "EINVAL": "invalid argument",
    "EIO": "i/o error",
    "EISDIR": "illegal operation on a directory",
    "ELOOP": "too many symbolic links encountered",
    "EMFILE": "too many open files",
    "ENAMETOOLONG": "name too long",
    "ENFILE": "file table overflow",
    "ENODEV": "no such device",
    "ENOENT": "no such file or directory",
    "ENOMEM": "not enough memory",
    "ENOSPC": "no space left on device",
    "ENOTDIR": "not a directory",
    "ENXIO": "no such device or address",
    "EPERM": "operation not permitted",
    "EROFS": "read-only file system",
    "ETXTBSY": "text file is busy",
}


def code_of(error: OSError) -> str:
    """The name of the error's number, such as `ENOENT`."""
    number = error.errno or 0
    return errno.errorcode.get(number, f"E{number}")


def text_of(error: OSError, call: str, path: str = "") -> str:
    """What Node says of a system call that has failed.

    Args:
        call: the system call's name.
        path: what it was about; empty where that is an open file.
    """
    code = code_of(error)
    words = _WORDS.get(code) or os.strerror(error.errno or 0).lower()
    return f"{code}: {words}, {call}" + (f" '{path}'" if path else "")


@contextmanager
def told_as(call: str, path: str = "") -> Generator[None]:
    """What is done inside is the system call `call`.

    Raises:
        BuiltinToolError: it has failed.
    """
    try:
        yield
    except OSError as error:
        raise BuiltinToolError(text_of(error, call, path)) from error
