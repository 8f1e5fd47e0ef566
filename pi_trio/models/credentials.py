"""What is stored for a provider: a key, or the tokens of an OAuth login. No repr shows either.

A `CredentialStore` keeps one credential for each provider. The one here forgets with the process; an application
that has logins brings its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import ClassVar, Literal, Protocol, TypeAlias

import attrs
import trio

from ..jsonvalue import JSON


@attrs.frozen(kw_only=True)
class ApiKeyCredential:
    """A key, and the environment variables that go with it (a region, an account)."""

    type: ClassVar[Literal["api_key"]] = "api_key"
    key: str | None = attrs.field(default=None, repr=False)
    env: Mapping[str, str] | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class OAuthCredential:
    """The tokens of a login. `expires` is in Unix milliseconds; `extra` is what a provider keeps besides."""

    type: ClassVar[Literal["oauth"]] = "oauth"
    access: str = attrs.field(repr=False)
    refresh: str = attrs.field(repr=False)
    expires: float
    extra: Mapping[str, JSON] = attrs.field(factory=dict, repr=False)


Credential: TypeAlias = ApiKeyCredential | OAuthCredential
Change: TypeAlias = Callable[[Credential | None], Awaitable[Credential | None]]


class CredentialStore(Protocol):
    """One credential for each provider.

    Changes of one provider's are made one after the other, also across processes where the store is shared: a token
    is refreshed inside of one, and two that refresh would take it from each other.
    """

    async def read(self, provider_id: str) -> Credential | None:
        """The credential, or None."""
        ...

    async def modify(self, provider_id: str, change: Change) -> Credential | None:
        """Give the present credential to `change`, and store what it returns; None leaves it as it is.

        Returns the credential that is stored then. What `change` raises is raised, and nothing is stored.
        """
        ...

    async def delete(self, provider_id: str) -> None:
        """Forget the credential, if there is one."""
        ...


class InMemoryCredentialStore:
    """Credentials for as long as the process lasts.

    Args:
        credentials: what is stored from the start, by provider.
    """

    def __init__(self, credentials: Mapping[str, Credential] | None = None) -> None:
        self._credentials = dict(credentials or {})
        self._locks: defaultdict[str, trio.Lock] = defaultdict(trio.Lock)

    async def read(self, provider_id: str) -> Credential | None:
        await trio.lowlevel.checkpoint()
        return self._credentials.get(provider_id)

    async def modify(self, provider_id: str, change: Change) -> Credential | None:
        async with self._locks[provider_id]:
            present = self._credentials.get(provider_id)
            changed = await change(present)
            if changed is None:
                return present
            self._credentials[provider_id] = changed
            return changed

    async def delete(self, provider_id: str) -> None:
        async with self._locks[provider_id]:
            self._credentials.pop(provider_id, None)
