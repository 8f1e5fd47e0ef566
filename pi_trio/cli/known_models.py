"""The models that can be named, and whether there is a key for each: what `pi-trio run --list` prints."""

from __future__ import annotations

from pi_trio.models.builtin import builtin_models
from pi_trio.models.naming import name_of
from pi_trio.models.provider import ModelProvider

from .chosen_model import SCRIPTED, how_to_get_a_key


async def known_models() -> list[str]:
    """A line for each."""
    models = builtin_models()
    told = {SCRIPTED: "needs no key"}
    for provider in models.get_providers():
        found = await models.check_auth(provider.id)
        key = _missing(provider) if found is None else _there(found.source)
        told |= dict.fromkeys(map(name_of, models.get_models(provider.id)), key)
    width = max(map(len, told))
    return [f"{name:{width}}  {key}" for name, key in told.items()]


def _missing(provider: ModelProvider) -> str:
    return f"no key: {how_to_get_a_key(provider.auth.variables)}"


def _there(source: str | None) -> str:
    return "needs no key" if source == "no key needed" else f"key: {source}"
