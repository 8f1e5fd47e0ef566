"""What a request to the Responses API says of the prompt cache."""

from __future__ import annotations

from ...jsonvalue import JSON
from ...messages import Model
from ..dialect import Dialect
from ..prompt_cache import cache_key, retention_of
from ..request_options import CacheRetention, ProviderOptions
from .tools import compat, compat_value


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
