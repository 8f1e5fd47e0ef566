"""The collection of models: providers by id, their models, and requests to them with the right key.

    models = builtin_models()
    model = models.require_model("anthropic/claude-opus-5")
    agent = Agent(stream_fn=models.stream_simple, model=model)

A request never raises for a reason of the provider's: whatever fails on the way to it, or there, is an `error` event of
the stream. What the program itself has forgotten is said in the log, too.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, TypeAlias, TypeVar

import attrs

from ..abort import AbortSignal
from ..jsonvalue import JSON
from ..messages import AssistantMessage, DeferredHandle, Model
from .auth import AuthContext, AuthResolution, ProcessEnvironment, RequestAuth, Resolver
from .collected import CollectedStream
from .credentials import Credential, CredentialStore, InMemoryCredentialStore, OAuthCredential
from .dialect import DIALECT_1_6_0, Dialect, dialect_of
from .exchange import call_hook
from .headers import merge_headers, model_headers, session_headers
from .hints import hint_at_no_key, hint_at_no_provider
from .models_error import ModelsError, OperationAbortedError
from .naming import name_of, no_such_model
from .provider import ModelProvider
from .request_options import Headers, ProviderOptions, provider_options
from .stream import ModelContext, Opened, StreamOptions
from .transcript import normalise_context
from .transport_errors import RequestAbortedError

logger: Final = logging.getLogger("pi_trio")

AnyOptions: TypeAlias = StreamOptions | ProviderOptions | None
T = TypeVar("T")

#: The fields of an identity; others are not passed on.
_IDENTITY: Final = ("userAgent", "attribution", "version")


@attrs.frozen(kw_only=True)
class AuthCheck:
    """That a provider is configured: how, and where that was found."""

    type: Literal["api_key", "oauth"]
    source: str | None = None


class Models:
    """Providers and their models.

    Args:
        credentials: where credentials are stored; by default nowhere beyond the process.
        auth_context: the environment in which keys are looked for.
        identity: how requests say who makes them; that of a request wins field by field (1.6.0).
        dialect: the release that requests behave as, or its name: `1.0.3`.

    Raises:
        UnknownDialectError: there is no such release.
    """

    def __init__(
        self,
        *,
        credentials: CredentialStore | None = None,
        auth_context: AuthContext | None = None,
        identity: Mapping[str, JSON] | None = None,
        dialect: Dialect | str = DIALECT_1_6_0,
    ) -> None:
        self._providers: dict[str, ModelProvider] = {}
        self._credentials = InMemoryCredentialStore() if credentials is None else credentials
        self._context = ProcessEnvironment() if auth_context is None else auth_context
        self._identity = identity
        self._dialect: Final = dialect_of(dialect)

    # --- what there is ------------------------------------------------------------------------------------

    def set_provider(self, provider: ModelProvider) -> None:
        """Add a provider, in place of one with the same id."""
        self._providers[provider.id] = provider

    def delete_provider(self, provider_id: str) -> None:
        """Remove a provider, if it is there."""
        self._providers.pop(provider_id, None)

    def clear_providers(self) -> None:
        """Remove all providers."""
        self._providers.clear()

    def get_providers(self) -> tuple[ModelProvider, ...]:
        """All providers, in the order in which they came."""
        return tuple(self._providers.values())

    def get_provider(self, provider_id: str) -> ModelProvider | None:
        """The provider with this id, or None."""
        return self._providers.get(provider_id)

    def get_models(self, provider_id: str | None = None) -> tuple[Model, ...]:
        """The chat models of a provider, or of all. A provider that is unknown, or cannot tell, has none."""
        if provider_id is None:
            providers = self.get_providers()
        else:
            provider = self._providers.get(provider_id)
            providers = () if provider is None else (provider,)
        return tuple(model for provider in providers for model in self._told_models(provider))

    def get_model(self, provider_id: str, model_id: str) -> Model | None:
        """The chat model with these ids, or None."""
        return next((model for model in self.get_models(provider_id) if model.id == model_id), None)

    def require_model(self, provider_id: str, model_id: str | None = None) -> Model:
        """The chat model with these ids; or with this name, `provider/id`.

        Raises:
            ModelsError: there is none. The message has the names that come near.
        """
        name = provider_id if model_id is None else f"{provider_id}/{model_id}"
        found = self.get_model(*name.split("/", maxsplit=1)) if "/" in name else None
        if found is None:
            raise ModelsError("provider", no_such_model(name, map(name_of, self.get_models())))
        return found

    # --- keys ---------------------------------------------------------------------------------------------

    async def check_auth(self, provider_id: str, *, signal: AbortSignal | None = None) -> AuthCheck | None:
        """Whether a provider is configured, without renewing a token; None if it is not, or is unknown.

        Raises:
            ModelsError: the store or the provider's way of authenticating has failed.
            OperationAbortedError: the signal was raised.
        """
        provider = self._providers.get(provider_id)

        async def check() -> AuthCheck | None:
            return None if provider is None else (await self._checked(provider))[0]

        return await _under(signal, check)

    async def get_available(
        self, provider_id: str | None = None, *, signal: AbortSignal | None = None
    ) -> tuple[Model, ...]:
        """The chat models of the providers that are configured; of one, if it is named.

        Raises:
            ModelsError, OperationAbortedError: as `check_auth`.
        """
        providers = self.get_providers()
        if provider_id is not None:
            providers = tuple(provider for provider in providers if provider.id == provider_id)

        async def available() -> tuple[Model, ...]:
            found: list[Model] = []
            for provider in providers:
                check, credential = await self._checked(provider)
                if check is not None:
                    models = self._chat_models(provider)
                    choose = getattr(provider, "filter_models", None)
                    found += models if choose is None else choose(models, credential)
            return tuple(found)

        return await _under(signal, available)

    async def get_auth(
        self,
        of: str | Model,
        *,
        api_key: str | None = None,
        env: Mapping[str, str] | None = None,
        min_oauth_validity_ms: float | None = None,
        signal: AbortSignal | None = None,
    ) -> AuthResolution | None:
        """The auth of a request to a provider, or to a model, whose headers it then has; None if there is none.

        Args:
            of: a provider's id, or a model.
            api_key: the caller's key.
            env: variables that win over the environment.
            min_oauth_validity_ms: how long a token has to be good for.
            signal: ends it.

        Raises:
            ModelsError: the store, the provider's way of authenticating, or the renewal of a token has failed.
            OperationAbortedError: the signal was raised.
        """
        provider = self._providers.get(of if isinstance(of, str) else of.provider)
        if provider is None:
            return None
        resolver = self._resolver(provider)
        found = await _under(
            signal,
            lambda: resolver.resolve(api_key=api_key, env=env, min_oauth_validity_ms=min_oauth_validity_ms),
        )
        if found is None or isinstance(of, str):
            return found
        headers = merge_headers(found.auth.headers, model_headers(of))
        return attrs.evolve(found, auth=attrs.evolve(found.auth, headers=headers))

    # --- requests -----------------------------------------------------------------------------------------

    def stream(self, model: Model, context: ModelContext, options: AnyOptions = None) -> CollectedStream:
        """A response, with options of the model's provider. Enter what this gives, and read it."""
        return self._request(model, context, options, lambda provider: provider.stream)

    def stream_simple(
        self, model: Model, context: ModelContext, options: AnyOptions = None
    ) -> CollectedStream:
        """A response, with the options that all providers share. A stream function for an `Agent`."""
        return self._request(model, context, options, lambda provider: provider.stream_simple)

    async def complete(
        self, model: Model, context: ModelContext, options: AnyOptions = None
    ) -> AssistantMessage:
        """The message of `stream`. Cancelling it leaves the provider."""
        return await _whole(self.stream(model, context, options))

    async def complete_simple(
        self, model: Model, context: ModelContext, options: AnyOptions = None
    ) -> AssistantMessage:
        """The message of `stream_simple`."""
        return await _whole(self.stream_simple(model, context, options))

    def stream_deferred(
        self, model: Model, handle: DeferredHandle, options: AnyOptions = None
    ) -> CollectedStream:
        """What has become of a response that the provider makes in its own time."""
        given = self._given(options)

        async def open_() -> Opened:
            provider = self._chat_provider(model)
            fetch = getattr(provider, "fetch_deferred", None)
            if fetch is None:
                raise _no_deferred(model)
            asked, found = await self._authenticated(provider, model, given)
            return await _opened(fetch(asked, handle, found))

        return CollectedStream(open_, model=model, signal=given.signal, dialect=self._dialect)

    async def fetch_deferred(
        self, model: Model, handle: DeferredHandle, options: AnyOptions = None
    ) -> AssistantMessage:
        """The message of `stream_deferred`; its stop reason is "deferred" while there is no other."""
        return await _whole(self.stream_deferred(model, handle, options))

    async def cancel_deferred(self, model: Model, handle: DeferredHandle, options: AnyOptions = None) -> None:
        """Tell the provider that nobody will fetch a response.

        Raises:
            ModelsError: there is no such provider, or it cannot do this, or it is not configured.
            OperationAbortedError: the signal was raised.
        """
        given = self._given(options)
        provider = self._chat_provider(model)
        cancel = getattr(provider, "cancel_deferred", None)
        if cancel is None:
            raise _no_deferred(model)
        asked, found = await self._authenticated(provider, model, given)
        await cancel(asked, handle, found)

    # --- on the way to a provider -------------------------------------------------------------------------

    def _request(
        self,
        model: Model,
        context: ModelContext,
        options: AnyOptions,
        method: Callable[[ModelProvider], Callable[[Model, ModelContext, ProviderOptions], Any]],
    ) -> CollectedStream:
        given = self._given(options)
        if self._dialect.system_messages:
            context = normalise_context(context)

        async def open_() -> Opened:
            provider = self._chat_provider(model)
            asked, found = await self._authenticated(provider, model, given)
            return await _opened(method(provider)(asked, context, found))

        return CollectedStream(open_, model=model, signal=given.signal, dialect=self._dialect)

    def _given(self, options: AnyOptions) -> ProviderOptions:
        return attrs.evolve(provider_options(options), dialect=self._dialect)

    def _chat_provider(self, model: Model) -> ModelProvider:
        if not self._streams(model):
            raise ModelsError("provider", f"Model {model.provider}/{model.id} is not a chat model")
        provider = self._providers.get(model.provider)
        if provider is None:
            hint_at_no_provider(model)
            raise ModelsError("provider", f"Unknown provider: {model.provider}")
        return provider

    async def _authenticated(
        self, provider: ModelProvider, model: Model, options: ProviderOptions
    ) -> tuple[Model, ProviderOptions]:
        """The model and the options as the provider is given them."""
        found = await self.get_auth(model, api_key=options.api_key, env=options.env, signal=options.signal)
        if found is None:
            if self._dialect.missing_auth == "refused":
                hint_at_no_key(provider)
                raise ModelsError("auth", f"Provider is not configured: {provider.id}")
            found = AuthResolution(auth=RequestAuth())
        auth = found.auth
        if auth.base_url:
            model = attrs.evolve(model, base_url=auth.base_url)
        return model, attrs.evolve(
            options,
            api_key=auth.api_key if options.api_key is None else options.api_key,
            headers=await self._headers(model, auth, options),
            env=None
            if found.env is None and options.env is None
            else {**(found.env or {}), **(options.env or {})},
            identity=self._merged_identity(options.identity),
            transform_headers=None,
        )

    async def _headers(self, model: Model, auth: RequestAuth, options: ProviderOptions) -> Headers | None:
        headers = auth.headers
        if self._dialect.session_headers:
            headers = merge_headers(session_headers(model, options.session_id), headers)
        headers = merge_headers(headers, options.headers)
        transform = options.transform_headers
        if transform is not None and self._dialect.transform_headers:
            try:
                headers = await call_hook(options.signal, transform, dict(headers or {}))
            except RequestAbortedError:
                raise OperationAbortedError from None
        return headers

    def _merged_identity(self, of_request: Mapping[str, JSON] | None) -> Mapping[str, JSON] | None:
        sources = [source for source in (self._identity, of_request) if source]
        if not sources or not self._dialect.identity:
            return None
        return {name: value for source in sources for name, value in source.items() if name in _IDENTITY}

    async def _checked(self, provider: ModelProvider) -> tuple[AuthCheck | None, Credential | None]:
        resolver = self._resolver(provider)
        stored = await resolver.stored()
        if isinstance(stored, OAuthCredential):
            known = provider.auth.oauth is not None
            return (AuthCheck(type="oauth", source="OAuth") if known else None), stored
        found = None if provider.auth.api_key is None else await resolver.resolve()
        return (None if found is None else AuthCheck(type="api_key", source=found.source)), stored

    def _streams(self, model: Model) -> bool:
        """Whether a model is one that is streamed: a chat model, where models have types."""
        return not self._dialect.model_types or model.extra.get("type", "chat") == "chat"

    def _chat_models(self, provider: ModelProvider) -> list[Model]:
        return [model for model in provider.get_models() if self._streams(model)]

    def _told_models(self, provider: ModelProvider) -> list[Model]:
        try:
            return self._chat_models(provider)
        except Exception:
            logger.exception("%s cannot tell its models", provider.id)
            return []

    def _resolver(self, provider: ModelProvider) -> Resolver:
        return Resolver(
            provider_id=provider.id,
            auth=provider.auth,
            credentials=self._credentials,
            context=self._context,
            dialect=self._dialect,
        )


def _no_deferred(model: Model) -> ModelsError:
    return ModelsError("provider", f"Provider {model.provider} does not support deferred responses")


async def _opened(opened: Opened | Awaitable[Opened]) -> Opened:
    return await opened if inspect.isawaitable(opened) else opened


async def _whole(stream: CollectedStream) -> AssistantMessage:
    async with stream:
        message = await stream.result()
    assert message is not None
    return message


async def _under(signal: AbortSignal | None, operation: Callable[[], Awaitable[T]]) -> T:
    """The outcome of an operation that an abort ends.

    Raises:
        OperationAbortedError: it has ended it.
    """
    if signal is None:
        return await operation()
    if not signal.aborted:
        with signal.scope():
            return await operation()
    raise OperationAbortedError
