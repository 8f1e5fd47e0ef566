"""Who the client says it is: `User-Agent`, and since 1.6.0 what some gateways want to know of the application.

This package goes by its own name, whatever release it behaves as (T-42). An identity of the request may say otherwise:
`{"userAgent": "detailed" | "short" | {"custom": …}, "version", "attribution": {"name", "url", "categories"}}`.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

from .._version import __version__
from ..jsonvalue import JSON
from ..messages import Model
from .request_options import ProviderOptions

_NAME = "pi_trio"


def client_headers(model: Model, options: ProviderOptions) -> dict[str, str]:
    """The headers, which those of the model and of the request win over."""
    identity = options.identity if options.dialect.identity else None
    identity = identity if isinstance(identity, Mapping) else {}
    return {"User-Agent": _user_agent(identity), **_attribution(model, identity.get("attribution"))}


def _user_agent(identity: Mapping[str, JSON]) -> str:
    mode = identity.get("userAgent")
    if isinstance(mode, Mapping):
        return str(mode.get("custom"))
    if mode == "short":
        return _NAME
    version = identity.get("version") or __version__
    runtime = f"python/{platform.python_version()}"
    return f"{_NAME}/{version} ({sys.platform}; {runtime}; {platform.machine()})"


def _attribution(model: Model, told: JSON) -> dict[str, str]:
    """What the gateway of the model wants to know, if the identity tells it."""
    if not isinstance(told, Mapping):
        return {}
    name, categories = str(told.get("name")), told.get("categories")
    if model.provider == "openrouter" or "openrouter.ai" in model.base_url:
        headers = {"HTTP-Referer": str(told.get("url")), "X-OpenRouter-Title": name}
        if isinstance(categories, (list, tuple)) and categories:
            headers["X-OpenRouter-Categories"] = ",".join(map(str, categories))
        return headers
    host = urlsplit(model.base_url).hostname
    if model.provider == "nvidia" or host == "integrate.api.nvidia.com":
        return {"X-BILLING-INVOKE-ORIGIN": name[:1].upper() + name[1:]}
    if model.provider in ("opencode", "opencode-go") or host == "opencode.ai":
        return {"x-opencode-client": name}
    return {}
