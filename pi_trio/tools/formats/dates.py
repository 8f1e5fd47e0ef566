"""Dates, times and durations (RFC 3339)."""

from __future__ import annotations

import calendar
import re
from typing import Final

_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_MINUTES_A_DAY: Final = 24 * 60


def is_date(text: str) -> bool:
    """`2024-02-29`: a day that the calendar has. Any year of four digits, 0000 included."""
    found = _DATE.fullmatch(text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def is_time(text: str) -> bool:
    """`23:59:60.5+01:00`: with a zone; a leap second only in the last minute of the day in UTC."""
    found = _TIME.fullmatch(text)
    if not found:
        return False
    hour, minute, second = map(int, found.group(1, 2, 3))
    zone_hour, zone_minute = (int(part or 0) for part in found.group(5, 6))
    if hour > 23 or minute > 59 or second > 60 or zone_hour > 23 or zone_minute > 59:
        return False
    ahead = (zone_hour * 60 + zone_minute) * (-1 if found[4] == "-" else 1)
    return second < 60 or (hour * 60 + minute - ahead) % _MINUTES_A_DAY == _MINUTES_A_DAY - 1


def is_date_time(text: str) -> bool:
    """A date and a time, with `T` or `t` between them."""
    date, _, time = text.replace("t", "T").partition("T")
    return is_date(date) and is_time(time)


# Units may end early and start late, but not leave one out in between.
_CLOCK: Final = r"T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_CALENDAR: Final = r"(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION: Final = re.compile(rf"P(?:{_CALENDAR}(?:{_CLOCK})?|{_CLOCK}|[0-9]+W)")


def is_duration(text: str) -> bool:
    """`P1Y2M3DT4H`, or weeks alone: `P3W`."""
    return _DURATION.fullmatch(text) is not None
