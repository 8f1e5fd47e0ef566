"""What a request says of the prompt cache. (Facts, sections 8.1 and 8.4.)"""

from __future__ import annotations

import os
from typing import Final

from ...jsonvalue import JSON
from ...messages import Model
from ..dialect import Dialect
from ..request_options import CacheRetention, ProviderOptions
from .tools import compat, compat_value

#: Characters that a key may have.
_LONGEST_KEY: Final = 64
_RETENTION: Final = "PI_CACHE_RETENTION"


def retention_of(options: ProviderOptions) -> CacheRetention:
    """How long the prompt is to be kept: as the request says, or the environment, or else not for long."""
    if options.cache_retention:
        return options.cache_retention
    told = (options.env or {}).get(_RETENTION) or os.environ.get(_RETENTION)
    return "long" if told == "long" else "short"


def cache_key(session_id: str | None) -> str | None:
    """The session as the key of its prompt; what is too long is cut."""
    return None if session_id is None else session_id[:_LONGEST_KEY]


def cache_fields(model: Model, options: ProviderOptions, *, bare: bool) -> dict[str, JSON]:
    """The fields of the body. Without the key's, if it is `bare`: a sign-in with ChatGPT takes no others."""
    dialect, retention = options.dialect, retention_of(options)
    fields: dict[str, JSON] = {}
    keyed = not dialect.responses_cache_key_mode or compat_value(model, "promptCacheKeyMode") != "disabled"
    key = cache_key(options.session_id)
    if retention != "none" and keyed and key is not None:
        fields["prompt_cache_key"] = key
    if not bare:
        fields |= _keeping(model, retention, dialect)
    return fields


def _keeping(model: Model, retention: CacheRetention, dialect: Dialect) -> dict[str, JSON]:
    """For how long, in the terms that the model has for it."""
    explicit = compat(model, "supportsExplicitPromptCacheMode", False)
    long = retention == "long" and compat(model, "supportsLongCacheRetention", True)
    fields: dict[str, JSON] = {}
    if long and not (explicit and dialect.responses_cache_options):
        fields["prompt_cache_retention"] = "24h"
    if explicit and retention == "none":
        fields["prompt_cache_options"] = {"mode": "explicit"}
    elif explicit and long and dialect.responses_cache_options:
        fields["prompt_cache_options"] = {"ttl": "30m"}
    return fields
