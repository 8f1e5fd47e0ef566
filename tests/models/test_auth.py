"""How a request gets its key."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from pi_trio.models.auth import (
    AuthResolution,
    EnvironmentApiKey,
    NoKeyNeeded,
    ProcessEnvironment,
    ProviderAuth,
    RequestAuth,
    Resolver,
)
from pi_trio.models.credentials import ApiKeyCredential, InMemoryCredentialStore, OAuthCredential
from pi_trio.models.dialect import DIALECT_0_80_2, DIALECT_1_6_0
from pi_trio.models.environment_keys import env_api_key, find_env_keys
from pi_trio.models.models_error import ModelsError
from pi_trio.testing import frozen_time
from pi_trio.timestamps import now

from .providing import Variables

MINUTE = 60_000
SECRET = "sk-secret"


def token(minutes: float = 60, access: str = "old") -> OAuthCredential:
    return OAuthCredential(access=access, refresh="r", expires=now() + minutes * MINUTE)


class Login:
    """An OAuth login whose refresh takes a second."""

    def __init__(self, *, minutes: float = 60, fails: bool = False, seconds: float = 1) -> None:
        self.minutes, self.fails, self.seconds = minutes, fails, seconds
        self.refreshed = 0

    async def refresh(self, credential: OAuthCredential) -> OAuthCredential:
        self.refreshed += 1
        await trio.sleep(self.seconds)
        if self.fails:
            raise OSError("no route")
        return token(self.minutes, "new")

    async def to_auth(self, credential: OAuthCredential) -> RequestAuth:
        await trio.lowlevel.checkpoint()
        return RequestAuth(api_key=credential.access)


TWO_VARIABLES = EnvironmentApiKey(["FIRST", "SECOND"])


def resolver(*, keys: Any = TWO_VARIABLES, oauth=None, stored=None, dialect=DIALECT_1_6_0, **env):
    return Resolver(
        provider_id="p",
        auth=ProviderAuth(api_key=keys, oauth=oauth),
        credentials=InMemoryCredentialStore({} if stored is None else {"p": stored}),
        context=Variables(**env),
        dialect=dialect,
    )


async def key_of(which: Resolver, **given: Any) -> tuple[str | None, str | None] | None:
    found: AuthResolution | None = await which.resolve(**given)
    return None if found is None else (found.auth.api_key, found.source)


async def test_the_environment_is_asked_last():
    assert await key_of(resolver()) is None
    assert await key_of(resolver(SECOND="2")) == ("2", "SECOND")
    assert await key_of(resolver(SECOND="2", FIRST="1")) == ("1", "FIRST")
    stored = resolver(stored=ApiKeyCredential(key="s"), FIRST="1")
    assert await key_of(stored) == ("s", "stored credential")
    assert await key_of(stored, api_key="mine") == ("mine", "stored credential")


async def test_the_variables_of_a_request_win():
    assert await key_of(resolver(FIRST="1"), env={"FIRST": "mine"}) == ("mine", "FIRST")
    assert await key_of(resolver(SECOND="2"), env={"OTHER": "x"}) == ("2", "SECOND")
    found = await resolver(stored=ApiKeyCredential(key="s", env={"A": "1", "B": "1"})).resolve(env={"B": "2"})
    assert found is not None
    assert found.env == {"A": "1", "B": "2"}


async def test_a_stored_credential_owns_its_provider():
    """With one that cannot be used there is no key, whatever the environment has."""
    assert await key_of(resolver(stored=token(), FIRST="1")) is None
    assert await key_of(resolver(keys=None, oauth=Login(), stored=ApiKeyCredential(key="s"))) is None


async def test_a_key_is_for_a_provider_that_takes_keys():
    which = resolver(keys=None, oauth=Login(), stored=token())
    assert await key_of(which, api_key="mine") == ("old", "OAuth")
    assert await key_of(resolver(keys=None, oauth=Login()), api_key="mine") is None


async def test_some_servers_ask_for_no_key():
    assert await key_of(resolver(keys=NoKeyNeeded())) == ("none", "no key needed")
    assert await key_of(resolver(keys=NoKeyNeeded()), api_key="mine") == ("mine", "stored credential")


@pytest.mark.parametrize(
    ("minutes", "dialect", "key"),
    [
        (5.1, DIALECT_1_6_0, "old"),
        (5, DIALECT_1_6_0, "new"),
        (1, DIALECT_0_80_2, "old"),
        (0, DIALECT_0_80_2, "new"),
    ],
)
async def test_a_token_is_renewed_before_it_expires(autojump_clock, minutes, dialect, key):
    with frozen_time():
        which = resolver(oauth=Login(), stored=token(minutes), dialect=dialect)
        assert await key_of(which) == (key, "OAuth")
        assert (await which.stored()).access == key


async def test_a_token_is_renewed_once(autojump_clock):
    login = Login()
    which = resolver(oauth=login, stored=token(1))
    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(which.resolve)
    assert login.refreshed == 1


async def test_after_a_logout_there_is_no_key(autojump_clock):
    which = resolver(oauth=Login(), stored=token(1), FIRST="1")
    async with trio.open_nursery() as nursery:

        async def log_out(present):
            await trio.sleep(1)

        nursery.start_soon(which.credentials.modify, "p", log_out)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(which.credentials.delete, "p")
        await trio.testing.wait_all_tasks_blocked()
        assert await key_of(which) is None


async def test_a_caller_may_ask_for_a_longer_validity(autojump_clock):
    which = resolver(oauth=Login(minutes=30), stored=token(20))
    assert await key_of(which, min_oauth_validity_ms=10 * MINUTE) == ("old", "OAuth")
    assert await key_of(which, min_oauth_validity_ms=25 * MINUTE) == ("new", "OAuth")
    with pytest.raises(ModelsError, match="expires too soon for p"):
        await which.resolve(min_oauth_validity_ms=40 * MINUTE)


async def test_a_renewal_that_fails(autojump_clock):
    which = resolver(oauth=Login(fails=True), stored=token(1))
    with pytest.raises(ModelsError, match=r"^OAuth refresh failed for p: no route$") as caught:
        await which.resolve()
    assert caught.value.code == "oauth"
    assert (await which.stored()).access == "old"


async def test_a_renewal_that_takes_too_long(autojump_clock):
    with pytest.raises(ModelsError, match="OAuth refresh failed for p"):
        await resolver(oauth=Login(seconds=16), stored=token(1)).resolve()
    assert trio.current_time() < 20


async def test_a_renewal_that_has_begun_is_stored(autojump_clock):
    which = resolver(oauth=Login(), stored=token(1))
    with trio.move_on_after(0.5) as scope:
        await which.resolve()
    assert scope.cancelled_caught
    assert (await which.stored()).access == "new"


async def test_the_wait_for_ones_turn_can_be_cancelled(autojump_clock):
    login = Login()
    which = resolver(oauth=login, stored=token(1))
    async with trio.open_nursery() as nursery:

        async def hold(present):
            await trio.sleep(10)

        nursery.start_soon(which.credentials.modify, "p", hold)
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(1) as scope:
            await which.resolve()
        assert scope.cancelled_caught
        assert trio.current_time() < 5
    assert login.refreshed == 0


class Broken:
    async def read(self, provider_id):
        raise OSError("disk")

    async def modify(self, provider_id, change):
        raise OSError("disk")

    async def resolve(self, context, credential):
        raise OSError("")

    async def refresh(self, credential):
        raise AssertionError("it is good for an hour")

    async def to_auth(self, credential):
        raise OSError("disk")


class ReadOnly(Broken):
    async def read(self, provider_id):
        return token(-1)


@pytest.mark.parametrize(
    ("auth", "store", "code", "text"),
    [
        (ProviderAuth(), Broken(), "auth", "Credential store read failed for p: disk"),
        (ProviderAuth(api_key=Broken()), None, "auth", "API key auth failed for provider p: OSError"),
        (ProviderAuth(oauth=Login()), ReadOnly(), "auth", "Credential store modify failed for p: disk"),
        (
            ProviderAuth(oauth=Broken()), InMemoryCredentialStore({"p": token()}),
            "oauth", "OAuth auth derivation failed for p: disk",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", [DIALECT_0_80_2, DIALECT_1_6_0])
async def test_what_fails_is_named(auth, store, code, text, dialect):
    which = Resolver(
        provider_id="p",
        auth=auth,
        credentials=store or InMemoryCredentialStore(),
        context=Variables(),
        dialect=dialect,
    )
    with pytest.raises(ModelsError) as caught:
        await which.resolve()
    assert caught.value.code == code
    assert str(caught.value) == (text if dialect.cause_in_text else text.partition(": ")[0])


async def test_the_environment_of_the_process(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("P_KEY", "k")
    monkeypatch.setenv("P_BLANK", "  ")
    (tmp_path / "here").touch()
    environment = ProcessEnvironment()
    assert [await environment.env(name) for name in ("P_KEY", "P_BLANK", "P_NONE")] == ["k", None, None]
    assert await environment.file_exists("~/here")
    assert not await environment.file_exists("~/there")


def test_keys_in_the_environment(monkeypatch):
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert find_env_keys("anthropic") == find_env_keys("nobody") == ()
    assert env_api_key("anthropic", {"ANTHROPIC_AUTH_TOKEN": "t"}) is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert env_api_key("anthropic", {"ANTHROPIC_AUTH_TOKEN": "t"}) == "k"
    assert find_env_keys("anthropic", {"ANTHROPIC_OAUTH_TOKEN": "o"}) == (
        "ANTHROPIC_OAUTH_TOKEN",
        "ANTHROPIC_API_KEY",
    )
    assert env_api_key("anthropic", {"ANTHROPIC_OAUTH_TOKEN": "o"}) == "o"
    assert env_api_key("openai", {"OPENAI_API_KEY": ""}) is None


def test_nothing_secret_is_in_a_repr():
    shown = [
        ApiKeyCredential(key=SECRET, env={"K": SECRET}),
        OAuthCredential(access=SECRET, refresh=SECRET, expires=1, extra={"id": SECRET}),
        RequestAuth(api_key=SECRET, headers={"authorization": SECRET}),
        AuthResolution(auth=RequestAuth(api_key=SECRET), env={"K": SECRET}),
    ]
    assert SECRET not in repr(shown)
