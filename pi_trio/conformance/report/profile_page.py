"""The page of the spec about profiles: each field, what it decides, and which value each release has.

It is made of the comments in `pi_trio/profile.py`, so that there is one place where a field is explained:

    python -m pi_trio.conformance.report.profile_page spec/profiles.md
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pi_trio.profile import PROFILES, Profile

_SECTION: Final = re.compile(r"# --- (.+?) -+$")

_INTRODUCTION: Final = """\
# Profiles

A profile says as which release of Pi somebody behaves, decision by decision. What is in no field here is the same in
all four releases. A composite profile takes single fields from another release than the rest:

```
pi-0.85.0,prepare_next_turn=pi-0.80.2
```

is 0.85.0, but `prepare_next_turn` has the value of 0.80.2. `pi-trio fit` tells for an implementation which value of
each field it shows, and `pi-trio conform --profile` judges by any mixture. Hooks and functions of Pi have their names
in snake_case here. The page is made of the comments in `pi_trio/profile.py`.
"""


def page() -> str:
    """The whole page."""
    releases = [profile.release for profile in PROFILES.values()]
    lines: list[str] = []
    for section, fields in _sections():
        lines += [f"\n## {section[0].upper()}{section[1:]}\n"]
        lines += [_row("field", "what it decides", *releases), _row(*["---"] * (2 + len(releases)))]
        for field, about in fields:
            values = (_value(getattr(profile, field)) for profile in PROFILES.values())
            lines.append(_row(f"`{field}`", about, *values))
    return _INTRODUCTION + "\n".join(lines) + "\n"


def _sections() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sections of the class, and in each the fields with their comments."""
    section, fields, comment = "", list[tuple[str, str]](), list[str]()
    for line in map(str.strip, inspect.getsource(Profile).splitlines()):
        if found := _SECTION.match(line):
            if fields:
                yield section, fields
            section, fields = found[1], []
        elif line.startswith("#: "):
            comment.append(line.removeprefix("#: "))
        elif comment:
            fields.append((line.partition(":")[0], " ".join(comment)))
            comment = []
    yield section, fields


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "nothing"
    return f"`{value}`"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
