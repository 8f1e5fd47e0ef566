"""Numbers as JavaScript has them: what `Number(text)` reads, and what `String(number)` prints.

JavaScript knows one kind of number, the double. Python has two kinds that can stand for the same double (`1` and
`1.0`), and integers that stand for none. `as_double` picks one of them for every double, so that the rest of this
package can compare numbers without thinking of it: an integer where the double is whole and prints without an
exponent, with the very digits that JavaScript prints, and a float otherwise.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Final

from ..jsontext import number_text
from ..jsonvalue import SAFE_INTEGER, Number

#: What JavaScript's trim() takes off, which is not what Python's strip() takes off.
WHITESPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITY: Final = re.compile(r"[+-]?Infinity")
_PREFIXED: Final = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_BASES: Final = {"x": 16, "o": 8, "b": 2}
#: Whole doubles below this print all their digits, from here on they print an exponent.
_EXPONENTS_FROM: Final = 1e21


def as_double(value: Number) -> Number:
    """The number that Python has for the double nearest to `value`: equal doubles give equal numbers of one type.

    An integer beyond the range of doubles becomes an infinity. -0 becomes 0: no JSON text tells them apart.
    """
    if isinstance(value, int):
        if -SAFE_INTEGER <= value <= SAFE_INTEGER:
            return int(value)
        try:
            value = float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if not value.is_integer() or abs(value) >= _EXPONENTS_FROM:
        return float(value)
    # Beyond 2**53 the digits that JavaScript prints are not those of the double's exact value.
    return int(value) if abs(value) <= SAFE_INTEGER else int(Decimal(repr(value)))


def number_of(text: str) -> Number:
    """What `Number(text)` is: a number, an infinity, or NaN where the text is not a number. Empty text is 0."""
    text = text.strip(WHITESPACE)
    if not text:
        return 0
    if _DECIMAL.fullmatch(text) or _INFINITY.fullmatch(text):
        return as_double(float(text))
    if _PREFIXED.fullmatch(text):
        return as_double(int(text[2:], _BASES[text[1].lower()]))
    return math.nan


def text_of(number: Number) -> str:
    """What `String(number)` is. For numbers as `as_double` gives them, infinities and NaN included."""
    if math.isfinite(number):
        return number_text(number)
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def is_whole(number: Number) -> bool:
    """What `Number.isInteger(number)` is."""
    return isinstance(number, int) or number.is_integer()
