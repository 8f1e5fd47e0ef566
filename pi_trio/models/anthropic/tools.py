"""Tools as the Messages API takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

import attrs

from ...jsonvalue import JSON
from ...messages import ToolDeclaration
from ..constrained_sampling import strict_wish, tool_parameters
from ..dialect import Dialect
from .compat import Compat
from .naming import sent_name

#: A tool that is never there. It stands among the tools from the first request on where tools may change later: what
#: Anthropic adds to a prompt for such changes is then a part of what is cached.
PLACEHOLDER: Final[Mapping[str, JSON]] = {
    "name": "__pi_deferred_placeholder__",
    "description": "Reserved placeholder. Never available. Never call this.",
    "input_schema": {"type": "object", "properties": {}, "required": []},
    "defer_loading": True,
}

#: What Anthropic does not enforce in a strict schema, so that it refuses the request.
_NOT_ENFORCED: Final = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "maxItems",
        "uniqueItems",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
    }
)
_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)


@attrs.frozen(kw_only=True)
class ToolRules:
    """How tools are declared to a model.

    Attributes:
        compat, dialect: what can be said.
        oauth: under the names of Claude Code.
        relaxed: tools that would only like to be strict are not (1.6.0, where there are too many).
    """

    compat: Compat
    dialect: Dialect
    oauth: bool
    relaxed: bool = False

    def declared(
        self,
        tools: Sequence[ToolDeclaration],
        cache_control: Mapping[str, JSON] | None = None,
        *,
        deferred: bool = False,
    ) -> list[JSON]:
        """The declarations.

        Args:
            tools: in their order.
            cache_control: of the last one.
            deferred: they are not there yet.

        Raises:
            ResponseFailedError: a tool requires a strictness that cannot be had.
        """
        declared = [self._declared(tool, deferred) for tool in tools]
        if declared and cache_control is not None:
            declared[-1]["cache_control"] = dict(cache_control)
        return cast("list[JSON]", declared)

    def strict(self, tool: ToolDeclaration) -> bool:
        """Whether the tool is declared as a strict one.

        Raises:
            ResponseFailedError: as `declared`.
        """
        if self.relaxed and prefers_strict(tool):
            return False
        refuses: Callable[[str, JSON], bool] | None = (
            _is_not_enforced if self.dialect.anthropic_strict_keywords else None
        )
        return bool(strict_wish(tool, self.compat.strict_tools, self.dialect, refuses))

    def _declared(self, tool: ToolDeclaration, deferred: bool) -> dict[str, JSON]:
        strict = self.strict(tool)
        schema = tool_parameters(tool, strict, self.dialect)
        known = schema if isinstance(schema, Mapping) else {}
        told = {
            "type": "object",
            "properties": _or(known.get("properties"), {}),
            "required": _or(known.get("required"), []),
            **{name: known[name] for name in self.dialect.anthropic_schema_keys if name in known},
        }
        return {
            "name": sent_name(tool.name, self.oauth),
            "description": tool.description,
            **({"eager_input_streaming": True} if self.compat.eager_input else {}),
            **({"strict": True} if strict else {}),
            "input_schema": {**known, **told} if strict else told,
            **({"defer_loading": True} if deferred else {}),
        }


def prefers_strict(tool: ToolDeclaration) -> bool:
    """Whether the tool would like to be strict, and need not be."""
    wish = tool.constrained_sampling
    return isinstance(wish, Mapping) and wish.get("type") == "json_schema" and wish.get("strict") == "prefer"


def _or(value: JSON, default: JSON) -> JSON:
    return default if value is None else value


def _is_not_enforced(keyword: str, value: JSON) -> bool:
    if keyword == "minItems":
        return isinstance(value, bool) or value not in (0, 1)
    if keyword == "format":
        return not isinstance(value, str) or value not in _FORMATS
    return keyword in _NOT_ENFORCED
