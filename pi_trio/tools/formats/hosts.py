"""Host names, plain and international, and IP addresses.

International names follow IDNA 2008 (RFC 5890 to 5893) as far as Pi does: it checks general categories and context
rules, and only part of the rule for bidirectional names. Characters are classified by the regular expression engine,
whose Unicode tables do not depend on the version of Python.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Final

from ..ecma_regex import finds, unicode_regex
from ..js_value import utf16_length

_LABEL: Final = re.compile("(?!-)(?!.{2}--)[A-Za-z0-9-]+(?<!-)")
_ACE: Final = "xn--"

_FULL_WIDTH: Final = {0xFF01 + offset: 0x21 + offset for offset in range(0x5E)}
_IGNORED: Final = dict.fromkeys(
    (0xAD, 0x34F, 0x200B, *range(0x180B, 0x180E), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)
_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")

_VIRAMA: Final = (
    r"\u{94d}\u{9cd}\u{a4d}\u{acd}\u{b4d}\u{bcd}\u{c4d}\u{ccd}\u{d3b}\u{d3c}\u{d4d}\u{dca}\u{1b44}\u{1baa}\u{1bab}"
    r"\u{a9c0}\u{11046}\u{1107f}\u{110b9}\u{11133}\u{11134}\u{111c0}\u{11235}\u{1134d}\u{11442}\u{114c2}\u{115bf}"
    r"\u{1163f}\u{116b6}\u{11c3f}\u{11d44}\u{11d45}"
)
_PERMITTED: Final = (
    r"\p{L}\p{Nd}\p{Mn}\p{Mc}+\-.,:\/"
    r"\u{b7}\u{375}\u{5f3}\u{5f4}\u{200c}\u{200d}\u{30fb}"  # in their context, see below
    r"\u{df}\u{3c2}\u{6fd}\u{6fe}\u{f0b}\u{3007}"
)
#: What no label may hold: one alternative a rule.
_FLAW: Final = unicode_regex(
    "|".join(
        (
            r"^-|-$|^..--",
            r"^[\p{Mn}\p{Mc}\p{Me}]",
            rf"[^{_PERMITTED}]",
            r"[\u{640}\u{7fa}\u{302e}\u{302f}\u{3031}-\u{3035}\u{303b}]",
            r"(?<!l)\u{b7}|\u{b7}(?!l)",  # the middle dot of Catalan
            r"\u{375}(?!\p{Script=Greek})",
            r"(?<!\p{Script=Hebrew})[\u{5f3}\u{5f4}]",
            r"(?:^|[\0-\x7f])\u{200c}",
            rf"(?<![{_VIRAMA}])\u{{200d}}",
        )
    ),
    flags="s",
)
_KATAKANA_DOT: Final = "\u30fb"
_JAPANESE: Final = unicode_regex(r"[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]")

# The classes of the rule for bidirectional names.
_RIGHT_SCRIPTS: Final = (
    r"[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Mandaic}]"
)
_EUROPEAN_DIGIT: Final = r"[0-9\u{6f0}-\u{6f9}]"
_ARABIC_DIGIT: Final = r"[\u{660}-\u{669}]"
_RIGHT: Final = rf"(?!{_EUROPEAN_DIGIT}|{_ARABIC_DIGIT}|\p{{Mn}}){_RIGHT_SCRIPTS}"
_LEFT: Final = rf"(?!{_RIGHT_SCRIPTS})\p{{L}}"
_GOES_RIGHT_TO_LEFT: Final = unicode_regex(rf"{_RIGHT}|{_ARABIC_DIGIT}")
_ONE_WAY: Final = unicode_regex(
    rf"^(?={_RIGHT})(?:(?!{_LEFT}).)+$|^(?={_LEFT})(?:(?!{_RIGHT}|{_ARABIC_DIGIT}).)+$", flags="s"
)
_BOTH_DIGITS: Final = unicode_regex(
    rf"^(?={_RIGHT}).*(?:{_EUROPEAN_DIGIT}.*{_ARABIC_DIGIT}|{_ARABIC_DIGIT}.*{_EUROPEAN_DIGIT})", flags="s"
)


def is_ipv4(text: str) -> bool:
    """Four decimal numbers, without leading zeros."""
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def is_ipv6(text: str) -> bool:
    """Any spelling of RFC 4291, without a zone."""
    if "%" in text:
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def is_hostname(text: str) -> bool:
    """ASCII labels (RFC 1123), where those that are encoded must decode to something international."""
    return len(text) <= 253 and all(
        len(label) <= 63 and (_is_encoded_label(label) or _LABEL.fullmatch(label) is not None)
        for label in text.split(".")
    )


def is_idn_hostname(text: str) -> bool:
    """Labels of all scripts, encoded or not, after full-width forms, ignorable characters and dots are mapped."""
    if " " in text:
        return False
    mapped = unicodedata.normalize("NFC", text.translate(_FULL_WIDTH)).translate(_IGNORED)
    if utf16_length(mapped) > 253:
        return False
    labels = _DOTS.split(mapped)
    bidirectional = any(finds(_GOES_RIGHT_TO_LEFT, _decoded(label) or "") for label in labels)
    return all(
        0 < utf16_length(label) <= 63
        and (_is_encoded_label(label) or _is_label(label))
        and (not bidirectional or _follows_one_way(label))
        for label in labels
    )


def _is_encoded_label(label: str) -> bool:
    decoded = _decoded(label)
    return decoded is not None and decoded is not label and not decoded.isascii() and _is_label(decoded)


def _decoded(label: str) -> str | None:
    """What an encoded label stands for; None if it is ill encoded, and `label` itself if it is not encoded."""
    lowered = label.lower()
    if not lowered.startswith(_ACE):
        return label
    encoded = lowered.removeprefix(_ACE)
    if encoded.rfind("-") == 0:
        return None
    try:
        return encoded.encode("ascii").decode("punycode")
    except UnicodeError:
        return None


def _is_label(label: str) -> bool:
    if not label.isascii() and len(_ACE) + len(label.encode("punycode")) > 63:
        return False
    if finds(_GOES_RIGHT_TO_LEFT, label) and not _follows_one_way(label):
        return False
    if _KATAKANA_DOT in label and not finds(_JAPANESE, label):
        return False
    return not finds(_FLAW, label)


def _follows_one_way(label: str) -> bool:
    return finds(_ONE_WAY, label) and not finds(_BOTH_DIGITS, label)
