"""Tools as the Responses API takes them: functions with a schema, or custom tools with a grammar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import attrs

from ...jsonvalue import JSON
from ...messages import Model, ToolDeclaration
from ..constrained_sampling import grammar_of, strict_wish, tool_parameters
from ..dialect import Dialect
from ..transcript import ToolSupport


def compat(model: Model, name: str, default: bool) -> bool:
    """Whether the model's endpoint can do something, as the catalog says."""
    value = compat_value(model, name)
    return default if value is None else bool(value)


def compat_value(model: Model, name: str) -> JSON:
    """What the catalog says of the model's endpoint; None for nothing."""
    given = model.extra.get("compat")
    return given.get(name) if isinstance(given, Mapping) else None


@attrs.frozen(kw_only=True)
class ToolRules:
    """How tools are declared to a model.

    Attributes:
        strict: what a tool says that does not ask for strictness.
        strict_supported: tools say whether they are strict at all.
        grammars: tools may have a grammar.
        support: which changes of the tools are told in the middle of the conversation.
        search: they are told as the result of a search for tools, else as additional ones.
    """

    strict: Literal[False] | None = False
    strict_supported: bool
    grammars: bool
    support: ToolSupport
    search: bool


def tool_rules(
    model: Model, dialect: Dialect, *, strict: Literal[False] | None = False, strict_supported: bool = False
) -> ToolRules:
    """The rules of a model. `strict_supported` is what holds where the catalog says nothing."""
    additional, search = (
        compat(model, "supportsAdditionalTools", False),
        compat(model, "supportsToolSearch", False),
    )
    support: ToolSupport = "additions" if additional or search else "none"
    if dialect.responses_late_tools == "changes":
        if additional and compat(model, "supportsMidConvoSystemMessages", False):
            support = "changes"
        else:
            support = "additions" if search else "none"
            additional = False
    return ToolRules(
        strict=strict,
        strict_supported=compat(model, "supportsStrictMode", strict_supported),
        grammars=compat(model, "supportsOpenAIGrammarTools", False),
        support=support,
        search=not additional,
    )


def tool_items(
    tools: Iterable[ToolDeclaration], rules: ToolRules, dialect: Dialect, *, found: bool = False
) -> list[JSON]:
    """The declarations; `found` are those that a search has brought.

    Raises:
        ResponseFailedError: a tool requires a constraint that cannot be had.
    """
    return [_tool_item(tool, rules, dialect, {"defer_loading": True} if found else {}) for tool in tools]


def _tool_item(tool: ToolDeclaration, rules: ToolRules, dialect: Dialect, more: dict[str, JSON]) -> JSON:
    grammar = grammar_of(tool, rules.grammars)
    if grammar is not None:
        format_ = {"type": "grammar", "syntax": grammar.syntax, "definition": grammar.definition}
        return {
            "type": "custom",
            "name": tool.name,
            "description": tool.description,
            "format": format_,
            **more,
        }
    wish = strict_wish(tool, rules.strict_supported, dialect)
    strict = rules.strict if wish is None else wish
    item: dict[str, JSON] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool_parameters(tool, strict, dialect),
        **more,
    }
    if rules.strict_supported:
        item["strict"] = strict
    return item
