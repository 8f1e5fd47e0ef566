"""JSON text, read and printed as JavaScript does it.

`print_json` gives what JSON.stringify gives, to the byte: whole floats without a point, exponents only from
1e21 and below 1e-6, -0 as 0, lone surrogates escaped, everything else beyond ASCII raw. `parse_json` accepts
what JSON.parse accepts. Both refuse, with the path, what would not survive the way through JavaScript: NaN,
infinities, integers with too many digits, and nesting beyond `DEPTH_LIMIT`.

Keys stay in the order of the text. JavaScript itself moves integer-like keys (`"7"`) to the front of their
object; that is not imitated, because no order is lost by keeping it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from json.encoder import encode_basestring as _quoted
from typing import Any, Final, NoReturn, cast

from .errors import CodecError
from .jsonvalue import DEPTH_LIMIT, JSON, SAFE_INTEGER, Number, check_number, kind_of, too_deep


def parse_json(text: str | bytes) -> JSON:
    """Read one JSON value, as plain dicts and lists.

    Of two equal keys the later value wins, in the place of the first, as in JavaScript. Two escapes that
    make a surrogate pair become one character; a lone surrogate stays. An integer beyond 2**53 becomes the
    float that JavaScript makes of it.

    Args:
        text: the whole text. Bytes must be UTF-8.

    Raises:
        CodecError: the text is not JSON or not UTF-8 (empty path), or holds what is refused (its path).
    """
    if not isinstance(text, str):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise CodecError("", f"expected UTF-8, found a stray byte at offset {error.start}") from None
    try:
        value = _read(text)
    except json.JSONDecodeError as error:
        message = f"expected JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise CodecError("", message) from None
    except RecursionError:
        raise too_deep() from None
    if text.count("[") + text.count("{") > DEPTH_LIMIT:
        _check_depth(value)
    return value


def print_json(value: JSON, *, indent: int | None = None) -> str:
    """Print one JSON value as JSON.stringify does.

    Args:
        value: plain or frozen JSON; tuples are arrays.
        indent: spaces for each level, as the third argument of JSON.stringify; None for one line.

    Raises:
        CodecError: with its path, for what is not JSON, and for the numbers and depths that are refused.
    """
    parts: list[str] = []
    try:
        _print(value, parts.append, "\n" if indent else "", " " * min(indent or 0, 10), 0)
    except RecursionError:
        raise too_deep() from None
    text = "".join(parts)
    return text if text.isascii() else _SURROGATES.sub(_paired_or_escaped, text)


def number_text(value: float) -> str:
    """A number as JavaScript's `String(number)` prints it.

    Raises:
        CodecError: the number is one that `check_number` refuses.
    """
    if isinstance(value, int):
        return _integer_text(value)
    text = float.__repr__(value)
    if text.endswith(".0"):
        return text[:-2] if text != "-0.0" else "0"
    if "e" not in text and "n" not in text:
        return text
    check_number(value)
    # Python turns to exponents at 1e16 and 1e-4, JavaScript at 1e21 and 1e-6. The digits are the same.
    sign, digits, point = _decimal(text)
    if 0 < point <= 21:
        return sign + digits.ljust(point, "0")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def _integer_text(value: int) -> str:
    if not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        check_number(value)
    return int.__repr__(value)


def _decimal(text: str) -> tuple[str, str, int]:
    """Sign, digits and the place of the point before which they stand, of a Python float with an exponent."""
    mantissa, exponent = text.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    return sign, whole + fraction, len(whole) + int(exponent)


# --- reading ----------------------------------------------------------------------------------------------


class _SuspectNumberError(Exception):
    """Somewhere in the text is a number that may have to be refused; only a walk can tell its path."""


def _any_integer(text: str) -> int:
    # A very long one is read as something just as refused, before Python's own limit on digits strikes.
    return int(text) if len(text) < 25 else 10**25


def _integer(text: str) -> int:
    value = _any_integer(text)
    if not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        raise _SuspectNumberError
    return value


def _as_double(value: int) -> Number:
    return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else float(value)


def _float(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise _SuspectNumberError
    return value


def _constant(_name: str) -> NoReturn:
    raise _SuspectNumberError


def _no_json(name: str) -> NoReturn:
    raise CodecError("", f"expected JSON, found {name}")


# NaN and Infinity are no JSON at all, but Python's reader knows them, and can so tell where they stand; unless they
# stand under a key that comes again.
_reader: Final = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_constant)
_lenient_reader: Final = json.JSONDecoder(parse_int=_any_integer)
_double_reader: Final = json.JSONDecoder(
    parse_int=lambda text: _as_double(int(text)), parse_constant=_no_json
)


def _read(text: str) -> JSON:
    try:
        value: JSON = _reader.decode(text)
    except _SuspectNumberError:
        _check_numbers(_lenient_reader.decode(text))
        value = _double_reader.decode(text)
    return value


def _check_numbers(value: JSON) -> None:
    """Refuse the numbers that are to be refused, with their path."""
    if isinstance(value, dict):
        for key, item in value.items():
            try:
                _check_numbers(item)
            except CodecError as error:
                raise error.under(key) from None
    elif isinstance(value, list):
        for index, item in enumerate(value):
            try:
                _check_numbers(item)
            except CodecError as error:
                raise error.under(index) from None
    elif isinstance(value, (int, float)):
        check_number(value)


def _check_depth(value: JSON) -> None:
    level = [value]  # what stands at one depth, in no order
    for _ in range(DEPTH_LIMIT):
        level = [child for item in level if isinstance(item, (dict, list)) for child in _children(item)]
        if not level:
            return
    if any(isinstance(item, (dict, list)) for item in level):
        raise too_deep()


def _children(value: dict[str, JSON] | list[JSON]) -> Iterable[JSON]:
    return value.values() if isinstance(value, dict) else value


# --- printing ---------------------------------------------------------------------------------------------

_ATOMS: Mapping[type, Callable[[Any], str]] = {
    str: _quoted,
    int: _integer_text,
    float: number_text,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): {None: "null"}.__getitem__,
}
"""How a value prints that holds no others. The commonest, strings, go straight to C."""

_SURROGATES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def _print(value: object, write: Callable[[str], None], newline: str, indent: str, depth: int) -> None:
    """Print into `write`. One Python frame a level, so that `DEPTH_LIMIT` is reached first.

    `newline` is the line break with the indentation of this level; empty for one line.
    """
    if isinstance(value, (dict, Mapping)):
        if depth >= DEPTH_LIMIT:
            raise too_deep()
        if not value:
            return write("{}")
        inner, colon = newline + indent, ": " if newline else ":"
        lead = "{" + inner
        for key, item in cast("Mapping[Any, object]", value).items():
            if not isinstance(key, str):
                raise CodecError("", f"expected a string as key, found {kind_of(key)}")
            atom = _ATOMS.get(type(item))
            try:
                if atom is not None:
                    write(f"{lead}{_quoted(key)}{colon}{atom(item)}")
                else:
                    write(f"{lead}{_quoted(key)}{colon}")
                    _print(item, write, inner, indent, depth + 1)
            except CodecError as error:
                raise error.under(key) from None
            lead = "," + inner
        return write(newline + "}")
    if isinstance(value, (list, tuple)):
        if depth >= DEPTH_LIMIT:
            raise too_deep()
        if not value:
            return write("[]")
        inner = newline + indent
        lead = "[" + inner
        for index, item in enumerate(cast("Sequence[object]", value)):
            write(lead)
            try:
                _print(item, write, inner, indent, depth + 1)
            except CodecError as error:
                raise error.under(index) from None
            lead = "," + inner
        return write(newline + "]")
    for kind in (type(value), str, bool, int, float):
        if kind in _ATOMS and isinstance(value, kind):
            return write(_ATOMS[kind](value))
    raise CodecError("", f"expected a JSON value, found {kind_of(value)}")


def _paired_or_escaped(match: re.Match[str]) -> str:
    """Two halves that a Python string holds apart are one character to JavaScript; a lone half is escaped."""
    found = match[0]
    if len(found) == 2:
        return found.encode("utf-16", "surrogatepass").decode("utf-16")
    return f"\\u{ord(found):04x}"
