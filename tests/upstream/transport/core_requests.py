"""Requests to a collection, drawn at random, and what its provider is given of them here.

A request is the argument of `request` in `core.mjs`: a model, a context, options; how the provider is authenticated
to, what is stored and what is in the environment.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import trio

from pi_trio.abort import AbortController
from pi_trio.errors import PiTrioError
from pi_trio.messages import AssistantMessage, DeferredHandle, Model
from pi_trio.models.auth import AuthContext, AuthResolution, ProviderAuth, RequestAuth
from pi_trio.models.collection import AuthCheck, Models
from pi_trio.models.credentials import (
    ApiKeyCredential,
    Change,
    Credential,
    InMemoryCredentialStore,
    OAuthCredential,
)
from pi_trio.models.dialect import Dialect
from pi_trio.models.models_error import ModelsError
from pi_trio.models.provider import Provider
from pi_trio.models.request_options import ProviderOptions
from pi_trio.models.stream import ModelContext
from pi_trio.timestamps import now

from .core_asking import context_of, model_of, plain
from .core_making import Maker

_NAMES = ("a", "A", "b", "B", "X-Thing", "x-thing", "authorization")
_HOUR = 3_600_000


class RequestMaker:
    """Makes requests that mean something in one release."""

    def __init__(self, seed: int, dialect: Dialect) -> None:
        self.random = random.Random(seed)
        self.maker = Maker(seed, dialect)

    def often(self, chance: float = 0.5) -> bool:
        return self.random.random() < chance

    def headers(self, *, null: bool = False) -> dict[str, str | None]:
        names = self.random.sample(_NAMES, self.random.randrange(4))
        return {
            name: None if null and self.often(0.3) else f"{name}{self.random.randrange(9)}" for name in names
        }

    def env(self) -> dict[str, str]:
        return {name: str(self.random.randrange(9)) for name in self.random.sample(("R", "S", "P_KEY"), 2)}

    def request(self) -> dict[str, Any]:
        context = {"messages": self.maker.messages(), **self.maker.beside()}
        return {
            "model": self._model(),
            "context": context,
            "options": self._options(),
            "auth": self._auth(),
            "stored": self._stored(),
            "variables": {"P_KEY": "env"} if self.often(0.7) else {},
            "identity": self._identity() if self.often() else None,
            "fails": self._fails() if self.often(0.15) else None,
            "aborted": self.often(0.1),
            "simple": self.often(),
        }

    def deferred(self) -> dict[str, Any]:
        """A request for a response that is fetched later."""
        request = self.request()
        del request["context"], request["simple"]
        return {**request, "defers": self.often(0.8)}

    def _fails(self) -> dict[str, str]:
        place = self.random.choice(("read", "modify", "resolve", "refresh", "toAuth"))
        return {"at": place, "text": self.random.choice(("boom", "failed", " no room "))}

    def _model(self) -> dict[str, Any]:
        made = self.maker.model(provider="p" if self.often(0.95) else "q")
        made["baseUrl"] = self.random.choice(("http://there", "https://opencode.ai/zen", "opencode.ai", ""))
        if self.often():
            made["headers"] = self.headers()
        if self.often(0.1):
            made["type"] = self.random.choice(("chat", "image"))
        if self.often(0.05):
            made["api"] = "other-api"
        return made

    def _options(self) -> dict[str, Any]:
        all_of_them = {
            "apiKey": self.random.choice(("mine", "")),
            "headers": self.headers(null=True),
            "env": self.env(),
            "sessionId": self.random.choice(("s1", "")),
            "identity": self._identity(),
            "temperature": 0.5,
        }
        return {name: value for name, value in all_of_them.items() if self.often(0.4)}

    def _identity(self) -> dict[str, Any]:
        fields = {"userAgent": "short", "version": str(self.random.randrange(9)), "other": 1}
        return {name: fields[name] for name in self.random.sample(sorted(fields), 2)}

    def _auth(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self.often():
            more["headers"] = self.headers()
        if self.often(0.3):
            more["baseUrl"] = self.random.choice(("http://here", ""))
        return {
            "apiKey": self.often(0.8), "oauth": self.often(), "more": more,
            "env": self.env() if self.often() else {},
        }  # fmt: skip

    def _stored(self) -> dict[str, Any] | None:
        match self.random.randrange(4):
            case 0:
                return {"type": "api_key", "key": "stored", **({"env": self.env()} if self.often() else {})}
            case 1:
                expires = now() + self.random.choice((-_HOUR, 60_000, _HOUR))
                return {"type": "oauth", "access": "token", "refresh": "r", "expires": expires}
            case _:
                return None


def given_here(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    """What the provider of our collection is given, or the message of the failure."""
    return trio.run(partial(_given, dialect, request))


def deferred_here(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    """What comes of fetching a response, and of cancelling it."""
    return trio.run(partial(_deferred, dialect, request))


def configured_here(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    """Where a key may come from, of what is configured."""
    return trio.run(partial(_configured, dialect, request))


async def _given(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    capture = _Capture()
    models = _collected(dialect, request, capture)
    method = models.complete_simple if request["simple"] else models.complete
    message = await method(model_of(request["model"]), context_of(request["context"]), _options(request))
    return {"message": _failure(message)} if capture.given is None else {"given": capture.given}


async def _deferred(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    models = _collected(dialect, request, _Deferring() if request["defers"] else _Capture())
    asked = model_of(request["model"]), _HANDLE, _options(request)
    fetched = await models.fetch_deferred(*asked)
    cancelled = "nothing"
    try:
        await models.cancel_deferred(*asked)
    except (PiTrioError, OSError) as error:
        cancelled = str(error)
    return {"fetched": _failure(fetched), "cancelled": cancelled}


async def _configured(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    models = _collected(dialect, request, _Capture())

    async def attempt(ask: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await ask()
        except ModelsError as error:
            return {"error": str(error), "code": error.code}

    check = await attempt(lambda: models.check_auth("p"))
    available = await attempt(models.get_available)
    model = models.get_model("p", "m")
    return {
        "check": {"type": check.type, "source": check.source} if isinstance(check, AuthCheck) else check,
        "available": [one.id for one in available] if isinstance(available, tuple) else available,
        "model": None if model is None else model.id,
    }


_HANDLE = DeferredHandle(provider="p", model_id="m", api="some-api", id="h1")


def _collected(dialect: Dialect, request: Mapping[str, Any], adapter: Any) -> Models:
    auth, stored, fails = request["auth"], request["stored"], request["fails"] or {"at": None}
    models = Models(
        credentials=_Store({} if stored is None else {"p": _credential(stored)}, fails),
        auth_context=_Variables(request["variables"]),
        identity=request["identity"],
        dialect=dialect,
    )
    ways = ProviderAuth(
        api_key=_Key(auth, fails) if auth["apiKey"] else None, oauth=_Login(fails) if auth["oauth"] else None
    )
    model = model_of(request["model"])
    models.set_provider(Provider("p", api={"some-api": adapter}, auth=ways, models=[model]))
    return models


def _options(request: Mapping[str, Any]) -> ProviderOptions:
    abort = AbortController()
    if request["aborted"]:
        abort.abort()
    options = request["options"]
    return ProviderOptions(
        signal=abort.signal,
        api_key=options.get("apiKey"),
        headers=options.get("headers"),
        env=options.get("env"),
        session_id=options.get("sessionId"),
        identity=options.get("identity"),
        temperature=options.get("temperature"),
    )


def _failure(message: AssistantMessage) -> dict[str, Any]:
    fields = ("stopReason", "errorMessage", "content", "usage", "api", "provider", "model")
    return {name: plain(message)[name] for name in fields}


def _fail(fails: Mapping[str, Any], place: str) -> None:
    if fails["at"] == place:
        raise OSError(fails["text"])


class _Capture:
    given: dict[str, Any] | None = None

    def stream(self, model: Model, context: ModelContext, options: ProviderOptions) -> Any:
        found = {
            "baseUrl": model.base_url,
            "messages": plain(context.messages),
            "prompt": context.system_prompt,
            "tools": None if context.tools is None else plain(context.tools),
            "apiKey": options.api_key,
            "headers": options.headers,
            "env": options.env,
            "sessionId": options.session_id,
            "identity": options.identity,
            "temperature": options.temperature,
        }
        self.given = {name: value for name, value in found.items() if value is not None}
        raise OSError("captured")

    stream_simple = stream


class _Deferring(_Capture):
    def fetch_deferred(self, model: Model, handle: DeferredHandle, options: ProviderOptions) -> Any:
        raise OSError(f"asked for {handle.id}")

    async def cancel_deferred(self, model: Model, handle: DeferredHandle, options: ProviderOptions) -> None:
        raise OSError(f"asked for {handle.id}")


class _Variables:
    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    async def env(self, name: str) -> str | None:
        return self._variables.get(name)

    async def file_exists(self, path: str) -> bool:
        return False


class _Store(InMemoryCredentialStore):
    def __init__(self, credentials: Mapping[str, Credential], fails: Mapping[str, Any]) -> None:
        super().__init__(credentials)
        self._fails = fails

    async def read(self, provider_id: str) -> Credential | None:
        _fail(self._fails, "read")
        return await super().read(provider_id)

    async def modify(self, provider_id: str, change: Change) -> Credential | None:
        _fail(self._fails, "modify")
        return await super().modify(provider_id, change)


class _Key:
    def __init__(self, auth: Mapping[str, Any], fails: Mapping[str, Any]) -> None:
        self._auth, self._fails = auth, fails

    async def resolve(
        self, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        _fail(self._fails, "resolve")
        key = await context.env("P_KEY") if credential is None or credential.key is None else credential.key
        if not key:
            return None
        more = self._auth["more"]
        stored = {} if credential is None else credential.env or {}
        return AuthResolution(
            auth=RequestAuth(api_key=key, headers=more.get("headers"), base_url=more.get("baseUrl")),
            env={**self._auth["env"], **stored},
            source="test",
        )


class _Login:
    def __init__(self, fails: Mapping[str, Any]) -> None:
        self._fails = fails

    async def refresh(self, credential: OAuthCredential) -> OAuthCredential:
        _fail(self._fails, "refresh")
        return OAuthCredential(access="renewed", refresh="r", expires=2 * now())

    async def to_auth(self, credential: OAuthCredential) -> RequestAuth:
        _fail(self._fails, "toAuth")
        return RequestAuth(api_key=credential.access)


def _credential(value: Mapping[str, Any]) -> Credential:
    if value["type"] == "api_key":
        return ApiKeyCredential(key=value["key"], env=value.get("env"))
    return OAuthCredential(access=value["access"], refresh=value["refresh"], expires=value["expires"])
