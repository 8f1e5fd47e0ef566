"""Judges what a transport has made of a recorded case, and names the clauses that it breaks.

Three have their say. The monitor of responses follows the events, and needs no recording. The key must be seen nowhere.
And where the result differs from the recorded one, the case and the *place* of the difference tell what is broken: a
case is evidence of a few clauses, and each of these is about certain parts of a result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..clauses import Clauses
from ..monitors.finding import Force
from ..monitors.response import judge_response
from .vector import KEY, TransportVector

_SAID: Final = r"\.(events|raised|thrown)|^hang"
_REASON: Final = r"(Reason|errorMessage|\.reason)$|\.type$|^hang|\.raised"
_ASKED: Final = r"^requests"

PLACES: Final[Mapping[str, str]] = {
    "MODEL-01": r"\.events\[0\]",
    "MODEL-06": r"\.delta$",
    "MODEL-08": r"\.content(\[\d+\]\.\w+)?$|\.toolCall\b",
    "MODEL-10": r"\.message\.content",
    "MODEL-11": _SAID,
    "MODEL-12": _SAID,
    "MODEL-13": r"\.arguments(Error)?\b",
    "MODEL-14": r"\.arguments(Error)?\b",
    "MODEL-15": r"\.(m|responseM)odel$",
    "MODEL-16": r"\.(m|responseM)odel$",
    "MODEL-17": r"\.usage\.\w+$",
    "MODEL-18": r"\.usage\.cost\b",
    "MODEL-19": _REASON,
    "MODEL-20": _REASON,
    "MODEL-21": _REASON,
    "MODEL-22": _REASON,
    "MODEL-23": _REASON,
    "MODEL-24": _SAID,
    "MODEL-25": r"\.errorMessage$",
    "MODEL-26": _ASKED,
    "MODEL-27": _ASKED,
    "MODEL-28": _ASKED,
    "MODEL-29": rf"{_ASKED}|\.errorMessage$",
    "MODEL-30": _ASKED,
    "MODEL-32": r"^calls",
    "MODEL-33": r"^calls",
    "MODEL-34": _SAID,
    "MODEL-35": _ASKED,
    "MODEL-36": _ASKED,
    "MODEL-37": _ASKED,
    "MODEL-38": _ASKED,
    "MODEL-39": _ASKED,
    "MODEL-40": _ASKED,
    "MODEL-41": _ASKED,
    "MODEL-42": _ASKED,
    "MODEL-43": _ASKED,
    "MODEL-44": r"\.overflow$",
    "MODEL-45": r"\.retryable$",
    "MODEL-46": _ASKED,
}
"""Where a difference is about a clause, in a case that is evidence of it: a pattern for the place."""

_PATTERNS: Final = {clause: re.compile(place) for clause, place in PLACES.items()}


def force_of(clauses: Clauses) -> Force:
    """In which releases the clauses of a transport are in force."""
    return {clause.id: frozenset(clause.releases) for clause in clauses.values() if clause.of_transport}


def broken(
    vector: TransportVector, release: str, result: Mapping[str, Any], clauses: Clauses
) -> tuple[str, ...]:
    """The clauses that a result breaks, each once.

    Args:
        vector: the case, with what the releases made of it.
        release: as which it is judged.
        result: what somebody has made of it, in the form of a recorded result.
        clauses: of the spec.
    """
    found = [*in_events(result, release, force_of(clauses))]
    if KEY in json.dumps(result):
        found.append("MODEL-31")
    about = [
        clause.id
        for clause in clauses.values()
        if clause.of_transport and release in clause.releases and vector.name in clause.evidence
    ]
    for place in places(vector.of(release), result):
        found += [
            clause for clause in about if clause in _PATTERNS and _PATTERNS[clause].search(place) is not None
        ]
    return tuple(dict.fromkeys(found))


def in_events(result: Mapping[str, Any], release: str, force: Force) -> Iterator[str]:
    """The clauses that the events of a result break, whatever the case is."""
    for call in result.get("calls", ()):
        if "message" in call:
            told = [event for event in call["events"] if "hook" not in event]
            judgement = judge_response(told, force, [release], call["message"])
            yield from (finding.clause for finding in judgement.broken)


def places(expected: Any, got: Any, path: str = "") -> Iterable[str]:
    """Where two JSON values differ, as deep as can be: `calls[0].message.stopReason`."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in dict.fromkeys((*expected, *got)):
            below = f"{path}.{key}" if path else key
            if key in expected and key in got:
                yield from places(expected[key], got[key], below)
            else:
                yield below
    elif isinstance(expected, list) and isinstance(got, list):
        for index in range(max(len(expected), len(got))):
            if index < min(len(expected), len(got)):
                yield from places(expected[index], got[index], f"{path}[{index}]")
            else:
                yield f"{path}[{index}]"
    elif expected != got or isinstance(expected, bool) != isinstance(got, bool):
        yield path
