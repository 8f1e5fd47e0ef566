"""What a program has forgotten when a request cannot even be made, said in the log (`pi_trio`).

The response has Pi's text, which names what is missing and not what to do.
"""

from __future__ import annotations

import logging
from typing import Final

from ..messages import Model
from .provider import ModelProvider

_log: Final = logging.getLogger("pi_trio")


def hint_at_no_key(provider: ModelProvider) -> None:
    """Say how a provider is given its key."""
    variables = provider.auth.variables
    where = f"set {' or '.join(variables)}, or give" if variables else "give"
    _log.warning(
        "there is no key for %s: %s the agent get_api_key, the request api_key, or the collection stored credentials",
        provider.id,
        where,
    )


def hint_at_no_provider(model: Model) -> None:
    """Say how a collection comes to a provider, or an agent to a model."""
    if model == Model.unknown():
        _log.warning(
            "the agent has no model: give it one, as by "
            'Agent(model=models.require_model("provider/id"), stream_fn=models.stream_simple)'
        )
    else:
        _log.warning(
            "the collection that was asked for %s/%s has no provider %r: "
            "add it with set_provider, or begin with builtin_models()",
            model.provider, model.id, model.provider,
        )  # fmt: skip
