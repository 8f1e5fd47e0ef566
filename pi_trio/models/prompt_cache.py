"""What requests of all APIs say of the prompt cache: for how long, and by what key."""

from __future__ import annotations

from typing import Final

from .environment_keys import env_value
from .request_options import CacheRetention, ProviderOptions

#: Characters that a key may have.
_LONGEST_KEY: Final = 64
_RETENTION: Final = "PI_CACHE_RETENTION"


def retention_of(options: ProviderOptions) -> CacheRetention:
    """How long the prompt is to be kept: as the request says, or the environment, or else not for long."""
    if options.cache_retention:
        return options.cache_retention
    return "long" if env_value(_RETENTION, options.env) == "long" else "short"


def cache_key(session_id: str | None) -> str | None:
    """The session as the key of its prompt; what is too long is cut."""
    return None if session_id is None else session_id[:_LONGEST_KEY]
