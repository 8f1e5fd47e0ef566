"""The model that a command asks: named by `provider/id`, with its key found, or the scripted one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

import attrs

from pi_trio.messages import Model
from pi_trio.models.stream import ModelContext, Opened

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
        return f"{self.model.provider}/{self.model.id}"


def base_url_argument(parser: argparse._ActionsContainer) -> None:
    """Declare that the provider may be elsewhere."""
    parser.add_argument(
        "--base-url",
        metavar="URL",
        help="where the provider is, in place of the usual address; there any id may be asked for",
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
        UsageError: there is no such model, or no key for it.
    """
    if proxy is not None:
        return _through(proxy, name)
    if name == SCRIPTED:
        scripted = Demonstration(tools)
        return Chosen(model=scripted.model, ask=scripted.stream)
    from pi_trio.models.builtin import builtin_models
    from pi_trio.models.environment_keys import KEY_VARIABLES

    models = builtin_models()
    provider, _, id_ = name.partition("/")
    known = [f"{model.provider}/{model.id}" for model in models.get_models()]
    model = models.get_model(provider, id_)
    if model is None and base_url is not None and id_ and (like := models.get_models(provider)):
        model = attrs.evolve(like[0], id=id_, name=id_)
    if model is None:
        raise UsageError(_unknown(name, [SCRIPTED, *known]))
    if base_url is not None:
        model = attrs.evolve(model, base_url=base_url)
    keys = KEY_VARIABLES.get(provider, ())
    if await models.check_auth(provider) is None:
        where = f"set {' or '.join(keys)}" if keys else "its login cannot be used from here"
        raise UsageError(f"there is no key for {provider}: {where}")
    return Chosen(model=model, ask=models.stream_simple, keys=keys)


def _through(proxy: str, name: str) -> Chosen:
    """Raises: UsageError: there is no token, or that is no model's name."""
    from pi_trio.models.proxy import stream_proxy
    from pi_trio.models.scripted import DEFAULT_MODEL

    token = os.environ.get(PROXY_TOKEN, "")
    if not token:
        raise UsageError(
            f"there is no token for the proxy: set {PROXY_TOKEN} to what `pi-trio serve proxy` prints"
        )
    provider, slash, id_ = name.partition("/")
    if not slash:
        raise UsageError(f"there is no model {name!r}; it is named PROVIDER/ID")
    # The proxy goes by its name alone; what is known of the model is known there.
    model = attrs.evolve(DEFAULT_MODEL, id=id_, name=id_, provider=provider, api="proxy", base_url=proxy)
    return Chosen(model=model, ask=stream_proxy(proxy, token), keys=(PROXY_TOKEN,))


def _unknown(name: str, known: list[str]) -> str:
    """That there is no such model, and which one may be meant."""
    provider, _, id_ = name.partition("/")
    ids = {each.partition("/")[2]: each for each in known}
    same_id = [each for each in known if each.partition("/")[2] == name]
    near = (
        same_id
        or get_close_matches(name, known, cutoff=0.75)
        or [ids[each] for each in get_close_matches(id_ or provider, ids, cutoff=0.6)]
    )
    if near:
        return f"there is no model {name!r}; did you mean {' or '.join(near)}?"
    same = [each for each in known if each.startswith(f"{provider}/")]
    if same:
        return f"{provider} has no model {id_!r}; known are: {', '.join(same)}"
    providers = dict.fromkeys(each.partition("/")[0] for each in known)
    return f"there is no model {name!r}; it is named PROVIDER/ID, of one of: {', '.join(providers)}"
