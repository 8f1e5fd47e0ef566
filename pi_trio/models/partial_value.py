"""What has come of a JSON value whose text is still coming in, as the releases up to 1.0.3 take it.

Of a string the characters that have come, of a number what its digits say, of a container its complete members and the
one that has begun. What makes no sense ends the container in which it stands, without a word, and the one around it
goes on behind it: `{"a":{"b":x},"c":1}` is `{"a":{}}`, because behind the x there is one end too many.

Every oddity here is Pi's (up to 1.0.3): any character passes for a colon; commas may be left out; an empty array with
a blank in it is one that makes no sense; a string that holds a raw control character is good up to the last backslash
in it, if there is one. Two differences: numbers that JSON does not know (NaN, Infinity) are null, as they are whenever
Pi writes them down; and nothing counts deeper than `DEPTH_LIMIT`.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import attrs

from ..jsonvalue import ABSENT, DEPTH_LIMIT, JSON, Absent
from .open_values import Beginning, Begun, OpenContainer, Opening, OpenString, begun_value, number_of

_BLANK: Final = " \t\n\r"
_SPACE: Final = re.compile(f"[{_BLANK}]*")
_SCALAR_END: Final = re.compile(r"[,\]}]")
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]+')
_ESCAPE: Final = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{0,4}))?')
_SKIPPED: Final = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)

_CHARACTERS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: Final[dict[str, JSON]] = {
    "null": None, "true": True, "false": False, "Infinity": None, "-Infinity": None, "NaN": None,
}  # fmt: skip

#: What comes next in a container: "member" is its end, or the way to a member, in which it cannot end any more.
_Expected: TypeAlias = Literal["opened", "member", "key", "colon", "value", "comma"]


class PartialReader:
    """Reads an array or object as it comes. The text has neither whitespace at its beginning nor, so far, at its end.

    Args:
        opening: the first character of the text, `{` or `[`, which is still to be read.

    Attributes:
        open: the containers that are open, from the outermost in. When there is none, the value is complete.
        doubtful: what has been read may mean something else when more comes, so it has to be read from the start. Of
            all texts this is only so for a number like `1ex`, which is 1 until another `e` comes anywhere behind it.
    """

    def __init__(self, opening: str) -> None:
        self.open = [_container(opening, None)]
        self.doubtful = False
        self._value: JSON = None
        self._begun = False
        self._string: _String | None = None  # the one that is being read
        self._scalar: list[str] | None = None  # the pieces of the number or word that is being read
        self._cut = ""  # an escape that is cut off
        self._full = False  # as deep as can be

    @property
    def value(self) -> JSON:
        """The value, or what has come of it."""
        return self.now().value() if self.open else self._value

    def now(self) -> Opening:
        """The present moment, as long as something is open."""
        begun: Begun = ABSENT
        if self._string is not None:
            begun = self._string.begun()
        elif self._scalar is not None:
            begun = begun_scalar("".join(self._scalar))
        return self.open[-1].now(begun)

    def read(self, text: str, *, last: bool = False) -> None:
        """Read the next piece; `last` says that there is no other."""
        text, self._cut = self._cut + text, ""
        at = 0 if self._begun else 1
        self._begun = True
        while at < len(text) and self.open and not self._full and not self.doubtful:
            if self._string is not None:
                at = self._read_string(self._string, text, at)
            elif self._scalar is not None:
                at = self._read_scalar(self._scalar, text, at, last)
            else:
                at = self._read_mark(self.open[-1], text, at)

    # --- inside: each reads from a place in the text, and gives the place behind ------------------------------

    def _read_mark(self, inner: _Container, text: str, at: int) -> int:
        """What stands around keys and values."""
        if inner.expected == "member":
            if text[at] == inner.end:
                self._end_container()
                return at + 1
            inner.expected = inner.after_member
        space = _SPACE.match(text, at)
        assert space is not None
        at = space.end()
        if at == len(text):
            return at
        mark = text[at]
        if inner.expected == "value":
            return self._begin_value(mark, at)
        if inner.expected == "opened":
            inner.expected = "member"
            return at
        if inner.expected == "comma":
            inner.expected = "member"
            return at + (mark == ",")
        if inner.expected == "key":
            self._string = _String(is_key=True, wrong=mark != '"')
        inner.expected = "value"  # a string that is read comes first; and any mark is a colon
        return at + 1

    def _begin_value(self, mark: str, at: int) -> int:
        if mark in "{[":
            self.open.append(_container(mark, self.open[-1].now()))
            self._full = len(self.open) == DEPTH_LIMIT
        elif mark == '"':
            self._string = _String()
        else:
            self._scalar = []
            return at
        return at + 1

    def _read_string(self, string: _String, text: str, at: int) -> int:
        at, self._cut = string.read(text, at)
        if at == len(text):
            return at
        self._string = None
        if string.wrong:
            self._end_container()
        elif string.is_key:
            self.open[-1].key = string.whole()
            self.open[-1].expected = "colon"
        else:
            self._end_value(string.whole())
        return at + 1

    def _read_scalar(self, scalar: list[str], text: str, at: int, last: bool) -> int:
        found = _SCALAR_END.search(text, at)
        end = found.start() if found else len(text)
        before = "".join(scalar)
        token = before + text[at:end]
        for word, value in _WORDS.items():
            if token.startswith(word):
                self._scalar = None
                self._end_value(value)
                return at - len(before) + len(word)  # whatever stands directly behind it
        if found is None:
            scalar.append(text[at:])
            return end
        value_of_all = _number(token)
        value_of_some = _number_before_e(token)
        if value_of_all is ABSENT and value_of_some is not ABSENT and "e" not in text[end:]:
            self.doubtful = not last
            value_of_all = value_of_some
        self._scalar = None
        if isinstance(value_of_all, Absent):
            self._end_container()
        else:
            self._end_value(value_of_all)
        return end

    def _end_value(self, value: JSON) -> None:
        inner = self.open[-1]
        inner.expected = "comma"
        if inner.takes_value():
            inner.add(value)

    def _end_container(self) -> None:
        """The innermost container is over: closed, or given up."""
        value = self.open.pop().whole()
        if self.open:
            self._end_value(value)
        else:
            self._value = value


@attrs.define(eq=False)
class _Container(OpenContainer):
    expected: _Expected = "opened"

    @property
    def end(self) -> str:
        return "]" if isinstance(self.items, list) else "}"

    @property
    def after_member(self) -> _Expected:
        return "value" if isinstance(self.items, list) else "key"

    def takes_value(self) -> bool:
        # Pi sets the member, and with this name that is no member but the object's prototype.
        return isinstance(self.items, list) or self.key != "__proto__"


def _container(opening: str, outer: Opening | None) -> _Container:
    """A new one. Only an object may have whitespace before its end, if it is empty."""
    return _Container({}, outer) if opening == "{" else _Container([], outer, expected="member")


class _String(OpenString):
    """A string whose end has not come.

    Attributes:
        wrong: it holds what no JSON string may hold. Then a part of it counts, or nothing, until it ends.
    """

    __slots__ = ("_escape", "_good", "is_key", "wrong")

    def __init__(self, *, is_key: bool = False, wrong: bool = False) -> None:
        super().__init__()
        self.is_key = is_key
        self.wrong = wrong
        #: How many pieces stand before the last escape; None if there is none, or if it is a backslash's own.
        self._escape: int | None = None
        #: How many pieces count of a string that is wrong.
        self._good: int | None = None

    def begun(self) -> Begun:
        """What shows of it."""
        count = self._good if self.wrong else len(self.pieces)
        return ABSENT if self.is_key or count is None else Beginning(self, count)

    def whole(self) -> str:
        return self.at(len(self.pieces))

    def read(self, text: str, at: int) -> tuple[int, str]:
        """Read on. Gives the place of the closing quote, or the text's end, and an escape that is cut off there."""
        while at < len(text):
            if self.wrong:
                return self._skip(text, at)
            if plain := _PLAIN.match(text, at):
                self.pieces.append(plain[0])
                at = plain.end()
            elif text[at] == '"':
                return at, ""
            elif text[at] == "\\":
                escape = _ESCAPE.match(text, at)
                assert escape is not None
                if escape.end() == len(text) and not _is_complete(escape):
                    return len(text), escape[0]
                self._take(escape)
                at = escape.end()
            else:
                self.wrong, self._good = True, self._escape
        return at, ""

    def _take(self, escape: re.Match[str]) -> None:
        character, digits = escape[1], escape[2]
        if not _is_complete(escape):
            self.wrong, self._good = True, len(self.pieces)
            return
        self._escape = None if character == "\\" else len(self.pieces)
        self.pieces.append(_CHARACTERS.get(character, character) if character else chr(int(digits, 16)))

    def _skip(self, text: str, at: int) -> tuple[int, str]:
        """Look for the end of a string that is wrong. A backslash on the way takes all that was good of it."""
        skipped = _SKIPPED.match(text, at)
        assert skipped is not None
        end = skipped.end()
        cut = "\\" if text[end : end + 1] == "\\" else ""
        if cut or "\\" in skipped[0]:
            self._good = None
        return end + len(cut), cut


def _is_complete(escape: re.Match[str]) -> bool:
    return bool(escape[1]) or len(escape[2] or "") == 4


# --- numbers and words ------------------------------------------------------------------------------------


def begun_scalar(token: str) -> JSON | Absent:
    """What shows of a number or word whose end has not come; ABSENT if it says nothing."""
    if token not in ("", "-"):
        for word, value in _WORDS.items():
            if word.startswith(token):
                return value
    number = _number(token)
    return _number_before_e(token) if number is ABSENT else number


def bare_value(text: str) -> JSON | Absent:
    """What has come of a value that is no container; ABSENT if it makes no sense, or is null. Whatever stands behind
    a string or word counts for nothing.
    """
    if text[0] == '"':
        string = _String()
        end, _ = string.read(text, 1)
        ended = end < len(text)
        return ABSENT if ended and string.wrong else begun_value(string.begun())
    for word, value in _WORDS.items():
        if text.startswith(word):
            return value if word != "null" else ABSENT
    return ABSENT if "null".startswith(text) else begun_scalar(text)


def _number(token: str) -> JSON | Absent:
    return number_of(token.rstrip(_BLANK), infinite=None)


def _number_before_e(token: str) -> JSON | Absent:
    """The number that stands before the last `e`, as if the rest were an exponent whose digits have not come."""
    digits, e, _ = token.rpartition("e")
    return _number(digits) if e else ABSENT
