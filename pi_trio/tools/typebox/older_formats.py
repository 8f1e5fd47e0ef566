"""The formats of 0.85.0 and 0.80.2, where they differ from those of later releases (`tools/formats`).

What they take is laxer or stricter than the standards in many places; every check says where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

import can_ada

from ..ecma_regex import PatternError, finds, unicode_regex
from ..formats import FORMATS
from ..formats.dates import is_date
from ..formats.hosts import is_ipv6
from ..formats.mail import is_email
from ..formats.names import is_uuid
from ..formats.uris import _BAD_ESCAPE, _COLON_MISSING, _NOT_IN_IRI_REFERENCE, is_url
from ..js_value import well_formed
from .older_hosts import is_hostname, is_idn_hostname
from .patterns import plain_pattern

_TIME: Final = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def _is_time(text: str) -> bool:
    """With a zone. What is no time of the day passes if it names the last minute of the day in UTC, or one before."""
    found = _TIME.fullmatch(text)
    if found is None:
        return False
    hour, minute, second = int(found[1]), int(found[2]), float(found[3])
    zone_hour, zone_minute = (int(part or 0) for part in found.group(5, 6))
    if zone_hour > 23 or zone_minute > 59:
        return False
    if hour <= 23 and minute <= 59 and second < 60:
        return True
    ahead = -1 if found[4] == "-" else 1
    minute -= zone_minute * ahead
    hour -= zone_hour * ahead + (minute < 0)
    return hour in {23, -1} and minute in {59, -1} and second < 61


def _is_date_time(text: str) -> bool:
    """A date and a time, with `T` or `t` between them."""
    date, _, time = text.replace("t", "T").partition("T")
    return is_date(date) and _is_time(time)


def _is_email(text: str) -> bool:
    """No quoted names, no addresses in brackets."""
    return is_email(text) and '"' not in text and "[" not in text


_IDN_ATOM: Final = r"[\p{L}\p{N}!#$%&'*+\/=?^_`{|}~\-]+"
_IDN_LABEL: Final = r"[\p{L}\p{N}](?:[\p{L}\p{N}\-]{0,61}[\p{L}\p{N}])?"
_IDN_EMAIL: Final = unicode_regex(
    rf"^{_IDN_ATOM}(?:\.{_IDN_ATOM})*@{_IDN_LABEL}(?:\.{_IDN_LABEL})*$", flags="i"
)


def _is_ipv6(text: str) -> bool:
    """A single colon too many at the end does not matter."""
    if text.endswith(":") and not text.endswith("::") and "." not in text:
        text = text[:-1]
    return is_ipv6(text)


def _is_iri_reference(text: str) -> bool:
    """As later, but that a colon seems to have been forgotten only counts if there is none at all."""
    if _NOT_IN_IRI_REFERENCE.search(text) or _BAD_ESCAPE.search(text):
        return False
    if ":" not in text and _COLON_MISSING.match(text):
        return False
    return can_ada.can_parse(well_formed(text), "http://example.com")


def _is_regex(text: str) -> bool:
    """A pattern that is valid without the `u` flag, and not empty."""
    try:
        plain_pattern(text)
    except PatternError:
        return False
    return text != ""


_ESCAPE: Final = "%[0-9A-Fa-f]{2}"
_PLAIN: Final = r"A-Za-z0-9\-._~!$&'()*+,;="
_AUTHORITY: Final = rf"""
    (?:(?:[{_PLAIN}:]|{_ESCAPE})*@ | (?![^/?\#]*@))          # a name, if there is an @ at all
    (?:\[[^\]]*\] | [{_PLAIN}\x80-\U0010ffff]*(?=[:/?\#]|\Z))  # anything in brackets; no escapes in a host name
    (?::[0-9]*(?=[/?\#]|\Z) | (?!:))
"""
_URI: Final = re.compile(
    rf"[A-Za-z][A-Za-z0-9+\-.]*:(?://{_AUTHORITY}|(?!//))(?:[{_PLAIN}:@/?\#]|{_ESCAPE})*", re.VERBOSE
)
_URI_REFERENCE: Final = re.compile(r"[^\x80-\U0010ffff\t\n\v\f\r \[\]{}<>^`|\\]*")

_VARIABLE: Final = rf"(?:[A-Za-z0-9_]|{_ESCAPE})+(?::[1-9][0-9]{{0,3}}|\*)?"
_URI_TEMPLATE: Final = re.compile(
    rf"(?:[^\x00-\x20\"'<>%\\^`{{|}}]|{_ESCAPE}|\{{[+\#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}})*"
)

_LETTERS: Final = r"a-z\u{a1}-\u{ffff}"
_HOST_LABEL: Final = rf"[0-9{_LETTERS}]+(?:-[0-9{_LETTERS}]+)*"
_PRIVATE_IPV4: Final = (
    r"(?:10|127)(?:\.\d{1,3}){3}|(?:169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){2}"
)
_PUBLIC_IPV4: Final = (
    rf"(?!{_PRIVATE_IPV4})(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])"
    r"(?:\.(?:\d\d?|1\d\d|2[0-4]\d|25[0-5])){2}\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4])"
)
_URL: Final = unicode_regex(
    rf"^(?:https?|ftp):\/\/(?:\S+@)?(?:{_PUBLIC_IPV4}|{_HOST_LABEL}(?:\.{_HOST_LABEL})*\.[{_LETTERS}]{{2,}})"
    r"(?::\d{2,5})?(?:\/\S*)?$",
    flags="i",
)


def _matches(pattern: re.Pattern[str], text: str) -> bool:
    return pattern.fullmatch(text) is not None


#: The formats of 0.85.0.
FORMATS_0_85: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        **FORMATS,
        "date-time": _is_date_time,
        "email": _is_email,
        "hostname": is_hostname,
        "idn-email": partial(finds, _IDN_EMAIL),
        "idn-hostname": is_idn_hostname,
        "ipv6": _is_ipv6,
        "iri": is_url,
        "iri-reference": _is_iri_reference,
        "regex": _is_regex,
        "time": _is_time,
        "uri": partial(_matches, _URI),
        "uri-reference": partial(_matches, _URI_REFERENCE),
        "uri-template": partial(_matches, _URI_TEMPLATE),
        # Addresses of the web and of FTP, with a host that could be reached from everywhere.
        "url": partial(finds, _URL),
    }
)


def _is_uuid(text: str) -> bool:
    """Also as a URN."""
    return is_uuid(text[9:] if text[:9].lower() == "urn:uuid:" else text)


#: The formats of 0.80.2.
FORMATS_0_80: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        **FORMATS_0_85,
        "hostname": partial(is_hostname, oldest=True),
        "idn-hostname": partial(is_idn_hostname, oldest=True),
        "uuid": _is_uuid,
    }
)
