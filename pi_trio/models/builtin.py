"""The providers that come with the package, and a collection of them.

Their adapters are imported when they are first asked, since they need what the extra `models` brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Final, cast

import attrs

from ..jsonvalue import JSON
from .auth import (
    ApiKeyAuth,
    AuthContext,
    AuthResolution,
    BearerTokens,
    EnvironmentApiKey,
    NoKeyNeeded,
    ProviderAuth,
    RequestAuth,
    stored_key,
)
from .catalog import builtin_catalog
from .collection import Models
from .credentials import ApiKeyCredential, CredentialStore
from .dialect import DIALECT_1_6_0, Dialect
from .environment_keys import ANTHROPIC_AUTH_TOKEN, KEY_VARIABLES
from .models_error import ModelsError
from .provider import Adapter, LazyAdapter, Provider

#: The adapter of each API: its module, and its class there.
ADAPTERS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic-messages": ("anthropic", "AnthropicMessages"),
    "openai-completions": ("openai_chat", "OpenAIChat"),
    "openai-responses": ("openai_responses", "OpenAIResponses"),
    "openai-codex-responses": ("codex", "CodexResponses"),
}
#: What the extra `models` brings.
_EXTRA: Final = ("httpx", "trio_websocket", "zstandard")


class AnthropicKey:
    """A key, or a token that is sent as a bearer's (`ANTHROPIC_AUTH_TOKEN`), which wins in the environment."""

    variables: Final = KEY_VARIABLES["anthropic"]

    async def resolve(
        self, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        if credential is not None and credential.key:
            return stored_key(credential)
        for variable in self.variables:
            value = await context.env(variable)
            if value and variable == ANTHROPIC_AUTH_TOKEN:
                bearer = RequestAuth(headers={"Authorization": f"Bearer {value}"})
                return AuthResolution(auth=bearer, source=variable)
            if value:
                return AuthResolution(auth=RequestAuth(api_key=value), source=variable)
        return None


@attrs.frozen(kw_only=True)
class _Built:
    """A provider that comes with the package."""

    name: str
    base_url: str
    keys: ApiKeyAuth
    tokens: bool = False


def _key_of(provider: str) -> EnvironmentApiKey:
    return EnvironmentApiKey(KEY_VARIABLES[provider])


_PROVIDERS: Final[Mapping[str, _Built]] = {
    "anthropic": _Built(
        name="Anthropic", base_url="https://api.anthropic.com", keys=AnthropicKey(), tokens=True
    ),
    "openai": _Built(
        name="OpenAI", base_url="https://api.openai.com/v1", keys=_key_of("openai"), tokens=True
    ),
    "openai-codex": _Built(
        # No variable is looked for; the caller may give a token, or store one (T-07).
        name="OpenAI Codex",
        base_url="https://chatgpt.com/backend-api",
        keys=EnvironmentApiKey(),
        tokens=True,
    ),
    "groq": _Built(name="Groq", base_url="https://api.groq.com/openai/v1", keys=_key_of("groq")),
    "openrouter": _Built(
        name="OpenRouter", base_url="https://openrouter.ai/api/v1", keys=_key_of("openrouter")
    ),
    "ollama": _Built(
        name="Ollama", base_url="http://localhost:11434/v1", keys=NoKeyNeeded(("OLLAMA_API_KEY",))
    ),
}


def builtin_adapter(api: str) -> Adapter:
    """The adapter of an API, imported when it is first asked.

    Raises:
        KeyError: there is none for this API.
    """
    return LazyAdapter(partial(_load, *ADAPTERS[api]))


def builtin_providers() -> tuple[Provider, ...]:
    """The providers that come with the package, with the models of its catalog."""
    catalog = builtin_catalog()
    adapters = {api: builtin_adapter(api) for api in ADAPTERS}
    return tuple(
        Provider(
            provider_id,
            name=built.name,
            base_url=built.base_url,
            api=adapters,
            auth=ProviderAuth(api_key=built.keys, oauth=BearerTokens() if built.tokens else None),
            models=catalog[provider_id],
        )
        for provider_id, built in _PROVIDERS.items()
    )


def builtin_models(
    *,
    credentials: CredentialStore | None = None,
    auth_context: AuthContext | None = None,
    identity: Mapping[str, JSON] | None = None,
    dialect: Dialect | str = DIALECT_1_6_0,
) -> Models:
    """A collection of the providers that come with the package; the arguments are those of `Models`."""
    models = Models(credentials=credentials, auth_context=auth_context, identity=identity, dialect=dialect)
    for provider in builtin_providers():
        models.set_provider(provider)
    return models


def _load(module: str, name: str) -> Adapter:
    try:
        return cast("Adapter", getattr(import_module(f"{__package__}.{module}"), name)())
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in _EXTRA:
            raise
        text = f"asking real models needs {error.name}: pip install 'pi_trio[models]'"
        raise ModelsError("provider", text) from error
