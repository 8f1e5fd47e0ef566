"""Requests whose bodies and headers are compared: the cases that are stated, and generated ones.

An api's generator may have a function `ask(chance) -> Asked`, which draws a model (with its `compat`,
`thinkingLevelMap`, …) and options as this adapter knows them; without one, `an_asking` draws what all know.
A function `context_of(chance, model)` there draws the conversation as well.
`STATED` is what every adapter is asked: each level, limit, retention and choice by itself. The server refuses
everything: what was asked is all that counts.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import attrs

from .cases import Case, answer, call, case
from .contexts import a_context, a_model, tools
from .spoken import part_of

PROVIDERS = {
    "anthropic-messages": "anthropic",
    "openai-completions": "openai",
    "openai-responses": "openai",
    "openai-codex-responses": "openai-codex",
}

LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")


@attrs.frozen(kw_only=True)
class Asked:
    """A model and options (as in `spoken.Spoken`), for a context that is still to be drawn."""

    model: dict[str, Any]
    options: dict[str, Any]
    simple: bool = False


def a_codex_token() -> str:
    """A token of the shape that Codex takes, for nobody's account."""

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    return (
        f"{part({'alg': 'none'})}.{part({'https://api.openai.com/auth': {'chatgpt_account_id': 'acc'}})}.sig"
    )


def own_options(api: str) -> dict[str, Any]:
    """What every request of an api needs in the lab."""
    return {"apiKey": a_codex_token(), "transport": "sse"} if api == "openai-codex-responses" else {}


def an_asking(chance: Random, api: str) -> Asked:
    """What all adapters know."""
    model = a_model(chance, api, PROVIDERS[api])
    if chance.random() < 0.3:
        levels = {"off": None, "minimal": None, "low": "low", "high": "hi", "xhigh": "xhigh", "max": "max"}
        model["thinkingLevelMap"] = {
            level: levels[level] for level in chance.sample(list(levels), chance.randint(0, len(levels)))
        }
    if chance.random() < 0.1:
        model["headers"] = {"X-Model": "m", "user-agent": "mine"}
    options = {
        key: values[chance.randrange(len(values))]
        for key, values in _OPTIONS.items()
        if chance.random() < 0.25
    }
    simple = chance.random() < 0.6
    if simple and chance.random() < 0.6:
        options["reasoning"] = chance.choice(LEVELS)
    return Asked(model=model, options=options, simple=simple)


_OPTIONS: dict[str, tuple[Any, ...]] = {
    "maxTokens": (1, 100, 4000, 100000),
    "temperature": (0, 0.7, 1),
    "cacheRetention": ("none", "short", "long"),
    "sessionId": ("session-1", "s" * 70),
    "metadata": ({"user_id": "me"}, {"user_id": 7, "x": "y"}),
    "toolChoice": ("auto", "none"),
    "samplingParams": ({"top_p": 0.5}, {"temperature": 0.1, "max_tokens": 3}),
    "headers": ({"X-Mine": "1"}, {"X-Mine": None}),
}


def body_case(api: str, seed: int, number: int) -> Case:
    """A generated request, by its token `api:seed:number`."""
    chance = Random(f"body/{api}/{seed}/{number}")
    ask = part_of(api, "ask")
    asked = an_asking(chance, api) if ask is None else ask(chance)
    converse: Callable[..., Any] | None = part_of(api, "context_of")
    if converse is None:
        context = a_context(chance, asked.model, turns=chance.randrange(4))
    else:
        context = converse(chance, asked.model)
    made = _asked(api, asked, context, f"body {api}:{seed}:{number}")
    if chance.random() < 0.05:
        made["calls"][0]["payload"] = chance.choice(
            ({"extra": [1, "ü"]}, {"model": "another", "stream": False})
        )
    return made


def body_cases(api: str, seed: int, count: int) -> Iterator[Case]:
    """The first `count` generated requests of a seed."""
    return (body_case(api, seed, number) for number in range(count))


def stated_cases(api: str) -> Iterator[Case]:
    """Each setting by itself."""
    chance = Random(1)
    plain = a_model(chance, api, PROVIDERS[api], reasoning=False, input=["text", "image"])
    context = {
        "systemPrompt": "Be brief.",
        "messages": [{"role": "user", "content": "hi", "timestamp": 1}],
        "tools": tools(Random(3)),
    }
    for name, options in STATED.items():
        for reasoning in (False, True):
            for simple in (False, True):
                asked = Asked(model={**plain, "reasoning": reasoning}, options=options, simple=simple)
                yield _asked(api, asked, context, f"stated {name} reasoning={reasoning} simple={simple}")


STATED: dict[str, dict[str, Any]] = {
    "nothing": {},
    **{f"level {level}": {"reasoning": level} for level in LEVELS},
    **{f"{key} {value!r}"[:40]: {key: value} for key, values in _OPTIONS.items() for value in values},
    "more thinking than tokens": {"reasoning": "high", "maxTokens": 4000},
    "budgets": {"reasoning": "low", "thinkingBudgets": {"low": 1234}},
    "long session": {"sessionId": "session-1", "cacheRetention": "long"},
    "session without retention": {"sessionId": "session-1", "cacheRetention": "none"},
}


def _asked(api: str, asked: Asked, context: dict[str, Any], name: str) -> Case:
    options = {**own_options(api), **asked.options}
    made = call(context, options, **({"simple": True} if asked.simple else {}))
    refusal = answer(['{"error":{"message":"no"}}'], status=400, headers={"content-type": "application/json"})
    return case(api, asked.model, [made], [refusal], name)
