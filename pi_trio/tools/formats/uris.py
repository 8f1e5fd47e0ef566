"""URIs (RFC 3986), URI templates (RFC 6570), and what the WHATWG's URL parser takes: `url` and the two IRI formats."""

from __future__ import annotations

import re
from typing import Final

import can_ada

from ..js_value import utf16_length, well_formed
from .hosts import is_ipv6

_ESCAPE: Final = "%[0-9A-Fa-f]{2}"
_PLAIN: Final = r"A-Za-z0-9\-._~!$&'()*+,;="
_IN_PATH: Final = rf"(?:[{_PLAIN}:@/]|{_ESCAPE})*"
_AFTER_PATH: Final = rf"(?:\?(?:[{_PLAIN}:@/?]|{_ESCAPE})*)?(?:\#(?:[{_PLAIN}:@/?]|{_ESCAPE})*)?"
_AUTHORITY: Final = rf"""
    (?:(?:[{_PLAIN}:]|{_ESCAPE})*@)?
    (?:\[(?:(?P<ipv6>[0-9A-Fa-f:.]+)|[vV][0-9A-Fa-f]+\.[{_PLAIN}:]+)\]|(?:[{_PLAIN}]|{_ESCAPE})*)
    (?::[0-9]*)?
"""
_SCHEME: Final = r"(?P<scheme>[A-Za-z][A-Za-z0-9+\-.]*)"
# Two slashes always begin an authority; what follows it is nothing or another slash.
_REFERENCE: Final = re.compile(
    rf"(?:{_SCHEME}:)?(?://{_AUTHORITY}(?:/{_IN_PATH})?|(?!//)(?P<path>{_IN_PATH})){_AFTER_PATH}", re.VERBOSE
)

_NAME: Final = rf"(?:[A-Za-z0-9_]|{_ESCAPE})+"
_VARIABLE: Final = rf"{_NAME}(?:\.{_NAME})*(?::[1-9][0-9]{{0,3}}|\*)?"
_TEMPLATE: Final = re.compile(
    rf"(?:[^\x00-\x20\"<>%\\^`{{|}}\x7f]|{_ESCAPE}|\{{[+\#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"
)

_BAD_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_NOT_IN_IRI: Final = re.compile(r"[\x00-\x20<>^`{|}\\]")
_NOT_IN_IRI_REFERENCE: Final = re.compile(r"[\x00-\x20\x7f\\]")
_COLON_MISSING: Final = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*//")
# The URL parser does not know the addresses of future IP versions; one is put out of its sight.
_FUTURE_ADDRESS: Final = re.compile(r"\[[vV][0-9A-Fa-f]+\.[^\]]+\]")
_FUTURE_ADDRESS_UP_TO: Final = 2048


def is_uri(text: str) -> bool:
    """A URI with a scheme."""
    found = _REFERENCE.fullmatch(text)
    return found is not None and found["scheme"] is not None and _has_good_address(found)


def is_uri_reference(text: str) -> bool:
    """A URI, or one relative to another. Without a scheme, the path's first segment holds no colon."""
    found = _REFERENCE.fullmatch(text)
    if found is None or not _has_good_address(found):
        return False
    return found["scheme"] is not None or ":" not in (found["path"] or "").partition("/")[0]


def is_uri_template(text: str) -> bool:
    """`/users/{id}{?page,size:3}`."""
    return _TEMPLATE.fullmatch(text) is not None


def is_url(text: str) -> bool:
    """What the URL parser takes, without a base."""
    return can_ada.can_parse(well_formed(text))


def is_iri(text: str) -> bool:
    """A URL with none of the characters that an IRI must escape."""
    if _NOT_IN_IRI.search(text) or _BAD_ESCAPE.search(text):
        return False
    if utf16_length(text) < _FUTURE_ADDRESS_UP_TO:
        text = _FUTURE_ADDRESS.sub("[::1]", text, count=1)
    return is_url(text)


def is_iri_reference(text: str) -> bool:
    """What the URL parser takes on top of a base, if no colon seems to have been forgotten in `https//host`."""
    if _NOT_IN_IRI_REFERENCE.search(text) or _BAD_ESCAPE.search(text) or _COLON_MISSING.match(text):
        return False
    return can_ada.can_parse(well_formed(text), "http://example.com")


def _has_good_address(found: re.Match[str]) -> bool:
    return found["ipv6"] is None or is_ipv6(found["ipv6"])
