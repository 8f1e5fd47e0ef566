"""How an endpoint is told to think: one function for each of the formats that there are.

Each gives fields of the body for a model that reasons. The effort is None where the model is not to think; the model's
own words for efforts are in its `thinkingLevelMap`, where null says that there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs

from ...jsonvalue import ABSENT, JSON, Absent
from ...messages import Model
from ..request_options import ProviderOptions
from ..thinking import fit_thinking_budget, thinking_budget, thinking_level_map
from .compat import Compat

Fields: TypeAlias = dict[str, JSON]


@attrs.frozen(kw_only=True)
class Thinking:
    """What is known when the body says how hard to think.

    Attributes:
        effort: the level that is asked for; None for none.
        words: the model's own words for levels.
        budget: how many tokens may be thought with, if that is known.
    """

    compat: Compat
    effort: str | None
    words: Mapping[str, JSON]
    budget: int | None

    @property
    def word(self) -> JSON:
        """What the effort is called; the level itself, where the model has no word for it."""
        return self.effort if (word := self.words.get(self.effort or "")) is None else word

    @property
    def effort_fields(self) -> Fields:
        """The effort as OpenAI takes it, if there is one, and the endpoint takes it."""
        return (
            {"reasoning_effort": self.word} if self.effort and self.compat.supports_reasoning_effort else {}
        )

    @property
    def off_refused(self) -> bool:
        """Whether the model cannot be told not to think."""
        return self.words.get("off", ABSENT) is None


def thinking_fields(model: Model, options: ProviderOptions, compat: Compat, limit: float) -> Fields:
    """The fields of the body.

    Args:
        model: it must reason, or there are none.
        options: `provider["reasoning_effort"]` is the level.
        compat: of the endpoint.
        limit: tokens of the response, which thinking and answer share.
    """
    if not model.reasoning:
        return {}
    effort = options.provider.get("reasoning_effort") or None
    budget = None if effort is None else _budget(effort, options.thinking_budgets, limit)
    thinking = Thinking(compat=compat, effort=effort, words=thinking_level_map(model), budget=budget)
    fields = FORMATS.get(compat.thinking_format, _openai)(thinking)
    name = compat.thinking_token_budget_field
    if name is None and compat.supports_thinking_token_budget:
        name = "thinking_token_budget"
    # Whatever the format: an answer that shares its limit with unlimited thinking may never come.
    return {**fields, name: budget} if name and budget is not None else fields


def _budget(effort: str, budgets: Mapping[str, int] | None, limit: float) -> int | None:
    try:
        budget = fit_thinking_budget(thinking_budget(effort, budgets), int(limit))
    except KeyError:
        return None
    return budget if budget > 0 else None


# --- the formats ------------------------------------------------------------------------------------------


def _openai(thinking: Thinking) -> Fields:
    if thinking.effort:
        return thinking.effort_fields
    off = thinking.words.get("off")
    return (
        {"reasoning_effort": off}
        if isinstance(off, str) and thinking.compat.supports_reasoning_effort
        else {}
    )


def _zai(thinking: Thinking) -> Fields:
    if not thinking.effort:
        return {"thinking": {"type": "disabled"}}
    fields: Fields = {"thinking": {"type": "enabled", "clear_thinking": False}}
    word = thinking.words.get(thinking.effort, thinking.effort)
    if isinstance(word, str) and thinking.compat.supports_reasoning_effort:
        fields["reasoning_effort"] = word
    return fields


def _qwen(thinking: Thinking) -> Fields:
    return {"enable_thinking": thinking.effort is not None, **thinking.effort_fields}


def _qwen_chat_template(thinking: Thinking) -> Fields:
    return {
        "chat_template_kwargs": {"enable_thinking": thinking.effort is not None, "preserve_thinking": True}
    }


def _chat_template(thinking: Thinking) -> Fields:
    values = _template_values(thinking, thinking.compat.chat_template_kwargs)
    return {"chat_template_kwargs": values} if values else {}


def _baseten(thinking: Thinking) -> Fields:
    values = _template_values(thinking, thinking.compat.chat_template_args)
    fields: Fields = {"chat_template_args": values} if values else {}
    effort = thinking.words.get(thinking.effort or "off", thinking.effort)
    if isinstance(effort, str) and thinking.compat.supports_reasoning_effort:
        fields["reasoning_effort"] = effort
    return fields


def _deepseek(thinking: Thinking) -> Fields:
    if thinking.effort:
        return {"thinking": {"type": "enabled"}, **thinking.effort_fields}
    return {} if thinking.off_refused else {"thinking": {"type": "disabled"}}


def _openrouter(thinking: Thinking) -> Fields:
    if thinking.effort:
        return {"reasoning": {"effort": thinking.word}}
    return {} if thinking.off_refused else {"reasoning": {"effort": thinking.words.get("off", "none")}}


def _ant_ling(thinking: Thinking) -> Fields:
    if not thinking.effort:
        return _openai(thinking)
    word = thinking.words.get(thinking.effort)
    return {"reasoning": {"effort": word}} if isinstance(word, str) else {}


def _together(thinking: Thinking) -> Fields:
    return {"reasoning": {"enabled": thinking.effort is not None}, **thinking.effort_fields}


def _string_thinking(thinking: Thinking) -> Fields:
    if thinking.effort:
        return {"thinking": thinking.word}
    return {} if thinking.off_refused else {"thinking": thinking.words.get("off", "none")}


#: By their names in `compat`; any other one is OpenAI's.
FORMATS: Final[Mapping[str, Callable[[Thinking], Fields]]] = {
    "openai": _openai,
    "zai": _zai,
    "qwen": _qwen,
    "qwen-chat-template": _qwen_chat_template,
    "chat-template": _chat_template,
    "baseten": _baseten,
    "deepseek": _deepseek,
    "openrouter": _openrouter,
    "ant-ling": _ant_ling,
    "together": _together,
    "string-thinking": _string_thinking,
}


# --- values for a template --------------------------------------------------------------------------------


def _template_values(thinking: Thinking, values: Mapping[str, JSON]) -> Fields:
    """What the template of a model is given: the values as they are, or what their variables stand for."""
    known = {name: _template_value(thinking, value) for name, value in values.items()}
    return {name: value for name, value in known.items() if not isinstance(value, Absent)}


def _template_value(thinking: Thinking, value: JSON) -> JSON | Absent:
    if not isinstance(value, (dict, list)):
        return value
    told = value if isinstance(value, dict) else {}
    variable = told.get("$var")
    if not thinking.effort and told.get("omitWhenOff"):
        return ABSENT
    if variable == "thinking.enabled":
        return thinking.effort is not None
    if variable == "thinking.budget":
        return ABSENT if thinking.budget is None else thinking.budget
    word = thinking.words.get(
        thinking.effort or "off", ABSENT if thinking.effort is None else thinking.effort
    )
    return word if isinstance(word, str) else ABSENT
