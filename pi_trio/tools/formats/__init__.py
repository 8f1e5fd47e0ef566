"""The formats that `format` checks: those of draft 2020-12, and `url` and `json-pointer-uri-fragment`.

A format that is not in `FORMATS` is an annotation. Each check takes text and says whether it is of the format, as
Pi 1.6.0 decides it; where that is laxer or stricter than the standard, the check says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from ..ecma_regex import is_unicode_pattern
from .dates import is_date, is_date_time, is_duration, is_time
from .hosts import is_hostname, is_idn_hostname, is_ipv4, is_ipv6
from .mail import is_email, is_idn_email
from .names import is_json_pointer, is_json_pointer_fragment, is_relative_json_pointer, is_uuid
from .uris import is_iri, is_iri_reference, is_uri, is_uri_reference, is_uri_template, is_url

FORMATS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "date": is_date,
        "date-time": is_date_time,
        "duration": is_duration,
        "email": is_email,
        "hostname": is_hostname,
        "idn-email": is_idn_email,
        "idn-hostname": is_idn_hostname,
        "ipv4": is_ipv4,
        "ipv6": is_ipv6,
        "iri": is_iri,
        "iri-reference": is_iri_reference,
        "json-pointer": is_json_pointer,
        "json-pointer-uri-fragment": is_json_pointer_fragment,
        "regex": is_unicode_pattern,
        "relative-json-pointer": is_relative_json_pointer,
        "time": is_time,
        "uri": is_uri,
        "uri-reference": is_uri_reference,
        "uri-template": is_uri_template,
        "url": is_url,
        "uuid": is_uuid,
    }
)
