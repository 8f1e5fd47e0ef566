"""Host names, plain and international, as 0.85.0 and 0.80.2 check them.

Of IDNA 2008 they know the rules of context, but neither which characters are permitted nor the one for bidirectional
names. In 0.80.2, marked `oldest`, a zero-width non-joiner may stand anywhere, and encoded names are read as they stand.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ..ecma_regex import finds, unicode_regex
from ..formats.hosts import _ACE, _JAPANESE, _KATAKANA_DOT, _LABEL, _VIRAMA
from ..js_value import utf16_length

_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")
#: What no label may hold: one alternative a rule.
_OLDEST_FLAWS: Final = (
    r"^-|-$|^..--",
    r"^[\p{Mn}\p{Mc}\p{Me}]",
    r"[\u{640}\u{7fa}\u{302e}\u{302f}\u{3031}-\u{3035}\u{303b}]",
    r"(?<!l)\u{b7}|\u{b7}(?!l)",  # the middle dot of Catalan
    r"\u{375}(?!\p{Script=Greek})",
    r"(?<!\p{Script=Hebrew})[\u{5f3}\u{5f4}]",
    rf"(?<![{_VIRAMA}])\u{{200d}}",
    r"[\u{660}-\u{669}].*[\u{6f0}-\u{6f9}]|[\u{6f0}-\u{6f9}].*[\u{660}-\u{669}]",  # two kinds of Arabic digits
)
_OLDEST_FLAW: Final = unicode_regex("|".join(_OLDEST_FLAWS), flags="s")
_FLAW: Final = unicode_regex("|".join((*_OLDEST_FLAWS, r"(?:^|[\0-\x7f])\u{200c}")), flags="s")


def is_hostname(text: str, *, oldest: bool = False) -> bool:
    """ASCII labels, where those that are encoded must decode to a label."""
    return utf16_length(text) <= 253 and all(
        0 < utf16_length(label) <= 63
        and (_is_encoded_label(label, oldest) if _is_encoded(label) else _LABEL.fullmatch(label) is not None)
        for label in text.split(".")
    )


def is_idn_hostname(text: str, *, oldest: bool = False) -> bool:
    """Labels of all scripts, encoded or not, with any of the dots between them."""
    if " " in text:
        return False
    composed = unicodedata.normalize("NFC", text)
    return utf16_length(composed) <= 253 and all(
        0 < utf16_length(label) <= 63
        and (_is_encoded_label(label, oldest) if _is_encoded(label) else _is_label(label, oldest))
        for label in _DOTS.split(composed)
    )


def _is_encoded(label: str) -> bool:
    return label.lower().startswith(_ACE)


def _is_encoded_label(label: str, oldest: bool) -> bool:
    encoded = label[len(_ACE) :]
    if not oldest:
        encoded = encoded.lower()
        if encoded.rfind("-") == 0:
            return False
    try:
        decoded = encoded.encode("ascii").decode("punycode")
    except UnicodeError:
        return False
    return decoded != "" and _is_label(decoded, oldest)


def _is_label(label: str, oldest: bool) -> bool:
    if _KATAKANA_DOT in label and not finds(_JAPANESE, label):
        return False
    return not finds(_OLDEST_FLAW if oldest else _FLAW, label)
