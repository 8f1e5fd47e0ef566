"""The key of a request to an API of OpenAI's."""

from __future__ import annotations

from ..messages import Model
from .exchange import ResponseFailedError
from .request_options import ProviderOptions

#: Headers that stand for a key, where none is given.
_KEYS = ("authorization", "cf-aig-authorization")


def key_of(model: Model, options: ProviderOptions) -> str:
    """The key of the request. Where a header has one already, any will do.

    Raises:
        ResponseFailedError: there is none.
    """
    if options.api_key:
        return options.api_key
    headers = options.headers or {}
    if any(name.lower() in _KEYS and value and value.strip() for name, value in headers.items()):
        return "unused"
    raise ResponseFailedError(f"No API key for provider: {model.provider}")
