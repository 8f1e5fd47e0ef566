"""How a request gets its key: from the caller, from the store, from the environment, in this order.

A stored credential owns its provider: with one, the environment is not asked, even if nothing comes of it. An OAuth
token that is about to expire is renewed first, once, whoever asks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import attrs
import trio

from ..timestamps import now
from .credentials import ApiKeyCredential, Credential, CredentialStore, OAuthCredential
from .dialect import Dialect
from .models_error import ErrorCode, ModelsError, with_cause
from .request_options import Headers

#: What is sent to a server that asks for no key.
NO_KEY: Final = "none"
#: How long a refresh may take, in seconds.
REFRESH_TIMEOUT: Final = 15


class AuthContext(Protocol):
    """What an authentication may look at besides credentials."""

    async def env(self, name: str) -> str | None:
        """An environment variable; None if it is not set, or blank."""
        ...

    async def file_exists(self, path: str) -> bool:
        """Whether there is a file; `~` is the user's home."""
        ...


class ProcessEnvironment:
    """The environment of the process, and the files of the machine."""

    async def env(self, name: str) -> str | None:
        value = os.environ.get(name, "")
        return value if value.strip() else None

    async def file_exists(self, path: str) -> bool:
        return await (await trio.Path(path).expanduser()).exists()


@attrs.frozen
class _Overlaid:
    """A context with variables of the request, which win."""

    base: AuthContext
    variables: Mapping[str, str]

    async def env(self, name: str) -> str | None:
        return self.variables.get(name) or await self.base.env(name)

    async def file_exists(self, path: str) -> bool:
        return await self.base.file_exists(path)


@attrs.frozen(kw_only=True)
class RequestAuth:
    """What authenticates a request: a key, headers, and the address if it depends on the account."""

    api_key: str | None = attrs.field(default=None, repr=False)
    headers: Headers | None = attrs.field(default=None, repr=False)
    base_url: str | None = None


@attrs.frozen(kw_only=True)
class AuthResolution:
    """What was found, and where: `source` names a variable, "stored credential" or "OAuth"."""

    auth: RequestAuth
    env: Mapping[str, str] | None = attrs.field(default=None, repr=False)
    source: str | None = None


class ApiKeyAuth(Protocol):
    """How a provider is given a key."""

    async def resolve(
        self, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        """The auth of a request, from the credential or without one; None if there is none to be had."""
        ...


class OAuthAuth(Protocol):
    """How a provider takes the tokens of a login."""

    async def refresh(self, credential: OAuthCredential) -> OAuthCredential:
        """New tokens for those that expire."""
        ...

    async def to_auth(self, credential: OAuthCredential) -> RequestAuth:
        """The auth of a request."""
        ...


@attrs.frozen(kw_only=True)
class ProviderAuth:
    """The ways in which a provider can be authenticated to."""

    api_key: ApiKeyAuth | None = None
    oauth: OAuthAuth | None = None

    @property
    def variables(self) -> Sequence[str]:
        """The environment variables in which a key may be, as far as that is known."""
        return getattr(self.api_key, "variables", ())


@attrs.frozen
class EnvironmentApiKey:
    """A key as most providers take it: the credential's, else the first of `variables` that is set."""

    variables: Sequence[str] = ()

    async def resolve(
        self, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        if credential is not None and credential.key:
            return stored_key(credential)
        for variable in self.variables:
            value = await context.env(variable)
            if value:
                return AuthResolution(auth=RequestAuth(api_key=value), source=variable)
        return None


@attrs.frozen
class NoKeyNeeded:
    """The auth of a server that asks for none; a key that is given, or in one of `variables`, is sent.

    Without one a word goes in its place: the APIs have a field for it, and their adapters do not ask without.
    """

    variables: Sequence[str] = ()

    async def resolve(
        self, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        found = await EnvironmentApiKey(self.variables).resolve(context, credential)
        return found or AuthResolution(auth=RequestAuth(api_key=NO_KEY), source="no key needed")


class BearerTokens:
    """The tokens of a login that something else renews: each is the key of its requests."""

    async def refresh(self, credential: OAuthCredential) -> OAuthCredential:
        """Nobody here can.

        Raises:
            ModelsError: always.
        """
        del credential
        raise ModelsError(
            "oauth", "the stored token has expired, and nothing here renews it: store a new one"
        )

    async def to_auth(self, credential: OAuthCredential) -> RequestAuth:
        return RequestAuth(api_key=credential.access)


def stored_key(credential: ApiKeyCredential) -> AuthResolution:
    """The auth of a key that was given or stored."""
    return AuthResolution(
        auth=RequestAuth(api_key=credential.key), env=credential.env, source="stored credential"
    )


@attrs.frozen(kw_only=True)
class Resolver:
    """Finds the auth of one provider.

    Args:
        provider_id: whose.
        auth: the ways there are.
        credentials: where credentials are stored.
        context: the environment.
        dialect: when a token counts as expiring, and what an error says.
    """

    provider_id: str
    auth: ProviderAuth
    credentials: CredentialStore
    context: AuthContext
    dialect: Dialect

    async def resolve(
        self,
        *,
        api_key: str | None = None,
        env: Mapping[str, str] | None = None,
        min_oauth_validity_ms: float | None = None,
    ) -> AuthResolution | None:
        """The auth of a request; None if nothing was found.

        Args:
            api_key: the caller's key, which wins where the provider takes keys.
            env: variables of the request, which win over those of the environment.
            min_oauth_validity_ms: how long a token has to be good for, at least.

        Raises:
            ModelsError: the store, the provider's way of authenticating, or a refresh has failed.

        A cancellation ends it, but for a refresh that has begun: the old token may be void already, so the new one is
        stored first, or the refresh has taken too long.
        """
        context = _Overlaid(self.context, env) if env else self.context
        keys = self.auth.api_key
        if api_key is not None and keys is not None:
            return await self._by_key(keys, context, ApiKeyCredential(key=api_key, env=env))
        stored = await self.stored()
        if stored is None:
            return None if keys is None else await self._by_key(keys, context, None)
        if isinstance(stored, OAuthCredential):
            oauth = self.auth.oauth
            return None if oauth is None else await self._by_oauth(oauth, stored, min_oauth_validity_ms)
        if keys is None:
            return None
        if env:
            stored = attrs.evolve(stored, env={**(stored.env or {}), **env})
        return await self._by_key(keys, context, stored)

    async def stored(self) -> Credential | None:
        """The stored credential.

        Raises:
            ModelsError: it cannot be read.
        """
        try:
            return await self.credentials.read(self.provider_id)
        except Exception as error:
            raise self._error(
                "auth", f"Credential store read failed for {self.provider_id}", error
            ) from error

    async def _by_key(
        self, keys: ApiKeyAuth, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        try:
            return await keys.resolve(context, credential)
        except Exception as error:
            raise self._error(
                "auth", f"API key auth failed for provider {self.provider_id}", error
            ) from error

    async def _by_oauth(
        self, oauth: OAuthAuth, credential: OAuthCredential, min_validity_ms: float | None
    ) -> AuthResolution | None:
        ahead = max(self.dialect.oauth_refresh_ahead_ms, min_validity_ms or 0)
        if _expires(credential, ahead):
            renewed = await self._renewed(oauth, ahead)
            if renewed is None:
                return None
            credential = renewed
            if min_validity_ms is not None and _expires(credential, ahead):
                raise ModelsError(
                    "oauth",
                    f"OAuth refresh returned a token that expires too soon for {self.provider_id}",
                )
        try:
            return AuthResolution(auth=await oauth.to_auth(credential), source="OAuth")
        except Exception as error:
            raise self._error(
                "oauth", f"OAuth auth derivation failed for {self.provider_id}", error
            ) from error

    async def _renewed(self, oauth: OAuthAuth, ahead: float) -> OAuthCredential | None:
        """The stored credential, renewed if it still expires when it is our turn; None after a logout."""

        async def change(present: Credential | None) -> Credential | None:
            if not isinstance(present, OAuthCredential) or not _expires(present, ahead):
                return None
            # From here on the old token may be void, so a cancellation waits until the new one is stored (T-06).
            turn.shield = True
            try:
                with trio.fail_after(REFRESH_TIMEOUT):
                    return await oauth.refresh(present)
            except Exception as error:
                text = f"OAuth refresh failed for {self.provider_id}"
                raise self._error("oauth", text, error) from error

        # Around the store's own work, too. Nothing cancels this scope; it shields, once its time has come.
        turn = trio.CancelScope()
        try:
            with turn:
                present = await self.credentials.modify(self.provider_id, change)
                return present if isinstance(present, OAuthCredential) else None
        except ModelsError:
            raise
        except Exception as error:
            text = f"Credential store modify failed for {self.provider_id}"
            raise self._error("auth", text, error) from error
        return None

    def _error(self, code: ErrorCode, message: str, cause: Exception) -> ModelsError:
        return ModelsError(code, with_cause(message, cause) if self.dialect.cause_in_text else message)


def _expires(credential: OAuthCredential, ahead_ms: float) -> bool:
    return now() + ahead_ms >= credential.expires
