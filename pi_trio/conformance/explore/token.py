"""A counterexample as one word that can be pasted: the profile and the scenario, packed.

A token holds everything that is needed to play it again, on any machine; nothing has to be looked up.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any, Final

import attrs

from pi_trio.errors import CodecError, PiTrioError
from pi_trio.jsontext import parse_json, print_json

from ..scenario import Scenario

_MARK: Final = "pt1-"
"""What every token begins with; the number is that of the form."""

_LONGEST: Final = 4 * 1024 * 1024
"""Bytes that a token may unpack to."""


class TokenError(PiTrioError):
    """This is no token, or a damaged one."""


@attrs.frozen
class Token:
    """What a token says: as what the subject was judged, and what was played."""

    profile: str
    scenario: Scenario

    def text(self) -> str:
        """The word; made of letters, digits, `-` and `_`."""
        plain = print_json([self.profile, self.scenario.to_json()]).encode()
        return _MARK + base64.urlsafe_b64encode(zlib.compress(plain, 9)).decode().rstrip("=")

    @classmethod
    def read(cls, word: str) -> Token:
        """What a word says.

        Raises:
            TokenError: it says nothing.
        """
        word = "".join(word.split())  # a terminal, or a mail, may have broken it
        if not word.startswith(_MARK):
            raise TokenError(f"a token begins with {_MARK}")
        packed = word.removeprefix(_MARK)
        try:
            unpacking = zlib.decompressobj()
            plain = unpacking.decompress(
                base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", validate=True), _LONGEST
            )
            if not unpacking.eof:
                raise TokenError("the token is cut off, or too long")
            value: Any = parse_json(plain)
            profile, scenario = value
            if not isinstance(profile, str):
                raise TokenError("the token does not say as what to judge")
            return cls(profile, Scenario.from_json(scenario))
        except (binascii.Error, zlib.error, CodecError, ValueError, TypeError) as error:
            raise TokenError(f"the token is damaged: {error}") from None
