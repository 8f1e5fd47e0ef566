"""The body of a request to the Responses API, and what the context and the model decide of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from ...jsonvalue import JSON
from ...messages import Message, Model, ToolDeclaration
from ..constrained_sampling import grammar_parameters
from ..dialect import Dialect
from ..late_tools import split_tools
from ..limits import sampling_params
from ..request_options import ProviderOptions
from ..stream import ModelContext
from ..thinking import thinking_level_map
from ..transcript import collapse_system_messages, place_tools
from .caching import cache_fields
from .input_items import InputRules, input_items
from .tools import ToolRules, compat, tool_items, tool_rules

#: The API refuses less.
LEAST_OUTPUT_TOKENS: Final = 16
#: The effort that a request names while the one that counts is in the input.
STANDING_EFFORT: Final = "medium"
_OPENAI: Final = "https://api.openai.com/v1"
_INCLUDE: Final = ["reasoning.encrypted_content"]


@attrs.frozen(kw_only=True)
class Prepared:
    """A context as a model of this API takes it.

    Attributes:
        messages: the transcript, its system messages replayed into one if the model takes no later ones.
        rules: what goes into the input.
        tools: what stands beside it.
    """

    messages: Sequence[Message]
    rules: InputRules
    tools: tuple[ToolDeclaration, ...]


def prepared(
    model: Model, context: ModelContext, dialect: Dialect, tools: ToolRules, *, prompt: bool = True
) -> Prepared:
    """Make a context fit for a model. `prompt`: its prompt is to be in the input.

    Raises:
        ResponseFailedError: a tool wishes for a grammar, and has none that fits.
    """
    if not dialect.system_messages:
        beside, late = split_tools(context, tools.support != "none")
        declared: Sequence[ToolDeclaration] = context.tools or ()
        messages: Sequence[Message] = context.messages
        rules = InputRules(
            tools=tools,
            grammar_parameters=grammar_parameters(declared, tools.grammars),
            prompt=prompt,
            prompt_beside=context.system_prompt,
            late_tools=late,
        )
        return Prepared(messages=messages, rules=rules, tools=beside)
    messages = context.messages
    if not compat(model, "supportsMidConvoSystemMessages", False):
        messages = collapse_system_messages(messages)
    declared = [tool for message in messages for tool in getattr(message, "tools_added", None) or ()]
    rules = InputRules(
        tools=tools, grammar_parameters=grammar_parameters(declared, tools.grammars), prompt=prompt
    )
    placed = place_tools(messages, tools.support, dialect)
    return Prepared(messages=messages, rules=rules, tools=placed.request_tools)


def is_chatgpt_sign_in(model: Model, api_key: str | None, dialect: Dialect) -> bool:
    """Whether the key is none of the API's: then it is a token of a sign-in with ChatGPT."""
    direct = (model.provider, model.base_url) == ("openai", _OPENAI)
    return (
        dialect.responses_chatgpt_sign_in and direct and api_key is not None and not api_key.startswith("sk-")
    )


def told_effort(model: Model, options: ProviderOptions) -> str | None:
    """The effort that the input tells, where the model takes it there; None where the request names it."""
    effort = options.provider.get("reasoning_effort")
    if (
        not options.dialect.responses_mid_effort
        or not compat(model, "supportsMidConvoEffort", False)
        or not effort
        or is_chatgpt_sign_in(model, options.api_key, options.dialect)
    ):
        return None
    return _effort(model, effort)


def prepare(model: Model, context: ModelContext, options: ProviderOptions) -> Prepared:
    """Make a context fit for a model of the Responses API itself."""
    ready = prepared(model, context, options.dialect, tool_rules(model, options.dialect))
    return attrs.evolve(ready, rules=attrs.evolve(ready.rules, effort=told_effort(model, options)))


def request_body(model: Model, context: ModelContext, options: ProviderOptions) -> dict[str, Any]:
    """The body of a request.

    Args:
        model: what is asked.
        context: the transcript.
        options: besides the common ones, `provider` may say `reasoning_effort` and `reasoning_summary`.

    Raises:
        ResponseFailedError: something in the context cannot be sent.
    """
    return body_of(model, prepare(model, context, options), options)


def body_of(model: Model, ready: Prepared, options: ProviderOptions) -> dict[str, Any]:
    """The body of a request whose context is prepared."""
    dialect = options.dialect
    bare = is_chatgpt_sign_in(model, options.api_key, dialect)
    body: dict[str, Any] = {
        "model": model.id,
        "input": input_items(ready.messages, model, dialect, ready.rules),
        "stream": True,
        **cache_fields(model, options, bare=bare),
        "store": False,
    }
    if options.max_tokens and compat(model, "supportsMaxOutputTokens", True) and not bare:
        body["max_output_tokens"] = max(options.max_tokens, LEAST_OUTPUT_TOKENS)
    if options.temperature is not None and not bare:
        body["temperature"] = options.temperature
    if options.service_tier is not None:
        body["service_tier"] = options.service_tier
    if ready.tools:
        body["tools"] = tool_items(ready.tools, ready.rules.tools, dialect)
    if options.tool_choice is not None:
        body["tool_choice"] = options.tool_choice
    body |= _reasoning(model, options, standing=ready.rules.effort is not None)
    body.update(_sampling(model, options) or {})
    return body


def _reasoning(model: Model, options: ProviderOptions, *, standing: bool) -> dict[str, JSON]:
    """How hard the model is to think, and whether its reasoning comes encrypted, to be sent back."""
    if not model.reasoning:
        return {}
    fields: dict[str, JSON] = {}
    effort, summary = (options.provider.get(name) for name in ("reasoning_effort", "reasoning_summary"))
    off = thinking_level_map(model).get("off", "none")
    if effort or summary:
        asked = _effort(model, effort) if effort else "medium"
        fields["reasoning"] = {"effort": STANDING_EFFORT if standing else asked, "summary": summary or "auto"}
        fields["include"] = list(_INCLUDE)
    elif model.provider != "github-copilot" and off is not None:
        fields["reasoning"] = {"effort": off}
    if model.provider == "xai":
        fields["include"] = list(_INCLUDE)
    return fields


def _effort(model: Model, level: str) -> str:
    """The model's own word for a level."""
    word = thinking_level_map(model).get(level)
    return level if word is None else str(word)


def _sampling(model: Model, options: ProviderOptions) -> Mapping[str, JSON] | None:
    """The parameters that win over the fields: up to 0.85.0 only those of the request."""
    if options.dialect.sampling_params != "level":
        return options.sampling_params
    effort = options.provider.get("reasoning_effort")
    level = effort or ("medium" if options.provider.get("reasoning_summary") else None)
    return sampling_params(model, level, options.sampling_params, options.dialect)
