"""A short name for a long text, as Pi makes it: two mixed 32-bit sums of its UTF-16 units, in base 36.

It is no protection against anybody; it makes the same short id of the same long one, in each request.
"""

from __future__ import annotations

from typing import Final

_MASK: Final = 0xFFFFFFFF
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def short_hash(text: str) -> str:
    """Up to 14 characters for any text."""
    one, two = 0xDEADBEEF, 0x41C6CE57
    data = text.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(data), 2):
        unit = data[at] | data[at + 1] << 8
        one = (one ^ unit) * 2654435761 & _MASK
        two = (two ^ unit) * 1597334677 & _MASK
    one = ((one ^ one >> 16) * 2246822507 ^ (two ^ two >> 13) * 3266489909) & _MASK
    two = ((two ^ two >> 16) * 2246822507 ^ (one ^ one >> 13) * 3266489909) & _MASK
    return _in_base_36(two) + _in_base_36(one)


def _in_base_36(number: int) -> str:
    digits = ""
    while True:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
        if not number:
            return digits
