"""The arguments of a tool call whose text is complete: one strict reading, as of 1.6.0.

Models write some things into strings that JSON forbids: raw control characters, and backslashes that begin no
escape. A text that is JSON once these are escaped is taken as meant so. Anything else that is not one whole
object makes no arguments, and the reason is told, for the model to read in the call's result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ..errors import CodecError
from ..jsontext import parse_json
from ..jsonvalue import FrozenDict, freeze

if TYPE_CHECKING:
    from ..jsonvalue import JSON

NOT_AN_OBJECT: Final = "Tool arguments must be a JSON object"

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
_ESCAPE_OR_FORBIDDEN: Final = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|[\\\x00-\x1f]')


def final_arguments(text: str) -> tuple[FrozenDict, str | None]:
    """The arguments that a complete text says, and what is wrong with it: `ToolCall.arguments_error`.

    A blank text is no arguments and no error.
    """
    if not text.strip():
        return FrozenDict(), None
    try:
        value = freeze(mended_json(text))
        if not isinstance(value, FrozenDict):
            raise CodecError("", NOT_AN_OBJECT)
        return value, None
    except CodecError as error:
        return FrozenDict(), f"{error}\n\nReceived arguments:\n{text}"


def mended_json(text: str) -> JSON:
    """The value of a JSON text, also where its strings have what only JSON forbids.

    Raises:
        CodecError: it is none all the same.
    """
    try:
        return parse_json(text)
    except CodecError:
        repaired = _STRING.sub(lambda string: _ESCAPE_OR_FORBIDDEN.sub(_escaped, string[0]), text)
        if repaired == text:
            raise
        return parse_json(repaired)


def _escaped(found: re.Match[str]) -> str:
    """An escape as it is; a lone backslash or a control character escaped."""
    if len(found[0]) > 1:
        return found[0]
    return r"\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}"
