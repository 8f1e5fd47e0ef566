"""The model that a command asks: named by `provider/id`, with its key found, or the scripted one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import attrs

from pi_trio.messages import Model
from pi_trio.models.dialect import DIALECT_1_6_0
from pi_trio.models.naming import name_of, no_such_model
from pi_trio.models.stream import ModelContext, Opened
from pi_trio.models.thinking import clamp_thinking_level

from .demonstration import Demonstration
from .usage import UsageError

SCRIPTED: Final = "scripted/scripted-1"

PROXY_TOKEN: Final = "PI_TRIO_PROXY_TOKEN"  # noqa: S105 - the name of a variable

Ask: TypeAlias = Callable[[Model, ModelContext, Any], Opened | Awaitable[Opened]]


@attrs.frozen(kw_only=True)
class Chosen:
    """A model, and its stream function.

    Attributes:
        keys: the environment variables in which its key may be.
    """

    model: Model
    ask: Ask
    keys: Sequence[str] = ()

    @property
    def name(self) -> str:
        """As it is asked for."""
        return name_of(self.model)

    def thinks_at(self, level: str) -> str:
        """The level at which it thinks when asked to think at this one.

        What a model behind a proxy does is known there alone.
        """
        return level if self.model.api == "proxy" else clamp_thinking_level(self.model, level, DIALECT_1_6_0)


def base_url_argument(parser: argparse._ActionsContainer) -> None:
    """Declare that the provider may be elsewhere."""
    parser.add_argument(
        "--base-url",
        metavar="URL",
        help="where the provider is, in place of the usual address; any id may be asked for there, as by "
        "--model ollama/NAME. What is spoken is the provider's API: OpenAI's Chat Completions with ollama, groq and "
        "openrouter, its Responses with openai, Anthropic's Messages with anthropic",
    )


def place_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare where the model is asked."""
    places = parser.add_mutually_exclusive_group()
    base_url_argument(places)
    places.add_argument(
        "--proxy",
        metavar="URL",
        help=f"ask through a proxy (`pi-trio serve proxy`), whose token is in {PROXY_TOKEN}",
    )


def _check_sendable(keys: Sequence[str]) -> None:
    """Raises: UsageError: of these variables the first that is set holds what no header can."""
    from pi_trio.models.http import can_be_sent

    name = next((name for name in keys if os.environ.get(name)), None)
    if name is not None and not can_be_sent(os.environ[name]):
        raise UsageError(f"{name} cannot be sent: there is a character in it that no header can have")


async def choose(
    name: str, *, base_url: str | None = None, proxy: str | None = None, tools: Sequence[str] = ()
) -> Chosen:
    """The model of this name.

    Args:
        name: `provider/id`.
        base_url: where it is, in place of the usual address.
        proxy: the proxy that is to ask it, which knows whether there is such a model.
        tools: what the scripted model may call.

    Raises:
        UsageError: there is no such model, or no key for it, or no such place.
    """
    for option, url in (("--base-url", base_url), ("--proxy", proxy)):
        if url is not None and not _is_url(url):
            raise UsageError(f"{option} {url!r} is no URL: it begins with http:// or https://")
    if proxy is not None:
        return _through(proxy, name)
    if name == SCRIPTED:
        if base_url is not None:
            raise UsageError("--base-url needs a model that is asked there: --model ollama/NAME")
        scripted = Demonstration(tools)
        return Chosen(model=scripted.model, ask=scripted.stream)
    from pi_trio.models.builtin import builtin_models

    models = builtin_models()
    provider, _, id_ = name.partition("/")
    known = [name_of(each) for each in models.get_models()]
    model = models.get_model(provider, id_)
    if model is None and base_url is not None and id_ and (like := models.get_models(provider)):
        model = attrs.evolve(like[0], id=id_, name=id_)
    if model is None:
        raise UsageError(no_such_model(name, [SCRIPTED, *known]))
    if base_url is not None:
        model = attrs.evolve(model, base_url=base_url)
    served = models.get_provider(provider)
    keys = () if served is None else served.auth.variables
    if await models.check_auth(provider) is None:
        raise UsageError(f"there is no key for {provider}: {how_to_get_a_key(keys)}")
    _check_sendable(keys)
    return Chosen(model=model, ask=models.stream_simple, keys=keys)


def how_to_get_a_key(variables: Sequence[str]) -> str:
    """What to do where there is no key.

    Args:
        variables: those in which it may be.
    """
    return f"set {' or '.join(variables)}" if variables else "its login cannot be used from here"


def _is_url(given: str) -> bool:
    try:
        url = urlsplit(given)
    except ValueError:
        return False
    return url.scheme in ("http", "https") and bool(url.hostname)


def _through(proxy: str, name: str) -> Chosen:
    """Raises: UsageError: there is no token, or that is no model's name."""
    from pi_trio.models.proxy import stream_proxy
    from pi_trio.models.scripted import DEFAULT_MODEL

    token = os.environ.get(PROXY_TOKEN, "")
    if not token:
        raise UsageError(
            f"there is no token for the proxy: set {PROXY_TOKEN} to what `pi-trio serve proxy` prints"
        )
    _check_sendable([PROXY_TOKEN])
    provider, slash, id_ = name.partition("/")
    if not slash:
        raise UsageError(f"there is no model {name!r}; it is named PROVIDER/ID")
    # The proxy goes by its name alone; what is known of the model is known there.
    model = attrs.evolve(DEFAULT_MODEL, id=id_, name=id_, provider=provider, api="proxy", base_url=proxy)
    return Chosen(model=model, ask=stream_proxy(proxy, token), keys=(PROXY_TOKEN,))
