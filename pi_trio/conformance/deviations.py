"""The surprises and rulings of the spec, S-01 and D-01, read from their documents.

They are prose with a list below it, one section each; a clause refers to them by id, and who looks one up reads the
section as it stands there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from .vectors import VectorError

_HEADING: Final = re.compile(r"^## ([SD]-\d\d) (.+)$", re.MULTILINE)
_POSTCONDITION: Final = re.compile(r"^\| (D-\d\d) \| (.+) \|$", re.MULTILINE)
_ITEM: Final = re.compile(r"^- (\w+): ", re.MULTILINE)


@attrs.frozen(kw_only=True)
class Deviation:
    """One surprise or ruling.

    Attributes:
        paragraphs: what it says, each without line breaks.
        items: what is listed below, by name: `upstream`, `verdict`, `scenarios`.
        file: where it stands, below the spec folder; and `line`, the line of its heading.
    """

    id: str
    title: str
    paragraphs: tuple[str, ...]
    items: Mapping[str, str]
    file: str
    line: int


def read_deviations(spec: Path) -> dict[str, Deviation]:
    """All of them by id: the rulings, then the surprises.

    Raises:
        VectorError: a document cannot be read, or an id is taken twice.
    """
    found: dict[str, Deviation] = {}
    for name in ("rulings.md", "surprises.md"):
        path = spec / "deviations" / name
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise VectorError(f"{path} cannot be read: {error}") from None
        for heading in _HEADING.finditer(text):
            body = re.split(r"^## ", text[heading.end() :], maxsplit=1, flags=re.MULTILINE)[0]
            line = text.count("\n", 0, heading.start()) + 1
            if heading[1] in found:
                raise VectorError(f"{path}, line {line}: {heading[1]} is taken")
            prose, *listed = _ITEM.split(body)
            found[heading[1]] = Deviation(
                id=heading[1],
                title=heading[2],
                paragraphs=tuple(_joined(part) for part in re.split(r"\n\s*\n", prose) if part.strip()),
                items={key: _joined(value) for key, value in zip(listed[::2], listed[1::2], strict=True)},
                file=f"deviations/{name}",
                line=line,
            )
    return found


def postconditions(spec: Path) -> dict[str, str]:
    """What each ruling asks of who does as neither side, by its id, as the protocol has it.

    Raises:
        VectorError: the document cannot be read.
    """
    path = spec / "driver-protocol.md"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise VectorError(f"{path} cannot be read: {error}") from None
    said: dict[str, str] = dict(_POSTCONDITION.findall(text))
    return {name: said.get(asked.removeprefix("as "), asked) for name, asked in said.items()}


def _joined(text: str) -> str:
    return " ".join(text.split())
