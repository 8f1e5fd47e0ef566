"""What a client asks of a proxy: `{model, context, options}`, written and read.

The model is written whole, as Pi writes it, and read only for its name: which address is asked, and with what key, is
for the server to know. Otherwise a client could have a key sent to an address of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from ...codec import structure, unstructure
from ...errors import CodecError
from ...jsontext import parse_json
from ...jsonvalue import JSON, freeze, kind_of
from ...messages import Message, Model, ToolDeclaration
from ...wire import wire_name
from ..dialect import DIALECT_1_6_0
from ..request_options import ProviderOptions
from ..stream import ModelContext

PATH: Final = "/api/stream"

_KEPT_BACK: Final = frozenset(
    ("authorization", "proxy-authorization", "x-api-key", "api-key", "cookie", "host", "connection",
     "content-length", "transfer-encoding", "upgrade", "te", "trailer", "expect")
)  # fmt: skip
"""Headers that a client does not set: those that say who asks the provider, and those of the connection to it."""

_MODELS: Final = frozenset({"model", "models"})
"""Fields of a provider's body by which a client would get another model than it asks for."""

_LEVELS: Final = DIALECT_1_6_0.thinking_levels


@attrs.frozen(kw_only=True)
class ProxyRequest:
    """A request, as a server reads it. `provider` and `model_id` name the model."""

    provider: str
    model_id: str
    context: ModelContext
    options: ProviderOptions


def request_body(model: Model, context: ModelContext, options: ProviderOptions) -> dict[str, JSON]:
    """The body that asks a proxy for a response. What was not said is left out."""
    said: dict[str, JSON] = {"messages": unstructure(context.messages)}
    if context.system_prompt is not None:
        said = {"systemPrompt": context.system_prompt, **said}
    if context.tools is not None:
        said["tools"] = unstructure(context.tools)
    values = {name: getattr(options, name) for name in _OPTIONS}
    given = {wire_name(name): value for name, value in values.items() if value is not None}
    return {"model": unstructure(model), "context": said, "options": given}


def read_request(body: bytes) -> ProxyRequest:
    """The request that a body makes.

    Raises:
        CodecError: it makes none.
    """
    said = _object(parse_json(body), "")
    model = _object(said.get("model"), "model")
    context = _object(said.get("context"), "context")
    system_prompt = context.get("systemPrompt")
    tools = context.get("tools")
    return ProxyRequest(
        provider=structure(model.get("provider"), str, "model.provider"),
        model_id=structure(model.get("id"), str, "model.id"),
        context=ModelContext(
            messages=structure(context.get("messages"), tuple[Message, ...], "context.messages"),
            system_prompt=None if system_prompt is None else _string(system_prompt, "context.systemPrompt"),
            tools=None if tools is None else structure(tools, tuple[ToolDeclaration, ...], "context.tools"),
        ),
        options=_options(_object(said.get("options", {}), "options")),
    )


def _options(said: Mapping[str, JSON]) -> ProviderOptions:
    given: dict[str, Any] = {}
    for name, read in _OPTIONS.items():
        value = said.get(wire_name(name))
        if value is not None:
            given[name] = read(value, f"options.{wire_name(name)}")
    return ProviderOptions(**given)


# --- what each option may be ------------------------------------------------------------------------------


def _object(value: JSON, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CodecError(path, f"expected an object, found {kind_of(value)}")
    return value


def _string(value: JSON, path: str) -> str:
    if not isinstance(value, str):
        raise CodecError(path, f"expected a string, found {kind_of(value)}")
    return value


def _boolean(value: JSON, path: str) -> bool:
    if not isinstance(value, bool):
        raise CodecError(path, f"expected a boolean, found {kind_of(value)}")
    return value


def _number(value: JSON, path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CodecError(path, f"expected a number, found {kind_of(value)}")
    return value


def _whole_number(value: JSON, path: str) -> int:
    number = _number(value, path)
    if number != int(number):
        raise CodecError(path, f"expected a whole number, found {number}")
    return int(number)


def _level(value: JSON, path: str) -> str:
    level = _string(value, path)
    if level not in _LEVELS:
        raise CodecError(path, f"expected one of {', '.join(_LEVELS)}, found {level!r:.40}")
    return level


def _headers(value: JSON, path: str) -> dict[str, str | None]:
    headers = _object(value, path)
    for name, text in headers.items():
        if text is not None:
            _string(text, f"{path}.{name}")
    return {name: text for name, text in headers.items() if name.lower() not in _KEPT_BACK}


def _budgets(value: JSON, path: str) -> dict[str, int]:
    return {level: _whole_number(tokens, f"{path}.{level}") for level, tokens in _object(value, path).items()}


def _sampling(value: JSON, path: str) -> JSON:
    params = _object(value, path)
    for name in _MODELS & params.keys():  # they become fields of the body, and win
        raise CodecError(f"{path}.{name}", "expected nothing: the model is not named here")
    return freeze(params)


def _free(value: JSON, path: str) -> JSON:
    return freeze(_object(value, path))


_OPTIONS: Final[dict[str, Callable[[JSON, str], Any]]] = {
    "temperature": _number,
    "sampling_params": _sampling,
    "max_tokens": _whole_number,
    "reasoning": _level,
    "cache_retention": _string,
    "session_id": _string,
    "disable_continuation": _boolean,
    "headers": _headers,
    "metadata": _free,
    "transport": _string,
    "thinking_budgets": _budgets,
    "max_retry_delay_ms": _number,
}
"""The options that go through a proxy, in the order in which Pi writes them; the others stay where they are given."""
