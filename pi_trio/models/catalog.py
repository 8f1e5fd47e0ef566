"""Models as data: entries in Pi's own JSON form, and the common ones that come with the package.

`catalog.json` holds what is known of some models: ids, prices, windows, levels, and how their servers differ from the
rule (`compat`). Prices and models change; `load_models` reads a newer file, or a Pi catalog as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

from ..codec import structure
from ..errors import CodecError
from ..jsontext import parse_json
from ..jsonvalue import JSON
from ..messages import Model

_CHAT: Final = "chat"


def load_models(value: JSON) -> tuple[Model, ...]:
    """The chat models in a JSON value, in order.

    Args:
        value: an entry, or lists and objects of entries, nested in any way: Pi's catalogs group them by provider, by
            API and by id. Entries of other types (`image`, `classifier`) are passed over.

    Raises:
        CodecError: an entry is not what a model is, or there is something that is none; the path says where.
    """
    return tuple(structure(entry, Model, path) for path, entry in _entries(value, "") if _is_chat(entry))


@cache
def builtin_catalog() -> Mapping[str, tuple[Model, ...]]:
    """The models that come with the package, by provider."""
    text = files("pi_trio.models").joinpath("catalog.json").read_text(encoding="utf-8")
    by_provider = parse_json(text)
    assert isinstance(by_provider, Mapping)
    return {provider: load_models(entries) for provider, entries in by_provider.items()}


def _is_chat(entry: Mapping[str, JSON]) -> bool:
    return entry.get("type", _CHAT) == _CHAT


def _entries(value: JSON, path: str) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    if isinstance(value, Mapping):
        if isinstance(value.get("id"), str) and "api" in value:
            yield path, value
            return
        for name, item in value.items():
            yield from _entries(item, f"{path}.{name}" if path else name)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _entries(item, f"{path}[{index}]")
    else:
        raise CodecError(path, f"expected a model, or a list or object of models, found {value!r:.40}")
