"""The default stream function: what answers where an agent is given none.

A program sets its own once, at its start. Until then it is the one of an embedded scripted provider, so that
everything works without a key and without a network. The provider is made when it is first asked, because
importing an agent should be cheap.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Final

from ..errors import PiTrioError

if TYPE_CHECKING:
    from ..messages import Model
    from .scripted import ScriptedProvider
    from .stream import ModelContext, Opened, StreamFn, StreamOptions

_log: Final = logging.getLogger("pi_trio")

NO_STREAM_FUNCTION: Final = (
    "No default stream function configured. Pass streamFn explicitly or call setDefaultStreamFn()."
)


class NoStreamFunctionError(PiTrioError, RuntimeError):
    """There is no default stream function."""


@cache
def embedded_provider() -> ScriptedProvider:
    """The scripted provider behind `embedded_stream`, always the same. Its script begins empty."""
    from .scripted import ScriptedProvider

    return ScriptedProvider()


def embedded_stream(model: Model, context: ModelContext, options: StreamOptions) -> Opened:
    """The stream function of the embedded provider: the default until another one is set.

    At the end of its script it says in the log (`pi_trio`) what to do; the response has Pi's text.
    """
    if not embedded_provider().pending_response_count:
        _log.warning(
            "an agent without a stream_fn was asked, and the scripted provider that answers for it has nothing to say: "
            "give the agent a stream_fn, or that provider a script with embedded_provider().append_responses(…)"
        )
    return embedded_provider().stream(model, context, options)


_default: StreamFn | None = embedded_stream


def set_default_stream_fn(stream_fn: StreamFn | None) -> None:
    """Make `stream_fn` the default for agents made from now on; None takes the default away."""
    global _default  # noqa: PLW0603 - one setting for the process is what this is
    _default = stream_fn


def get_default_stream_fn() -> StreamFn:
    """The default stream function.

    Raises:
        NoStreamFunctionError: it was taken away.
    """
    if _default is None:
        raise NoStreamFunctionError(NO_STREAM_FUNCTION)
    return _default
