"""Models by their names, `provider/id`, and which one is meant by a name that none has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ..messages import Model


def name_of(model: Model) -> str:
    """As a model is asked for."""
    return f"{model.provider}/{model.id}"


def no_such_model(name: str, known: Iterable[str]) -> str:
    """That there is no model of this name, and which of the known ones may be meant."""
    known = list(known)
    if not known:
        return f"there is no model {name!r}, and no other: no provider that has models was added"
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
