"""Providers: who serves models, how one authenticates to them, and which adapter speaks which of their APIs.

An adapter knows an API and no provider; a provider knows its models, and the adapter for each API that they have.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeAlias, cast

from ..messages import DeferredHandle, Model
from .auth import ProviderAuth
from .credentials import Credential
from .models_error import ModelsError
from .request_options import ProviderOptions
from .stream import ModelContext, Opened

FetchDeferred: TypeAlias = Callable[[Model, DeferredHandle, ProviderOptions], Opened]
CancelDeferred: TypeAlias = Callable[[Model, DeferredHandle, ProviderOptions], Awaitable[None]]
FilterModels: TypeAlias = Callable[[Sequence[Model], Credential | None], Sequence[Model]]


class Adapter(Protocol):
    """Who speaks an API.

    It may also have `fetch_deferred(model, handle, options)`, which gives a stream as these do, and the coroutine
    function `cancel_deferred(model, handle, options)`.
    """

    def stream(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        """One response, with the provider's own options."""
        ...

    def stream_simple(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        """One response, with the options that all providers share: `reasoning` in place of their own."""
        ...


class ModelProvider(Protocol):
    """What a collection asks of a provider; `Provider` is one.

    It may have `fetch_deferred` and `cancel_deferred`, as an adapter, and `filter_models`, which tells what a
    credential gives access to.
    """

    @property
    def id(self) -> str:
        """As its models name it."""
        ...

    @property
    def name(self) -> str:
        """As people do."""
        ...

    @property
    def auth(self) -> ProviderAuth:
        """The ways in which it can be authenticated to."""
        ...

    def get_models(self) -> Sequence[Model]:
        """The models that it serves."""
        ...

    def stream(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        """One response, with options of its own."""
        ...

    def stream_simple(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        """One response, with the options that all providers share."""
        ...


class LazyAdapter:
    """An adapter that is imported when it is first asked.

    Args:
        load: gives the adapter.
    """

    def __init__(self, load: Callable[[], Adapter]) -> None:
        self._load = load

    @cached_property
    def adapter(self) -> Adapter:
        """The adapter itself."""
        return self._load()

    def stream(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        return self.adapter.stream(model, context, options)

    def stream_simple(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        return self.adapter.stream_simple(model, context, options)


class Provider:
    """A provider made of parts.

    Args:
        id: as its models name it.
        name: as people do; the id by default.
        base_url: where it is, for those who make models of it.
        auth: the ways in which it can be authenticated to.
        models: what it serves.
        api: one adapter for all of its models, or one for each API that they name.
        filter_models: gives those of its models that a credential has access to.

    Attributes:
        fetch_deferred, cancel_deferred: there if an adapter has them, else None.
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        *,
        api: Adapter | Mapping[str, Adapter],
        models: Iterable[Model] = (),
        auth: ProviderAuth | None = None,
        name: str | None = None,
        base_url: str | None = None,
        filter_models: FilterModels | None = None,
    ) -> None:
        adapters = list(api.values()) if isinstance(api, Mapping) else [api]
        if not adapters:
            raise ValueError(f"provider {id!r} has no adapter: its api is empty")
        self.id = id
        self.name = id if name is None else name
        self.base_url = base_url
        self.auth = ProviderAuth() if auth is None else auth
        self.filter_models = filter_models
        self._api = api
        self._models = tuple(models)
        has = {name for adapter in adapters for name in _DEFERRED if hasattr(adapter, name)}
        self.fetch_deferred: FetchDeferred | None = self._fetch_deferred if "fetch_deferred" in has else None
        self.cancel_deferred: CancelDeferred | None = (
            self._cancel_deferred if "cancel_deferred" in has else None
        )

    def __repr__(self) -> str:
        return f"<Provider {self.id}: {len(self._models)} models>"

    def get_models(self) -> tuple[Model, ...]:
        """The models that it serves, of all types."""
        return self._models

    def stream(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        """One response, by the adapter of the model's API.

        Raises:
            ModelsError: there is no such adapter.
        """
        return self._adapter(model).stream(model, context, options)

    def stream_simple(self, model: Model, context: ModelContext, options: ProviderOptions) -> Opened:
        """As `stream`."""
        return self._adapter(model).stream_simple(model, context, options)

    def _adapter(self, model: Model) -> Adapter:
        if not isinstance(self._api, Mapping):
            return self._api
        adapter = self._api.get(model.api)
        if adapter is None:
            raise ModelsError("stream", f'Provider {self.id} has no API implementation for "{model.api}"')
        return adapter

    def _deferring(self, model: Model, method: str, refusal: str) -> Callable[..., object]:
        adapter = self._api.get(model.api) if isinstance(self._api, Mapping) else self._api
        found: Callable[..., object] | None = getattr(adapter, method, None)
        if found is None:
            raise ModelsError("provider", f'Provider {self.id} {refusal} for "{model.api}"')
        return found

    def _fetch_deferred(self, model: Model, handle: DeferredHandle, options: ProviderOptions) -> Opened:
        fetch = self._deferring(model, "fetch_deferred", "does not support deferred responses")
        return cast("Opened", fetch(model, handle, options))

    async def _cancel_deferred(self, model: Model, handle: DeferredHandle, options: ProviderOptions) -> None:
        cancel = self._deferring(model, "cancel_deferred", "cannot cancel deferred responses")
        await cast("Awaitable[None]", cancel(model, handle, options))


_DEFERRED = ("fetch_deferred", "cancel_deferred")
