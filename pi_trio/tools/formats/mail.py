"""E-mail addresses: plain (RFC 5321 in the main) and international."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ..ecma_regex import finds, unicode_regex
from .hosts import is_ipv4

_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_QUOTED: Final = r'"(?:[^"\\]|\\[ -~])*"'
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# An IPv6 literal is not looked into, only its characters are.
_LITERAL: Final = r"\[(?:(?i:IPv6):[A-Fa-f0-9:]+|(?P<ipv4>[0-9.]+))\]"
_EMAIL: Final = re.compile(
    rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_LABEL}(?:\.{_LABEL})*|{_LITERAL})", re.ASCII
)

_IDN_ATOM: Final = r"[A-Za-z0-9!#$%&'*+\/=?^_`{|}~\u{80}-\u{10ffff}\-]+"
_IDN_LABEL: Final = r"[\p{L}\p{N}][\p{L}\p{N}\-]{0,62}(?<!-)"
_IDN_EMAIL: Final = unicode_regex(
    rf'^(?:{_IDN_ATOM}(?:\.{_IDN_ATOM})*|"(?:[^"\\]|\\.)*")@{_IDN_LABEL}(?:\.{_IDN_LABEL})*$', flags="i"
)


def is_email(text: str) -> bool:
    """`name@host`, with an unquoted or quoted name, and a host name or an address in brackets."""
    found = _EMAIL.fullmatch(text)
    return found is not None and (found["ipv4"] is None or is_ipv4(found["ipv4"]))


def is_idn_email(text: str) -> bool:
    """The same with letters of every script. Host names only, and no rules of IDNA on them."""
    return finds(_IDN_EMAIL, unicodedata.normalize("NFC", text))
