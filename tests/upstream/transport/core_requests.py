"""Requests to a collection, drawn at random, and what its provider is given of them here.

A request is the argument of `request` in `core.mjs`: a model, a context, options; how the provider is authenticated
to, what is stored and what is in the environment.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

import trio

from pi_trio.abort import AbortController
from pi_trio.messages import Model
from pi_trio.models.auth import AuthContext, AuthResolution, ProviderAuth, RequestAuth
from pi_trio.models.collection import Models
from pi_trio.models.credentials import ApiKeyCredential, Credential, InMemoryCredentialStore, OAuthCredential
from pi_trio.models.dialect import Dialect
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
            "aborted": self.often(0.1),
            "simple": self.often(),
        }

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


async def _given(dialect: Dialect, request: Mapping[str, Any]) -> Any:
    auth, stored = request["auth"], request["stored"]
    store = InMemoryCredentialStore({} if stored is None else {"p": _credential(stored)})
    models = Models(
        credentials=store,
        auth_context=_Variables(request["variables"]),
        identity=request["identity"],
        dialect=dialect,
    )
    capture = _Capture()
    ways = ProviderAuth(
        api_key=_Key(auth) if auth["apiKey"] else None, oauth=_Login() if auth["oauth"] else None
    )
    models.set_provider(Provider("p", api={"some-api": capture}, auth=ways))
    abort = AbortController()
    if request["aborted"]:
        abort.abort()
    method = models.complete_simple if request["simple"] else models.complete
    options = request["options"]
    asked = ProviderOptions(
        signal=abort.signal,
        api_key=options.get("apiKey"),
        headers=options.get("headers"),
        env=options.get("env"),
        session_id=options.get("sessionId"),
        identity=options.get("identity"),
        temperature=options.get("temperature"),
    )
    message = await method(model_of(request["model"]), context_of(request["context"]), asked)
    if capture.given is not None:
        return {"given": capture.given}
    fields = ("stopReason", "errorMessage", "content", "usage", "api", "provider", "model")
    return {"message": {name: plain(message)[name] for name in fields}}


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


class _Variables:
    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    async def env(self, name: str) -> str | None:
        return self._variables.get(name)

    async def file_exists(self, path: str) -> bool:
        return False


class _Key:
    def __init__(self, auth: Mapping[str, Any]) -> None:
        self._auth = auth

    async def resolve(
        self, context: AuthContext, credential: ApiKeyCredential | None
    ) -> AuthResolution | None:
        key = await context.env("P_KEY") if credential is None or credential.key is None else credential.key
        if not key:
            return None
        more = self._auth["more"]
        stored = {} if credential is None else credential.env or {}
        return AuthResolution(
            auth=RequestAuth(api_key=key, headers=more.get("headers"), base_url=more.get("baseUrl")),
            env={**self._auth["env"], **stored},
        )


class _Login:
    async def refresh(self, credential: OAuthCredential) -> OAuthCredential:
        return OAuthCredential(access="renewed", refresh="r", expires=2 * now())

    async def to_auth(self, credential: OAuthCredential) -> RequestAuth:
        return RequestAuth(api_key=credential.access)


def _credential(value: Mapping[str, Any]) -> Credential:
    if value["type"] == "api_key":
        return ApiKeyCredential(key=value["key"], env=value.get("env"))
    return OAuthCredential(access=value["access"], refresh=value["refresh"], expires=value["expires"])
