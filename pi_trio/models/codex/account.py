"""Whose account a token is for: the token is a JWT, and says so itself.

Only its middle part is read; nobody checks its signature here, the provider does that.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

from ...errors import CodecError
from ...jsontext import parse_json
from ..exchange import ResponseFailedError

_CLAIM: Final = "https://api.openai.com/auth"
_URL_ALPHABET: Final = str.maketrans("-_", "+/")


def account_of(token: str) -> str:
    """The id of the account.

    Both alphabets of base64 are taken: Pi takes the plain one only, and refuses one token in some (T-40).

    Raises:
        ResponseFailedError: the token is no JWT, or names no account.
    """
    parts = token.split(".")
    claim = _payload(parts[1]) if len(parts) == 3 else None
    account = claim.get("chatgpt_account_id") if isinstance(claim, dict) else None
    if not account:
        raise ResponseFailedError("Failed to extract accountId from token")
    return str(account)


def _payload(part: str) -> object:
    """What the token says of the account."""
    plain = "".join(part.split()).rstrip("=").translate(_URL_ALPHABET)
    try:
        payload = parse_json(base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True))
    except (binascii.Error, ValueError, CodecError):
        return None
    return payload.get(_CLAIM) if isinstance(payload, dict) else None
