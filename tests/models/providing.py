"""Adapters and providers for tests: real streams, said by hand."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any

import trio

from pi_trio.messages import DeferredHandle, Model
from pi_trio.models.auth import EnvironmentApiKey, ProviderAuth
from pi_trio.models.builder import ResponseBuilder
from pi_trio.models.collection import Models
from pi_trio.models.provider import Provider
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext, ResponseStream

from .modelling import model

WITH_KEY = ProviderAuth(api_key=EnvironmentApiKey(["P_KEY"]))


class Variables:
    """An environment that is these variables."""

    def __init__(self, **variables: str) -> None:
        self.variables = variables

    async def env(self, name: str) -> str | None:
        await trio.lowlevel.checkpoint()
        return self.variables.get(name)

    async def file_exists(self, path: str) -> bool:
        return False


def pushed(said: str, which: Model, *, end: bool = True) -> ResponseStream:
    """A stream that says one text, and its last event unless it shall just end."""
    builder, stream = ResponseBuilder(which), ResponseStream()
    for event in (builder.start(), builder.text_start(), builder.text_delta(said), builder.text_end()):
        stream.push(event)
    if end:
        stream.push(builder.done("stop"))
    else:
        stream.end()
    return stream


class Echo:
    """An adapter that says who was asked, and keeps what it was asked with."""

    def __init__(self) -> None:
        self.asked: list[tuple[Model, ModelContext, ProviderOptions]] = []

    def stream(self, which: Model, context: ModelContext, options: ProviderOptions) -> Any:
        self.asked.append((which, context, options))
        return pushed("full", which)

    def stream_simple(self, which: Model, context: ModelContext, options: ProviderOptions) -> Any:
        self.asked.append((which, context, options))
        return pushed("simple", which)

    @property
    def options(self) -> ProviderOptions:
        return self.asked[-1][2]


class Deferring(Echo):
    """An adapter that also knows responses that are fetched later."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled: list[DeferredHandle] = []

    def fetch_deferred(self, which: Model, handle: DeferredHandle, options: ProviderOptions) -> Any:
        return pushed(f"fetched {handle.id}", which)

    async def cancel_deferred(self, which: Model, handle: DeferredHandle, options: ProviderOptions) -> None:
        await trio.lowlevel.checkpoint()
        self.cancelled.append(handle)


class Generating(Echo):
    """An adapter whose events come from a generator that holds a nursery around its yields."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.fails = fails
        self.closed = 0

    def stream(self, which: Model, context: ModelContext, options: ProviderOptions) -> Any:
        return self.opened(which)

    @asynccontextmanager
    async def opened(self, which: Model):
        yield Generated(self, which)


class Generated:
    def __init__(self, adapter: Generating, which: Model) -> None:
        self.adapter, self.which, self.message = adapter, which, None

    async def __aiter__(self):
        builder = ResponseBuilder(self.which)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                yield builder.start()
                yield builder.text_start()
                yield builder.text_delta("so far")
                if self.adapter.fails:
                    raise OSError("the line is dead")
                yield builder.text_end()
                done = builder.done("stop")
                self.message = done.message
                yield done
                nursery.cancel_scope.cancel()
        finally:
            self.adapter.closed += 1

    async def result(self):
        await trio.lowlevel.checkpoint()
        return self.message


def collection(
    adapter: Any, *, auth: ProviderAuth = WITH_KEY, key: str | None = "k", **options: Any
) -> Models:
    """A collection with one provider, `p`, that has one model, `m`; its key is in the environment."""
    models = Models(auth_context=Variables(**({} if key is None else {"P_KEY": key})), **options)
    models.set_provider(Provider("p", api={"some-api": adapter}, models=[model()], auth=auth))
    return models
